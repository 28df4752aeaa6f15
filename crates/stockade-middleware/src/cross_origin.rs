//! [`with_cors`]: the headers of CORS on some routes, or inside another host.
//!
//! Spec: Middleware helpers › `withCors`.

use std::sync::Arc;

use http::StatusCode;
use stockade_core::{HttpBody, Middleware, Next, Request, Response};

use crate::cors::{Cors, CorsDecided, CorsOptions, is_preflight, origin_of};

/// Sets the headers of CORS on every response, errors included, and answers
/// preflights with 204.
///
/// A router does this for all its routes, before any middleware; this is for
/// routes with rules of their own, and for hosts that run middleware without
/// our router. Preflights arrive at middleware only where OPTIONS is a route.
///
/// ```
/// use stockade_middleware::{CorsOptions, with_cors};
///
/// let cors = with_cors(CorsOptions::new(["https://app.example"]).max_age(60));
/// assert_eq!(cors.name(), "with_cors");
/// let any = with_cors("*");
/// # drop(any);
/// ```
///
/// Spec: Middleware helpers › `withCors`; Response headers › CORS rules.
#[doc(alias = "withCors")]
pub fn with_cors(options: impl Into<CorsOptions>) -> Middleware {
    let cors = Arc::new(Cors::new(&options.into()));
    Middleware::new(move |mut req: Request, next: Next| {
        let cors = Arc::clone(&cors);
        async move {
            let mut response = if is_preflight(req.method(), req.headers()) {
                preflight(&cors, &req)
            } else {
                let origin = origin_of(req.headers()).cloned();
                req.set_listed_origin(cors.lists(origin.as_ref()));
                let mut response = next.run(req).await;
                // The rules nearest to the handler count.
                if response.extensions().get::<CorsDecided>().is_none() {
                    cors.apply(origin.as_ref(), response.headers_mut());
                }
                response
            };
            response.extensions_mut().insert(CorsDecided);
            response
        }
    })
    .named("with_cors")
}

fn preflight(cors: &Cors, req: &Request) -> Response {
    let mut response = Response::new(HttpBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    cors.preflight(req.headers(), response.headers_mut());
    response
}
