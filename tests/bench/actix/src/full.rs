//! The features of full mode.

use std::sync::LazyLock;

use actix_cors::Cors;
use actix_governor::governor::middleware::StateInformationMiddleware;
use actix_governor::{GovernorConfig, GovernorConfigBuilder, PeerIpKeyExtractor};
use actix_web::http::header;
use actix_web::{HttpRequest, HttpResponse, web};
use bench_common::header::ORIGINS;
use bench_common::{mode, token, workload};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};

pub(crate) fn limit() -> GovernorConfig<PeerIpKeyExtractor, StateInformationMiddleware> {
    let mut builder = GovernorConfigBuilder::default();
    builder.nanoseconds_per_request(1).burst_size(mode::MAX_REQUESTS);
    let Some(limit) = builder.use_headers().finish() else { unreachable!("neither number is 0") };
    limit
}

pub(crate) fn cors() -> Cors {
    let cors = ORIGINS.into_iter().fold(Cors::default(), Cors::allowed_origin);
    cors.supports_credentials()
        .allowed_methods(["GET", "POST", "PUT", "DELETE", "PATCH"])
        .allowed_headers([header::CONTENT_TYPE, header::AUTHORIZATION])
        .expose_headers(["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"])
}

/// Handles the route with two parameters if the request has a valid token.
pub(crate) async fn post(request: HttpRequest, path: web::Path<(u32, u32)>) -> HttpResponse {
    let header = request.headers().get(header::AUTHORIZATION);
    let token = header.and_then(|header| header.to_str().ok()?.strip_prefix("Bearer "));
    let claims = token.map(|token| jsonwebtoken::decode::<Claims>(token, &KEY, &VALIDATION));
    match claims {
        Some(Ok(_)) => crate::post(path).await,
        _ => HttpResponse::Unauthorized()
            .insert_header(crate::JSON)
            .insert_header((header::WWW_AUTHENTICATE, "Bearer error=\"invalid_token\""))
            .body(workload::UNAUTHORIZED),
    }
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
