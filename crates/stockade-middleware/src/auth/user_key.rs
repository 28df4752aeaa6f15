//! [`UserKey`]: the identity of an authenticated user, as a key.

use std::fmt;

use serde_json::{Map, Value, json};
use stockade_core::Request;

use super::CurrentSession;

/// The identity of an authenticated user, as a text that is unique to the user.
///
/// A subject such as `7` is unique only among the users of one source: two
/// token issuers, or a session and an API key, may both have a user `7`. The
/// key contains the authentication method, the issuer (`iss`), the subject and
/// the tenant. It is a JSON array, so different users never have the same key,
/// whatever these texts contain.
///
/// - The subject is the subject of the session, or `sub` or `id` of the user,
///   or the user itself if it is a text or a number. An empty text is not a
///   subject. A number that may have lost digits because it is larger than 64
///   bits is not a subject either. A user with such a number as issuer or
///   tenant does not have a key.
/// - The tenant is `tenant`, `tenant_id` or `org_id` of the user, if present.
/// - The method is described at [`Auth::user_pool`](super::Auth::user_pool).
///
/// Use it for everything that belongs to a user: rate limits, caches, presence,
/// names in an audit log. [`with_idempotency`](crate::with_idempotency) uses it
/// by default.
///
/// ```
/// use stockade::middleware::{RateLimit, UserKey, with_rate_limit};
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// fn user_of(req: &Request) -> Result<String, ApiError> {
///     UserKey::of(req).map(String::from).ok_or_else(ApiError::authentication)
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let known = with_auth(Auth::bearer(async |token: String| Some(json!({ "sub": token }))));
/// let each = with_rate_limit(RateLimit::from(1 / MINUTE).name("user").key_generator(user_of));
/// let api = routes! { "rooms": { GET: { async || "rooms", middleware: [known, each] } } };
/// # let client = TestClient::new(create_router(api, RouterOptions::new()));
/// client.get("/rooms").bearer("ada").await.assert_status(200);
/// client.get("/rooms").bearer("ada").await.assert_status(429);
/// client.get("/rooms").bearer("bob").await.assert_status(200);
/// # }
/// ```
///
/// The text may differ between versions of this crate. Do not parse it, and
/// store it only if you can afford to lose it.
#[derive(Clone, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct UserKey(String);

impl UserKey {
    /// Returns the user's key for a request. Returns `None` if the request does
    /// not have a user, or if the user does not have a subject.
    #[must_use]
    pub fn of(req: &Request) -> Option<Self> {
        let user = req.user()?;
        let origin = req.user_origin();
        let session = origin.and_then(|origin| CurrentSession::subject(req, origin));
        let (name, subject) = match session {
            Some(subject) => ("sub", Value::from(subject)),
            None => subject_of(user)?,
        };
        let issuer = user.get("iss").unwrap_or(&Value::Null);
        let tenant = tenant_of(user);
        if tenant.values().chain([issuer]).any(|value| value.is_number() && !is_exact(value)) {
            return None;
        }
        let rest = json!([issuer, name, subject, tenant]);
        // The origin is already JSON.
        let origin = origin.map_or("null", |origin| origin);
        Some(Self(format!("[{origin},{rest}]")))
    }

    /// Returns the key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Returns the member that identifies a user, and its value.
fn subject_of(user: &Value) -> Option<(&'static str, Value)> {
    let is_name = |value: &&Value| match value {
        Value::String(text) => !text.is_empty(),
        value => is_exact(value),
    };
    let member = |name| Some((name, user.get(name).filter(is_name)?));
    let found = member("sub").or_else(|| member("id"));
    let found = found.or_else(|| Some(user).filter(is_name).map(|user| ("user", user)));
    found.map(|(name, subject)| (name, subject.clone()))
}

/// Returns true for a number that has a unique text. Larger numbers may have
/// lost digits when they were parsed.
fn is_exact(value: &Value) -> bool {
    // 2 to the power of 53: every integer below it is exact as an `f64`.
    const MAX: f64 = 9_007_199_254_740_992.0;
    let is_small = |number: f64| number.abs() < MAX;
    value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_small)
}

