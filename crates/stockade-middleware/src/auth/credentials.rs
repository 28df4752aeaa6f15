//! Credentials in the headers of a request.

use http::{HeaderName, HeaderValue, header};
use stockade_auth::{TokenError, bearer_token};
use stockade_core::__internal::escaped;
use stockade_core::Request;

use super::method::Found;

pub(super) fn authorization(req: &Request) -> Result<&str, Found> {
    only(req, &header::AUTHORIZATION)
}

/// Returns the value of a header that is there once. Of two values, another
/// program might read the other one.
pub(super) fn only<'r>(req: &'r Request, name: &HeaderName) -> Result<&'r str, Found> {
    let mut values = req.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Err(Found::Nothing),
        (Some(value), None) => text(value).ok_or(Found::Invalid),
        (Some(_), Some(_)) => Err(Found::Invalid),
    }
}

/// Returns the text as [`HeaderValue::to_str`] does, but checks words instead
/// of bytes: a value has no control characters but tabs, so only bytes beyond
/// ASCII are refused.
fn text(value: &HeaderValue) -> Option<&str> {
    let bytes = value.as_bytes();
    if bytes.is_ascii() { str::from_utf8(bytes).ok() } else { None }
}

/// Returns the token in a value of `Authorization`, with or without `Bearer`.
pub(super) fn token(value: &str) -> Result<&str, Found> {
    let token = bearer_token(value);
    let is_other_scheme = token.len() == value.len() && value.contains(' ');
    if is_other_scheme || token.is_empty() {
        Err(Found::OtherScheme)
    } else if bearer_token(token).len() < token.len() {
        // The verifier would take off the second `Bearer`.
        Err(Found::Invalid)
    } else {
        Ok(token)
    }
}

/// Returns the finding for a value without a valid token.
#[cold]
pub(super) fn refused(value: &str, error: &TokenError) -> Found {
    match token(value) {
        Ok(_) | Err(Found::Invalid) => {
            log::debug!(target: "stockade::auth", "the token is refused: {}", escaped(error));
            Found::Invalid
        }
        Err(found) => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_the_texts_that_http_takes_for_text() {
        for byte in 0..=255_u8 {
            let Ok(value) = HeaderValue::from_bytes(&[b'a', byte, b'b']) else { continue };
            assert_eq!(text(&value), value.to_str().ok(), "{byte}");
        }
    }

    #[test]
    fn a_token_stands_with_or_without_the_word() {
        #[track_caller]
        fn check(value: &str, expected: Option<&str>) {
            assert_eq!(token(value).ok(), expected, "{value:?}");
        }
        check("Bearer a.b.c", Some("a.b.c"));
        check("bEARER a.b.c", Some("a.b.c"));
        check("Bearer  a", Some("a"));
        check("a.b.c", Some("a.b.c"));
        for value in ["Bearer ", "Bearer", "bearer", "", "Basic YTpi", "Bearers a", " a"] {
            check(value, None);
        }
        for value in ["Bearer Bearer a", "Bearer  bearer a", "Bearer Bearer"] {
            assert!(matches!(token(value), Err(Found::Invalid)), "{value:?}");
        }
    }
}
