//! [`CookieError`]: the faults of a cookie.

use std::fmt;

/// The fault by which a cookie cannot be set.
///
/// The program and not the client has made the fault, so the answer is a 500.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CookieError {
    /// The domain is not made of letters, digits, hyphens and dots.
    Domain,
    /// A cookie whose name begins with `__Host-` needs `Secure`, `Path=/` and no
    /// `Domain`.
    HostPrefix,
    /// The name is empty, or has a character that is not one of a token.
    Name,
    /// A partitioned cookie needs `Secure`.
    Partitioned,
    /// The path does not begin with `/`, or has a semicolon or a control
    /// character.
    Path,
    /// `SameSite=None` needs `Secure`.
    SameSiteNone,
    /// A cookie whose name begins with `__Secure-` needs `Secure`.
    SecurePrefix,
    /// Name and value have more than 4,096 bytes together, or an attribute has
    /// more than 1,024: browsers ignore that.
    TooLong,
    /// The value has white space, a control character, a quote, a comma, a
    /// semicolon, a backslash, or a character beyond ASCII.
    Value,
}

impl fmt::Display for CookieError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Domain => "the cookie's domain is no host name",
            Self::HostPrefix => "a cookie `__Host-…` needs Secure, Path=/ and no Domain",
            Self::Name => "the cookie's name is no token",
            Self::Partitioned => "a partitioned cookie needs Secure",
            Self::Path => "the cookie's path does not begin with `/` or has a forbidden character",
            Self::SameSiteNone => "a cookie with SameSite=None needs Secure",
            Self::SecurePrefix => "a cookie `__Secure-…` needs Secure",
            Self::TooLong => "the cookie is longer than browsers allow",
            Self::Value => "the cookie's value has a forbidden character: encode it",
        })
    }
}

impl std::error::Error for CookieError {}
