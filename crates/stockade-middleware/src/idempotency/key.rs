//! [`IdempotencyKey`]: the idempotency key of a request, and its scope.
//!
//! Source: draft-ietf-httpapi-idempotency-key-header-07, section 2.1; RFC 9651,
//! section 4.2.5 (strings).

use std::fmt;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use serde_json::json;
use stockade_core::extract::OptionalFromRequest;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::ApiError;

use crate::auth::UserKey;
use crate::hashed::hash;
use crate::rate_limit::RateKey;

/// The `Idempotency-Key` of a request; a handler argument.
///
/// Handlers inside [`with_idempotency`](crate::with_idempotency) rarely need
/// it. Use it for work that must run exactly once even if a process dies
/// between the work and its response: write [`scoped`](Self::scoped) to a
/// unique column in the transaction of the work. The second attempt then fails
/// there, whatever the key store contains.
///
/// The header is a string of a structured field: `"8e03978e-40d5"`, in double
/// quotes, of 1 to 255 visible ASCII characters and spaces. Another form is a
/// 400, unless
/// [`Idempotency::unquoted_keys`](super::Idempotency::unquoted_keys) of the
/// route's middleware accepts it. A missing header is a 400 too, unless the
/// argument is an `Option`.
///
/// ```
/// use stockade::middleware::IdempotencyKey;
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// async fn pay(key: IdempotencyKey) -> String {
///     // insert into payments (attempt, …) values ($1, …), where `attempt` is unique
///     format!("{} {}", key.as_str(), key.scoped().to_string().len())
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let api = routes! { "payments": { POST: pay } };
/// # let client = TestClient::new(create_router(api, RouterOptions::new()));
/// let paid = client.post("/payments").header("idempotency-key", "\"a-1\"").await;
/// paid.assert_text("a-1 64");
/// client.post("/payments").header("idempotency-key", "a-1").await.assert_status(400);
/// client.post("/payments").await.assert_status(400);
/// # }
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct IdempotencyKey {
    text: Arc<str>,
    scoped: ScopedKey,
}

/// A key in its scope: the SHA-256 of the user or client, the method, the route
/// and the key. The parts cannot be recovered without guessing them.
///
/// Its text is 64 hexadecimal digits.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ScopedKey {
    hash: [u8; 32],
    owner: [u8; 32],
}

/// A function that returns the owner of a request's keys.
pub(super) type ScopeOf = dyn Fn(&Request) -> Result<String, ApiError> + Send + Sync;

impl IdempotencyKey {
    /// Returns the key that the client chose.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the key in its scope. It is the same for each retry of a
    /// request, and different for another user, method or route.
    ///
    /// The scope is defined by the
    /// [`with_idempotency`](crate::with_idempotency) around the handler, or by
    /// its defaults if there is none.
    #[must_use]
    pub fn scoped(&self) -> ScopedKey {
        self.scoped
    }

    /// Reads the key of a request, or returns `None` if the header is missing.
    pub(super) fn of(
        req: &Request,
        form: KeyForm,
        scope: Option<&ScopeOf>,
    ) -> Result<Option<Self>, ApiError> {
        let Some(text) = read(req.headers(), form)? else { return Ok(None) };
        let scoped = ScopedKey::of(req, &text, scope)?;
        Ok(Some(Self { text: text.into(), scoped }))
    }
}

impl ScopedKey {
    /// Creates a key from its hash and its owner hash, for tests of a store.
    #[must_use]
    pub fn from_hashes(hash: [u8; 32], owner: [u8; 32]) -> Self {
        Self { hash, owner }
    }

    /// Returns the hash, which identifies the key.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.hash
    }

    /// Returns the SHA-256 of the user or client. A store may limit the keys of
    /// each.
    #[must_use]
    pub fn owner(&self) -> &[u8; 32] {
        &self.owner
    }

    fn of(req: &Request, key: &str, scope: Option<&ScopeOf>) -> Result<Self, ApiError> {
        let owner = match scope {
            Some(scope) => format!("own:{}", scope(req)?),
            None => owner(req)?,
        };
        let route = req.route().unwrap_or_default();
        let parts = [&*owner, req.method().as_str(), route, key];
        Ok(Self { hash: hash(parts.map(str::as_bytes)), owner: hash([owner.as_bytes()]) })
    }
}

/// Returns the user of a request, or its client without a user.
fn owner(req: &Request) -> Result<String, ApiError> {
    if req.user().is_none() {
        return Ok(format!("client:{}", RateKey::from(req.client_ip())));
    }
    match UserKey::of(req) {
        Some(key) => Ok(format!("user:{key}")),
        None => Err(ApiError::new(500, NAMELESS)),
    }
}

const NAMELESS: &str = "the user has neither a `sub` nor an `id`, so idempotency keys of \
                        different users are indistinguishable: set `Idempotency::scope_by`";

