//! `RequestId`: the id of one request.

use std::fmt;

use http::{HeaderMap, HeaderName, HeaderValue};
use stockade_core::headers::only;
use stockade_core::{ApiError, FromRequest, Request, RouteDescription};

/// The id of a request, 1 to 128 visible ASCII characters; a handler argument.
///
/// The handler needs an outer [`with_request_id`](super::with_request_id), or a
/// router that assigns request ids (`RouterOptions::request_id`). Otherwise the
/// response is a 500.
///
/// ```
/// use stockade::http::{HeaderMap, HeaderValue};
/// use stockade::middleware::RequestId;
///
/// let mut headers = HeaderMap::new();
/// headers.insert("x-request-id", HeaderValue::from_static("7f3a"));
/// assert_eq!(RequestId::sent(&headers).expect("an id").as_str(), "7f3a");
/// assert_eq!(RequestId::random()?.as_str().len(), 32);
/// # Ok::<(), stockade::ApiError>(())
/// ```
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct RequestId {
    /// Invariant: 1 to 128 visible ASCII characters.
    value: HeaderValue,
}

impl RequestId {
    /// Returns the id that the client sent in `X-Request-Id`. An id is ignored
    /// if it is empty, longer than 128 bytes, not visible ASCII, or a
    /// duplicate.
    #[must_use]
    pub fn sent(headers: &HeaderMap) -> Option<Self> {
        let value = only(headers, &X_REQUEST_ID)?;
        let bytes = value.as_bytes();
        let is_sound =
            (1..=MAX_BYTES).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic);
        is_sound.then(|| Self { value: value.clone() })
    }

    /// Creates a new id: 16 random bytes as 32 hexadecimal digits.
    ///
    /// # Errors
    /// Fails with 500 if the system cannot provide random bytes.
    pub fn random() -> Result<Self, ApiError> {
        let digits = hex::encode(random_bytes::<16>()?);
        Ok(Self { value: HeaderValue::try_from(digits).map_err(ApiError::internal)? })
    }

    /// Returns the id of a request after
    /// [`with_request_id`](super::with_request_id) has run.
    #[must_use]
    pub fn of(req: &Request) -> Option<&Self> {
        req.extensions().get()
    }

    /// Returns the id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Always text, by the invariant of `value`.
        self.value.to_str().unwrap_or_default()
    }

    /// Returns the id as a header value.
    #[must_use]
    pub fn to_header_value(&self) -> HeaderValue {
        self.value.clone()
    }
}

impl FromRequest for RequestId {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let missing = || {
            ApiError::new(
                500,
                "the request does not have an id: add `with_request_id()`, or the option \
                 `request_id`",
            )
        };
        Self::of(req).cloned().ok_or_else(missing)
    }

    fn describe(_doc: &mut RouteDescription) {}
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RequestId({self})")
    }
}

/// Returns random bytes from the system.
pub(super) fn random_bytes<const N: usize>() -> Result<[u8; N], ApiError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(ApiError::internal)?;
    Ok(bytes)
}

/// The request id.
pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const MAX_BYTES: usize = 128;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(values: &[&[u8]], is_believed: bool) {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(X_REQUEST_ID, HeaderValue::from_bytes(value).unwrap());
        }
        assert_eq!(RequestId::sent(&headers).is_some(), is_believed, "{values:?}");
    }

    #[test]
    fn accepts_only_short_visible_ascii() {
        check(&[b"a"], true);
        check(&[&[b'~'; 128]], true);
        check(&[b"!\"\\<script>"], true);
        check(&[&[b'a'; 129]], false);
        check(&[b""], false);
        check(&[b"a b"], false);
        check(&[b"a\tb"], false);
        check(&[b"\xC3\xA4"], false);
        check(&[b"a", b"a"], false);
        check(&[], false);
    }

    #[test]
    fn no_two_random_ids_are_the_same() {
        let (first, second) = (RequestId::random().unwrap(), RequestId::random().unwrap());
        assert_ne!(first, second);
        assert!(first.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()));
    }
}
