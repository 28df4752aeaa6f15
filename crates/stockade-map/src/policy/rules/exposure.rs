//! The rules about routes and settings that are too open.

use super::super::finding::Finding;
use super::super::rule::{BuiltIn, all_routes};
use super::{counted, each};
use crate::{CorsInfo, Need, RouteInfo, RouteKind, RouteMap, SchemeInfo};

pub(super) const WILDCARD_EXPOSED: BuiltIn = BuiltIn {
    id: "wildcard-exposed",
    text: "each route that matches every path below another path is listed",
    owasp: "API9",
    find: |map| {
        each(map, |route| {
            let message = match route.kind {
                RouteKind::Fallback => "it receives every request that matches no route",
                RouteKind::Mount => "a service with unknown routes receives every path below it",
                _ if route.params.iter().any(|param| param.is_rest) => {
                    "it matches every path below it, at any depth"
                }
                _ => return None,
            };
            let guard = match route.is_open() {
                true => "require a user with `auth`, at the route or its node",
                false => "check in a guard which paths each user may reach",
            };
            let allow = format!("`.allow(\"wildcard-exposed\", {:?}, \"…\")`", route.label());
            let mend = format!("{guard}; then list it: {allow}");
            Some(Finding::on(route, message).mend(mend))
        })
    },
};

pub(super) const CORS_OPEN_WITH_USER: BuiltIn = BuiltIn {
    id: "cors-open-with-user",
    text: "no response for a user is readable by every origin",
    owasp: "API8",
    find: |map| {
        let has_user =
            |route: &RouteInfo| route.access.user != Need::None && route.web_socket.is_none();
        let is_open = |cors: &CorsInfo| cors.origins.iter().any(|origin| origin == "*");
        let mut findings = Vec::new();
        if map.router.cors.as_ref().is_some_and(is_open) {
            let routes: Vec<&RouteInfo> =
                all_routes(map).filter(|route| has_user(route) && route.cors.is_none()).collect();
            if !routes.is_empty() {
                let routes = counted(&routes);
                let message = format!("every origin can read the responses of {routes}");
                findings.push(Finding::on_router(message).mend(
                    "list the origins in `cors_origin`, and set `cors: \"*\"` for routes \
                     without a user",
                ));
            }
        }
        findings.extend(each(map, |route| {
            let is_open = has_user(route) && route.cors.as_ref().is_some_and(is_open);
            is_open.then(|| {
                let message = "every origin can read its responses, which depend on the user";
                Finding::on(route, message).mend("list the origins in its `cors`")
            })
        }));
        findings
    },
};

pub(super) const WS_ORIGIN_OPEN: BuiltIn = BuiltIn {
    id: "ws-origin-open",
    text: "no WebSocket of a user accepts every origin",
    owasp: "API8",
    find: |map| {
        each(map, |route| {
            let is_open = route.web_socket.as_ref()?.allowed_origins.iter().any(|it| it == "*");
            let is_ridden = || {
                may_be_ridden(route)
                    || methods_of(map, route).any(may_be_ridden)
                    || leaves_users_to_resolvers(map, route)
            };
            (is_open && is_ridden()).then(|| {
                let message = "every origin can open it with the cookies of the user";
                Finding::on(route, message).mend("list the origins in its `allowed_origins`")
            })
        })
    },
};

/// Returns the methods of a JSON-RPC WebSocket. They may authenticate the user
/// by the cookies of the handshake.
fn methods_of<'m>(map: &'m RouteMap, socket: &'m RouteInfo) -> impl Iterator<Item = &'m RouteInfo> {
    map.routes.iter().filter(|route| {
        let name = route.path.strip_prefix(&socket.path);
        route.kind == RouteKind::RpcMethod && name.is_some_and(|name| name.starts_with('#'))
    })
}

/// Returns true for a GraphQL WebSocket that does not authenticate the user
/// itself. Its resolvers see the headers of the handshake, and may authenticate
/// a user by its cookies. `on_init` requires a token, which browsers do not
/// send automatically.
fn leaves_users_to_resolvers(map: &RouteMap, socket: &RouteInfo) -> bool {
    let mut routes = map.routes.iter();
    let is_graphql = routes.any(|route| route.graphql.is_some() && route.path == socket.path);
    let has_init = socket.middleware.iter().any(|it| it.is_named && it.name == "on_init");
    is_graphql && !has_init && socket.access.user == Need::None && socket.access.public.is_none()
}

/// Returns true if a browser may automatically send credentials to a route:
/// cookies, Basic, or an undescribed method. Browsers do not send a key or a
/// token in a header automatically.
fn may_be_ridden(route: &RouteInfo) -> bool {
    let is_ambient = |scheme: &SchemeInfo| match scheme {
        SchemeInfo::Http { scheme, .. } => !scheme.eq_ignore_ascii_case("bearer"),
        SchemeInfo::Header { .. } => false,
        _ => true,
    };
    let is_unknown = route.access.user == Need::Required && route.access.schemes.is_empty();
    is_unknown
        || !route.cookies.is_empty()
        || route.access.schemes.iter().any(is_ambient)
        || route.middleware.iter().any(|middleware| middleware.is_opaque)
}

pub(super) const ERRORS_HIDDEN: BuiltIn = BuiltIn {
    id: "errors-hidden",
    text: "clients do not get the messages of 5xx errors",
    owasp: "API8",
    find: errors_shown,
};

fn errors_shown(map: &RouteMap) -> Vec<Finding> {
    let info = map.configuration.as_ref().filter(|info| info.is_development);
    let info = info.filter(|info| info.place_of(&["expose_errors"]).is_none());
    if let Some(info) = info.filter(|_| map.router.exposes_errors_always) {
        let message = "the environment has `NODE_ENV=development`, so clients get the messages of \
                       5xx errors";
        let mut finding = Finding::on_router(message)
            .mend("set another `NODE_ENV` in production, or `expose_errors(false)`");
        finding.subject.clone_from(&info.name);
        return vec![finding];
    }
    let finding = || {
        Finding::on_router("clients get the messages of 5xx errors in every environment")
            .mend("remove `expose_errors(true)`: it is the default in development")
    };
    map.router.exposes_errors_always.then(finding).into_iter().collect()
}
