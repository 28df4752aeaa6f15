//! Stockade routes on an axum router.
//!
//! axum cannot express some stockade paths: two parameters in a segment,
//! constraints, optional parameters, and wildcards in the middle. axum
//! therefore gets paths that match at least as much, and the stockade router
//! decides about each request that they match.

use std::convert::Infallible;
use std::task::{Context, Poll};

use axum::routing::{MethodFilter, MethodRouter};
use http::Method;
use http_body::Body;
use stockade_core::Response;
use stockade_errors::BoxError;
use stockade_routing::{HostPath, HostResponseFuture, HostRoute, HostRoutes, HostSegment};
use tower_service::Service;

use crate::connection::{AxumResponseFuture, translate};

/// Creates an axum router with the routes.
pub(crate) fn of<S>(routes: &HostRoutes) -> axum::Router<S>
where
    S: Clone + Send + Sync + 'static,
{
    let service = RouteService { routes: routes.clone() };
    paths(&routes.routes()).into_iter().fold(axum::Router::new(), |router, path| {
        router.route(&path.text, path.methods.router(&service))
    })
}

/// A service that passes an axum request to the stockade routes.
#[derive(Clone, Debug)]
struct RouteService {
    routes: HostRoutes,
}

impl<B> Service<http::Request<B>> for RouteService
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = AxumResponseFuture<HostResponseFuture>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let (request, on_upgrade) = translate(request, self.routes.needs_original_uri());
        AxumResponseFuture::new(self.routes.handle(request), on_upgrade)
    }
}

/// An axum path with the methods of its stockade routes.
struct AxumPath {
    text: String,
    /// The path without parameter names. axum accepts each shape only once.
    shape: String,
    methods: Methods,
}

#[derive(Clone, Copy, Default)]
struct Methods {
    known: Option<MethodFilter>,
    /// True for any method, and for methods without an axum filter, such as
    /// QUERY.
    others: bool,
}

impl Methods {
    fn add(&mut self, method: Method) {
        match MethodFilter::try_from(method) {
            Ok(filter) => self.add_all(Self { known: Some(filter), others: false }),
            Err(_) => self.others = true,
        }
    }

    fn add_all(&mut self, other: Self) {
        let both = self.known.zip(other.known).map(|(own, other)| own.or(other));
        self.known = both.or(self.known).or(other.known);
        self.others |= other.others;
    }

    fn router<S: Clone>(self, service: &RouteService) -> MethodRouter<S, Infallible> {
        let mut router = MethodRouter::new();
        if let Some(filter) = self.known {
            router = router.on_service(filter, service.clone());
        }
        if self.others {
            router = router.fallback_service(service.clone());
        }
        router
    }
}

/// Returns the paths of all routes without duplicates, with the parameter names
/// of the first route.
fn paths(routes: &[HostRoute]) -> Vec<AxumPath> {
    let mut wanted: Vec<(HostPath, Methods)> = Vec::new();
    for route in routes {
        let own = *route.endpoint().method() == Method::HEAD;
        // axum passes HEAD requests to the GET service.
        let mut methods = Methods { others: route.takes_any_method(), ..Methods::default() };
        route
            .methods()
            .into_iter()
            .filter(|it| own || *it != Method::HEAD)
            .for_each(|method| methods.add(method));
        wanted.extend(route.paths().into_iter().map(|path| (path, methods)));
    }
    let mut rests: Vec<HostPath> = Vec::new();
    rests.extend(wanted.iter().map(|(path, _)| path).filter(|path| has_rest(path)).cloned());
    rests.sort_by_key(|rest| rest.segments().len());

    let mut paths: Vec<AxumPath> = Vec::new();
    // axum never leaves its best match, even if only a less specific path has
    // the method.
    let declared = wanted.clone();
    for (path, methods) in &mut wanted {
        let lesser = declared.iter().filter(|(other, _)| rank(other).gt(rank(path)));
        for (_, others) in lesser.filter(|(other, _)| overlaps(other, path)) {
            methods.add_all(*others);
        }
    }
    for (path, methods) in &wanted {
        let home = rests.iter().find(|rest| swallows(rest, path)).unwrap_or(path);
        // An empty rest needs its own path, unless another rest covers it.
        let without = has_rest(path) && !rests.iter().any(|rest| swallows(rest, path));
        for (path, with_rest) in [(home, true)].into_iter().chain(without.then_some((path, false)))
        {
            let shape = text(path, with_rest, false);
            let known = paths.iter().position(|known| known.shape == shape);
            let index = known.unwrap_or_else(|| {
                let text = text(path, with_rest, true);
                paths.push(AxumPath { text, shape, methods: Methods::default() });
                paths.len() - 1
            });
            paths[index].methods.add_all(*methods);
        }
    }
    paths
}

/// Returns true if a request path may match both.
fn overlaps(one: &HostPath, other: &HostPath) -> bool {
    let (mut one, mut other) = (one.segments().iter(), other.segments().iter());
    loop {
        match (one.next(), other.next()) {
            (None, None)
            | (Some(HostSegment::Rest(_)), Some(_))
            | (Some(_), Some(HostSegment::Rest(_))) => return true,
            (Some(HostSegment::Text(one)), Some(HostSegment::Text(other))) if one != other => {
                return false;
            }
            (Some(_), Some(_)) => {}
            _ => return false,
        }
    }
}

/// Returns the order in which axum prefers paths that match the same request:
/// literal text, then a parameter, then a rest.
fn rank(path: &HostPath) -> impl Iterator<Item = u8> {
    path.segments().iter().map(|segment| match segment {
        HostSegment::Text(_) => 0,
        HostSegment::One(_) => 1,
        _ => 2,
    })
}

fn has_rest(path: &HostPath) -> bool {
    matches!(path.segments().last(), Some(HostSegment::Rest(_)))
}

/// Returns true if axum cannot have both paths, because `path` has a parameter
/// at the position of the rest in `rest`. The rest then covers both.
fn swallows(rest: &HostPath, path: &HostPath) -> bool {
    let at = rest.segments().len() - 1;
    let shapes = |path: &HostPath| -> Vec<String> {
        path.segments()[..at].iter().map(|segment| segment_text(segment, true, false)).collect()
    };
    let next = path.segments().get(at).map(|segment| segment_text(segment, true, false));
    next.is_some_and(|next| next == PARAMETER) && shapes(rest) == shapes(path)
}

/// Returns a path in axum syntax, with or without parameter names.
///
/// axum's `{*rest}` matches at least one character, so a path with a rest needs
/// a second path that omits the rest.
fn text(path: &HostPath, with_rest: bool, named: bool) -> String {
    path.segments().iter().map(|segment| segment_text(segment, with_rest, named)).collect()
}

fn segment_text(segment: &HostSegment, with_rest: bool, named: bool) -> String {
    let name = |name: &str| if named { name.to_owned() } else { String::new() };
    match segment {
        // Stockade paths contain no braces, and literal text never starts with
        // `:` or `*`.
        HostSegment::Text(text) => format!("/{text}"),
        HostSegment::One(one) => format!("/{{{}}}", name(one)),
        HostSegment::Rest(rest) if with_rest => format!("/{{*{}}}", name(rest)),
        _ => "/".to_owned(),
    }
}

/// A parameter in axum syntax, without its name.
const PARAMETER: &str = "/{}";

#[cfg(test)]
mod tests;
