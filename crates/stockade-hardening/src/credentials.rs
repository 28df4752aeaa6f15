//! [`Credentials`]: the credentials of a generated request.

use std::fmt;

use http::{HeaderMap, header};

use crate::header::{bearer_value, header_of};

/// The credentials of a user, for requests that a check generates.
///
/// ```
/// use stockade::testing::Credentials;
///
/// let admin = Credentials::header("x-api-key", "the key of an admin");
/// # drop(admin);
/// ```
#[derive(Clone)]
#[must_use = "they do nothing until a check uses them"]
pub struct Credentials {
    headers: HeaderMap,
}

impl Credentials {
    /// Creates credentials from a token: `Authorization: Bearer …`.
    ///
    /// # Panics
    /// Panics if the token is not a valid header value.
    #[track_caller]
    pub fn bearer(token: impl AsRef<str>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, bearer_value(token.as_ref()));
        Self { headers }
    }

    /// Creates credentials from a header, such as an API key.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a header.
    #[track_caller]
    pub fn header(name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, mut value) = header_of(name.as_ref(), value.as_ref());
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(name, value);
        Self { headers }
    }

    /// Creates credentials from a cookie.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a cookie.
    #[track_caller]
    pub fn cookie(name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        Self::header("cookie", format!("{}={}", name.as_ref(), value.as_ref()))
    }

    /// Returns the headers that carry the credentials.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Prints the header names and hides their values.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.headers.keys()).finish()
    }
}

/// A function that returns the credentials of a user with these roles; `None`
/// if no such user exists.
#[cfg(feature = "proptest")]
pub(crate) type Users = std::sync::Arc<dyn Fn(&[&str]) -> Option<Credentials> + Send + Sync>;
