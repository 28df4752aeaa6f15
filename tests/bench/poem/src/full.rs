//! The features of full mode.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::{Arc, LazyLock};

use bench_common::header::{ORIGINS, SECURITY};
use bench_common::{mode, token, workload};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};
use jsonwebtoken::{Algorithm, DecodingKey, Validation};
use poem::http::{HeaderValue, StatusCode, header};
use poem::middleware::{Cors, SetHeader, SizeLimit};
use poem::{Endpoint, IntoResponse as _, Request, Response, Result};

/// Adds security headers, CORS and the rate limit.
pub(crate) fn with_batteries(app: impl Endpoint + 'static) -> impl Endpoint + 'static {
    let cors = Cors::new().allow_origins(ORIGINS).allow_credentials(true).expose_headers([
        "RateLimit",
        "RateLimit-Policy",
        "Retry-After",
        "X-Request-Id",
    ]);
    let security = SECURITY
        .into_iter()
        .fold(SetHeader::new(), |set, (name, value)| set.overriding(name, value));
    // poem's CORS middleware does not set `Vary`.
    let security = security.overriding("vary", "Origin");
    let most = NonZeroU32::new(mode::MAX_REQUESTS).unwrap_or(NonZeroU32::MAX);
    let limiter: Arc<DefaultKeyedRateLimiter<IpAddr>> =
        Arc::new(RateLimiter::keyed(Quota::per_second(most)));
    let limited = app.around(move |next, request: Request| {
        let limiter = Arc::clone(&limiter);
        async move { limit(&limiter, &next, request).await }
    });
    limited.with(cors).with(security)
}

async fn limit(
    limiter: &DefaultKeyedRateLimiter<IpAddr>,
    next: &impl Endpoint,
    request: Request,
) -> Result<Response> {
    let client = request.remote_addr().as_socket_addr().map(std::net::SocketAddr::ip);
    if client.is_some_and(|client| limiter.check_key(&client).is_err()) {
        return Ok(StatusCode::TOO_MANY_REQUESTS.into_response());
    }
    let mut answer = next.call(request).await?.into_response();
    let value = HeaderValue::from_static("\"default\";q=1000000000;w=60");
    answer.headers_mut().insert("ratelimit-policy", value);
    Ok(answer)
}

pub(crate) fn body_limit() -> SizeLimit {
    SizeLimit::new(usize::try_from(mode::MAX_BODY).unwrap_or(usize::MAX))
}

/// Requires a bearer token.
pub(crate) async fn token<E: Endpoint>(next: Arc<E>, request: Request) -> Result<Response> {
    let header = request.headers().get(header::AUTHORIZATION);
    let token = header.and_then(|header| header.to_str().ok()?.strip_prefix("Bearer "));
    let claims = token.map(|token| jsonwebtoken::decode::<Claims>(token, &KEY, &VALIDATION));
    if let Some(Ok(_)) = claims {
        return Ok(next.call(request).await?.into_response());
    }
    let mut answer = crate::json(StatusCode::UNAUTHORIZED, workload::UNAUTHORIZED);
    let challenge = HeaderValue::from_static("Bearer error=\"invalid_token\"");
    answer.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
    Ok(answer)
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
