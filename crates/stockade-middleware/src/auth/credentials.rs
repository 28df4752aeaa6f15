//! Reads credentials from request headers.

use http::{HeaderName, HeaderValue, header};
use stockade_auth::{TokenError, bearer_token};
use stockade_core::Request;
use stockade_core::log_text::escaped;

use super::challenge::Scheme;
use super::method::AuthResult;

pub(super) fn authorization(req: &Request) -> Result<&str, AuthResult> {
    only(req, &header::AUTHORIZATION)
}

/// Returns the value of a header that appears once. If it appears twice,
/// another program might read the other value.
pub(super) fn only<'r>(req: &'r Request, name: &HeaderName) -> Result<&'r str, AuthResult> {
    let mut values = req.headers().get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Err(AuthResult::Nothing),
        (Some(value), None) => text(value).ok_or(AuthResult::Invalid),
        (Some(_), Some(_)) => Err(AuthResult::Invalid),
    }
}

/// Returns the text of a value, like [`HeaderValue::to_str`]. `is_ascii` checks
/// several bytes at a time. A value contains no control characters except tabs,
/// so only non-ASCII bytes are rejected.
fn text(value: &HeaderValue) -> Option<&str> {
    let bytes = value.as_bytes();
    if bytes.is_ascii() { str::from_utf8(bytes).ok() } else { None }
}

/// Returns the token in a value of `Authorization`. The prefix `Bearer` is
/// optional, but any other scheme is required.
pub(super) fn token<'v>(value: &'v str, scheme: &Scheme) -> Result<&'v str, AuthResult> {
    match scheme {
        Scheme::Bearer => bearer(value),
        Scheme::Named(name) => named(value, name),
    }
}

/// Returns the token after a scheme, which is required and case-insensitive.
/// The token must not contain spaces, because a verifier would remove a leading
/// `Bearer`.
fn named<'v>(value: &'v str, scheme: &str) -> Result<&'v str, AuthResult> {
    let (word, rest) = value.split_once(' ').ok_or(AuthResult::OtherScheme)?;
    let token = rest.trim_start_matches(' ');
    if !word.eq_ignore_ascii_case(scheme) || token.is_empty() {
        Err(AuthResult::OtherScheme)
    } else if token.contains(' ') {
        Err(AuthResult::Invalid)
    } else {
        Ok(token)
    }
}

fn bearer(value: &str) -> Result<&str, AuthResult> {
    let token = bearer_token(value);
    let is_other_scheme = token.len() == value.len() && value.contains(' ');
    if is_other_scheme || token.is_empty() {
        Err(AuthResult::OtherScheme)
    } else if bearer_token(token).len() < token.len() {
        // The verifier would remove the second `Bearer`.
        Err(AuthResult::Invalid)
    } else {
        Ok(token)
    }
}

/// Returns the result for a value without a valid token.
#[cold]
pub(super) fn refused(value: &str, scheme: &Scheme, error: &TokenError) -> AuthResult {
    match token(value, scheme) {
        Ok(_) | Err(AuthResult::Invalid) => {
            log::debug!(target: "stockade::auth", "the token is rejected: {}", escaped(error));
            AuthResult::Invalid
        }
        Err(found) => found,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_same_values_as_the_http_crate() {
        for byte in 0..=255_u8 {
            let Ok(value) = HeaderValue::from_bytes(&[b'a', byte, b'b']) else { continue };
            assert_eq!(text(&value), value.to_str().ok(), "{byte}");
        }
    }

    #[test]
    fn the_bearer_prefix_is_optional() {
        #[track_caller]
        fn check(value: &str, expected: Option<&str>) {
            assert_eq!(token(value, &Scheme::Bearer).ok(), expected, "{value:?}");
        }
        check("Bearer a.b.c", Some("a.b.c"));
        check("bEARER a.b.c", Some("a.b.c"));
        check("Bearer  a", Some("a"));
        check("a.b.c", Some("a.b.c"));
        for value in ["Bearer ", "Bearer", "bearer", "", "Basic YTpi", "Bearers a", " a"] {
            check(value, None);
        }
        for value in ["Bearer Bearer a", "Bearer  bearer a", "Bearer Bearer"] {
            assert!(matches!(bearer(value), Err(AuthResult::Invalid)), "{value:?}");
        }
    }

    #[test]
    fn a_named_scheme_is_required() {
        let scheme = Scheme::Named("Token".into());
        for value in ["Token a.b.c", "token a.b.c", "TOKEN  a.b.c"] {
            assert_eq!(token(value, &scheme).ok(), Some("a.b.c"), "{value:?}");
        }
        for value in
            ["a.b.c", "Bearer a.b.c", "Token", "Token ", "", " a", "Tokens a", "Basic YTpi"]
        {
            assert!(matches!(token(value, &scheme), Err(AuthResult::OtherScheme)), "{value:?}");
        }
        for value in ["Token Token a.b.c", "Token Bearer a.b.c", "token a b", "Token a "] {
            assert!(matches!(token(value, &scheme), Err(AuthResult::Invalid)), "{value:?}");
        }
    }
}