/// Returns the members that identify the tenant of a user.
fn tenant_of(user: &Value) -> Map<String, Value> {
    let members = TENANTS.into_iter().filter_map(|name| {
        let tenant = user.get(name).filter(|tenant| !tenant.is_null())?;
        Some((name.to_owned(), tenant.clone()))
    });
    members.collect()
}

const TENANTS: [&str; 3] = ["tenant", "tenant_id", "org_id"];

impl fmt::Display for UserKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<UserKey> for String {
    fn from(key: UserKey) -> Self {
        key.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn key_of(origin: Option<&str>, user: Value) -> Option<String> {
        let mut req = Request::from(http::Request::get("/").body(()).unwrap());
        req.set_user(Some(user));
        if let Some(origin) = origin {
            req.set_user_origin(origin.into());
        }
        UserKey::of(&req).map(String::from)
    }

    /// Checks subjects, issuers and tenants that contain the separators of the
    /// key.
    #[test]
    fn different_users_never_have_the_same_key() {
        let texts = ["7", " ", "null", "\"", "\",\"", "[", "],[", "a\",\"sub\",\"b", "\\", "\u{0}"];
        let mut values: Vec<Value> = texts.map(Value::from).into();
        values.extend([json!(7), json!(7.5), json!(-7)]);
        let mut seen = HashMap::new();
        let origins =
            [None, Some(r#"["token","",0]"#), Some(r#"["token","",1]"#), Some(r#"["a"]"#)];
        for origin in origins {
            for first in &values {
                let mut users = vec![first.clone()];
                for second in &values {
                    users.push(json!({ "sub": first, "iss": second }));
                    users.push(json!({ "id": first, "iss": second }));
                    users.push(json!({ "sub": first, "tenant": second }));
                    users.push(json!({ "sub": first, "tenant_id": second }));
                    users.push(json!({ "sub": first, "org_id": second }));
                }
                for user in users {
                    let key = key_of(origin, user.clone()).unwrap();
                    let earlier = seen.insert(key, (origin, user.clone()));
                    assert_eq!(earlier, None, "{origin:?} {user}");
                }
            }
        }
        assert!(seen.len() > 3_000, "{}", seen.len());
    }

    #[test]
    fn the_same_user_has_the_same_key() {
        let earlier = json!({ "sub": "ada", "iss": "a", "iat": 1, "tenant": "x", "role": "user" });
        let later = json!({ "role": "admin", "tenant": "x", "iss": "a", "sub": "ada", "iat": 2 });
        assert_eq!(key_of(None, earlier), key_of(None, later));
        assert_eq!(
            key_of(None, json!({ "sub": "ada", "tenant": null })),
            key_of(None, json!({ "sub": "ada", "iss": null }))
        );
    }

    #[test]
    fn users_without_a_subject_have_no_key() {
        let number = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        for user in [
            json!({}),
            json!({ "name": "ada" }),
            json!([7]),
            json!(true),
            json!(""),
            json!({ "sub": "", "id": null }),
            json!({ "sub": ["7"] }),
            json!({ "sub": { "id": 7 } }),
            // The next larger number has the same `Value`.
            json!({ "sub": number("18446744073709551616") }),
            json!({ "sub": number("-9223372036854775809") }),
            json!({ "sub": "7", "iss": number("18446744073709551616") }),
            json!({ "sub": "7", "tenant_id": number("18446744073709551616") }),
        ] {
            assert_eq!(key_of(None, user.clone()), None, "{user}");
        }
        // An empty `sub` is skipped, and `id` is used.
        let [one, other] = [1, 2].map(|id| key_of(None, json!({ "sub": "", "id": id })));
        assert!(one.is_some() && one != other);
        assert!(key_of(None, json!({ "sub": u64::MAX })).is_some());
        let nobody = Request::from(http::Request::get("/").body(()).unwrap());
        assert_eq!(UserKey::of(&nobody), None);
    }

    #[test]
    fn setting_another_user_removes_the_origin() {
        let mut req = Request::from(http::Request::get("/").body(()).unwrap());
        req.set_user(Some(json!({ "sub": "7" })));
        req.set_user_origin(r#"["token","",0]"#.into());
        let found = UserKey::of(&req);
        req.set_user(Some(json!({ "sub": "7" })));
        assert_ne!(UserKey::of(&req), found);
    }
}
