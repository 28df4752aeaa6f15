//! The features of full mode.

use std::sync::LazyLock;

use bench_common::header::{ORIGINS, SECURITY};
use bench_common::{mode, token, workload};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use salvo::cors::Cors;
use salvo::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use salvo::rate_limiter::{BasicQuota, FixedGuard, MokaStore, RateLimiter, RemoteIpIssuer};
use salvo::size_limiter::max_size;
use salvo::{Depot, FlowCtrl, Request, Response, Service, handler};

/// Adds security headers, CORS, the rate limit and the body limit.
pub(crate) fn with_batteries(service: Service) -> Service {
    let most = usize::try_from(mode::MAX_REQUESTS).unwrap_or(usize::MAX);
    let quota = BasicQuota::set_seconds(most, mode::WINDOW_SECONDS.into());
    let limit = RateLimiter::new(FixedGuard::new(), MokaStore::new(), RemoteIpIssuer, quota);
    let cors = Cors::new()
        .allow_origin(ORIGINS)
        .allow_credentials(true)
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::PATCH])
        .allow_headers([header::CONTENT_TYPE, header::AUTHORIZATION])
        .expose_headers(vec!["RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id"]);
    service
        .hoop(security)
        .hoop(cors.into_handler())
        .hoop(limit.add_headers(true))
        .hoop(max_size(mode::MAX_BODY))
}

#[handler]
async fn security(response: &mut Response) {
    for (name, value) in SECURITY {
        let name = HeaderName::from_static(name);
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
}

/// Requires a bearer token.
#[handler]
pub(crate) async fn bearer(
    request: &mut Request,
    depot: &mut Depot,
    response: &mut Response,
    flow: &mut FlowCtrl,
) {
    let header = request.headers().get(header::AUTHORIZATION);
    let token = header.and_then(|header| header.to_str().ok()?.strip_prefix("Bearer "));
    let claims = token.map(|token| jsonwebtoken::decode::<Claims>(token, &KEY, &VALIDATION));
    if let Some(Ok(_)) = claims {
        flow.call_next(request, depot, response).await;
        return;
    }
    let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
    response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    crate::json(response, StatusCode::UNAUTHORIZED, workload::UNAUTHORIZED);
    flow.skip_rest();
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
