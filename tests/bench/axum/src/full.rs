//! The features of full mode.

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::MethodRouter;
use bench_common::header::{ORIGINS, SECURITY};
use bench_common::{mode, token, workload};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use tower_governor::GovernorLayer;
use tower_governor::governor::GovernorConfigBuilder;
use tower_http::cors::CorsLayer;
use tower_http::set_header::SetResponseHeaderLayer;

/// Requires a bearer token.
pub(crate) fn with_token(route: MethodRouter) -> MethodRouter {
    route.layer(middleware::from_fn(token))
}

async fn token(request: Request, next: Next) -> Response {
    let header = request.headers().get(header::AUTHORIZATION);
    let token = header.and_then(|header| header.to_str().ok()?.strip_prefix("Bearer "));
    let claims = token.map(|token| jsonwebtoken::decode::<Claims>(token, &KEY, &VALIDATION));
    match claims {
        Some(Ok(_)) => next.run(request).await,
        _ => refusal(),
    }
}

fn refusal() -> Response {
    let headers = [
        (header::CONTENT_TYPE, "application/json"),
        (header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""),
    ];
    (StatusCode::UNAUTHORIZED, headers, workload::UNAUTHORIZED).into_response()
}

#[expect(dead_code, reason = "only read")]
#[derive(serde::Deserialize)]
struct Claims {
    sub: String,
    role: String,
    exp: u64,
}

static KEY: LazyLock<DecodingKey> =
    LazyLock::new(|| DecodingKey::from_secret(token::SECRET.as_bytes()));
static VALIDATION: LazyLock<Validation> = LazyLock::new(|| Validation::new(Algorithm::HS256));

/// Adds security headers, CORS and the rate limit.
pub(crate) fn with_batteries(mut app: Router) -> Router {
    let limit = GovernorConfigBuilder::default()
        .per_nanosecond(1)
        .burst_size(mode::MAX_REQUESTS)
        .use_headers()
        .finish();
    if let Some(limit) = limit {
        app = app.layer(GovernorLayer::new(Arc::new(limit)));
    }
    let cors = CorsLayer::new()
        .allow_origin(ORIGINS.map(HeaderValue::from_static))
        .allow_credentials(true)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH])
        .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION])
        .expose_headers(
            ["ratelimit", "ratelimit-policy", "retry-after", "x-request-id"]
                .map(HeaderName::from_static),
        );
    app = app.layer(cors);
    for (name, value) in SECURITY {
        let name = HeaderName::from_static(name);
        let value = HeaderValue::from_static(value);
        app = app.layer(SetResponseHeaderLayer::if_not_present(name, value));
    }
    app
}
