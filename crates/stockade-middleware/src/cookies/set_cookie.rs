//! [`SetCookie`]: a cookie of a response.
//!
//! Source: RFC 6265bis, sections 4.1 (Set-Cookie) and 4.1.3 (name prefixes).

use std::fmt;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use http::{HeaderValue, header};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use stockade_core::description::{CookieInfo, HeaderDoc, ResponseDoc};
use stockade_core::reply::ReplyPart;
use stockade_core::{ApiError, Response};
use stockade_errors::__internal::setters;

use super::CookieError;
use crate::auth::SameSite;

/// A cookie that a response sets. It is part of a response, as in
/// `(SetCookie::new("theme", theme)?, "text")`.
///
/// By default a cookie is `Secure`, `HttpOnly` and `SameSite=Lax`, and has the
/// path `/`. The browser sends it only to the host that set it, and deletes it
/// when the browser is closed.
///
/// | constructor | value |
/// |---|---|
/// | [`new`](Self::new) | any text without the characters that cookies forbid; others are an error |
/// | [`encoded`](Self::encoded) | any text, which is percent-encoded |
/// | [`from_static`](Self::from_static) | a literal; no `?` is needed |
/// | [`removal`](Self::removal) | none: the browser deletes the cookie |
///
/// Each constructor checks the name and the value.
/// [`to_header_value`](Self::to_header_value) checks the attributes. If
/// browsers would reject them, the response is a 500.
///
/// ```
/// use stockade::middleware::{CookieError, Cookies, SetCookie};
/// use stockade::prelude::*;
/// use stockade::testing::TestClient;
///
/// async fn set_theme(Path(theme): Path<String>) -> Result<(SetCookie, ()), CookieError> {
///     Ok((SetCookie::new("theme", theme)?, ()))
/// }
///
/// async fn fill_cart(Body(cart): Body<Vec<String>>) -> Result<(SetCookie, ()), CookieError> {
///     Ok((SetCookie::encoded("cart", json!(cart).to_string())?, ()))
/// }
///
/// async fn show_cart(cookies: Cookies) -> String {
///     cookies.decoded("cart").unwrap_or_default().into_owned()
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let api = routes! {
///     "theme": { ":theme": { PUT: set_theme } },
///     "cart": { PUT: fill_cart, GET: show_cart },
/// };
/// let client = TestClient::new(create_router(api, RouterOptions::new())).with_cookies();
/// client.put("/theme/dark").await.assert_status(204);
/// client.put("/theme/dark%3B%20Secure").await.assert_status(400);
/// client.put("/cart").json(json!(["tea; green", "café"])).await.assert_status(204);
/// client.get("/cart").await.assert_text(r#"["tea; green","café"]"#);
/// # }
/// ```
#[derive(Clone)]
#[must_use = "it is set only as part of a response"]
pub struct SetCookie {
    name: String,
    value: String,
    path: String,
    domain: Option<String>,
    max_age: Option<Duration>,
    expires: Option<SystemTime>,
    same_site: SameSite,
    secure: bool,
    http_only: bool,
    partitioned: bool,
}

impl SetCookie {
    /// Creates a cookie with this name and value.
    ///
    /// # Errors
    /// - [`CookieError::Name`]: the name is empty, or has a character other
    ///   than ASCII letters, digits and ``!#$%&'*+-.^_`|~``.
    /// - [`CookieError::Value`]: the value has white space, a control
    ///   character, `"`, `,`, `;`, `\`, or a non-ASCII character.
    ///   [`encoded`](Self::encoded) accepts any text.
    /// - [`CookieError::TooLong`]: the name and the value have more than 4,096
    ///   bytes together.
    ///
    /// Source: RFC 6265, section 4.1.1 (`cookie-name`, `cookie-octet`).
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Result<Self, CookieError> {
        let cookie = Self::unchecked(name.into(), value.into());
        cookie.check_pair()?;
        Ok(cookie)
    }

    /// Creates a cookie with a percent-encoded value, which can be any text.
    /// [`Cookies::decoded`](super::Cookies::decoded) and JavaScript's
    /// `decodeURIComponent` decode it.
    ///
    /// ```
    /// use stockade::middleware::SetCookie;
    ///
    /// let set = SetCookie::encoded("cart", r#"{"tea":2, "café":1}"#)?;
    /// let text = set.to_header_value()?;
    /// assert!(text.to_str().unwrap().starts_with("cart={%22tea%22:2%2C%20%22caf%C3%A9%22:1}; "));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// - [`CookieError::Name`]: see [`new`](Self::new).
    /// - [`CookieError::TooLong`]: the name and the encoded value have more
    ///   than 4,096 bytes together.
    pub fn encoded(name: impl Into<String>, value: impl AsRef<str>) -> Result<Self, CookieError> {
        Self::new(name, utf8_percent_encode(value.as_ref(), ENCODED).to_string())
    }

    /// Creates a cookie from a literal name and value.
    ///
    /// ```
    /// use stockade::middleware::SetCookie;
    ///
    /// let seen = SetCookie::from_static("seen", "yes").http_only(false);
    /// # drop(seen);
    /// ```
    ///
    /// # Panics
    /// Panics if [`new`](Self::new) would return an error.
    #[track_caller]
    pub fn from_static(name: &'static str, value: &'static str) -> Self {
        let cookie = Self::unchecked(name.to_owned(), value.to_owned());
        let fault = cookie.check_pair().err();
        assert!(fault.is_none(), "SetCookie {name:?}: {}", fault.unwrap_or(CookieError::Name));
        cookie
    }

    fn unchecked(name: String, value: String) -> Self {
        Self {
            name,
            value,
            path: "/".to_owned(),
            domain: None,
            max_age: None,
            expires: None,
            same_site: SameSite::Lax,
            secure: true,
            http_only: true,
            partitioned: false,
        }
    }

    /// Creates a cookie that deletes the cookie with this name from the
    /// browser. Path and domain must equal the path and domain of the cookie to
    /// delete.
    ///
    /// If the name is not a literal, use `SetCookie::new(name,
    /// "")?.max_age(Duration::ZERO)`.
    ///
    /// # Panics
    /// Panics if the name is not valid; see [`new`](Self::new).
    #[track_caller]
    pub fn removal(name: &'static str) -> Self {
        Self::from_static(name, "").max_age(Duration::ZERO)
    }

    setters! {
        /// Sets the path of the cookie; the browser sends it to this path and
        /// below. Default: `/`.
        path: into String;

        /// Sets a domain; the browser sends the cookie to all its hosts. A
        /// leading dot is removed.
        domain: some into String;

        /// Sets how long the browser stores the cookie, in whole seconds.
        max_age: some Duration;

        /// Sets when the browser deletes the cookie, in whole seconds;
        /// [`max_age`](Self::max_age) takes precedence. A time before 1970 is
        /// written as 1970, and a time after the year 9999 is not written.
        expires: some SystemTime;

        /// Sets the cross-site requests that include the cookie. Default:
        /// `Lax`.
        same_site: SameSite;

        /// Sets whether the cookie is sent over HTTPS only. Default: true.
        secure: bool;

        /// Sets whether the cookie is hidden from scripts. Default: true.
        http_only: bool;

        /// Sets whether each embedding site gets a separate cookie
        /// (`Partitioned`). Default: false.
        partitioned: bool;
    }

    /// Returns the value of `Set-Cookie`.
    ///
    /// # Errors
    /// Fails if browsers would reject the cookie or read a different cookie. Only the
    /// attributes can be wrong, because the constructors check the name and the value.
    pub fn to_header_value(&self) -> Result<HeaderValue, CookieError> {
        self.check_attributes()?;
        let mut text = format!("{}={}; Path={}", self.name, self.value, self.path);
        if let Some(domain) = self.bare_domain() {
            push(&mut text, format_args!("; Domain={domain}"));
        }
        if let Some(max_age) = self.max_age {
            push(&mut text, format_args!("; Max-Age={}", max_age.as_secs()));
        }
        if let Some(expires) = self.expires.filter(|expires| *expires < end_of_dates()) {
            let date = httpdate::fmt_http_date(expires.max(SystemTime::UNIX_EPOCH));
            push(&mut text, format_args!("; Expires={date}"));
        }
        if self.secure {
            text.push_str("; Secure");
        }
        if self.http_only {
            text.push_str("; HttpOnly");
        }
        push(&mut text, format_args!("; SameSite={}", self.same_site.as_str()));
        if self.partitioned {
            text.push_str("; Partitioned");
        }
        // The checked text is ASCII without control characters.
        HeaderValue::try_from(text).map_err(|_| CookieError::Value)
    }

    /// Returns the attributes for route maps.
    pub(crate) fn info(&self) -> CookieInfo {
        let mut info = CookieInfo::new(self.name.as_str(), self.same_site.as_str());
        info.secure = self.secure;
        info.http_only = self.http_only;
        info.path.clone_from(&self.path);
        info.domain = self.bare_domain().map(str::to_owned);
        // `expires` is a moment, so a lock cannot contain it.
        info.max_age_seconds = self.max_age.map(|age| age.as_secs());
        info
    }

    /// Checks the name and the value.
    fn check_pair(&self) -> Result<(), CookieError> {
        first_fault([
            (is_token(&self.name), CookieError::Name),
            (self.value.bytes().all(is_cookie_octet), CookieError::Value),
            (self.name.len() + self.value.len() <= MAX_PAIR_BYTES, CookieError::TooLong),
        ])
    }

    /// Checks the attributes.
    fn check_attributes(&self) -> Result<(), CookieError> {
        let domain = self.bare_domain();
        let is_long = |text: &str| text.len() > MAX_ATTRIBUTE_BYTES;
        let is_host = has_prefix(&self.name, "__Host-");
        let host_ok = self.secure && self.path == "/" && self.domain.is_none();
        first_fault([
            (is_path(&self.path), CookieError::Path),
            (domain.is_none_or(is_domain), CookieError::Domain),
            (!is_long(&self.path) && !domain.is_some_and(is_long), CookieError::TooLong),
            (!is_host || host_ok, CookieError::HostPrefix),
            (!has_prefix(&self.name, "__Secure-") || self.secure, CookieError::SecurePrefix),
            (self.same_site != SameSite::None || self.secure, CookieError::SameSiteNone),
            (!self.partitioned || self.secure, CookieError::Partitioned),
        ])
    }

    fn bare_domain(&self) -> Option<&str> {
        self.domain.as_deref().map(|domain| domain.strip_prefix('.').unwrap_or(domain))
    }
}

impl ReplyPart for SetCookie {
    fn apply(self, response: &mut Response) -> Result<(), ApiError> {
        let value = self.to_header_value().map_err(ApiError::internal)?;
        response.headers_mut().append(header::SET_COOKIE, value);
        Ok(())
    }

    fn describe(answer: &mut ResponseDoc) {
        answer.headers.push(HeaderDoc::new("Set-Cookie", "A cookie"));
    }
}

/// Shows everything except the value, which is often a secret.
impl fmt::Debug for SetCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetCookie")
            .field("name", &self.name)
            .field("path", &self.path)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

/// Returns the error of the first rule that is violated.
fn first_fault<const N: usize>(rules: [(bool, CookieError); N]) -> Result<(), CookieError> {
    rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, error)| Err(error))
}

