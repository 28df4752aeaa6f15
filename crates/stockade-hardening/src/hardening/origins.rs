//! Cross-origin requests: CORS and WebSocket handshakes.

use std::sync::Arc;

use http::{HeaderMap, Method, StatusCode, header};
use stockade_routing::map::{CorsInfo, WebSocketInfo};

use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::{Rule, Runner, Verdict};
use crate::exchange::Exchange;
use crate::shot::Shot;

const CORS: Rule = Rule {
    family: AttackFamily::Origins,
    text: "only exactly matching listed origins get `Access-Control-Allow-Origin` (Fetch \
           standard, \"CORS protocol\")",
    mend: "list origins in `cors_origin`, `cors` or `with_cors`, and remove the code that \
           writes these headers itself",
};

const PREFLIGHT: Rule = Rule {
    family: AttackFamily::Origins,
    text: "a preflight of a listed origin gets a response before authentication",
    mend: "let the router respond to preflights: list the origin in `cors_origin`, and remove \
           the OPTIONS route",
};

const SOCKETS: Rule = Rule {
    family: AttackFamily::Origins,
    text: "a handshake from an unlisted origin is rejected (RFC 6455, section 10.2)",
    mend: "list the origins in the route's `allowed_origins` or the router's `ws_allowed_origins`",
};

/// Sends requests from other origins.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    for target in targets.iter() {
        match &target.route.web_socket {
            Some(rules) => attack_handshake(runner, target, rules).await,
            None => attack_cors(runner, target).await,
        }
    }
}

async fn attack_cors(runner: &mut Runner<'_>, target: &AttackTarget) {
    let map = Arc::clone(&runner.map);
    let cors = target.route.cors.as_ref().or(map.router.cors.as_ref());
    let listed = cors.map(|cors| cors.origins.as_slice()).unwrap_or_default();
    let answered = match target.refused() {
        Some(shot) => Some(shot),
        None => target.read().filter(|_| runner.plan().reads),
    };
    if answered.is_none() {
        let reason =
            "each request reaches the handler: use `Hardening::allow_reads` to send GET requests";
        runner.leave(CORS.family, Some(target), "responses to foreign origins", reason);
    }
    let options = target.shot().without_body().method(Method::OPTIONS);
    if runner.target_of(&options).is_some() && (cors.is_none() || target.route.method == "OPTIONS")
    {
        let reason = "a route accepts OPTIONS, and preflights reach its handler";
        return runner.leave(CORS.family, Some(target), "preflights", reason);
    }
    for origin in foreign(listed) {
        let validator = |exchange: &Exchange| is_withheld(&exchange.headers, &origin, cors);
        let attack = format!("a preflight from {origin}");
        let shot = preflight(target, &origin);
        runner.attack(&CORS, Some(target), attack, shot, validator).await;
        if let Some(shot) = &answered {
            let attack = format!("a request from {origin}");
            let shot = shot.clone().add("origin", &origin);
            runner.attack(&CORS, Some(target), attack, shot, validator).await;
        }
    }
    for origin in listed.iter().filter(|origin| *origin != "*").take(1) {
        let validator = |exchange: &Exchange| is_allowed(exchange, origin);
        let attack = format!("a preflight from {origin}, which is listed");
        runner.attack(&PREFLIGHT, Some(target), attack, preflight(target, origin), validator).await;
    }
}

/// Returns the preflight of an unsafe request.
fn preflight(target: &AttackTarget, origin: &str) -> Shot {
    let shot = target.shot();
    let asked = shot.method.to_string();
    shot.without_body()
        .method(Method::OPTIONS)
        .set("origin", origin)
        .set("access-control-request-method", asked)
        .set("access-control-request-headers", "authorization,content-type")
}

/// Returns unlisted origins that resemble listed ones.
pub(super) fn foreign(listed: &[String]) -> Vec<String> {
    let mut origins = vec!["null".to_owned(), "https://evil.test".to_owned()];
    for origin in listed.iter().take(MAX_LISTED) {
        let Some((scheme, host)) = origin.split_once("://") else { continue };
        let other_scheme = if scheme == "https" { "http" } else { "https" };
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        origins.extend([
            format!("{origin}.evil.test"),
            format!("{scheme}://evil{host}"),
            format!("{scheme}://evil-{host}"),
            format!("{scheme}://evil.{host}"),
            format!("{other_scheme}://{host}"),
            format!("{scheme}://{name}:8443"),
            format!("{origin}@evil.test"),
            format!("{origin}/.evil.test"),
            format!("{origin}_.evil.test"),
            format!("{origin} https://evil.test"),
        ]);
    }
    origins.retain(|origin| !listed.contains(origin));
    origins.dedup();
    origins
}

/// Validates a response to an unlisted origin. It may name a listed origin,
/// because browsers compare the value.
fn is_withheld(headers: &HeaderMap, origin: &str, cors: Option<&CorsInfo>) -> Verdict {
    let allowed = headers.get_all(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    let listed = cors.map(|cors| cors.origins.as_slice()).unwrap_or_default();
    for allowed in allowed {
        let allowed = String::from_utf8_lossy(allowed.as_bytes());
        let has_credentials = headers.contains_key(header::ACCESS_CONTROL_ALLOW_CREDENTIALS);
        let is_open = listed.iter().any(|listed| listed == "*");
        let is_right = match &*allowed {
            "*" => is_open && !has_credentials,
            "null" => false,
            // An open route may repeat the origin, which is equivalent to `*`.
            allowed if allowed == origin => is_open && !has_credentials,
            allowed => listed.iter().any(|listed| listed == allowed),
        };
        if !is_right {
            let with = if has_credentials { ", with credentials" } else { "" };
            let found = format!("`Access-Control-Allow-Origin: {allowed}`{with}");
            return Verdict::GotThrough(found);
        }
    }
    Verdict::Refused
}

fn is_allowed(exchange: &Exchange, origin: &str) -> Verdict {
    let allowed = exchange.headers.get(header::ACCESS_CONTROL_ALLOW_ORIGIN);
    let is_allowed = allowed.is_some_and(|allowed| allowed == origin);
    match exchange.status {
        status if status.is_success() && is_allowed => Verdict::Refused,
        status if status.is_success() => {
            Verdict::GotThrough("`Access-Control-Allow-Origin` is missing".into())
        }
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

async fn attack_handshake(runner: &mut Runner<'_>, target: &AttackTarget, rules: &WebSocketInfo) {
    let listed = &rules.allowed_origins;
    if listed.iter().any(|origin| origin == "*") {
        let reason = "all origins may connect";
        return runner.leave(SOCKETS.family, Some(target), "foreign handshakes", reason);
    }
    let own = ["http://localhost".to_owned()];
    let mut origins = foreign(listed);
    if rules.same_origin {
        origins.extend(foreign(&own));
        // This is the application's own origin behind TLS, and the map does not
        // show whether TLS is used.
        origins.retain(|origin| origin != "https://localhost");
    }
    for origin in origins {
        let shot = target.shot().add("origin", &origin);
        let attack = format!("a handshake from {origin}");
        runner.attack(&SOCKETS, Some(target), attack, shot, is_no_handshake).await;
    }
}

fn is_no_handshake(exchange: &Exchange) -> Verdict {
    match exchange.status {
        StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED | StatusCode::BAD_REQUEST => {
            Verdict::Refused
        }
        status => Verdict::GotThrough(format!("the response is {status}")),
    }
}

/// The maximum number of listed origins that are imitated.
const MAX_LISTED: usize = 4;
