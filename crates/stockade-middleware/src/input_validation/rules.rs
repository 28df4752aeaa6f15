//! [`IntoInputRules`]: the notations of the rules for `with_input_validation`.

use std::panic::Location;

use serde_json::{Map, Value};
use stockade_errors::ConfigIssue;

use super::{InputRule, InputType};

/// The rules for body fields, in the order of their checks.
#[derive(Clone, Debug)]
pub struct InputRules {
    pub(super) rules: Vec<(String, InputRule)>,
    pub(super) mistakes: Vec<ConfigIssue>,
}

/// The argument of [`with_input_validation`](super::with_input_validation):
/// pairs of a field and an [`InputRule`], or JSON. The JSON is an object with a
/// rule for each field. A rule has the keys `required`, `type`, `minLength`,
/// `maxLength` and `pattern`.
///
/// `M` is a marker of the notation and is inferred.
// Spec: Middleware helpers › `withInputValidation`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as input rules",
    label = "not input rules",
    note = "rules are pairs such as `[(\"name\", InputRule::new().required())]`, or a `serde_json::Value`"
)]
pub trait IntoInputRules<M> {
    /// Parses the rules; configuration errors are reported when the router is
    /// built.
    fn into_input_rules(self) -> InputRules;
}

/// The forms of rules, as markers for [`IntoInputRules`].
pub mod form {
    /// Pairs of a field and its rule.
    #[derive(Debug)]
    pub struct Pairs;

    /// Rules as JSON.
    #[derive(Debug)]
    pub struct Json;
}

impl<N: Into<String>, I: IntoIterator<Item = (N, InputRule)>> IntoInputRules<form::Pairs> for I {
    fn into_input_rules(self) -> InputRules {
        let rules = self.into_iter().map(|(field, rule)| (field.into(), rule)).collect();
        InputRules { rules, mistakes: Vec::new() }
    }
}

impl IntoInputRules<form::Json> for Value {
    #[track_caller]
    fn into_input_rules(self) -> InputRules {
        (&self).into_input_rules()
    }
}

impl IntoInputRules<form::Json> for &Value {
    #[track_caller]
    fn into_input_rules(self) -> InputRules {
        let location = Location::caller();
        let mut read = InputRules { rules: Vec::new(), mistakes: Vec::new() };
        let mut mistake = |text: String| read.mistakes.push(ConfigIssue::new(text).at(location));
        let Value::Object(fields) = self else {
            mistake("the rules must be an object of fields".to_owned());
            return read;
        };
        for (field, rule) in fields {
            let Value::Object(rule) = rule else {
                mistake(format!("field `{field}`: the rule of a field must be an object"));
                continue;
            };
            let rule = rule_of(rule, |text| mistake(format!("field `{field}`: {text}")));
            read.rules.push((field.clone(), rule));
        }
        read
    }
}

#[track_caller]
fn rule_of(keys: &Map<String, Value>, mut mistake: impl FnMut(String)) -> InputRule {
    let mut rule = InputRule::new();
    for (key, value) in keys {
        let wanted = match (key.as_str(), value) {
            ("required", Value::Bool(required)) => {
                rule.required = *required;
                continue;
            }
            ("pattern", Value::String(pattern)) => {
                rule = rule.pattern(pattern);
                continue;
            }
            ("type", value) => {
                rule.kind = InputType::from_name(value);
                if rule.kind.is_some() {
                    continue;
                }
                "string, number, boolean, object, array or null"
            }
            ("minLength" | "maxLength", value) => {
                let length = value.as_u64().and_then(|length| usize::try_from(length).ok());
                let place =
                    if key == "minLength" { &mut rule.min_length } else { &mut rule.max_length };
                *place = length;
                if length.is_some() {
                    continue;
                }
                "a non-negative integer"
            }
            ("required", _) => "a boolean",
            ("pattern", _) => "a string",
            _ => {
                mistake(format!(
                    "unknown key `{key}`: a rule has required, type, minLength, maxLength, pattern"
                ));
                continue;
            }
        };
        mistake(format!("`{key}` must be {wanted}"));
    }
    rule
}

impl InputType {
    fn from_name(name: &Value) -> Option<Self> {
        Some(match name.as_str()? {
            "string" => Self::String,
            "number" => Self::Number,
            "boolean" => Self::Boolean,
            "object" => Self::Object,
            "array" => Self::Array,
            "null" => Self::Null,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn mistakes(rules: &Value, expected: &[&str]) {
        let line = Location::caller().line();
        let read = rules.into_input_rules();
        let texts: Vec<&str> = read.mistakes.iter().map(ConfigIssue::message).collect();
        assert_eq!(texts, expected, "{rules}");
        let at = |mistake: &ConfigIssue| mistake.location().map(Location::line) == Some(line);
        assert!(read.mistakes.iter().all(at), "{:?}", read.mistakes);
    }

    #[test]
    fn reads_json_in_order() {
        let rules = json!({
            "z": { "required": true, "type": "array" },
            "a": { "minLength": 2, "maxLength": 3, "pattern": "^a" },
            "m": {},
            "o": { "required": false, "type": "null" },
        });
        let read = rules.into_input_rules();
        assert_eq!(read.mistakes.len(), 0);
        let names: Vec<&str> = read.rules.iter().map(|(field, _)| field.as_str()).collect();
        assert_eq!(names, ["z", "a", "m", "o"]);
        let faults = |place: usize, value: Value| read.rules[place].1.faults("f", Some(&value));
        assert_eq!(faults(0, json!(null)), ["f is required"]);
        assert_eq!(faults(0, json!({})), ["f must be of type array"]);
        let expected = ["f must be at least 2 characters", "f format is invalid"];
        assert_eq!(faults(1, json!("b")), expected);
        assert_eq!(faults(1, json!("abcd")), ["f must be at most 3 characters"]);
        assert_eq!(faults(2, json!(null)), Vec::<String>::new());
        assert_eq!(faults(3, json!(1)), ["f must be of type null"]);
    }

    #[test]
    fn errors_name_the_field_and_the_location() {
        mistakes(&json!([]), &["the rules must be an object of fields"]);
        mistakes(&json!({ "a": "string" }), &["field `a`: the rule of a field must be an object"]);
        mistakes(
            &json!({ "a": { "required": 1, "type": "text", "minLength": -1, "maxLength": 1.5 } }),
            &[
                "field `a`: `required` must be a boolean",
                "field `a`: `type` must be string, number, boolean, object, array or null",
                "field `a`: `minLength` must be a non-negative integer",
                "field `a`: `maxLength` must be a non-negative integer",
            ],
        );
        mistakes(
            &json!({ "a": { "pattern": {}, "min_length": 1 } }),
            &[
                "field `a`: `pattern` must be a string",
                "field `a`: unknown key `min_length`: a rule has required, type, minLength, \
                 maxLength, pattern",
            ],
        );
    }
}
