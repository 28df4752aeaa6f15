//! The method name `ANY`, which the router uses for routes of any method.

use http::Method;

/// Returns the method name of routes for any method.
pub(crate) fn any_method() -> Method {
    // The name is a valid method, so the default never applies. A test checks
    // this.
    Method::from_bytes(ANY).unwrap_or_default()
}

/// Returns true for the method of [`any_method`].
pub(crate) fn is_any(method: &Method) -> bool {
    method.as_str().as_bytes() == ANY
}

const ANY: &[u8] = b"ANY";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_has_a_separate_method() {
        assert_eq!(any_method().as_str(), "ANY");
        assert!(is_any(&any_method()) && !is_any(&Method::GET));
    }
}
