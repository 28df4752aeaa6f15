//! The responses with items.

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;
use stockade_core::headers::list_items;
use stockade_core::{HttpBody, Reply as _, Request, Response};
use stockade_errors::ApiError;
use stockade_json::to_json;

use super::Route;
use crate::core::Core;
use crate::erased::Item;
use crate::store::Version;

impl Route {
    /// Creates a response with an item and its entity tag.
    pub(super) fn item(&self, status: StatusCode, item: &dyn Item) -> Result<Response, ApiError> {
        let mut response = json(self.core.written(item)?)?;
        *response.status_mut() = status;
        let headers = response.headers_mut();
        headers.insert(header::ETAG, etag(item.version())?);
        headers.insert(header::CACHE_CONTROL, self.cache_control());
        Ok(response)
    }

    /// Creates the response to a write. It omits the item if the client prefers
    /// that.
    pub(super) fn written(
        &self,
        req: &Request,
        status: StatusCode,
        item: &dyn Item,
    ) -> Result<Response, ApiError> {
        if !wants_minimal(req.headers()) {
            return self.item(status, item);
        }
        let mut response = Response::new(HttpBody::empty());
        // Only a 201 reports the location of a new item.
        let is_new = status == StatusCode::CREATED;
        *response.status_mut() = if is_new { status } else { StatusCode::NO_CONTENT };
        let headers = response.headers_mut();
        headers.insert(header::ETAG, etag(item.version())?);
        headers.insert("preference-applied", HeaderValue::from_static("return=minimal"));
        Ok(response)
    }

    /// Returns the caching rule: caches must revalidate, and shared caches must
    /// not store a user's data.
    pub(super) fn cache_control(&self) -> HeaderValue {
        HeaderValue::from_static(if self.is_public { "no-cache" } else { "private, no-cache" })
    }
}

impl Core {
    /// Writes an item as JSON, without its hidden values.
    fn written(&self, item: &dyn Item) -> Result<Vec<u8>, ApiError> {
        if !self.hides() {
            return item.write();
        }
        let mut value = item.value()?;
        self.hide(&mut value);
        Ok(to_json(&value)?)
    }
}

/// Creates a JSON response.
pub(super) fn json(bytes: Vec<u8>) -> Result<Response, ApiError> {
    // This response reuses the header map of a finished request.
    let mut response = Bytes::from(bytes).into_response()?;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    Ok(response)
}

/// Returns the entity tag of a version.
pub(super) fn etag(version: Version) -> Result<HeaderValue, ApiError> {
    // The result equals `Display`, without the cost of formatting.
    header_value(["\"v", &version.0.to_string(), "\""].concat())
}

pub(super) fn header_value(text: String) -> Result<HeaderValue, ApiError> {
    HeaderValue::try_from(text).map_err(ApiError::internal)
}

/// Returns the path of an item in the collection at `collection`.
pub(super) fn place_of(collection: &str, id: &Value) -> String {
    let id = match id {
        Value::String(id) => utf8_percent_encode(id, SEGMENT).to_string(),
        id => id.to_string(),
    };
    format!("{}/{id}", collection.trim_end_matches('/'))
}

/// The characters to encode in a path segment: all except the unreserved
/// characters.
///
/// Source: RFC 3986, section 2.3.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

const PREFER: HeaderName = HeaderName::from_static("prefer");

/// Returns true if the client wants a response without the item.
///
/// Source: RFC 7240, section 4.2.
fn wants_minimal(headers: &HeaderMap) -> bool {
    let mut preferences = list_items(headers, &PREFER);
    let first = preferences.find(|it| {
        let name = it.split(['=', ';']).next().unwrap_or(it);
        name.trim().eq_ignore_ascii_case("return")
    });
    first.is_some_and(|preference| {
        let value = preference.split(';').next().and_then(|it| it.split_once('='));
        value.is_some_and(|(_, value)| value.trim().trim_matches('"') == "minimal")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(lines: &[&str], expected: bool) {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append("prefer", line.parse().unwrap());
        }
        assert_eq!(wants_minimal(&headers), expected, "{lines:?}");
    }

    #[test]
    fn the_first_preference_counts() {
        check(&[], false);
        check(&["return=minimal"], true);
        check(&["Return=\"minimal\""], true);
        check(&["respond-async", "wait=10, return=minimal; x=1"], true);
        check(&["return=representation, return=minimal"], false);
        check(&["return", "returns=minimal"], false);
    }

    #[test]
    fn an_entity_tag_is_a_version() {
        for version in [Version(0), Version(17), Version(u64::MAX)] {
            assert_eq!(etag(version).unwrap(), format!("\"{version}\""));
        }
    }

    #[test]
    fn an_id_is_one_segment() {
        assert_eq!(place_of("/teas", &json!(7)), "/teas/7");
        assert_eq!(place_of("/teas/", &json!("a/b c?é")), "/teas/a%2Fb%20c%3F%C3%A9");
    }
}
