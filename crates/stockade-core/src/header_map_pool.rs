//! A pool that reuses the header map of a finished request for the next
//! response.
//!
//! Hot: a map makes two allocations, and the steady state avoids both. Maps are
//! swapped, because dropping even an empty map has a cost.

use std::cell::RefCell;
use std::mem::swap;

use http::{HeaderMap, HeaderValue, header};

use crate::{HttpBody, Response};

/// Creates a response with status 200, this body and this content type.
///
/// The type is a `HeaderValue`, because a value from a string needs validation.
pub fn response(body: HttpBody, content_type: HeaderValue) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    exchange(headers);
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}

/// Returns an unused map to the pool without its headers.
pub(crate) fn give_back(headers: &mut HeaderMap) {
    if (1..=MAX_CAPACITY).contains(&headers.capacity()) {
        headers.clear();
        exchange(headers);
    }
}

/// Swaps an empty map with the pooled map, which is empty too.
fn exchange(headers: &mut HeaderMap) {
    // The pool is not available while the thread ends.
    let _ = POOL.try_with(|pool| swap(headers, &mut pool.borrow_mut()));
}

thread_local! {
    /// One map per thread.
    static POOL: RefCell<HeaderMap> = RefCell::new(HeaderMap::new());
}

/// Larger maps are not pooled.
const MAX_CAPACITY: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reused_map_is_empty() {
        let mut headers = HeaderMap::with_capacity(20);
        let capacity = headers.capacity();
        headers.append("authorization", HeaderValue::from_static("secret"));
        headers.append("authorization", HeaderValue::from_static("another"));
        give_back(&mut headers);
        assert_eq!(headers.capacity(), 0);
        let response = response(HttpBody::empty(), HeaderValue::from_static("text/plain"));
        assert_eq!(response.headers().capacity(), capacity);
        assert_eq!(response.headers().len(), 1);
        assert_eq!(response.headers()["content-type"], "text/plain");
        let mut another = HeaderMap::new();
        exchange(&mut another);
        assert_eq!(another.capacity(), 0);
    }

    #[test]
    fn does_not_store_a_large_map() {
        give_back(&mut HeaderMap::with_capacity(1_000));
        let mut headers = HeaderMap::new();
        exchange(&mut headers);
        assert_eq!(headers.capacity(), 0);
    }
}
