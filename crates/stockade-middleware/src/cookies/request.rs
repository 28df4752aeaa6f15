//! [`Cookies`]: the cookies of a request.
//!
//! Source: RFC 6265bis, sections 4.2 (Cookie) and 5.8 (its order).

use std::borrow::Cow;
use std::fmt;

use http::{HeaderMap, header};
use stockade_core::request_internals::decode_component;
use stockade_core::{ApiError, FromRequest, Request, RouteDescription};

/// The cookies of a request; a handler argument.
///
/// All lines of `Cookie` are read, because HTTP/2 splits them. Parts that are
/// not `name=value`, have no name or are not UTF-8 are skipped. Quotes remain
/// part of a value, and only [`decoded`](Self::decoded) decodes it. Spaces and
/// tabs around names and values are removed, as browsers do before they check
/// the prefixes `__Host-` and `__Secure-`.
///
/// ```
/// use stockade::http::{HeaderMap, HeaderValue};
/// use stockade::middleware::Cookies;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("cookie", HeaderValue::from_static("a=1; b=2; a=3"));
/// let cookies = Cookies::of(&headers);
/// assert_eq!(cookies.get("a"), Some("1"));
/// assert_eq!(cookies.iter().count(), 3);
/// ```
#[derive(Clone, Default)]
pub struct Cookies {
    pairs: Vec<(Box<str>, Box<str>)>,
}

impl Cookies {
    /// Reads the cookies from these headers.
    #[must_use]
    pub fn of(headers: &HeaderMap) -> Self {
        let lines = headers.get_all(header::COOKIE).iter();
        let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        let pairs = pairs.filter_map(|pair| {
            let (name, value) = str::from_utf8(pair).ok()?.split_once('=')?;
            let name = name.trim_matches(WHITE);
            (!name.is_empty()).then(|| (name.into(), value.trim_matches(WHITE).into()))
        });
        Self { pairs: pairs.collect() }
    }

    /// Returns the value of the first cookie with this name. Browsers send the
    /// cookie with the longest path first.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Returns the percent-decoded value of a cookie, such as the value of
    /// [`SetCookie::encoded`](super::SetCookie::encoded). If several cookies have this name,
    /// the first is used. If an escape is malformed or the decoded bytes are not UTF-8, the
    /// value is returned as it was sent. A `+` is not a space.
    ///
    /// ```
    /// use stockade::http::{HeaderMap, HeaderValue};
    /// use stockade::middleware::Cookies;
    ///
    /// let mut headers = HeaderMap::new();
    /// headers.insert("cookie", HeaderValue::from_static("a=caf%C3%A9%3B; b=100%"));
    /// let cookies = Cookies::of(&headers);
    /// assert_eq!(cookies.decoded("a").as_deref(), Some("café;"));
    /// assert_eq!(cookies.decoded("b").as_deref(), Some("100%"));
    /// assert_eq!(cookies.get("a"), Some("caf%C3%A9%3B"));
    /// ```
    #[must_use]
    pub fn decoded(&self, name: &str) -> Option<Cow<'_, str>> {
        self.get(name).map(decode_component)
    }

    /// Returns names and values in their order, including duplicates.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.pairs.iter().map(|(name, value)| (&**name, &**value))
    }
}

impl FromRequest for Cookies {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(Self::of(req.headers()))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_header("Cookie", false);
    }
}

/// Shows only the names, because values are often secrets.
impl fmt::Debug for Cookies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(|(name, _)| name)).finish()
    }
}

/// The characters that count as white space here. A browser does not see a
/// prefix in a name that begins with U+2000 and `__Host-`.
const WHITE: [char; 2] = [' ', '\t'];

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use proptest::prelude::*;

    use super::*;

    fn cookies(lines: &[&[u8]]) -> Cookies {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(header::COOKIE, HeaderValue::from_bytes(line).unwrap());
        }
        Cookies::of(&headers)
    }

    #[track_caller]
    fn check(lines: &[&[u8]], expected: &[(&str, &str)]) {
        assert_eq!(cookies(lines).iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn all_lines_are_read_in_order() {
        check(&[b"a=1; b=2", b"c=3;d=4"], &[("a", "1"), ("b", "2"), ("c", "3"), ("d", "4")]);
        check(&[], &[]);
    }

    #[test]
    fn values_stay_as_they_are() {
        check(
            &[b"a=b=c==; q=\"x\"; e=; p=%20"],
            &[("a", "b=c=="), ("q", "\"x\""), ("e", ""), ("p", "%20")],
        );
        check(&[" u=ü ;\tt = x y\t".as_bytes()], &[("u", "ü"), ("t", "x y")]);
    }

    #[test]
    fn trims_only_spaces_and_tabs() {
        // A browser does not see a prefix in these names, so any page of the
        // site may set them.
        for white in ['\u{85}', '\u{a0}', '\u{2000}', '\u{3000}'] {
            let (name, value) = (format!("{white}__Host-a"), format!("{white}1{white}"));
            let line = format!(" {name}\t=\t{value} ");
            check(&[line.as_bytes()], &[(&name, &value)]);
            assert_eq!(cookies(&[line.as_bytes()]).get("__Host-a"), None, "{white:?}");
        }
    }

    #[test]
    fn skips_malformed_cookies() {
        check(&[b"alone; =nameless;;  ; ok=1; bad=\xFF; ok2=2"], &[("ok", "1"), ("ok2", "2")]);
    }

    #[test]
    fn the_first_value_counts() {
        let cookies = cookies(&[b"a=1", b"a=2; A=3"]);
        assert_eq!((cookies.get("a"), cookies.get("A")), (Some("1"), Some("3")));
        assert_eq!(cookies.get("b"), None);
    }

    #[test]
    fn decodes_values_on_request() {
        for (sent, expected) in [
            ("a%20b", "a b"),
            ("%C3%A4+%2B", "ä++"),
            ("%22x%22", "\"x\""),
            ("100%", "100%"),
            ("%zz%20", "%zz%20"),
            ("%ff", "%ff"),
            ("%0d%0a", "\r\n"),
            ("", ""),
        ] {
            let cookies = cookies(&[format!("a={sent}; a=2").as_bytes()]);
            assert_eq!(cookies.decoded("a").as_deref(), Some(expected), "{sent}");
            assert_eq!(cookies.get("a"), Some(sent));
            assert_eq!(cookies.decoded("b"), None);
        }
    }

    #[test]
    fn values_are_not_printed() {
        assert_eq!(format!("{:?}", cookies(&[b"session=secret"])), r#"{"session"}"#);
    }

    proptest! {
        #[test]
        fn no_line_panics(line in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(value) = HeaderValue::from_bytes(&line) {
                let headers = HeaderMap::from_iter([(header::COOKIE, value)]);
                for (name, _) in Cookies::of(&headers).iter() {
                    prop_assert!(!name.is_empty());
                }
            }
        }
    }
}