/// The accepted form of the header.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum KeyForm {
    /// A string of a structured field.
    Quoted,
    /// A string of a structured field, or a key without quotes.
    Any,
}

/// Reads the header, or returns `None` if it is missing.
fn read(headers: &HeaderMap, form: KeyForm) -> Result<Option<String>, ApiError> {
    let mut lines = headers.get_all(HEADER).iter();
    let Some(line) = lines.next() else { return Ok(None) };
    if lines.next().is_some() {
        return Err(malformed("it appears more than once"));
    }
    parse(line, form).map(Some).map_err(malformed)
}

/// Parses a key in one of the forms.
fn parse(line: &HeaderValue, form: KeyForm) -> Result<String, &'static str> {
    let line = line.as_bytes().trim_ascii();
    match form {
        KeyForm::Any if !line.starts_with(b"\"") => parse_unquoted(line),
        KeyForm::Quoted | KeyForm::Any => parse_quoted(line),
    }
}

/// Parses a key without quotes. A comma could join two headers, and a semicolon
/// could begin a parameter.
fn parse_unquoted(line: &[u8]) -> Result<String, &'static str> {
    if line.is_empty() {
        return Err("it is empty");
    }
    if line.len() > MAX_KEY_LENGTH {
        return Err(TOO_LONG);
    }
    let is_allowed =
        |byte: &u8| byte.is_ascii_graphic() && !matches!(byte, b'"' | b'\\' | b',' | b';');
    if !line.iter().all(is_allowed) {
        return Err(
            "a key without quotes must contain only visible ASCII characters except \" \\ , and ;",
        );
    }
    Ok(line.iter().copied().map(char::from).collect())
}

/// Parses a string of a structured field, without parameters.
fn parse_quoted(line: &[u8]) -> Result<String, &'static str> {
    let inside = line.strip_prefix(b"\"").ok_or(UNQUOTED)?;
    let mut key = String::new();
    let mut bytes = inside.iter();
    loop {
        match bytes.next() {
            Some(b'"') => break,
            Some(b'\\') => match bytes.next() {
                Some(byte @ (b'"' | b'\\')) => key.push(char::from(*byte)),
                _ => return Err("a backslash must be followed by a quote or a backslash"),
            },
            Some(byte @ b' '..=b'~') => key.push(char::from(*byte)),
            Some(_) => return Err("it must contain only visible ASCII characters and spaces"),
            None => return Err(UNQUOTED),
        }
        if key.len() > MAX_KEY_LENGTH {
            return Err(TOO_LONG);
        }
    }
    if !bytes.as_slice().is_empty() {
        return Err("it must end after the closing quote");
    }
    if key.is_empty() {
        return Err("it is empty");
    }
    Ok(key)
}

#[cold]
fn malformed(reason: &'static str) -> ApiError {
    ApiError::new(400, format!("The header Idempotency-Key is malformed: {reason}"))
}

/// Creates the 400 for a request without the header.
#[cold]
pub(super) fn missing() -> ApiError {
    ApiError::new(400, "The header Idempotency-Key is missing")
}

/// The name of the header.
pub(super) const HEADER: &str = "idempotency-key";
const UNQUOTED: &str = "it must be a string in double quotes, such as \"8e03978e-40d5\"";
const TOO_LONG: &str = "it must have at most 255 characters";
const MAX_KEY_LENGTH: usize = 255;

impl FromRequest for IdempotencyKey {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Self::from_request_optional(req).await?.ok_or_else(missing)
    }

    fn describe(doc: &mut RouteDescription) {
        describe(doc, true, KeyForm::Quoted);
    }
}

impl OptionalFromRequest for IdempotencyKey {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        match req.extensions().get::<Self>() {
            Some(key) => Ok(Some(key.clone())),
            None => Self::of(req, KeyForm::Quoted, None),
        }
    }

    fn describe_optional(doc: &mut RouteDescription) {
        describe(doc, false, KeyForm::Quoted);
    }
}

