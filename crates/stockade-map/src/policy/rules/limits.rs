//! The rules about the amount of work that a client may cause.

use super::super::finding::Finding;
use super::super::rule::{BuiltIn, all_routes};
use super::{counted, each};
use crate::{RouteInfo, RouteKind, RouteMap};

/// The largest body that does not need a reason, in bytes.
const LARGEST: u64 = 10 * 1024 * 1024;

pub(super) const BODY_BOUNDED: BuiltIn = BuiltIn {
    id: "body-bounded",
    text: "no body and no WebSocket message may exceed 10 MiB",
    owasp: "API4",
    find: |map| {
        let is_large = |route: &RouteInfo| has_body(route) && route.limits.max_body > LARGEST;
        let is_inherited = |route: &RouteInfo| route.limits.max_body == map.router.max_body;
        let mut findings = Vec::new();
        let inheriting: Vec<&RouteInfo> =
            all_routes(map).filter(|route| is_large(route) && is_inherited(route)).collect();
        if !inheriting.is_empty() {
            let size = shown(map.router.max_body);
            let routes = counted(&inheriting);
            let message = format!("a body may have {size} on {routes}");
            findings.push(Finding::on_router(message).mend(
                "lower `max_body_size` in the options, and set `max_body` for the routes that \
                 need more",
            ));
        }
        findings.extend(each(map, |route| {
            let message = format!("a body may have {}", shown(route.limits.max_body));
            (is_large(route) && !is_inherited(route))
                .then(|| Finding::on(route, message).mend("lower its `max_body`"))
        }));
        findings.extend(each(map, |route| {
            let size = route.web_socket.as_ref()?.max_payload;
            let message = format!("a message may have {}", shown(size));
            (size > LARGEST).then(|| Finding::on(route, message).mend("lower its `max_payload`"))
        }));
        findings
    },
};

/// Returns true if a body may be read. Middleware may read the body even if the
/// route does not.
fn has_body(route: &RouteInfo) -> bool {
    route.body.is_some()
        || (route.web_socket.is_none() && !matches!(route.method.as_str(), "GET" | "HEAD"))
}

fn shown(bytes: u64) -> String {
    match (bytes / (1024 * 1024), bytes % (1024 * 1024)) {
        (mebibytes, 0) => format!("{mebibytes} MiB"),
        _ => format!("{bytes} bytes"),
    }
}

pub(super) const TIME_BOUNDED: BuiltIn = BuiltIn {
    id: "time-bounded",
    text: "each route has a timeout",
    owasp: "API4",
    find: |map| {
        let timed = || all_routes(map).filter(|route| route.kind != RouteKind::WebSocket);
        let endless: Vec<&RouteInfo> =
            timed().filter(|route| route.limits.timeout.is_none()).collect();
        let mend = "add `with_timeout` before it";
        if endless.len() > 1 && endless.len() == timed().count() {
            let message = format!("no timeout limits {}", counted(&endless));
            return vec![Finding::on_router(message).mend("add `with_timeout` before them")];
        }
        let finding = |route| Finding::on(route, "it does not have a timeout");
        endless.into_iter().map(|route| finding(route).mend(mend)).collect()
    },
};

pub(super) const RATE_LIMITED: BuiltIn = BuiltIn {
    id: "rate-limited",
    text: "each route has a rate limit",
    owasp: "API4",
    find: |map| if map.router.is_hosted { Vec::new() } else { unlimited(map) },
};

fn unlimited(map: &RouteMap) -> Vec<Finding> {
    let is_unlimited = |route: &RouteInfo| {
        route.limits.rate.is_empty() && route.limits.rate_exempt_reason.is_none()
    };
    let mut findings = Vec::new();
    if map.router.rate_limit.is_none() {
        let routes: Vec<&RouteInfo> = all_routes(map)
            .filter(|route| is_unlimited(route) && !route.limits.rate_exempt)
            .collect();
        if !routes.is_empty() {
            let message = format!("no rate limit applies to {}", counted(&routes));
            findings.push(Finding::on_router(message).mend(
                "remove `rate_limit(false)` from the options, or set a limit for each of them: \
                 `rate_limit: 10 / MINUTE`",
            ));
        }
    }
    findings.extend(each(map, |route| {
        (is_unlimited(route) && route.limits.rate_exempt).then(|| {
            Finding::on(route, "it is exempt from all rate limits")
                .mend("remove `rate_limit: false`, or allow it with a reason")
        })
    }));
    findings
}
