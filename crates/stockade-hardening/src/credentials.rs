//! [`Credentials`]: the proof of a user that a request of a check carries.

use std::fmt;

use http::{HeaderMap, header};

use crate::header::{bearer_value, header_of};

/// The credentials of a user, for requests that a check makes itself.
///
/// ```
/// use stockade::testing::Credentials;
///
/// let admin = Credentials::header("x-api-key", "the key of an admin");
/// # drop(admin);
/// ```
#[derive(Clone)]
#[must_use = "they are for a check"]
pub struct Credentials {
    headers: HeaderMap,
}

impl Credentials {
    /// Makes credentials of a token: `Authorization: Bearer …`.
    ///
    /// # Panics
    /// When the token cannot be part of a header.
    #[track_caller]
    pub fn bearer(token: impl AsRef<str>) -> Self {
        let mut headers = HeaderMap::new();
        headers.insert(header::AUTHORIZATION, bearer_value(token.as_ref()));
        Self { headers }
    }

    /// Makes credentials of a header, such as one with an API key.
    ///
    /// # Panics
    /// When the name or the value cannot be those of a header.
    #[track_caller]
    pub fn header(name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        let (name, mut value) = header_of(name.as_ref(), value.as_ref());
        value.set_sensitive(true);
        let mut headers = HeaderMap::new();
        headers.insert(name, value);
        Self { headers }
    }

    /// Makes credentials of a cookie.
    ///
    /// # Panics
    /// When the name or the value cannot be those of a cookie.
    #[track_caller]
    pub fn cookie(name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        Self::header("cookie", format!("{}={}", name.as_ref(), value.as_ref()))
    }

    /// Returns the headers that carry them.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }
}

/// Names the headers, and hides their values.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.headers.keys()).finish()
    }
}

/// A function that returns the credentials of a user who has these roles; none
/// if there is no such user.
#[cfg(feature = "proptest")]
pub(crate) type Users = std::sync::Arc<dyn Fn(&[&str]) -> Option<Credentials> + Send + Sync>;
