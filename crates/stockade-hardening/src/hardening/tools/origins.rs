//! Pages of other origins, and pages that reach the endpoint by DNS rebinding.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;

use http::StatusCode;

use super::{Endpoint, FAMILY};
use crate::exchange::Exchange;
use crate::hardening::origins::foreign;
use crate::hardening::runner::{Rule, Runner, Verdict};

const RULE: Rule = Rule {
    family: FAMILY,
    text: "the endpoint of tools responds with 403 to pages of unlisted origins, also if `Origin` \
           and `Host` are equal (MCP, \"Streamable HTTP\")",
    mend: "compare `Origin` only with a list: `Mcp::allowed_origins`; `Host` does not stop DNS \
           rebinding",
};

/// Sends requests of pages that the endpoint does not list.
pub(super) async fn attack(runner: &mut Runner<'_>, endpoint: Endpoint<'_>) {
    let map = Arc::clone(&runner.map);
    let target = endpoint.target;
    let cors = target.route.cors.as_ref().or(map.router.cors.as_ref());
    let cors = cors.map(|cors| cors.origins.as_slice()).unwrap_or_default();
    let listed = [endpoint.info.allowed_origins.as_slice(), cors].concat();
    if listed.iter().any(|origin| origin == "*") {
        return runner.leave(FAMILY, Some(target), "foreign pages", "all origins are allowed");
    }
    // The check of the origin may be behind the check of the credentials.
    let user = runner.user(&[]).filter(|_| target.needs_user());
    let shot = || endpoint.message(user.as_ref(), "tools/list");
    for origin in foreign(&listed) {
        let attack = format!("a page of {origin}");
        let shot = shot().set("origin", &origin);
        runner.attack(&RULE, Some(target), attack, shot, is_refused).await;
    }
    let loopback = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 50_000);
    for (attack, host, origin, is_local) in REBOUND {
        let shot = shot().set("host", host).set("origin", origin);
        let shot = if is_local { shot.peer(loopback) } else { shot };
        runner.attack(&RULE, Some(target), attack, shot, is_refused).await;
    }
}

/// The name, `Host` and `Origin` of requests by DNS rebinding. The last part is
/// true for requests from the local machine.
const REBOUND: [(&str, &str, &str, bool); 4] = [
    ("a page whose name has the address of the server", "evil.test", "http://evil.test", false),
    ("a page whose name has a local address", "evil.test:3000", "http://evil.test:3000", true),
    ("a page whose name begins as a local name", "localhost", "http://localhost.evil.test", true),
    ("a local page under another `Host`", "evil.test", "http://localhost:3000", true),
];

/// Validates the response to a foreign page.
fn is_refused(exchange: &Exchange) -> Verdict {
    match exchange.status {
        StatusCode::FORBIDDEN | StatusCode::MISDIRECTED_REQUEST => Verdict::Refused,
        StatusCode::UNAUTHORIZED => Verdict::Unproven(
            "the endpoint checks the credentials first: add a user with `Hardening::users`"
                .to_owned(),
        ),
        status if status.is_client_error() => Verdict::Unproven(format!(
            "the response is {status}, which may have another reason: respond with 403"
        )),
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}
