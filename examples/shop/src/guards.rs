//! Code that runs before and around the handlers.

use stockade::auth::verify_token;
use stockade::extract::Headers;
use stockade::http::HeaderMap;
use stockade::middleware::with_etag;
use stockade::prelude::*;
use stockade::rest::{RowFilter, Store as _};
use stockade::validation::ValidationOptions;

use crate::stock::{Claims, NoData, Shop};

/// Runs around everything: it sees each response of a route, including errors.
pub async fn tag_response(req: Request, next: Next) -> Response {
    let mut response = next.run(req).await;
    response.headers_mut().insert("x-shop", header::HeaderValue::from_static("stockade"));
    response
}

/// Returns the account for the token of a request. The token contains only the
/// user, and the shop provides the current data, so a revoked role has no
/// effect.
///
/// If the database is down, the client gets a 503 rather than a 401.
pub async fn known_account(shop: State<Shop>, headers: Headers) -> Result<Option<Claims>, NoData> {
    account_of(&shop, token_of(&headers)).await
}

/// Returns the middleware of public responses. Because they are public,
/// compression reveals no secrets.
pub fn smaller() -> Vec<Middleware> {
    vec![
        #[cfg(feature = "compression")]
        Middleware::new(stockade::middleware::with_compression()),
        Middleware::new(with_etag()),
    ]
}

/// Returns the middleware of an upload by `users`, which may be compressed.
/// `max_body` limits the decompressed size.
pub fn decompressed(users: &Middleware) -> Vec<Middleware> {
    vec![
        users.clone(),
        #[cfg(feature = "compression")]
        Middleware::new(stockade::middleware::with_decompression()),
    ]
}

/// Returns the account for the token that a GraphQL client sends over a
/// WebSocket: as `authorization` in the payload of its first message. Browser
/// scripts cannot set this header for the handshake.
#[cfg(feature = "graphql")]
pub async fn account_of_payload(
    payload: Value,
    shop: State<Shop>,
    headers: Headers,
) -> Result<Option<Claims>, NoData> {
    account_of(&shop, payload["authorization"].as_str().or(token_of(&headers))).await
}

fn token_of(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()
}

async fn account_of(shop: &Shop, token: Option<&str>) -> Result<Option<Claims>, NoData> {
    let claims = token.and_then(|token| verify_token(token, &shop.secret));
    let id = claims.and_then(|claims| claims.subject()?.parse().ok());
    let Some(id) = id else { return Ok(None) };
    let account = shop.users.get(&id, &RowFilter::all()).await?;
    Ok(account.map(|it| Claims { sub: id.to_string(), role: it.value.role }))
}

/// Returns true for the owner of an account and for admins, who may read and
/// change it.
pub fn is_own_or_admin(user: &Value, req: &Request) -> bool {
    user["role"] == "admin" || user["sub"].as_str() == req.param("id").as_deref()
}

/// Returns options that reject misspelled fields instead of ignoring them.
pub fn strict() -> ValidationOptions {
    ValidationOptions::new().allow_unknown(false)
}
