//! [`with_cors`]: CORS for some routes, or inside another host.
// Spec: Middleware helpers › `withCors`.

use std::sync::Arc;

use http::{Method, StatusCode};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::{HttpBody, Middleware, Next, Request, Response};

use super::{Cors, CorsDecided, CorsOptions, is_preflight, origin_of};
use crate::described::is_any;

/// Sets the CORS headers on every response, including errors, and responds to
/// preflights with 204.
///
/// Use it for the routes of another host (`to_host_router`, `to_actix_routes`),
/// and for all routes of a group or a node of the tree. For a single route of
/// the stockade router, use the key `cors` instead, which covers its preflights
/// and every response; `with_cors` on such a route is a configuration error.
///
/// # Beyond the spec
///
/// If a group or a router has this middleware, our own router responds to the
/// preflights of its routes with the same rules. The innermost `with_cors`
/// applies, and a `cors` of a route replaces all of them. If OPTIONS is a
/// route, preflights reach the middleware, which allows the headers that the
/// OPTIONS route reads.
///
/// ```
/// use stockade::middleware::{CorsOptions, with_cors};
///
/// let cors = with_cors(CorsOptions::new(["https://app.example"]).max_age(60));
/// assert_eq!(cors.name(), "with_cors");
/// let any = with_cors("*");
/// # drop(any);
/// ```
// Spec: Middleware helpers › `withCors`; Response headers › CORS rules.
#[doc(alias = "withCors")]
pub fn with_cors(options: impl Into<CorsOptions>) -> Middleware {
    let cors = Arc::new(Cors::new(&options.into()));
    let (mark, described) = (Arc::clone(&cors), Arc::clone(&cors));
    Middleware::new(move |req: Request, next: Next| {
        let cors = Arc::clone(&cors);
        async move {
            let mut response = if is_preflight(req.method(), req.headers()) {
                preflight(&cors, &req)
            } else {
                let origin = origin_of(req.headers()).cloned();
                let page = req.page_headers().cloned();
                let mut response = next.run(req).await;
                // The rules nearest to the handler apply.
                if response.extensions().get::<CorsDecided>().is_none() {
                    cors.apply(origin.as_ref(), response.headers_mut(), page.as_deref());
                }
                response
            };
            response.extensions_mut().insert(CorsDecided);
            response
        }
    })
    .named("with_cors")
    .marked(mark)
    .describing(move |doc| {
        if *doc.method() == Method::OPTIONS || is_any(doc.method()) {
            let answer = ResponseDoc::new(204).meaning("The response to a preflight request");
            doc.responds(PREFLIGHT.into_iter().fold(answer, |answer, (name, meaning)| {
                answer.header(HeaderDoc::new(name, meaning).sometimes())
            }));
        }
        described.describe(doc);
    })
}

/// The headers of a preflight response; a rejected preflight has none of them.
const PREFLIGHT: [(&str, &str); 6] = [
    ("Access-Control-Allow-Origin", "The origin that may send the request"),
    ("Access-Control-Allow-Credentials", "Always true: credentials are allowed"),
    ("Access-Control-Allow-Methods", "The methods that pages may use"),
    ("Access-Control-Allow-Headers", "The headers that pages may send"),
    ("Access-Control-Max-Age", "The number of seconds that the response may be cached"),
    ("Access-Control-Allow-Private-Network", "Always true: public pages are also allowed"),
];

fn preflight(cors: &Cors, req: &Request) -> Response {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let page = req.page_headers().map(|page| &**page);
    cors.preflight(req.headers(), response.headers_mut(), page);
    response
}
