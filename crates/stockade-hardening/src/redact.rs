//! Removes credentials from the messages of a failing test.

use std::borrow::Cow;

use http::{HeaderName, HeaderValue, header};
use serde_json::Value;

/// The text that replaces a credential.
pub(crate) const REDACTED: &str = "(redacted)";

/// Returns the printable value of a header.
pub(crate) fn header(name: &HeaderName, value: &HeaderValue) -> String {
    let text = String::from_utf8_lossy(value.as_bytes());
    match *name {
        header::AUTHORIZATION | header::PROXY_AUTHORIZATION => match text.split_once(' ') {
            Some((scheme, _)) => format!("{scheme} {REDACTED}"),
            None => REDACTED.to_owned(),
        },
        header::COOKIE => text.split("; ").map(cookie).collect::<Vec<_>>().join("; "),
        header::SET_COOKIE => match text.split_once(';') {
            Some((pair, attributes)) => format!("{};{attributes}", cookie(pair)),
            None => cookie(&text),
        },
        _ if value.is_sensitive() || hides(name) => REDACTED.to_owned(),
        _ => text.into_owned(),
    }
}

/// Returns true if the value of this header is a credential.
pub(crate) fn hides(name: &HeaderName) -> bool {
    matches!(
        *name,
        header::AUTHORIZATION | header::PROXY_AUTHORIZATION | header::COOKIE | header::SET_COOKIE
    ) || is_secret(name.as_str())
}

/// Returns the name of a cookie without its value.
fn cookie(pair: &str) -> String {
    match pair.split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None => REDACTED.to_owned(),
    }
}

/// Returns true if a field with this name is a credential.
pub(crate) fn is_secret(name: &str) -> bool {
    let is_letter = |character: &char| !matches!(character, '-' | '_');
    let name: String = name.chars().filter(is_letter).collect::<String>().to_ascii_lowercase();
    ["password", "secret", "token", "apikey"].iter().any(|word| name.contains(word))
}

/// Returns a body with credentials redacted, if it is JSON or a form.
pub(crate) fn body<'t>(text: &'t str, content_type: &str) -> Cow<'t, str> {
    if content_type.starts_with("application/x-www-form-urlencoded") {
        return pairs(text);
    }
    // A body without credentials is printed unchanged.
    let Ok(mut value) = serde_json::from_str::<Value>(text) else { return text.into() };
    if hide(&mut value) { value.to_string().into() } else { text.into() }
}

/// Returns a target with the credentials in its query redacted.
pub(crate) fn target(target: &str) -> Cow<'_, str> {
    match target.split_once('?') {
        Some((path, query)) => format!("{path}?{}", pairs(query)).into(),
        None => target.into(),
    }
}

fn pairs(text: &str) -> Cow<'_, str> {
    let shown = text.split('&').map(|pair| match pair.split_once('=') {
        Some((name, _)) if is_secret(name) => cookie(pair),
        _ => pair.to_owned(),
    });
    shown.collect::<Vec<_>>().join("&").into()
}

/// Redacts all texts below credential names. Returns true if there were any.
fn hide(value: &mut Value) -> bool {
    let mut hidden = false;
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                hidden |= if is_secret(name) { hide_all(member) } else { hide(member) };
            }
        }
        Value::Array(items) => {
            for item in items {
                hidden |= hide(item);
            }
        }
        _ => {}
    }
    hidden
}

fn hide_all(value: &mut Value) -> bool {
    let mut hidden = false;
    match value {
        Value::String(text) => {
            hidden = true;
            REDACTED.clone_into(text);
        }
        Value::Array(items) => items.iter_mut().for_each(|item| hidden |= hide_all(item)),
        Value::Object(members) => members.values_mut().for_each(|item| hidden |= hide_all(item)),
        _ => {}
    }
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redacts_only_secrets_in_headers() {
        #[track_caller]
        fn check(name: &str, value: &str, expected: &str) {
            let name: HeaderName = name.parse().unwrap();
            assert_eq!(header(&name, &value.parse().unwrap()), expected);
        }
        check("authorization", "Bearer abc", "Bearer (redacted)");
        check("authorization", "abc", "(redacted)");
        check("cookie", "a=1; b=2", "a=(redacted); b=(redacted)");
        check("set-cookie", "a=1; Path=/", "a=(redacted); Path=/");
        check("x-api-key", "abc", "(redacted)");
        check("content-type", "text/plain", "text/plain");
    }

    #[test]
    fn redacts_only_secrets_in_bodies_and_targets() {
        let json = r#"{"name":"Ada",  "a":1}"#;
        assert_eq!(body(json, "application/json"), json);
        let login = r#"{"name":"Ada","password":"x","tokens":["y"],"user":{"api_key":null}}"#;
        let shown = r#"{"name":"Ada","password":"(redacted)","tokens":["(redacted)"],"user":{"api_key":null}}"#;
        assert_eq!(body(login, "application/json"), shown);
        let form = "application/x-www-form-urlencoded";
        assert_eq!(body("name=Ada&password=x", form), "name=Ada&password=(redacted)");
        assert_eq!(target("/a?q=1&token=x"), "/a?q=1&token=(redacted)");
    }
}
