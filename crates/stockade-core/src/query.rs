//! Query strings: pairs of text, decoded on demand.
// Spec: Request object; Middleware helpers › `withQueryValidation`.

use std::borrow::Cow;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use stockade_errors::ApiError;
use stockade_validation::Schema;
use stockade_validation::read_internals::{Separator, TextStyle};

/// A name and a value, decoded.
pub(crate) type Pair<'a> = (Cow<'a, str>, Cow<'a, str>);

/// Parses and decodes the pairs of a query string or a form.
///
/// `+` is a space, and `a` and `a=` are empty text. A malformed escape is not
/// decoded.
///
/// # Errors
/// 400 for more than 1,000 pairs.
pub(crate) fn pairs(query: &str) -> Result<Vec<Pair<'_>>, ApiError> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        if pairs.len() == MAX_PAIRS {
            return Err(too_many());
        }
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        pairs.push((decode(name), decode(value)));
    }
    Ok(pairs)
}

/// Returns the pairs as an object. The values of a repeated key become an
/// array.
pub(crate) fn object(query: &str) -> Result<Map<String, Value>, ApiError> {
    let mut object = Map::new();
    for (name, value) in pairs(query)? {
        add(&mut object, name, Value::String(value.into_owned()));
    }
    Ok(object)
}

/// Returns the pairs like [`object`], but reads lists and objects in the styles
/// of the schema.
///
/// # Errors
/// 400 for more than 1,000 pairs and elements in total.
pub(crate) fn object_for(query: &str, schema: &Schema) -> Result<Map<String, Value>, ApiError> {
    if !schema.has_text_styles() {
        return object(query);
    }
    let mut object = Map::new();
    let mut count = 0;
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let name = decode(name);
        if let Some(TextStyle::Separated(separator)) = schema.text_style(&name) {
            let list = object.entry(&*name).or_insert_with(|| Value::Array(Vec::new()));
            for element in split(value, separator) {
                count_one(&mut count)?;
                if let Value::Array(list) = list {
                    list.push(decode(element).into_owned().into());
                }
            }
            continue;
        }
        count_one(&mut count)?;
        let value = Value::String(decode(value).into_owned());
        let is_deep = |outer: &str| schema.text_style(outer) == Some(TextStyle::DeepObject);
        let Some((outer, inner)) = deep_name(&name).filter(|(outer, _)| is_deep(outer)) else {
            add(&mut object, name, value);
            continue;
        };
        let members = object.entry(outer).or_insert_with(|| Map::new().into());
        if let Value::Object(members) = members {
            add(members, inner.into(), value);
        } else {
            // `filter=a&filter[b]=c`: the schema rejects the list.
            add(&mut object, outer.into(), value);
        }
    }
    Ok(object)
}

fn count_one(count: &mut usize) -> Result<(), ApiError> {
    *count += 1;
    if *count > MAX_PAIRS { Err(too_many()) } else { Ok(()) }
}

/// Adds a value. The values of a repeated key become an array.
pub(crate) fn add(object: &mut Map<String, Value>, name: Cow<'_, str>, value: Value) {
    match object.get_mut(name.as_ref()) {
        None => {
            object.insert(name.into_owned(), value);
        }
        Some(Value::Array(values)) => values.push(value),
        Some(first) => *first = Value::Array(vec![first.take(), value]),
    }
}

/// Splits `filter[state]` into the names `filter` and `state`.
fn deep_name(name: &str) -> Option<(&str, &str)> {
    let (outer, inner) = name.strip_suffix(']')?.split_once('[')?;
    (!inner.contains(['[', ']'])).then_some((outer, inner))
}

/// Returns the raw elements of a list. An empty text is an empty list.
fn split(mut text: &str, separator: Separator) -> Vec<&str> {
    let mut elements = Vec::new();
    if text.is_empty() {
        return elements;
    }
    let next = |text: &str| {
        let forms = separator.encoded().iter();
        let places = forms.filter_map(|form| text.find(form).map(|at| (at, form.len())));
        places.min()
    };
    while let Some((at, length)) = next(text) {
        elements.push(&text[..at]);
        text = &text[at + length..];
    }
    elements.push(text);
    elements
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

#[cold]
fn too_many() -> ApiError {
    ApiError::new(400, "Too many parameters")
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
    fn accepts_at_most_a_thousand_pairs() {
        assert_eq!(pairs(&vec!["a=1"; 1_000].join("&")).unwrap().len(), 1_000);
        assert_eq!(pairs(&vec!["a=1"; 1_001].join("&")).unwrap_err().status(), 400);
    }

    #[track_caller]
    fn check_styles(query: &str, expected: &str) {
        let schema = stockade_validation::schema!({
            "ids": { "type": "array", "separator": "," },
            "pipes": { "type": "array", "separator": "|" },
            "words": { "type": "array", "separator": " " },
            "filter": { "type": "object", "style": "deepObject" },
        });
        let object = Value::Object(object_for(query, &schema.unwrap()).unwrap());
        assert_eq!(object.to_string(), expected, "{query:?}");
    }

    #[test]
    fn splits_at_separators_before_decoding() {
        check_styles("ids=1,2&a=1,2", r#"{"ids":["1","2"],"a":"1,2"}"#);
        check_styles("ids=a%2Cb,c", r#"{"ids":["a,b","c"]}"#);
        check_styles("ids=1,2&ids=3", r#"{"ids":["1","2","3"]}"#);
        check_styles("ids=&ids", r#"{"ids":[]}"#);
        check_styles("ids=,", r#"{"ids":["",""]}"#);
        check_styles("pipes=a|b%7Cc%7cd", r#"{"pipes":["a","b","c","d"]}"#);
        check_styles("words=a+b%20c", r#"{"words":["a","b","c"]}"#);
    }

    #[test]
    fn a_deep_object_has_a_pair_for_each_property() {
        check_styles("filter[a]=1&filter%5Bb%5D=2", r#"{"filter":{"a":"1","b":"2"}}"#);
        check_styles("filter[a]=1&filter[a]=2", r#"{"filter":{"a":["1","2"]}}"#);
        check_styles("filter[]=1", r#"{"filter":{"":"1"}}"#);
        check_styles("filter[a][b]=1&x[y]=2", r#"{"filter[a][b]":"1","x[y]":"2"}"#);
        check_styles("filter=1&filter[a]=2", r#"{"filter":["1","2"]}"#);
        check_styles("filter[a]=2&filter=1", r#"{"filter":[{"a":"2"},"1"]}"#);
    }

    #[test]
    fn elements_count_as_pairs() {
        let schema = stockade_validation::schema!({ "ids": { "type": "array", "separator": "," } });
        let schema = schema.unwrap();
        let query = |count: usize| format!("ids={}", vec!["1"; count].join(","));
        assert!(object_for(&query(1_000), &schema).is_ok());
        assert_eq!(object_for(&query(1_001), &schema).unwrap_err().status(), 400);
    }
}
