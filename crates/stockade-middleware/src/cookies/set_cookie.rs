//! [`SetCookie`]: a cookie of a response.
//!
//! Source: RFC 6265bis, sections 4.1 (Set-Cookie) and 4.1.3 (name prefixes).

use std::fmt;
use std::fmt::Write as _;
use std::time::{Duration, SystemTime};

use http::{HeaderValue, header};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::reply::ReplyPart;
use stockade_core::{ApiError, Response};
use stockade_errors::__internal::setters;

use super::CookieError;
use crate::auth::SameSite;

/// A cookie to be set: part of a reply, as in `(SetCookie::new("a", "1"), "text")`.
///
/// By default a cookie is `Secure`, `HttpOnly` and `SameSite=Lax`, has the path
/// `/`, is only for the host that sets it, and lasts until the browser is
/// closed. [`to_header_value`](Self::to_header_value) fails for a cookie that
/// browsers would refuse; as part of a reply such a cookie is a 500.
///
/// See the [module docs](super) for an example.
#[derive(Clone)]
#[must_use = "it is set when it is part of a reply"]
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
    /// Makes a cookie with this name and value, and safe defaults.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
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

    /// Makes a cookie that removes another one from the browser. Path and
    /// domain have to be those with which it was set.
    pub fn removal(name: impl Into<String>) -> Self {
        Self::new(name, "").max_age(Duration::ZERO)
    }

    setters! {
        /// Sets the path below which the cookie is sent; `/` by default.
        path: into String;

        /// Sets a domain to all hosts of which the cookie is sent. A leading dot is
        /// removed.
        domain: some into String;

        /// Sets the time for which the browser keeps the cookie, in whole seconds.
        max_age: some Duration;

        /// Sets the time until which the browser keeps the cookie, in whole
        /// seconds; [`max_age`](Self::max_age) wins over it. A time before 1970 is
        /// written as 1970, and one after the year 9999 is not written.
        expires: some SystemTime;

        /// Sets the requests of other sites with which the cookie is sent; `Lax` by
        /// default.
        same_site: SameSite;

        /// Sends the cookie over HTTPS only, if true; true by default.
        secure: bool;

        /// Hides the cookie from scripts, if true; true by default.
        http_only: bool;

        /// Gives each site that embeds this one a cookie of its own
        /// (`Partitioned`), if true; false by default.
        partitioned: bool;
    }

    /// Returns the value of `Set-Cookie`.
    ///
    /// # Errors
    /// Fails when a browser would refuse the cookie, or read it as another one.
    pub fn to_header_value(&self) -> Result<HeaderValue, CookieError> {
        self.check()?;
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

    fn check(&self) -> Result<(), CookieError> {
        let domain = self.bare_domain();
        let is_long = |text: &str| text.len() > MAX_ATTRIBUTE_BYTES;
        let is_host = has_prefix(&self.name, "__Host-");
        let host_ok = self.secure && self.path == "/" && self.domain.is_none();
        let rules = [
            (is_token(&self.name), CookieError::Name),
            (self.value.bytes().all(is_cookie_octet), CookieError::Value),
            (self.name.len() + self.value.len() <= MAX_PAIR_BYTES, CookieError::TooLong),
            (is_path(&self.path), CookieError::Path),
            (domain.is_none_or(is_domain), CookieError::Domain),
            (!is_long(&self.path) && !domain.is_some_and(is_long), CookieError::TooLong),
            (!is_host || host_ok, CookieError::HostPrefix),
            (!has_prefix(&self.name, "__Secure-") || self.secure, CookieError::SecurePrefix),
            (self.same_site != SameSite::None || self.secure, CookieError::SameSiteNone),
            (!self.partitioned || self.secure, CookieError::Partitioned),
        ];
        rules.into_iter().find(|(holds, _)| !holds).map_or(Ok(()), |(_, error)| Err(error))
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

/// Shows everything but the value, which is often a secret.
impl fmt::Debug for SetCookie {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetCookie")
            .field("name", &self.name)
            .field("path", &self.path)
            .field("domain", &self.domain)
            .finish_non_exhaustive()
    }
}

fn push(text: &mut String, part: fmt::Arguments<'_>) {
    // Writing into a String cannot fail.
    let _ = text.write_fmt(part);
}

/// Returns true if a name has a prefix, in any case, as browsers compare.
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

fn is_path(path: &str) -> bool {
    let allowed = |byte: u8| (b' '..=b'~').contains(&byte) && byte != b';';
    path.starts_with('/') && path.bytes().all(allowed)
}

fn is_domain(domain: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.';
    !domain.is_empty() && !domain.starts_with('.') && domain.bytes().all(allowed)
}

/// Returns the beginning of the year 10,000, which HTTP has no date for.
fn end_of_dates() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_800)
}

/// Source: RFC 6265bis, section 5.6.
const MAX_PAIR_BYTES: usize = 4_096;
const MAX_ATTRIBUTE_BYTES: usize = 1_024;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(cookie: &SetCookie, expected: &str) {
        assert_eq!(cookie.to_header_value().unwrap(), expected);
    }

    #[track_caller]
    fn refused(cookie: &SetCookie, expected: CookieError) {
        assert_eq!(cookie.to_header_value(), Err(expected), "{cookie:?}");
    }

    fn a() -> SetCookie {
        SetCookie::new("a", "1")
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
    fn dates_that_cannot_be_written_do_no_harm() {
        check(&a().expires(end_of_dates()), "a=1; Path=/; Secure; HttpOnly; SameSite=Lax");
        let early = SystemTime::UNIX_EPOCH - Duration::from_secs(1);
        check(
            &a().expires(early),
            "a=1; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Secure; HttpOnly; SameSite=Lax",
        );
    }

    #[test]
    fn what_would_become_something_else_is_refused() {
        for name in ["", "a b", "a=b", "a;b", "ä", "a\n"] {
            refused(&SetCookie::new(name, "1"), CookieError::Name);
        }
        for value in ["a b", "a;b", "a,b", "\"a\"", "a\\b", "a\r\nb", "ä"] {
            refused(&SetCookie::new("a", value), CookieError::Value);
        }
        for path in ["", "x", "/;x", "/\n", "/ä"] {
            refused(&a().path(path), CookieError::Path);
        }
        for domain in ["", ".", "..a", "a;b", "a/b", "a:1"] {
            refused(&a().domain(domain), CookieError::Domain);
        }
        refused(&SetCookie::new("a", "1".repeat(4_096)), CookieError::TooLong);
        refused(&a().path(format!("/{}", "x".repeat(1_024))), CookieError::TooLong);
    }

    #[test]
    fn prefixes_keep_their_promises() {
        for name in ["__Host-a", "__HOST-a"] {
            let host = SetCookie::new(name, "1");
            check(&host, &format!("{name}=1; Path=/; Secure; HttpOnly; SameSite=Lax"));
            refused(&host.clone().secure(false), CookieError::HostPrefix);
            refused(&host.clone().path("/x"), CookieError::HostPrefix);
            refused(&host.domain("example.org"), CookieError::HostPrefix);
        }
        refused(&SetCookie::new("__Secure-a", "1").secure(false), CookieError::SecurePrefix);
        refused(&a().same_site(SameSite::None).secure(false), CookieError::SameSiteNone);
        refused(&a().partitioned(true).secure(false), CookieError::Partitioned);
    }

    #[test]
    fn the_value_is_not_printed() {
        assert!(!format!("{:?}", SetCookie::new("session", "secret")).contains("secret"));
    }
}
