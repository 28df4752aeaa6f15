//! [`with_sanitization`]: escapes HTML in the strings of a request.
// Spec: Middleware helpers › `withSanitization`.

use std::borrow::Cow;

use serde_json::{Map, Value};
use stockade_core::{Control, Middleware, Request};
use stockade_errors::ApiError;

use crate::described::{TOO_MANY_PAIRS, reads_parsed_body};

/// Escapes HTML in the strings of the body, the query and the path parameters,
/// and removes keys called `__proto__`, at every depth.
///
/// `& < > " '` become `&amp; &lt; &gt; &quot; &#x27;`. An `&` that already
/// begins a character reference does not change, so escaping a string again has
/// no effect. Other keys do not change.
///
/// Only JSON, form and text bodies change, and only if the method has a body.
/// The raw bytes and the target of the request do not change.
///
/// Middleware that decompresses bodies must run first. The other order is a
/// configuration error.
///
/// ```
/// use stockade::middleware::with_sanitization;
///
/// assert_eq!(with_sanitization().name(), "with_sanitization");
/// ```
///
/// # Errors
/// Responds with 400 to JSON that cannot be parsed, and with 413 to a body that
/// is too large, like the extractors.
// Spec: Middleware helpers › `withSanitization`.
#[doc(alias = "withSanitization")]
#[must_use]
pub fn with_sanitization() -> Middleware {
    Middleware::before(|mut req: Request| async move {
        let outcome = sanitize(&mut req).await;
        (req, outcome.map(|()| Control::Continue))
    })
    .named(HELPER)
    .describing(|doc| {
        reads_parsed_body(doc, HELPER);
        doc.may_respond(400, TOO_MANY_PAIRS);
    })
}

const HELPER: &str = "with_sanitization";

async fn sanitize(req: &mut Request) -> Result<(), ApiError> {
    let mut params = req.param_values();
    if clean_object(&mut params) {
        req.set_params(params);
    }
    let mut query = req.query()?;
    if clean_object(&mut query) {
        req.set_query(query);
    }
    if req.has_readable_body() {
        clean(req.body().await?);
    }
    Ok(())
}

/// Returns true if it changed anything.
fn clean(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match escape(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(escaped) => {
                *text = escaped;
                true
            }
        },
        Value::Array(items) => items.iter_mut().fold(false, |changed, item| clean(item) | changed),
        Value::Object(object) => clean_object(object),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn clean_object(object: &mut Map<String, Value>) -> bool {
    let length = object.len();
    // `remove` would change the order of the other members.
    object.retain(|key, _| key != "__proto__");
    let dropped = object.len() < length;
    object.values_mut().fold(dropped, |changed, value| clean(value) | changed)
}

fn escape(text: &str) -> Cow<'_, str> {
    let mut escaped = String::new();
    let mut done = 0;
    for (at, found) in text.match_indices(['&', '<', '>', '"', '\'']) {
        let (before, rest) = (&text[done..at], &text[at + 1..]);
        let replacement = match found {
            "&" if begins_reference(rest) => continue,
            "&" => "&amp;",
            "<" => "&lt;",
            ">" => "&gt;",
            "\"" => "&quot;",
            _ => "&#x27;",
        };
        escaped.push_str(before);
        escaped.push_str(replacement);
        done = at + 1;
    }
    if done == 0 {
        return text.into();
    }
    escaped.push_str(&text[done..]);
    escaped.into()
}

/// Returns true if an `&` and the text after it form a character reference: a
/// name, a decimal or a hexadecimal number, and a semicolon.
fn begins_reference(rest: &str) -> bool {
    let end = rest.bytes().take(MAX_REFERENCE_BYTES).position(|byte| byte == b';');
    let Some(inside) = end.and_then(|end| rest.get(..end)) else {
        return false;
    };
    let all = |text: &str, is_one: fn(&u8) -> bool| {
        !text.is_empty() && text.as_bytes().iter().all(is_one)
    };
    match inside.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(hexadecimal) => all(hexadecimal, u8::is_ascii_hexdigit),
            None => all(number, u8::is_ascii_digit),
        },
        None => {
            inside.starts_with(|first: char| first.is_ascii_alphabetic())
                && all(inside, u8::is_ascii_alphanumeric)
        }
    }
}

/// The longest HTML name, `CounterClockwiseContourIntegral`, has 31 bytes.
const MAX_REFERENCE_BYTES: usize = 32;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(escape(text), expected, "{text:?}");
        assert_eq!(escape(expected), expected, "{text:?}, twice");
    }

    #[test]
    fn five_characters_are_escaped() {
        check("", "");
        check("plain, äöü", "plain, äöü");
        check("<b>\"x\" & 'y'</b>", "&lt;b&gt;&quot;x&quot; &amp; &#x27;y&#x27;&lt;/b&gt;");
        check("ä<ö", "ä&lt;ö");
    }

    #[test]
    fn character_references_stay() {
        check("&amp; &lt; &#39; &#x27; &#X1f; &frac12;", "&amp; &lt; &#39; &#x27; &#X1f; &frac12;");
        check("&CounterClockwiseContourIntegral;", "&CounterClockwiseContourIntegral;");
        for not_one in ["&", "&;", "&lt", "&#;", "&#x;", "&#xg;", "&1a;", "&a b;", "&ä;", "&&;"] {
            assert!(escape(not_one).starts_with("&amp;"), "{not_one:?}");
        }
        check(&format!("&{};", "a".repeat(32)), &format!("&amp;{};", "a".repeat(32)));
    }

    #[test]
    fn sanitizes_every_depth_and_keeps_keys() {
        let mut value = json!({
            "a<": ["<", { "b": ">", "__proto__": { "admin": true } }],
            "__proto__": 1, "n": 1, "t": true, "z": null, "constructor": "'",
        });
        assert!(clean(&mut value));
        let expected =
            r#"{"a<":["&lt;",{"b":"&gt;"}],"n":1,"t":true,"z":null,"constructor":"&#x27;"}"#;
        assert_eq!(value.to_string(), expected);
        assert!(!clean(&mut value));
    }

    proptest! {
        #[test]
        fn escaping_twice_changes_nothing(text in "[&<>\"'#x;a-z0-9 ä]{0,40}") {
            let once = escape(&text).into_owned();
            prop_assert_eq!(escape(&once), once.as_str());
            prop_assert!(!once.contains(['<', '>', '"', '\'']));
        }
    }
}
