//! [`AccountRequest`]: a request that begins, ends or changes the login of a
//! user.

use std::collections::BTreeMap;
use std::fmt;

use http::{HeaderMap, Method};
use serde::Serialize;
use serde_json::Value;

use crate::Credentials;
use crate::fail::fail;
use crate::header::header_of;
use crate::sample::encoded;
use crate::shot::Shot;

/// A request that signs a user in or out, or that changes the password, the
/// membership or the role of a user. See [`Hardening::sign_in`].
///
/// A text such as `"POST /logout"` is a request too.
///
/// `{name}` in the path, in a header or as a text in the JSON body is replaced
/// by the member `name` of the response to the sign-in, or by the cookie with
/// this name. A JSON body that is not set is generated from the schema of the
/// route; its members get the values with the same names, such as
/// `refreshToken`.
///
/// ```
/// use stockade::prelude::*;
/// use stockade::testing::{AccountRequest, Credentials};
///
/// let sign_in = AccountRequest::new("POST /login")
///     .json(json!({ "name": "ada", "password": "correct horse" }));
/// let admin = Credentials::header("x-api-key", "the key of an admin");
/// let removal = AccountRequest::new("DELETE /members/{id}").of(admin);
/// # drop((sign_in, removal));
/// ```
///
/// [`Hardening::sign_in`]: crate::Hardening::sign_in
#[derive(Clone)]
#[must_use = "nothing is sent until `Hardening::run` is called"]
pub struct AccountRequest {
    method: Method,
    target: String,
    headers: Vec<(String, String)>,
    body: Option<(String, Vec<u8>)>,
    user: Option<Credentials>,
}

impl AccountRequest {
    /// Creates a request from a method and a path, such as `POST /login`.
    ///
    /// # Panics
    /// Panics if the text is not a method and a path.
    #[track_caller]
    pub fn new(request: impl AsRef<str>) -> Self {
        let text = request.as_ref();
        let parts = text.split_once(' ').filter(|(_, target)| target.starts_with('/'));
        let method = parts.and_then(|(method, _)| Method::from_bytes(method.as_bytes()).ok());
        let (Some((_, target)), Some(method)) = (parts, method) else {
            fail(format_args!("{text:?} is not a method and a path, such as \"POST /login\""))
        };
        Self { method, target: target.to_owned(), headers: Vec::new(), body: None, user: None }
    }

    /// Sets the body as JSON.
    ///
    /// # Panics
    /// Panics if the value cannot be serialized.
    #[track_caller]
    pub fn json(self, value: impl Serialize) -> Self {
        match serde_json::to_vec(&value) {
            Ok(bytes) => self.body("application/json", bytes),
            Err(error) => fail(error),
        }
    }

    /// Sets the body, with its media type.
    pub fn body(mut self, media_type: impl Into<String>, body: impl Into<Vec<u8>>) -> Self {
        self.body = Some((media_type.into(), body.into()));
        self
    }

    /// Adds a header.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a header.
    #[track_caller]
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, value) = (name.as_ref(), value.as_ref());
        // Only checks them; the value may contain a placeholder.
        let _ = header_of(name, value);
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the request as another user, such as an administrator. Default:
    /// with the credentials of the sign-in.
    pub fn of(mut self, user: Credentials) -> Self {
        self.user = Some(user);
        self
    }

    pub(super) fn has_own_user(&self) -> bool {
        self.user.is_some()
    }

    pub(super) fn has_body(&self) -> bool {
        self.body.is_some()
    }

    /// Returns the method and the target, for messages.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.method, self.target)
    }

    /// Returns the request with these values in place of `{name}`. Adds the
    /// `credentials` unless the request has its own user.
    pub(super) fn shot(&self, values: &BTreeMap<String, String>, credentials: &HeaderMap) -> Shot {
        let mut target = self.target.clone();
        for (name, value) in values {
            target = target.replace(&format!("{{{name}}}"), &encoded(value, false));
        }
        let mut shot = Shot::new(self.method.clone(), target);
        match &self.user {
            Some(user) => shot = shot.of(user),
            None => shot.headers.extend(credentials.clone()),
        }
        for (name, value) in &self.headers {
            let value = values.iter().fold(value.clone(), |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), value)
            });
            shot = shot.set(name, value);
        }
        match &self.body {
            Some((media_type, bytes)) => shot.body(media_type, filled(bytes, values)),
            None => shot,
        }
    }
}

/// Replaces texts such as `{name}` in JSON. Returns another body unchanged.
fn filled(bytes: &[u8], values: &BTreeMap<String, String>) -> Vec<u8> {
    let Ok(mut body) = serde_json::from_slice::<Value>(bytes) else { return bytes.to_vec() };
    fill(&mut body, values);
    body.to_string().into_bytes()
}

fn fill(value: &mut Value, values: &BTreeMap<String, String>) {
    match value {
        Value::String(text) => {
            let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
            if let Some(known) = name.and_then(|name| values.get(name)) {
                text.clone_from(known);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| fill(item, values)),
        Value::Object(members) => members.values_mut().for_each(|item| fill(item, values)),
        _ => {}
    }
}

impl From<&str> for AccountRequest {
    /// Creates the request as [`AccountRequest::new`] does.
    #[track_caller]
    fn from(request: &str) -> Self {
        Self::new(request)
    }
}

/// Prints the method and the path, because headers and bodies contain
/// credentials.
impl fmt::Debug for AccountRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AccountRequest").field(&self.name()).finish()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_the_sign_in_replace_names() {
        let values = BTreeMap::from([("id".to_owned(), "7 a".to_owned())]);
        let request = AccountRequest::new("DELETE /members/{id}").header("x-member", "{id}");
        let request = request.json(json!({ "ids": ["{id}", "{other}", "id"] }));
        let shot = request.shot(&values, &HeaderMap::new());
        assert_eq!(shot.target, "/members/7%20a");
        assert_eq!(shot.headers["x-member"], "7 a");
        let sent = shot.sent(std::panic::Location::caller());
        assert_eq!(sent.body.unwrap(), r#"{"ids":["7 a","{other}","id"]}"#);
        assert_eq!(format!("{request:?}"), r#"AccountRequest("DELETE /members/{id}")"#);
    }

    #[test]
    fn rejects_a_text_that_is_not_a_request() {
        for text in ["/login", "POST", "POST login", "a b /login"] {
            let result = std::panic::catch_unwind(|| drop(AccountRequest::new(text)));
            let message = *result.unwrap_err().downcast::<String>().unwrap();
            assert!(message.contains("is not a method and a path"), "{message}");
        }
    }
}
