//! [`bearer_token`]: the token in an `Authorization` value.

/// Returns the token in an `Authorization` value: the text after `Bearer` (in
/// any case) and one or more spaces. Returns the whole text if it does not
/// start with `Bearer`.
///
/// The prefix is removed only once: `Bearer Bearer x` becomes `Bearer x`, which
/// is not a token. [`verify_token`](crate::verify_token) calls this function
/// itself.
///
/// ```
/// use stockade_auth::bearer_token;
///
/// assert_eq!(bearer_token("Bearer a.b.c"), "a.b.c");
/// assert_eq!(bearer_token("a.b.c"), "a.b.c");
/// ```
///
/// Source: RFC 6750, section 2.1; RFC 9110, section 11.4.
#[must_use]
pub fn bearer_token(value: &str) -> &str {
    let Some((word, rest)) = value.split_at_checked(WORD.len()) else { return value };
    if !word.eq_ignore_ascii_case(WORD) || !(rest.is_empty() || rest.starts_with(' ')) {
        return value;
    }
    rest.trim_start_matches(' ')
}

const WORD: &str = "Bearer";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn removes_one_bearer_prefix() {
        #[track_caller]
        fn check(value: &str, expected: &str) {
            assert_eq!(bearer_token(value), expected);
        }
        check("Bearer a.b.c", "a.b.c");
        check("bEARER a.b.c", "a.b.c");
        check("Bearer  a.b.c", "a.b.c");
        check("Bearer Bearer a", "Bearer a");
        check("Bearer\ta", "Bearer\ta");
        check("Bearer ", "");
        check("Bearer", "");
        check("Bearers a", "Bearers a");
        check("Bearer.a.b", "Bearer.a.b");
        check(" Bearer a", " Bearer a");
        check("Bearé a", "Bearé a");
        check("", "");
    }
}