/// Notes the header and its 400.
pub(super) fn describe(doc: &mut RouteDescription, required: bool, form: KeyForm) {
    // A quoted string with escapes, made of the characters that `parse_quoted`
    // accepts.
    let quoted = format!(r#""(?:[ !#-\[\]-~]|\\["\\]){{1,{MAX_KEY_LENGTH}}}""#);
    let (pattern, min_length) = match form {
        KeyForm::Quoted => (format!("^{quoted}$"), 3),
        // The characters that `parse_unquoted` accepts.
        KeyForm::Any => (format!(r"^(?:{quoted}|[!#-+\--:<-\[\]-~]{{1,{MAX_KEY_LENGTH}}})$"), 1),
    };
    let schema = json!({
        "type": "string",
        "pattern": pattern,
        "minLength": min_length,
        "maxLength": 2 + 2 * MAX_KEY_LENGTH,
    });
    doc.reads_header_as("Idempotency-Key", required, schema);
    let meaning = match required {
        true => "The header Idempotency-Key is missing or malformed",
        false => "The header Idempotency-Key is malformed",
    };
    doc.may_respond(400, meaning);
}

impl fmt::Display for ScopedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ScopedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ScopedKey({self})")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Result<&str, &str>) {
        check_form(KeyForm::Quoted, line, expected);
    }

    #[track_caller]
    fn check_form(form: KeyForm, line: &str, expected: Result<&str, &str>) {
        let key = parse(&HeaderValue::from_bytes(line.as_bytes()).unwrap(), form);
        let wrong = |reason: &&str| reason.contains(expected.err().unwrap_or("\0"));
        assert!(
            key.as_deref() == expected.as_ref().copied().map_err(|_| &"")
                || key.as_ref().err().is_some_and(wrong),
            "{line}: {key:?}"
        );
    }

    #[test]
    fn a_key_is_a_string_of_a_structured_field() {
        check("\"a-1\"", Ok("a-1"));
        check("  \"a b\"  ", Ok("a b"));
        check(r#""a\"b\\c""#, Ok(r#"a"b\c"#));
        check(r#""~!""#, Ok("~!"));
        let long = "a".repeat(255);
        check(&format!("\"{long}\""), Ok(&long));
    }

    #[test]
    fn rejects_other_forms_with_a_reason() {
        check("a-1", Err("double quotes"));
        check("\"a", Err("double quotes"));
        check("", Err("double quotes"));
        check("\"\"", Err("empty"));
        check(r#""a\b""#, Err("backslash"));
        check(r#""a\"#, Err("backslash"));
        check("\"ä\"", Err("visible ASCII"));
        check("\"a\tb\"", Err("visible ASCII"));
        check("\"a\", \"b\"", Err("closing quote"));
        check("\"a\";x=1", Err("closing quote"));
        check(&format!("\"{}\"", "a".repeat(256)), Err("255"));
    }

    #[test]
    fn accepts_unquoted_keys_if_an_option_allows_them() {
        let check = |line: &str, expected| check_form(KeyForm::Any, line, expected);
        check("8e03978e-40d5", Ok("8e03978e-40d5"));
        check("  ab+/=:.~!  ", Ok("ab+/=:.~!"));
        check("'a'", Ok("'a'"));
        check("\"a b\"", Ok("a b"));
        let long = "a".repeat(255);
        check(&long, Ok(&long));
        check(&"a".repeat(256), Err("255"));
        check("", Err("empty"));
        check("\"\"", Err("empty"));
        for line in ["a b", "a,b", "a;x=1", "a\"", "a\\", "ä", "a\tb"] {
            check(line, Err("without quotes"));
        }
        check("\"a", Err("double quotes"));
        check("\"a\", \"b\"", Err("closing quote"));
    }

    fn request(user: Option<Value>, client: &str) -> Request {
        let head = http::Request::post("/x").header(HEADER, "\"k\"").body(()).unwrap();
        let peer = stockade_core::PeerAddr(format!("{client}:1").parse().unwrap());
        let mut req = Request::from(head).with_peer(peer);
        req.set_user(user);
        req
    }

    fn scoped(user: Option<Value>, client: &str) -> Result<ScopedKey, u16> {
        let key = IdempotencyKey::of(&request(user, client), KeyForm::Quoted, None);
        key.map(|key| key.unwrap().scoped()).map_err(|error| error.status())
    }

    #[test]
    fn users_and_clients_have_separate_keys() {
        use serde_json::json;

        let [here, there] = ["192.0.2.1", "192.0.2.2"];
        assert_eq!(scoped(None, here), scoped(None, here));
        assert_ne!(scoped(None, here), scoped(None, there));
        let ada = || Some(json!({ "sub": "ada", "iat": 1 }));
        let later = Some(json!({ "sub": "ada", "iat": 2 }));
        assert_eq!(scoped(ada(), here), scoped(later, there));
        assert_ne!(scoped(ada(), here), scoped(Some(json!({ "sub": "bob" })), here));
        assert_ne!(scoped(ada(), here), scoped(None, here));
        assert_ne!(
            scoped(Some(json!({ "sub": 7 })), here),
            scoped(Some(json!({ "sub": "7" })), here)
        );
        assert_ne!(scoped(Some(json!({ "id": 7 })), here), scoped(Some(json!(7)), here));
        assert_ne!(
            scoped(Some(json!({ "sub": "ada", "iss": "a" })), here),
            scoped(Some(json!({ "sub": "ada", "iss": "b" })), here)
        );
        assert_eq!(scoped(Some(json!({ "name": "ada" })), here), Err(500));
    }

    #[test]
    fn a_key_has_64_hexadecimal_digits() {
        let key = ScopedKey::from_hashes(hash([]), [0; 32]);
        assert_eq!(key.to_string().len(), 64);
    }
}
