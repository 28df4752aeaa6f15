//! [`ActixRoutes`]: our routes as resources of actix-web.
//!
//! actix-web takes the first resource that matches the decoded path. So each of
//! our resources has a guard that looks the raw path up in our own table. A
//! request that the guard refuses goes on to the resources of the host.

use actix_web::Resource;
use actix_web::dev::{AppService, HttpServiceFactory, ServiceRequest, fn_service};
use actix_web::guard::{Guard, GuardContext};
use stockade_routing::{HostPath, HostRoute, HostRoutes, HostSegment};

use crate::path;
use crate::service::{ActixResponseFuture, answer};

/// Routes for `service` of an application, a scope or a `ServiceConfig` of
/// actix-web; each worker takes a clone.
///
/// See [`ToActix::to_actix_routes`](crate::ToActix::to_actix_routes).
///
/// Spec: Router construction and members › toHostRouter.
#[derive(Clone, Debug)]
pub struct ActixRoutes {
    routes: HostRoutes,
}

impl ActixRoutes {
    /// Makes a service factory of the routes of an application.
    #[must_use]
    pub fn new(routes: HostRoutes) -> Self {
        Self { routes }
    }
}

impl HttpServiceFactory for ActixRoutes {
    fn register(self, config: &mut AppService) {
        let paths = paths(&self.routes.routes());
        let mut add = |path: &ActixPath, routes: Vec<HostRoute>, by_method: bool| {
            let guard = RouteGuard { routes, by_method, part: path.part.clone() };
            let (own, part) = (self.routes.clone(), path.part.clone());
            let service = fn_service(move |request| handle(&own, &part, request));
            Resource::new(&*path.text).guard(guard).default_service(service).register(config);
        };
        for path in &paths {
            for route in &path.routes {
                add(path, vec![route.clone()], true);
            }
        }
        // Behind all of them: here only requests with a wrong method are left.
        for path in &paths {
            add(path, path.routes.clone(), false);
        }
    }
}

/// A path of actix-web with the routes that have it, in order of precedence.
#[derive(Debug)]
struct ActixPath {
    text: String,
    part: PathPart,
    routes: Vec<HostRoute>,
}

/// The part of a request's raw path that our table gets. The scopes in front of it
/// are not known when routes are registered.
#[derive(Clone, Debug, Eq, PartialEq)]
enum PathPart {
    /// The path of the scope itself.
    Root,
    /// The last segments, this many.
    Last(usize),
    /// The last segments: this many, and those in the parameter of this name.
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

/// Returns a path in actix-web's notation; two texts, if the path stands for the
/// scope itself, too.
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

/// Returns true for a byte that means itself in actix-web's notation, decoded or
/// not.
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
            // The end of the scope is not known yet.
            PathPart::Rest(..) => None,
        };
        let has_path = |route: &HostRoute| path.is_none_or(|path| route.has_path(path));
        self.routes.iter().any(|route| has_method(route) && has_path(route))
    }
}

/// Hands a request of actix-web to our routes, with the part of its path that is
/// meant for them.
fn handle(routes: &HostRoutes, part: &PathPart, request: ServiceRequest) -> ActixResponseFuture {
    let (theirs, payload) = request.into_parts();
    let raw = theirs.uri().path();
    let path = match part {
        PathPart::Root => "/",
        PathPart::Last(count) => path::last(raw, *count),
        PathPart::Rest(count, name) => {
            // There is one: the pattern has a parameter of this name.
            let rest = theirs.match_info().get(name).unwrap_or_default();
            path::last(raw, count + 1 + rest.matches('/').count())
        }
    };
    let path = path.to_owned();
    let routes = routes.clone();
    let has_mounts = routes.needs_original_uri();
    answer(theirs, &path, payload, (true, has_mounts), move |request| routes.handle(request))
}

/// actix-web panics for more parameters in a path.
const MAX_DYNAMIC: usize = 16;

#[cfg(test)]
mod tests;
