//! [`BasicCredentials`]: the user and password of an `Authorization` header.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;

/// The user and password of `Basic <base64 of user:password>`. RFC 7617.
///
/// ```
/// use stockade_auth::BasicCredentials;
///
/// let sent = BasicCredentials::parse("Basic YWRhOnB3OjE=").ok_or("not basic")?;
/// assert_eq!(sent.user(), "ada");
/// assert_eq!(sent.password(), "pw:1");
/// assert!(sent.matches("ada", "pw:1"));
/// # Ok::<(), &str>(())
/// ```
///
/// # Beyond the spec
/// The specification only has bearer tokens.
#[derive(Clone)]
pub struct BasicCredentials {
    /// The user, a colon and the password.
    text: String,
    /// The byte offset of the colon.
    colon: usize,
}

impl BasicCredentials {
    /// Parses the value of an `Authorization` header.
    ///
    /// Returns `None` for another scheme (in any case), base64 that is not
    /// canonical and padded, text that is not UTF-8, control characters, a
    /// missing colon, and values above 4,096 bytes.
    #[must_use]
    pub fn parse(authorization: &str) -> Option<Self> {
        if authorization.len() > MAX_LENGTH {
            return None;
        }
        let (scheme, encoded) = authorization.split_once(' ')?;
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let decoded = STANDARD.decode(encoded.trim_start_matches(' ')).ok()?;
        let text = String::from_utf8(decoded).ok()?;
        if text.chars().any(char::is_control) {
            return None;
        }
        let colon = text.find(':')?;
        Some(Self { text, colon })
    }

    /// Returns the user, which contains no colon and may be empty.
    #[must_use]
    pub fn user(&self) -> &str {
        &self.text[..self.colon]
    }

    /// Returns the password, which may contain colons and may be empty.
    #[must_use]
    pub fn password(&self) -> &str {
        &self.text[self.colon + 1..]
    }

    /// Returns true if the user and the password match. The time depends only
    /// on the lengths.
    ///
    /// For users with a stored hash, use
    /// [`verify_password`](crate::verify_password) instead.
    #[must_use]
    pub fn matches(&self, user: &str, password: &str) -> bool {
        let user = self.user().as_bytes().ct_eq(user.as_bytes());
        let password = self.password().as_bytes().ct_eq(password.as_bytes());
        (user & password).into()
    }
}

impl fmt::Debug for BasicCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BasicCredentials").field("user", &self.user()).finish_non_exhaustive()
    }
}

const MAX_LENGTH: usize = 4_096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_are_read() {
        #[track_caller]
        fn check(text: &str, user: &str, password: &str) {
            for scheme in ["Basic ", "basic ", "BASIC  "] {
                let header = format!("{scheme}{}", STANDARD.encode(text));
                let sent = BasicCredentials::parse(&header).unwrap();
                assert_eq!((sent.user(), sent.password()), (user, password));
                assert!(sent.matches(user, password));
                assert!(!sent.matches(user, "other") && !sent.matches("other", password));
            }
        }
        // RFC 7617, sections 2 and 2.1.
        check("Aladdin:open sesame", "Aladdin", "open sesame");
        check("test:123£", "test", "123£");
        check(":", "", "");
        check("a::b:", "a", ":b:");
    }

    #[test]
    fn other_headers_give_none() {
        let encode = |text: &[u8]| format!("Basic {}", STANDARD.encode(text));
        for header in [
            "",
            "Basic",
            "Basic ",
            "Bearer YTpi",
            "BasicYTpi",
            " Basic YTpi",
            "Basic YTpi ",
            "Basic YTpi\n",
            "Basic YTo",
            "Basic YTp=",
            "Basic YT-_",
            "Basic\tYTpi",
        ] {
            assert!(BasicCredentials::parse(header).is_none(), "{header:?}");
        }
        for text in [&b"ab"[..], b"", b"a:\xff", b"a:b\n", b"a\0:b", b"a:\x7f"] {
            assert!(BasicCredentials::parse(&encode(text)).is_none(), "{}", text.escape_ascii());
        }
        assert!(BasicCredentials::parse(&encode(&[b':'; 3_066])).is_some());
        assert!(BasicCredentials::parse(&encode(&[b':'; 3_069])).is_none());
    }

    #[test]
    fn the_password_is_not_printed() {
        let sent = BasicCredentials::parse("Basic YWRhOnB3OjE=").unwrap();
        assert_eq!(format!("{sent:?}"), r#"BasicCredentials { user: "ada", .. }"#);
    }
}
