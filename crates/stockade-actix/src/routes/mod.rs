//! [`ActixRoutes`]: stockade routes as actix-web resources.
//!
//! actix-web uses the first resource that matches the decoded path. Each
//! stockade resource therefore has a guard that looks up the raw path in the
//! stockade router. A request that the guard rejects continues to the resources
//! of the host.

use actix_web::Resource;
use actix_web::dev::{AppService, HttpServiceFactory, ServiceRequest, fn_service};
use actix_web::guard::{Guard, GuardContext};
use stockade_routing::{HostPath, HostRoute, HostRoutes, HostSegment};

use crate::path;
use crate::service::{ActixResponseFuture, answer};

/// Routes for `service` of an actix-web application, a scope or a
/// `ServiceConfig`. Each worker uses a clone.
///
/// See [`ToActix::to_actix_routes`](crate::ToActix::to_actix_routes).
// Spec: Router construction and members › toHostRouter.
#[derive(Clone, Debug)]
pub struct ActixRoutes {
    routes: HostRoutes,
}

impl ActixRoutes {
    /// Creates a service factory from the routes of an application.
    #[must_use]
    pub fn new(routes: HostRoutes) -> Self {
        Self { routes }
    }
}

impl HttpServiceFactory for ActixRoutes {
    fn register(self, config: &mut AppService) {
        let paths = paths(&self.routes.routes());
        // The empty path is the path of a scope. An application has none, so its
        // first path is a slash.
        let root = if config.is_root() { "/" } else { "" };
        let mut add = |path: &ActixPath, routes: Vec<HostRoute>, by_method: bool| {
            let guard = RouteGuard { routes, by_method, part: path.part.clone() };
            let (own, part) = (self.routes.clone(), path.part.clone());
            let service = fn_service(move |request| handle(&own, &part, request));
            let text = if path.text.is_empty() { root } else { &*path.text };
            Resource::new(text).guard(guard).default_service(service).register(config);
        };
        for path in &paths {
            for route in &path.routes {
                add(path, vec![route.clone()], true);
            }
        }
        // These come after all routes, so only requests with a wrong method
        // reach them.
        for path in &paths {
            add(path, path.routes.clone(), false);
        }
    }
}

/// An actix-web path with its routes, in order of precedence.
#[derive(Debug)]
struct ActixPath {
    text: String,
    part: PathPart,
    routes: Vec<HostRoute>,
}

/// The part of the raw request path for the stockade router. The enclosing
/// scopes are unknown when routes are registered.
#[derive(Clone, Debug, Eq, PartialEq)]
enum PathPart {
    /// The path of the scope itself.
    Root,
    /// The last segments of the path. The field is their number.
    Last(usize),
    /// The last segments of the path. Their number is the first field plus the
    /// number of segments in the parameter that the second field names.
    Rest(usize, String),
}

fn paths(routes: &[HostRoute]) -> Vec<ActixPath> {
    let mut wanted: Vec<(HostPath, &HostRoute)> = Vec::new();
    for route in routes {
        wanted.extend(route.paths().into_iter().map(|path| (path, route)));
    }
    wanted.sort_by(|(one, _), (other, _)| one.cmp_precedence(other));
    let mut paths: Vec<ActixPath> = Vec::new();
    for (path, route) in wanted {
        for (text, part) in texts(&path) {
            match paths.iter_mut().find(|path| path.text == text) {
                Some(path) => path.routes.push(route.clone()),
                None => paths.push(ActixPath { text, part, routes: vec![route.clone()] }),
            }
        }
    }
    paths
}

/// Returns a path in actix-web syntax. Returns two texts if the path also
/// matches the scope itself.
fn texts(path: &HostPath) -> Vec<(String, PathPart)> {
    let mut texts = Vec::new();
    let segments = path.segments();
    match segments {
        [HostSegment::Text(text)] if text.is_empty() => {
            return vec![(String::new(), PathPart::Root)];
        }
        [HostSegment::Rest(_)] => texts.push((String::new(), PathPart::Root)),
        _ => {}
    }
    let mut text = String::new();
    let mut dynamic = 0;
    for (index, segment) in segments.iter().enumerate() {
        if dynamic + 1 == MAX_DYNAMIC && index + 1 < segments.len() {
            texts.push((text + "/{rest__}*", PathPart::Rest(index, "rest__".to_owned())));
            return texts;
        }
        match segment {
            HostSegment::Text(part) if part.bytes().all(is_plain) => {
                text += &format!("/{part}");
                continue;
            }
            HostSegment::One(name) => text += &format!("/{{{name}}}"),
            HostSegment::Rest(name) => {
                texts.push((text + &format!("/{{{name}}}*"), PathPart::Rest(index, name.clone())));
                return texts;
            }
            _ => text += &format!("/{{text{index}__}}"),
        }
        dynamic += 1;
    }
    texts.push((text, PathPart::Last(segments.len())));
    texts
}

/// Returns true for a byte without special meaning in actix-web syntax, decoded
/// or not.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~!$&'()+,;=:@".contains(&byte)
}

/// The guard of a resource, which accepts the requests for its routes.
#[derive(Debug)]
struct RouteGuard {
    routes: Vec<HostRoute>,
    by_method: bool,
    part: PathPart,
}

impl Guard for RouteGuard {
    fn check(&self, context: &GuardContext<'_>) -> bool {
        let head = context.head();
        let method = head.method.as_str();
        let has_method = |route: &HostRoute| {
            let is_own = || route.methods().iter().any(|own| own.as_str() == method);
            !self.by_method || route.takes_any_method() || is_own()
        };
        let path = match self.part {
            PathPart::Root => Some("/"),
            PathPart::Last(count) => Some(path::last(head.uri.path(), count)),
            // The length of the scope is not known yet.
            PathPart::Rest(..) => None,
        };
        let has_path = |route: &HostRoute| path.is_none_or(|path| route.has_path(path));
        self.routes.iter().any(|route| has_method(route) && has_path(route))
    }
}

/// Passes an actix-web request to the stockade routes, with this part of its
/// path.
fn handle(routes: &HostRoutes, part: &PathPart, request: ServiceRequest) -> ActixResponseFuture {
    let (theirs, payload) = request.into_parts();
    let raw = theirs.uri().path();
    let path = match part {
        PathPart::Root => "/",
        PathPart::Last(count) => path::last(raw, *count),
        PathPart::Rest(count, name) => {
            // The parameter exists, because the pattern contains it.
            let rest = theirs.match_info().get(name).unwrap_or_default();
            path::last(raw, count + 1 + rest.matches('/').count())
        }
    };
    let path = path.to_owned();
    let routes = routes.clone();
    let has_mounts = routes.needs_original_uri();
    answer(theirs, &path, payload, (true, has_mounts), move |request| routes.handle(request))
}

/// actix-web panics if a path has more parameters.
const MAX_DYNAMIC: usize = 16;

#[cfg(test)]
mod tests;
