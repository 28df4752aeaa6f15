//! [`CookieError`]: the reasons why a cookie cannot be set.

use std::fmt;

use stockade_core::reply::IntoError;
use stockade_core::{ApiError, RouteDescription};

/// The reason why a cookie cannot be set.
///
/// A request handler can return it, and `?` converts it to an [`ApiError`]:
/// [`Value`] and [`TooLong`] become a 400, because values usually come from the
/// client. All other variants become a 500. Use `map_err` if the server chose
/// the value.
///
/// [`TooLong`]: Self::TooLong
/// [`Value`]: Self::Value
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CookieError {
    /// The domain is not a host name: labels of letters, digits and inner hyphens, separated
    /// by dots.
    Domain,
    /// A `__Host-` cookie needs `Secure`, `Path=/` and no `Domain`.
    HostPrefix,
    /// The name is empty, or has a character that is not allowed in a token.
    Name,
    /// A partitioned cookie needs `Secure`.
    Partitioned,
    /// The path does not begin with `/`, or has a semicolon or a control
    /// character.
    Path,
    /// `SameSite=None` needs `Secure`.
    SameSiteNone,
    /// A `__Secure-` cookie needs `Secure`.
    SecurePrefix,
    /// Name and value have more than 4,096 bytes together, or an attribute has
    /// more than 1,024 bytes. Browsers ignore such cookies.
    TooLong,
    /// The value has white space, a control character, a quote, a comma, a
    /// semicolon, a backslash, or a non-ASCII character.
    Value,
}

impl fmt::Display for CookieError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Domain => "the cookie's domain is not a host name",
            Self::HostPrefix => {
                "a `__Host-…` cookie must have Secure and Path=/, and must not have Domain"
            }
            Self::Name => "the cookie's name is empty or contains a forbidden character",
            Self::Partitioned => "a partitioned cookie must have Secure",
            Self::Path => {
                "the cookie's path does not begin with `/` or contains a forbidden character"
            }
            Self::SameSiteNone => "a cookie with SameSite=None must have Secure",
            Self::SecurePrefix => "a `__Secure-…` cookie must have Secure",
            Self::TooLong => "the cookie is longer than browsers allow",
            Self::Value => {
                "the cookie's value contains a forbidden character; use `SetCookie::encoded`"
            }
        })
    }
}

impl std::error::Error for CookieError {}

/// 400 for [`Value`](CookieError::Value) and [`TooLong`](CookieError::TooLong), 500 for all
/// other variants.
impl From<CookieError> for ApiError {
    fn from(error: CookieError) -> Self {
        let message = match error {
            CookieError::Value => FORBIDDEN,
            CookieError::TooLong => TOO_LONG,
            _ => return Self::internal(error),
        };
        Self::new(400, message).with_source(error)
    }
}

impl IntoError for CookieError {
    fn into_error_response(self) -> Result<stockade_core::Response, ApiError> {
        Err(self.into())
    }

    fn describe(doc: &mut RouteDescription) {
        doc.may_fail(&[(400, FORBIDDEN), (400, TOO_LONG), (500, "")]);
    }
}

const FORBIDDEN: &str = "A cookie value contains a forbidden character";
const TOO_LONG: &str = "A cookie value is too long";
