//! [`SecurityHeaders`]: the prepared headers.
//!
//! Hot: [`SecurityHeaders::apply`] does not allocate; the map may grow if it is
//! full.

use std::collections::BTreeMap;
use std::panic::Location;

use http::HeaderMap;
use http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, Entry, HeaderName, HeaderValue, REFERRER_POLICY,
    STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS, X_XSS_PROTECTION,
};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use stockade_core::{IntoSetting, Setting};
use stockade_errors::{ConfigError, ConfigIssue};

/// The headers that protect a response, prepared once.
///
/// | header | default |
/// |---|---|
/// | `X-Content-Type-Options` | `nosniff` |
/// | `X-Frame-Options` | `DENY` |
/// | `X-XSS-Protection` | `0` |
/// | `Strict-Transport-Security` | `max-age=31536000; includeSubDomains` |
/// | `Content-Security-Policy` | `default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'` |
/// | `Referrer-Policy` | `no-referrer` |
/// | `Cross-Origin-Opener-Policy` | `same-origin` |
/// | `Cross-Origin-Resource-Policy` | `same-origin` |
///
/// The defaults do not restrict cross-origin requests that CORS allows:
/// `Cross-Origin-Resource-Policy` does not apply to them.
///
/// The default policy is meant for an API. An HTML page with it cannot load
/// scripts or styles, show images, or submit forms such as a login form. A
/// response that sets the header itself overrides the default:
///
/// ```
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'";
///
/// async fn page() -> ([(&'static str, &'static str); 1], Html<&'static str>) {
///     let form = "<form method=post action=/login><input name=name><button>Log in</button></form>";
///     ([("content-security-policy", POLICY)], Html(form))
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// # let router = create_router(routes! { "login": { GET: page } }, RouterOptions::new());
/// # let answer = TestClient::new(router).get("/login").await;
/// answer.assert_header("content-security-policy", POLICY);
/// answer.assert_header("x-frame-options", "DENY");
/// # }
/// ```
///
/// In a configuration file it is an object of header names, each with a text
/// value, `false` to remove a default header, or `true` to use its default.
/// Headers that are not listed have their defaults. `true` or `false` for a
/// name without a default is an error.
#[doc(alias = "helmet")]
// Spec: Response headers.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use = "headers do nothing until they are applied"]
pub struct SecurityHeaders {
    /// Invariant: no duplicate names.
    list: Vec<(HeaderName, HeaderValue)>,
}

impl Default for SecurityHeaders {
    fn default() -> Self {
        let list = DEFAULT_HEADERS.map(|(name, value)| (name, HeaderValue::from_static(value)));
        Self { list: list.into() }
    }
}

impl IntoSetting<Self> for SecurityHeaders {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}

impl SecurityHeaders {
    /// Creates the default headers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates an empty list, like `enable_security_headers(false)`.
    #[doc(alias = "enableSecurityHeaders")]
    pub fn none() -> Self {
        Self { list: Vec::new() }
    }

    /// Sets the value of a header.
    ///
    /// # Errors
    /// Fails if `name` is not a header name or `value` is not a header value.
    #[track_caller]
    pub fn set(mut self, name: &str, value: &str) -> Result<Self, ConfigError> {
        let mistake = |what: String| ConfigIssue::new(what).at(Location::caller());
        match (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            (Ok(name), Ok(value)) => self.put(name, value),
            (Err(_), _) => ConfigError::check(vec![mistake(format!(
                "{name:?} cannot be the name of a security header"
            ))])?,
            (Ok(name), Err(_)) => ConfigError::check(vec![mistake(format!(
                "{value:?} cannot be the value of the header {name}"
            ))])?,
        }
        Ok(self)
    }

    /// Removes a header. An unknown name has no effect.
    pub fn without(mut self, name: &str) -> Self {
        self.list.retain(|(own, _)| !own.as_str().eq_ignore_ascii_case(name));
        self
    }

    /// Adds `Cache-Control: no-store`, so that no cache stores a response. It
    /// does not replace the `Cache-Control` of a response.
    pub fn no_store(mut self) -> Self {
        self.put(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        self
    }

    /// Adds each header that `headers` does not yet have.
    pub fn apply(&self, headers: &mut HeaderMap) {
        for (name, value) in &self.list {
            if let Entry::Vacant(place) = headers.entry(name) {
                place.insert(value.clone());
            }
        }
    }

    /// Returns the number of headers, to reserve room in a header map.
    #[must_use]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Returns true if the list is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    fn put(&mut self, name: HeaderName, value: HeaderValue) {
        match self.list.iter_mut().find(|(own, _)| *own == name) {
            Some((_, own)) => *own = value,
            None => self.list.push((name, value)),
        }
    }
}

impl<'de> Deserialize<'de> for SecurityHeaders {
    fn deserialize<D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        let changes = BTreeMap::<String, Change>::deserialize(source)?;
        changes.into_iter().try_fold(Self::default(), |headers, (name, change)| match change {
            Change::Value(value) => headers.set(&name, &value).map_err(D::Error::custom),
            Change::Keep(_) if !is_default(&name) => Err(D::Error::custom(no_default(&name))),
            Change::Keep(false) => Ok(headers.without(&name)),
            Change::Keep(true) => Ok(headers),
        })
    }
}

fn is_default(name: &str) -> bool {
    DEFAULT_HEADERS.iter().any(|(known, _)| known.as_str().eq_ignore_ascii_case(name))
}

