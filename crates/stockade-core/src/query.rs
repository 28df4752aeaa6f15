//! Query strings: pairs of text, decoded on demand.
//!
//! Spec: Request object; Middleware helpers › `withQueryValidation`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use stockade_errors::ApiError;

/// A name and a value, decoded.
pub(crate) type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Reads the pairs of a query string or a form, decoded.
///
/// `+` is a space, `a` and `a=` are empty text, a malformed escape stays as it
/// was sent.
///
/// # Errors
/// 400 for more than 1,000 pairs.
pub(crate) fn pairs(query: &str) -> Result<Vec<Pair<'_>>, ApiError> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if pairs.len() == MAX_PAIRS {
            return Err(ApiError::new(400, "Too many parameters"));
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((decode(name), decode(value)));
    }
    Ok(pairs)
}

/// Returns the pairs as an object; the values of a repeated key become an
/// array.
pub(crate) fn object(query: &str) -> Result<Map<String, Value>, ApiError> {
    let mut object = Map::new();
    for (name, value) in pairs(query)? {
        let value = Value::String(value.into_owned());
        match object.get_mut(name.as_ref()) {
            None => {
                object.insert(name.into_owned(), value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Ok(object)
}

fn decode(raw: &str) -> Cow<'_, str> {
    if !raw.bytes().any(|byte| byte == b'%' || byte == b'+') {
        return Cow::Borrowed(raw);
    }
    let spaced = raw.replace('+', " ");
    match percent_decode_str(&spaced).decode_utf8() {
        Ok(text) => Cow::Owned(text.into_owned()),
        Err(_) => Cow::Owned(spaced),
    }
}

const MAX_PAIRS: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(query: &str, expected: &str) {
        let object = Value::Object(object(query).unwrap());
        assert_eq!(object.to_string(), expected, "{query:?}");
    }

    #[test]
    fn pairs_are_decoded() {
        check("", "{}");
        check("a=1&b=two", r#"{"a":"1","b":"two"}"#);
        check("a&b=", r#"{"a":"","b":""}"#);
        check("q=a+b%20c%2B", r#"{"q":"a b c+"}"#);
        check("a%5B%5D=x=y", r#"{"a[]":"x=y"}"#);
        check("&&a=1&", r#"{"a":"1"}"#);
        check("p=100%&q=%FF&r=%zz", r#"{"p":"100%","q":"%FF","r":"%zz"}"#);
    }

    #[test]
    fn a_repeated_key_is_an_array() {
        check("a=1&a=2&b=3&a=4", r#"{"a":["1","2","4"],"b":"3"}"#);
    }

    #[test]
    fn a_thousand_pairs_are_the_limit() {
        assert_eq!(pairs(&vec!["a=1"; 1_000].join("&")).unwrap().len(), 1_000);
        assert_eq!(pairs(&vec!["a=1"; 1_001].join("&")).unwrap_err().status(), 400);
    }
}
