//! What runs before and around the handlers.

use stockade::auth::verify_token;
use stockade::extract::Headers;
use stockade::http::HeaderMap;
use stockade::prelude::*;
use stockade::rest::{RowFilter, Store as _};
use stockade::validation::ValidationOptions;

use super::stock::{Claims, NoData, Shop};

/// Runs around everything: it sees each response of a route, errors included.
pub async fn tag_response(req: Request, next: Next) -> Response {
    let mut response = next.run(req).await;
    response.headers_mut().insert("x-shop", header::HeaderValue::from_static("stockade"));
    response
}

/// The account of the token that a request brings: a token says who, and the
/// shop what they are by now, so that a role that was taken away is gone.
///
/// Without its data the shop does not know who it is: then 503, and not 401.
pub async fn known_account(shop: State<Shop>, headers: Headers) -> Result<Option<Claims>, NoData> {
    account_of(&shop, token_of(&headers)).await
}

/// The account of the token that a client of GraphQL sends by a WebSocket: as
/// `authorization` in the payload of its first message, because the script of a page
/// cannot set that header of the handshake.
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

/// Accounts are seen and changed by their owners, and by admins.
pub fn is_own_or_admin(user: &Value, req: &Request) -> bool {
    user["role"] == "admin" || user["sub"].as_str() == req.param("id").as_deref()
}

/// A misspelt field is an error and not silently left out.
pub fn strict() -> ValidationOptions {
    ValidationOptions::new().allow_unknown(false)
}
