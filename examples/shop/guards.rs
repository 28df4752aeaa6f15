//! What runs before and around the handlers.

use stockade::auth::verify_token;
use stockade::prelude::*;
use stockade::validation::ValidationOptions;

use super::stock::{Claims, Shop};

/// Runs around everything: it sees each response of a route, errors included.
pub async fn tag_response(req: Request, next: Next) -> Response {
    let mut response = next.run(req).await;
    response.headers_mut().insert("x-shop", header::HeaderValue::from_static("stockade"));
    response
}

/// The account of the token that a request brings: a token says who, and the
/// shop what they are by now, so that a role that was taken away is gone.
pub async fn known_account(req: &mut Request) -> Option<Claims> {
    let token = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
    let shop = req.state::<Shop>()?;
    let claims = verify_token(token, &shop.secret)?;
    let id: u32 = claims.subject()?.parse().ok()?;
    let role = shop.stock.read().await.users.get(&id)?.profile.role;
    Some(Claims { sub: id.to_string(), role })
}

/// Accounts are seen and changed by their owners, and by admins.
pub fn is_own_or_admin(user: &Value, req: &Request) -> bool {
    user["role"] == "admin" || user["sub"].as_str() == req.param("id").as_deref()
}

/// A misspelt field is an error and not silently left out.
pub fn strict() -> ValidationOptions {
    ValidationOptions::new().allow_unknown(false)
}
