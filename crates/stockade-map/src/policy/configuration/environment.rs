//! The references of a configuration file to variables of the environment.

use std::collections::BTreeMap;

use serde_json::Value;

use super::secrets::is_secret;
use super::snake;

/// Replaces references to known variables by their values.
pub(super) fn resolved(value: Value, variables: &BTreeMap<String, String>) -> Value {
    at("", value, variables)
}

/// Replaces the references in a value with this key.
fn at(key: &str, value: Value, variables: &BTreeMap<String, String>) -> Value {
    match value {
        Value::Object(members) => {
            let members = members.into_iter();
            members.map(|(key, value)| (key.clone(), at(&key, value, variables))).collect()
        }
        Value::Array(items) => items.into_iter().map(|item| at(key, item, variables)).collect(),
        Value::String(text) => match whole(&text).and_then(|name| variables.get(name)) {
            // A secret of digits is not a number.
            Some(value) if is_secret(snake(key).trim_end_matches('s')) => {
                Value::String(value.clone())
            }
            Some(value) => {
                serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()))
            }
            None => Value::String(replaced(&text, variables)),
        },
        other => other,
    }
}

/// Returns the variable that a whole text refers to.
fn whole(text: &str) -> Option<&str> {
    let in_braces = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    let name = in_braces.or_else(|| text.strip_prefix('$')).or_else(|| text.strip_prefix("env:"));
    name.filter(|name| {
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Replaces each `${NAME}` of a known variable in a text.
fn replaced(text: &str, variables: &BTreeMap<String, String>) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("${") {
        result.push_str(before);
        let known = after.split_once('}');
        let known = known.and_then(|(name, tail)| Some((variables.get(name)?, tail)));
        if let Some((value, tail)) = known {
            result.push_str(value);
            rest = tail;
        } else {
            result.push_str("${");
            rest = after;
        }
    }
    result + rest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn references_become_the_values_of_variables() {
        let variables = [
            ("PROXIES", "2"),
            ("ORIGINS", r#"["https://a.example"]"#),
            ("HOST", "a.example"),
            ("PIN", "123456"),
            ("EMPTY", ""),
        ];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let variables = BTreeMap::from(variables);
        #[track_caller]
        fn check(variables: &BTreeMap<String, String>, value: &Value, expected: &Value) {
            assert_eq!(resolved(value.clone(), variables), *expected, "{value}");
        }
        let check = |value: Value, expected: Value| check(&variables, &value, &expected);
        check(json!({ "a": "${PROXIES}", "b": "$PROXIES" }), json!({ "a": 2, "b": 2 }));
        check(json!(["env:ORIGINS", "$HOST"]), json!([["https://a.example"], "a.example"]));
        check(json!("https://${HOST}/${HOST}"), json!("https://a.example/a.example"));
        check(json!("${UNKNOWN} and ${HOST"), json!("${UNKNOWN} and ${HOST"));
        check(json!("${UNKNOWN}${HOST}"), json!("${UNKNOWN}a.example"));
        check(json!({ "jwtSecret": "$PIN" }), json!({ "jwtSecret": "123456" }));
        check(json!({ "secrets": ["$PIN"] }), json!({ "secrets": ["123456"] }));
        check(json!("$EMPTY"), json!(""));
        check(json!("$"), json!("$"));
        check(json!(7), json!(7));
    }
}
