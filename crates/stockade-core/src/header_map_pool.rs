//! The pool of header maps: that of a request that is gone, for the response of
//! the next one.
//!
//! Hot: a map is two allocations, and in steady state this saves both. Maps are
//! swapped, because each one that is dropped costs something, also an empty one.

use std::cell::RefCell;
use std::mem::swap;

use http::{HeaderMap, HeaderValue, header};

use crate::{HttpBody, Response};

/// Makes a response with status 200, this body and this content type.
///
/// The type is a value already, because one that is made of a text is checked.
pub fn response(body: HttpBody, content_type: HeaderValue) -> Response {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    exchange(headers);
    headers.insert(header::CONTENT_TYPE, content_type);
    response
}

/// Keeps a map that is not needed any more, without its headers.
pub(crate) fn give_back(headers: &mut HeaderMap) {
    if (1..=MAX_CAPACITY).contains(&headers.capacity()) {
        headers.clear();
        exchange(headers);
    }
}

/// Exchanges an empty map for the one that is kept, which is empty as well.
fn exchange(headers: &mut HeaderMap) {
    // While a thread ends there is none.
    let _ = POOL.try_with(|pool| swap(headers, &mut pool.borrow_mut()));
}

thread_local! {
    /// One for each thread.
    static POOL: RefCell<HeaderMap> = RefCell::new(HeaderMap::new());
}

/// A map with room for more is not worth keeping.
const MAX_CAPACITY: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_used_again_without_what_was_in_it() {
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
    fn a_large_map_is_not_kept() {
        give_back(&mut HeaderMap::with_capacity(1_000));
        let mut headers = HeaderMap::new();
        exchange(&mut headers);
        assert_eq!(headers.capacity(), 0);
    }
}
