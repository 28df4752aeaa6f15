//! [`AttackTarget`]: a route with a valid request for it.

use std::net::{Ipv4Addr, SocketAddr};

use http::{HeaderValue, Method, header};
use stockade_routing::App;
use stockade_routing::map::asked_route::asked_route;
use stockade_routing::map::{ContentInfo, Need, RouteInfo, RouteKind, RouteMap};

use crate::any_version::{ANY_VERSION, IF_MATCH, needs_version};
use crate::idempotency_key::needs_key;
use crate::sample::Sample;
use crate::shot::Shot;

/// A route and a valid request for it.
#[derive(Debug)]
pub(super) struct AttackTarget {
    pub(super) route: RouteInfo,
    /// The index of the route in the map.
    pub(super) index: usize,
    /// The method and the declared path, such as `DELETE /users/:id`.
    pub(super) label: String,
    method: Method,
    /// The path with parameter values.
    pub(super) path: String,
    query: Option<String>,
    /// The media type and the bytes of a valid body.
    pub(super) body: Option<(String, Vec<u8>)>,
    /// The required members, if the route reads a JSON object.
    pub(super) required: Vec<String>,
}

impl AttackTarget {
    /// Creates a valid request for the route at this index of the map. Returns
    /// `None` if no path leads to the route.
    pub(super) fn new(
        app: &App,
        map: &RouteMap,
        index: usize,
        given: impl Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let route = map.routes.get(index)?;
        let sample = Sample::of(map);
        let paths = sample.paths(route, given);
        let choices = paths.iter().flat_map(|path| methods_of(route).map(move |it| (path, it)));
        let (path, method) = choices.into_iter().find(|(path, method)| {
            let shot = with_handshake(Shot::new(method.clone(), path.as_str()), route);
            index_of(app, &shot) == Some(index)
        })?;
        Some(Self {
            index,
            label: label_of(route),
            path: path.clone(),
            method,
            query: sample.query(route),
            body: sample.body(route),
            required: json_of(route).map_or(Vec::new(), |it| sample.required(&it.schema)),
            route: route.clone(),
        })
    }

    /// Returns a valid request without credentials.
    pub(super) fn shot(&self) -> Shot {
        let target = match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        };
        let shot = with_handshake(Shot::new(self.method.clone(), target), &self.route);
        // Otherwise a missing key would be the reason for every rejection.
        let shot = shot.new_key(needs_key(&self.route));
        let shot = match needs_version(&self.route) {
            true => shot.add(IF_MATCH, ANY_VERSION),
            false => shot,
        };
        match &self.body {
            Some((content_type, body)) => shot.body(content_type, body.clone()),
            None => shot,
        }
    }

    /// Returns a request that the route itself rejects after some of its
    /// middleware has run: a request without credentials, or with malformed JSON.
    /// Returns `None` if the route accepts both.
    pub(super) fn refused(&self) -> Option<Shot> {
        let is_typed = |content_type: &str| content_type != "application/octet-stream";
        if self.needs_user() {
            return Some(self.shot());
        }
        let (content_type, _) = self.body.as_ref()?;
        let is_parsed = is_typed(content_type) && !content_type.starts_with("multipart/");
        is_parsed.then(|| self.shot().body("application/json", "{"))
    }

    /// Returns a request with a safe HTTP method. Returns `None` for other
    /// methods and for routes that require a user.
    pub(super) fn read(&self) -> Option<Shot> {
        let is_read = self.method == Method::GET && self.route.kind == RouteKind::Http;
        (is_read && !self.needs_user()).then(|| self.shot())
    }

    /// Returns true if the handler may read the body without an extractor: raw
    /// bytes or a multipart form.
    pub(super) fn takes_bytes(&self) -> bool {
        let mut contents = self.route.body.iter().flat_map(|body| &body.content);
        contents.any(|content| {
            content.media_type == "*/*"
                || content.media_type == "application/octet-stream"
                || content.media_type.starts_with("multipart/")
        })
    }

    pub(super) fn needs_user(&self) -> bool {
        self.route.access.user == Need::Required
    }

    /// Returns the roles that grant access: one from each list, sorted.
    pub(super) fn roles(&self) -> Vec<&str> {
        let lists = self.route.access.roles.iter();
        let mut roles: Vec<&str> = lists.filter_map(|list| Some(list.first()?.as_str())).collect();
        roles.sort_unstable();
        roles.dedup();
        roles
    }
}

/// Returns the JSON content of a body, if the route reads JSON.
pub(super) fn json_of(route: &RouteInfo) -> Option<&ContentInfo> {
    let mut contents = route.body.iter().flat_map(|body| &body.content);
    contents.find(|content| content.media_type == "application/json")
}

/// Returns a readable name for a route.
pub(super) fn label_of(route: &RouteInfo) -> String {
    match route.kind {
        RouteKind::WebSocket => format!("WS {}", route.shown_path()),
        RouteKind::RpcMethod => format!("RPC {}", route.shown_path()),
        _ => format!("{} {}", route.method, route.shown_path()),
    }
}

/// Returns the map index of the route that handles a request.
pub(super) fn index_of(app: &App, shot: &Shot) -> Option<usize> {
    asked_route(app, shot.request(NOBODY)?)
}

/// Returns the methods that a route may accept.
pub(super) fn methods_of(route: &RouteInfo) -> impl Iterator<Item = Method> + use<> {
    let own = Method::from_bytes(route.method.as_bytes()).ok();
    let own = own.filter(|_| route.method != "ANY" && route.kind != RouteKind::WebSocket);
    let is_any = own.is_none();
    let any = [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    own.into_iter().chain(any.into_iter().filter(move |_| is_any))
}

/// Adds the `Host` header if the route needs one, and the handshake headers if
/// it is a WebSocket.
pub(super) fn with_handshake(mut shot: Shot, route: &RouteInfo) -> Shot {
    if let Some(host) = &route.host {
        shot = shot.add("host", host.example());
    }
    if route.kind != RouteKind::WebSocket {
        return shot;
    }
    let headers = &mut shot.headers;
    headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
    headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
    headers.insert(header::SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
    // The sample key of RFC 6455, section 1.3. Any sixteen bytes would do.
    let key = HeaderValue::from_static("dGhlIHNhbXBsZSBub25jZQ==");
    headers.insert(header::SEC_WEBSOCKET_KEY, key);
    shot
}

/// The address of a request that is routed but never sent.
const NOBODY: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