fn push(text: &mut String, part: fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = text.write_fmt(part);
}

/// Returns true if a name has a prefix in any case, as browsers compare.
fn has_prefix(name: &str, prefix: &str) -> bool {
    name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}

fn is_token(name: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_tchar)
}

fn is_cookie_octet(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"\",;\\".contains(&byte)
}

/// All characters that a cookie value cannot have, and `%`. Non-ASCII
/// characters are always encoded.
const ENCODED: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'%').add(b',').add(b';').add(b'\\');

fn is_path(path: &str) -> bool {
    let allowed = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b';';
    path.starts_with('/') && path.bytes().all(allowed)
}

/// Returns true for a host name: labels of letters, digits and inner hyphens.
/// Browsers ignore any other domain, including one that ends with a dot.
fn is_domain(domain: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(allowed)
    };
    domain.split('.').all(is_label)
}

/// Returns the beginning of the year 10,000, which HTTP dates cannot express.
fn end_of_dates() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800)
}

/// Source: RFC 6265bis, section 5.6.
const MAX_PAIR_BYTES: usize = 4_096;
const MAX_ATTRIBUTE_BYTES: usize = 1_024;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cookies::Cookies;

    #[track_caller]
    fn check(cookie: &SetCookie, expected: &str) {
        assert_eq!(cookie.to_header_value().unwrap(), expected);
    }

    #[track_caller]
    fn refused(cookie: &SetCookie, expected: CookieError) {
        assert_eq!(cookie.to_header_value(), Err(expected), "{cookie:?}");
    }

    fn a() -> SetCookie {
        SetCookie::from_static("a", "1")
    }

    #[test]
    fn defaults_are_safe_and_each_can_be_changed() {
        check(&a(), "a=1; Path=/; Secure; HttpOnly; SameSite=Lax");
        check(
            &a().secure(false).http_only(false).same_site(SameSite::Strict).path("/x y"),
            "a=1; Path=/x y; SameSite=Strict",
        );
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
        check(
            &a().domain(".example.org").max_age(Duration::from_millis(1_900)).expires(time),
            "a=1; Path=/; Domain=example.org; Max-Age=1; Expires=Sun, 06 Nov 1994 08:49:37 GMT; Secure; HttpOnly; SameSite=Lax",
        );
        check(
            &a().same_site(SameSite::None).partitioned(true),
            "a=1; Path=/; Secure; HttpOnly; SameSite=None; Partitioned",
        );
        check(&SetCookie::removal("a"), "a=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn unrepresentable_dates_are_omitted_or_clamped() {
        check(&a().expires(end_of_dates()), "a=1; Path=/; Secure; HttpOnly; SameSite=Lax");
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        check(
            &a().expires(early),
            "a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly; SameSite=Lax",
        );
    }

    #[track_caller]
    fn rejected(name: &str, value: &str, expected: CookieError) {
        assert_eq!(SetCookie::new(name, value).unwrap_err(), expected, "{name:?} {value:?}");
    }

    #[test]
    fn rejects_malformed_names_and_values_where_they_are_set() {
        for name in ["", "a b", "a=b", "a;b", "a,b", "\"a\"", "(a)", "ä", "a\n", "a\0"] {
            rejected(name, "1", CookieError::Name);
            assert_eq!(SetCookie::encoded(name, "1").unwrap_err(), CookieError::Name);
        }
        for value in ["a b", "a;b", "a,b", "\"a\"", "a\\b", "a\r\nb", "a\tb", "a\0", "\u{7f}", "ä"]
        {
            rejected("a", value, CookieError::Value);
        }
        drop(SetCookie::new("a", "1".repeat(4_095)).unwrap());
        rejected("a", &"1".repeat(4_096), CookieError::TooLong);
        // Each space becomes three bytes.
        drop(SetCookie::encoded("a", " ".repeat(1_365)).unwrap());
        let long = SetCookie::encoded("a", " ".repeat(1_366));
        assert_eq!(long.unwrap_err(), CookieError::TooLong);
    }

    #[test]
    fn accepts_all_characters_of_rfc_6265() {
        let token = "!#$%&'*+-.0123456789ABCZ^_`abcz|~";
        let octets: String = ('!'..='~').filter(|char| !"\",;\\".contains(*char)).collect();
        assert_eq!(octets.len(), 90);
        let set = SetCookie::new(token, octets.clone()).unwrap();
        check(&set, &format!("{token}={octets}; Path=/; Secure; HttpOnly; SameSite=Lax"));
        check(&SetCookie::new("a", "").unwrap(), "a=; Path=/; Secure; HttpOnly; SameSite=Lax");
    }

    #[test]
    fn malformed_literals_panic() {
        let message = |make: fn() -> SetCookie| {
            *std::panic::catch_unwind(make).unwrap_err().downcast::<String>().unwrap()
        };
        let of_name = message(|| SetCookie::removal("a b"));
        assert!(of_name.starts_with("SetCookie \"a b\": the cookie's name"), "{of_name}");
        let of_value = message(|| SetCookie::from_static("a", "b;c"));
        assert!(of_value.starts_with("SetCookie \"a\": the cookie's value"), "{of_value}");
    }

    #[test]
    fn rejects_malformed_attributes() {
        for path in ["", "x", "/;x", "/\n", "/ä"] {
            refused(&a().path(path), CookieError::Path);
        }
        for domain in ["", ".", "..a", "a..b", "a.", "-a", "a-.b", "a;b", "a/b", "a:1", "ä.example"]
        {
            refused(&a().domain(domain), CookieError::Domain);
        }
        for domain in ["example.org", "a-b.example", "localhost", "xn--a.example", "203.0.113.7"] {
            assert!(a().domain(domain).to_header_value().is_ok(), "{domain}");
        }
        refused(&a().path(format!("/{}", "x".repeat(1_024))), CookieError::TooLong);
    }

    proptest! {
        #[test]
        fn any_encoded_text_can_be_set_and_read(text in "\\PC{0,80}|[\\x00-\\x7f]{0,80}") {
            let set = SetCookie::encoded("a", &text).unwrap();
            let header = set.to_header_value().unwrap();
            let (pair, _) = header.to_str().unwrap().split_once(';').unwrap();
            let headers = [(header::COOKIE, HeaderValue::from_str(pair).unwrap())];
            let cookies = Cookies::of(&headers.into_iter().collect());
            prop_assert_eq!(cookies.decoded("a").unwrap(), text);
        }
    }

    #[test]
    fn name_prefixes_enforce_their_rules() {
        for name in ["__Host-a", "__HOST-a"] {
            let host = SetCookie::from_static(name, "1");
            check(&host, &format!("{name}=1; Path=/; Secure; HttpOnly; SameSite=Lax"));
            refused(&host.clone().secure(false), CookieError::HostPrefix);
            refused(&host.clone().path("/x"), CookieError::HostPrefix);
            refused(&host.domain("example.org"), CookieError::HostPrefix);
        }
        refused(
            &SetCookie::from_static("__Secure-a", "1").secure(false),
            CookieError::SecurePrefix,
        );
        refused(&a().same_site(SameSite::None).secure(false), CookieError::SameSiteNone);
        refused(&a().partitioned(true).secure(false), CookieError::Partitioned);
    }

    #[test]
    fn the_value_is_not_printed() {
        assert!(!format!("{:?}", SetCookie::from_static("session", "secret")).contains("secret"));
    }
}
