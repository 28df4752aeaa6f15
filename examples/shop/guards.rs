//! What runs before and around the handlers.

use stockade::auth::verify_token;
use stockade::extract::Headers;
use stockade::http::HeaderMap;
use stockade::prelude::*;
use stockade::rest::{Scope, Store as _};
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
    let Some(id) = id_of_token(&headers, &shop.secret) else { return Ok(None) };
    let account = shop.users.get(&id, &Scope::all()).await?;
    Ok(account.map(|it| Claims { sub: id.to_string(), role: it.value.role }))
}

fn id_of_token(headers: &HeaderMap, secret: &Secret) -> Option<u32> {
    let token = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    verify_token(token, secret)?.subject()?.parse().ok()
}

/// Accounts are seen and changed by their owners, and by admins.
pub fn is_own_or_admin(user: &Value, req: &Request) -> bool {
    user["role"] == "admin" || user["sub"].as_str() == req.param("id").as_deref()
}

/// A misspelt field is an error and not silently left out.
pub fn strict() -> ValidationOptions {
    ValidationOptions::new().allow_unknown(false)
}
