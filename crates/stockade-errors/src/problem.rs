//! Problem details (RFC 9457): an error body with a problem type.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Mutex;

use serde_json::{Map, Value};

use crate::locks::lock;
use crate::{ApiError, ErrorKind, status_text};

/// The type of an error without a problem type (RFC 9457, section 4.2.1).
pub const BLANK: &str = "about:blank";

/// The problem type of a failed validation with any status.
pub const VALIDATION_FAILED: &str = "validation-failed";

/// The base of relative problem types, such as `https://shop.example/problems/`.
///
/// ```
/// use stockade::{ApiError, ProblemBase};
///
/// let base = ProblemBase::new("https://shop.example/problems/")?;
/// let error = ApiError::new(409, "7 is sold out").with_problem_type("sold-out");
/// let problem = error.problem_at(Some(base), false);
/// assert_eq!(problem["type"], "https://shop.example/problems/sold-out");
///
/// assert!(ProblemBase::new("/problems/").is_err());
/// # Ok::<(), stockade::InvalidProblemBase>(())
/// ```
#[derive(Clone, Copy, Eq, PartialEq)]
pub struct ProblemBase {
    // Every text is leaked once, so a copy costs nothing. A program has only a
    // few of them.
    text: &'static str,
}

static TEXTS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

impl ProblemBase {
    /// Creates a base from an absolute URI that ends with `/`, such as
    /// `https://shop.example/problems/`.
    ///
    /// The text stays in memory until the process ends, so pass only fixed
    /// texts.
    ///
    /// # Errors
    /// Fails if the URI is not absolute, does not have an authority, has a
    /// query or a fragment, or does not end with `/`.
    pub fn new(text: &str) -> Result<Self, InvalidProblemBase> {
        check(text).map_err(|reason| InvalidProblemBase { text: text.to_owned(), reason })?;
        let mut texts = lock(&TEXTS);
        let text = texts.get(text).copied().unwrap_or_else(|| {
            let text: &'static str = text.to_owned().leak();
            texts.insert(text);
            text
        });
        Ok(Self { text })
    }

    /// Returns the URI.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        self.text
    }

    /// Resolves a problem type to an absolute URI.
    ///
    /// Source: RFC 3986, section 5.2, for the reference forms that problem
    /// types can have.
    #[must_use]
    pub fn resolve(self, uri: &str) -> Cow<'_, str> {
        if is_absolute(uri) { uri.into() } else { format!("{}{uri}", self.text).into() }
    }
}

impl fmt::Display for ProblemBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text)
    }
}

impl fmt::Debug for ProblemBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.text, f)
    }
}

/// A text that cannot be a [`ProblemBase`].
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct InvalidProblemBase {
    text: String,
    reason: &'static str,
}

impl fmt::Display for InvalidProblemBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the base of problem types {:?} {}", self.text, self.reason)
    }
}

impl std::error::Error for InvalidProblemBase {}

fn check(text: &str) -> Result<(), &'static str> {
    if !text.bytes().all(is_uri_byte) {
        return Err("contains characters that a URI cannot contain: percent-encode them");
    }
    if !is_absolute(text) {
        return Err("is not absolute: write it with its scheme, such as \
                    `https://shop.example/problems/`");
    }
    let after_scheme = text.split_once("://").map_or("", |(_, rest)| rest);
    if after_scheme.starts_with('/') || !after_scheme.contains('/') {
        return Err("needs a host and a path, such as `https://shop.example/problems/`");
    }
    if text.contains(['?', '#']) {
        return Err("has a query or a fragment, which relative types would replace");
    }
    if !text.ends_with('/') {
        return Err(
            "must end with `/`, because a relative type replaces the text after the last one",
        );
    }
    Ok(())
}

/// Returns true for the characters of a URI, and for `%`.
///
/// Source: RFC 3986, section 2.
fn is_uri_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/?#[]@!$&'()*+,;=%".contains(&byte)
}

/// Returns true if a URI reference begins with a scheme.
///
/// Source: RFC 3986, section 3.1.
#[must_use]
pub fn is_absolute(uri: &str) -> bool {
    let scheme = uri.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.starts_with(|first: char| first.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
}

/// Returns the framework's problem type for a status, as a relative path.
/// Returns `None` if the framework does not define one.
#[must_use]
pub fn type_of_status(status: u16) -> Option<&'static str> {
    let found = TYPES.iter().find(|(known, _)| *known == status);
    found.map(|(_, name)| *name)
}

/// The problem types of the framework, except [`VALIDATION_FAILED`].
pub const TYPES: [(u16, &str); 20] = [
    (400, "bad-request"),
    (401, "unauthorized"),
    (403, "forbidden"),
    (404, "not-found"),
    (405, "method-not-allowed"),
    (406, "not-acceptable"),
    (408, "request-timeout"),
    (409, "conflict"),
    (412, "precondition-failed"),
    (413, "content-too-large"),
    (415, "unsupported-media-type"),
    (416, "range-not-satisfiable"),
    (422, "unprocessable-content"),
    (426, "upgrade-required"),
    (428, "precondition-required"),
    (429, "too-many-requests"),
    (431, "request-header-fields-too-large"),
    (500, "internal-server-error"),
    (503, "service-unavailable"),
    (504, "gateway-timeout"),
];

impl ApiError {
    /// Returns the body as problem details without a base; see
    /// [`problem_at`](Self::problem_at).
    #[must_use]
    pub fn problem(&self, expose_errors: bool) -> Value {
        self.problem_at(None, expose_errors)
    }