/// Returns the message for `true` or `false` on a header without a default.
#[cold]
fn no_default(name: &str) -> String {
    let lower = name.to_ascii_lowercase();
    let rated = DEFAULT_HEADERS
        .map(|(known, _)| (strsim::damerau_levenshtein(known.as_str(), &lower), known));
    let near = rated.iter().min_by_key(|(slips, _)| *slips).filter(|(slips, _)| *slips <= SLIPS);
    let near = near.map(|(_, known)| format!(", did you mean {:?}?", known.as_str()));
    // A name is suggested only if it is similar.
    let near = near.unwrap_or_default();
    format!("{name:?} does not have a default: set its value as text{near}")
}

/// The value of one header in a configuration file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "the value of the header as text, or true or false")]
enum Change {
    Keep(bool),
    Value(String),
}

/// The maximum number of typing errors in a name that gets a suggestion.
const SLIPS: usize = 4;

const DEFAULT_HEADERS: [(HeaderName, &str); 8] = [
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (X_FRAME_OPTIONS, "DENY"),
    (X_XSS_PROTECTION, "0"),
    (STRICT_TRANSPORT_SECURITY, "max-age=31536000; includeSubDomains"),
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prepared: &SecurityHeaders, own: &[(&'static str, &str)], expected: &[&str]) {
        let mut headers = HeaderMap::new();
        for (name, value) in own {
            headers.insert(*name, value.parse().unwrap());
        }
        prepared.apply(&mut headers);
        let mut lines: Vec<_> = headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
            .collect();
        lines.sort();
        assert_eq!(lines, expected);
    }

    #[test]
    fn all_defaults_are_set() {
        check(
            &SecurityHeaders::new(),
            &[],
            &[
                "content-security-policy: default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
                "cross-origin-opener-policy: same-origin",
                "cross-origin-resource-policy: same-origin",
                "referrer-policy: no-referrer",
                "strict-transport-security: max-age=31536000; includeSubDomains",
                "x-content-type-options: nosniff",
                "x-frame-options: DENY",
                "x-xss-protection: 0",
            ],
        );
    }

    #[test]
    fn headers_of_the_response_are_preserved() {
        let prepared = SecurityHeaders::none()
            .set("Content-Security-Policy", "default-src 'none'")
            .unwrap()
            .no_store();
        let own = [("content-security-policy", "script-src 'self'")];
        let expected = ["cache-control: no-store", "content-security-policy: script-src 'self'"];
        check(&prepared, &own, &expected);
        let own = [("cache-control", "max-age=60")];
        let expected = ["cache-control: max-age=60", "content-security-policy: default-src 'none'"];
        check(&prepared, &own, &expected);
    }

    #[test]
    fn each_header_can_be_changed_or_removed() {
        let names = DEFAULT_HEADERS.map(|(name, _)| name);
        for name in &names {
            let dropped = SecurityHeaders::new().without(&name.as_str().to_uppercase());
            let changed = SecurityHeaders::new().set(name.as_str(), "other").unwrap();
            let (mut without, mut with) = (HeaderMap::new(), HeaderMap::new());
            dropped.apply(&mut without);
            changed.apply(&mut with);
            assert!(!without.contains_key(name));
            assert_eq!((without.len(), with.len(), &with[name]), (7, 8, &"other".parse().unwrap()));
        }
        check(&SecurityHeaders::none(), &[], &[]);
    }

    #[test]
    fn invalid_headers_are_errors() {
        for (name, value) in [("", "x"), ("a b", "x"), ("X-Ok", "line\nbreak")] {
            let error = SecurityHeaders::new().set(name, value).unwrap_err();
            assert_eq!(error.issues().len(), 1, "{name:?}: {value:?}");
        }
    }

    #[test]
    fn a_configuration_file_changes_and_removes_headers() {
        let text = r#"{ "X-Frame-Options": "SAMEORIGIN", "Referrer-Policy": false }"#;
        let prepared: SecurityHeaders = serde_json::from_str(text).unwrap();
        let expected = SecurityHeaders::new().without("referrer-policy");
        assert_eq!(prepared, expected.set("x-frame-options", "SAMEORIGIN").unwrap());
        assert!(serde_json::from_str::<SecurityHeaders>(r#"{ "a b": "c" }"#).is_err());
        let kept: SecurityHeaders = serde_json::from_str(r#"{ "x-frame-options": true }"#).unwrap();
        assert_eq!(kept, SecurityHeaders::new());
    }

    #[test]
    fn a_boolean_for_a_header_without_default_is_an_error() {
        const START: &str = "does not have a default: set its value as text";
        for (text, expected) in [
            (r#"{ "cache-control": true }"#, format!(r#""cache-control" {START}"#)),
            (r#"{ "X-Custom": false }"#, format!(r#""X-Custom" {START}"#)),
            (
                r#"{ "X-Frame-Option": false }"#,
                format!(r#""X-Frame-Option" {START}, did you mean "x-frame-options"?"#),
            ),
            (
                r#"{ "referer-policy": true }"#,
                format!(r#""referer-policy" {START}, did you mean "referrer-policy"?"#),
            ),
            (
                r#"{ "x-xss-protection": 0 }"#,
                "the value of the header as text, or true or false".to_owned(),
            ),
        ] {
            let error = serde_json::from_str::<SecurityHeaders>(text).unwrap_err().to_string();
            assert!(error.starts_with(&expected), "{error}");
        }
    }

    #[test]
    fn a_map_with_room_costs_no_allocation() {
        let prepared = SecurityHeaders::new();
        let mut headers = HeaderMap::with_capacity(prepared.len());
        let counted = allocation_counter::measure(|| prepared.apply(&mut headers));
        assert_eq!((counted.count_total, headers.len()), (0, 8));
    }
}
