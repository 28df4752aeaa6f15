//! Example parameters, in the notation of their style.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::words;
use crate::example::Examples;

/// Returns the text of an example parameter, for its field.
pub(super) fn example(examples: Examples<'_>, parameter: &Value) -> String {
    let name = parameter["name"].as_str().unwrap_or_default();
    match examples.value(name, &parameter["schema"]) {
        Value::String(text) if text == "text" || text == "any value" => name.to_owned(),
        Value::String(text) => text,
        Value::Array(items) => {
            let texts: Vec<String> = items.iter().map(words::plain).collect();
            texts.join(separator(parameter))
        }
        other => other.to_string(),
    }
}

/// Returns the pairs of an example in a query, encoded.
pub(super) fn pairs(examples: Examples<'_>, parameter: &Value) -> Vec<String> {
    let name = parameter["name"].as_str().unwrap_or_default();
    let pair = |name: &str, value: &str| format!("{}={}", encoded(name), encoded(value));
    match (style(parameter), examples.value(name, &parameter["schema"])) {
        (Some(EACH), Value::Array(items)) => {
            items.iter().map(|item| pair(name, &words::plain(item))).collect()
        }
        (Some(DEEP), Value::Object(members)) => {
            let members = members.iter();
            members
                .map(|(key, value)| pair(&format!("{name}[{key}]"), &words::plain(value)))
                .collect()
        }
        (Some(separator), Value::Array(items)) => {
            let items: Vec<String> = items.iter().map(|it| encoded(&words::plain(it))).collect();
            // Servers split a list before they decode its items.
            let separator = if separator == " " { "%20" } else { separator };
            vec![format!("{}={}", encoded(name), items.join(separator))]
        }
        _ => vec![pair(name, &example(examples, parameter))],
    }
}

/// A list, with a pair for each item.
const EACH: &str = "each";

/// An object, with a pair for each member.
const DEEP: &str = "deep";

/// Returns the style of a list or an object in a query: [`EACH`], [`DEEP`] or
/// the separator of a list. The script also uses it.
pub(super) fn style(parameter: &Value) -> Option<&'static str> {
    let schema = &parameter["schema"];
    if parameter["in"] != "query" {
        return None;
    }
    match parameter["style"].as_str() {
        Some("deepObject") => Some(DEEP),
        _ if schema["type"] != "array" => None,
        _ if parameter["explode"] != false => Some(EACH),
        _ => Some(separator(parameter)),
    }
}

fn separator(parameter: &Value) -> &'static str {
    match parameter["style"].as_str() {
        Some("pipeDelimited") => "|",
        Some("spaceDelimited") => " ",
        _ => ",",
    }
}

/// Encodes all characters except the unreserved ones (RFC 3986, section 2.3).
pub(super) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, RESERVED).to_string()
}

/// All characters except the unreserved ones (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::example::Direction;

    #[test]
    fn examples_follow_the_style_of_their_parameter() {
        let check = |parameter: Value, field: &str, expected: &[&str]| {
            let schemas = json!({});
            let examples = Examples::new(&schemas, Direction::Request);
            assert_eq!(example(examples, &parameter), field);
            assert_eq!(pairs(examples, &parameter), expected, "{parameter}");
        };
        let list = |style: &str, explode: bool| {
            let schema = json!({ "type": "array", "items": { "enum": ["a,b"] }, "minItems": 2 });
            json!({ "name": "ids", "in": "query", "style": style, "explode": explode, "schema": schema })
        };
        check(list("form", true), "a,b,a,b", &["ids=a%2Cb", "ids=a%2Cb"]);
        check(list("form", false), "a,b,a,b", &["ids=a%2Cb,a%2Cb"]);
        check(list("pipeDelimited", false), "a,b|a,b", &["ids=a%2Cb|a%2Cb"]);
        check(list("spaceDelimited", false), "a,b a,b", &["ids=a%2Cb%20a%2Cb"]);
        let object = json!({ "type": "object", "required": ["state", "year"], "properties": {
            "state": { "enum": ["open"] }, "year": { "const": 7 },
        } });
        let deep =
            json!({ "name": "filter", "in": "query", "style": "deepObject", "schema": object });
        let expected = ["filter%5Bstate%5D=open", "filter%5Byear%5D=7"];
        check(deep, r#"{"state":"open","year":7}"#, &expected);
        let text = json!({ "name": "id", "in": "path", "schema": { "type": "string" } });
        check(text, "id", &["id=id"]);
    }

    #[test]
    fn values_stay_one_segment() {
        assert_eq!(encoded("a/b?c#é~"), "a%2Fb%3Fc%23%C3%A9~");
    }
}