    /// Returns the body as problem details, for the media type
    /// `application/problem+json`.
    ///
    /// `type` is the result of [`problem_type_at`](Self::problem_type_at), and
    /// `title` is the standard text of the status. `detail` is the message if
    /// it differs from the title. Details and members follow.
    ///
    /// Source: RFC 9457, section 3.
    #[must_use]
    pub fn problem_at(&self, base: Option<ProblemBase>, expose_errors: bool) -> Value {
        let title = status_text(self.status());
        let mut body = Map::new();
        body.insert("type".into(), self.problem_type_at(base).into());
        body.insert("title".into(), title.into());
        body.insert("status".into(), self.status().into());
        let detail = self.public_message(expose_errors);
        if detail != title {
            body.insert("detail".into(), detail.into());
        }
        self.add_details(&mut body);
        Value::Object(body)
    }

    /// Returns the problem type that clients receive: the error's type,
    /// resolved against the base.
    ///
    /// If a base is set, an error without a type gets the framework's type for
    /// its [kind](Self::kind) or status, such as `validation-failed` or
    /// `not-found`. Otherwise the result is `about:blank`.
    ///
    /// ```
    /// use stockade::{ApiError, ProblemBase};
    ///
    /// let base = Some(ProblemBase::new("https://shop.example/problems/")?);
    /// let sent = |error: ApiError| error.problem_type_at(base).into_owned();
    /// assert_eq!(sent(ApiError::not_found()), "https://shop.example/problems/not-found");
    /// assert_eq!(sent(ApiError::new(402, "No credit")), "about:blank");
    /// # Ok::<(), stockade::InvalidProblemBase>(())
    /// ```
    #[must_use]
    pub fn problem_type_at(&self, base: Option<ProblemBase>) -> Cow<'_, str> {
        let own = self.problem_type();
        let Some(base) = base else {
            return own.filter(|uri| is_absolute(uri)).unwrap_or(BLANK).into();
        };
        let of_framework = || match self.kind() {
            ErrorKind::Validation => Some(VALIDATION_FAILED),
            _ => type_of_status(self.status()),
        };
        own.or_else(of_framework).map_or_else(|| BLANK.into(), |uri| base.resolve(uri))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "https://shop.example/problems/";

    #[test]
    fn problem_details_name_the_status() {
        let problem = ApiError::new(404, "no product 7").problem(false).to_string();
        let expected =
            r#"{"type":"about:blank","title":"Not Found","status":404,"detail":"no product 7"}"#;
        assert_eq!(problem, expected);
        let hidden = ApiError::new(500, "secret").problem(false).to_string();
        assert_eq!(
            hidden,
            r#"{"type":"about:blank","title":"Internal Server Error","status":500}"#
        );
    }

    #[track_caller]
    fn check_type(error: &ApiError, base: Option<&str>, expected: &str) {
        let base = base.map(|text| ProblemBase::new(text).unwrap());
        assert_eq!(error.problem_type_at(base), expected);
    }

    #[test]
    fn types_resolve_against_the_base() {
        let typed = |uri: &'static str| ApiError::new(409, "no").with_problem_type(uri);
        check_type(&typed("sold-out"), Some(BASE), "https://shop.example/problems/sold-out");
        check_type(&typed("a/b#c"), Some(BASE), "https://shop.example/problems/a/b#c");
        check_type(&typed("tag:a@b.example,2026:x"), Some(BASE), "tag:a@b.example,2026:x");
        check_type(&typed("https://a.example/x"), None, "https://a.example/x");
        check_type(&typed("sold-out"), None, BLANK);
    }

    #[test]
    fn errors_without_a_type_have_the_built_in_type() {
        let at_base = |error: &ApiError, name: &str| check_type(error, Some(BASE), name);
        at_base(&ApiError::validation(&[]), "https://shop.example/problems/validation-failed");
        let other_status = ApiError::validation(&[]).with_status(422);
        at_base(&other_status, "https://shop.example/problems/validation-failed");
        at_base(&ApiError::new(400, "no JSON"), "https://shop.example/problems/bad-request");
        at_base(&ApiError::new(402, "no credit"), BLANK);
        check_type(&ApiError::not_found(), None, BLANK);
    }

    #[test]
    fn hides_5xx_members_and_keeps_the_type() {
        let error = ApiError::new(503, "db-7 is down")
            .with_problem_type("https://shop.example/problems/maintenance")
            .with_member("host", "db-7");
        let expected = r#"{"type":"https://shop.example/problems/maintenance","title":"Service Unavailable","status":503}"#;
        assert_eq!(error.problem(false).to_string(), expected);
        assert_eq!(error.public_members().count(), 0);
        assert_eq!(error.body(false).to_string(), r#"{"error":"Service Unavailable"}"#);
    }

    #[test]
    fn bases_are_checked() {
        for (text, part) in [
            ("", "is not absolute"),
            ("/problems/", "is not absolute"),
            ("shop.example/problems/", "is not absolute"),
            ("1https://shop.example/", "is not absolute"),
            ("urn:problems:", "needs a host and a path"),
            ("file:///problems/", "needs a host and a path"),
            ("https://shop.example", "needs a host and a path"),
            ("https://shop.example/problems", "must end with `/`"),
            ("https://shop.example/?a=/", "has a query"),
            ("https://shop.example/#/", "has a query"),
            ("https://shop.example/a b/", "percent-encode"),
            ("https://shop.example/é/", "percent-encode"),
            ("https://shop.example/\n/", "percent-encode"),
        ] {
            let error = ProblemBase::new(text).unwrap_err().to_string();
            assert!(error.contains(part), "{text:?}: {error}");
        }
        let first = ProblemBase::new(BASE).unwrap();
        let again = ProblemBase::new(BASE).unwrap();
        assert!(std::ptr::eq(first.as_str(), again.as_str()));
    }
}
