//! The rules of [`with_input_validation`](super::with_input_validation) as a
//! schema for API documents.

use serde_json::{Map, Value, json};
use stockade_validation::Schema;

use super::{InputRule, InputType};

/// Returns the schema of a body that satisfies the rules. Returns `None` for
/// contradictory rules, which a schema cannot express.
pub(super) fn schema_of(rules: &[(String, InputRule)]) -> Option<Schema> {
    let properties: Map<String, Value> =
        rules.iter().map(|(field, rule)| (field.clone(), rule.documented())).collect();
    let mut schema = json!({ "properties": properties });
    let required: Vec<&str> =
        rules.iter().filter(|(_, rule)| rule.required).map(|(field, _)| field.as_str()).collect();
    if !required.is_empty() {
        // Only objects have fields.
        schema["type"] = json!("object");
        schema["required"] = json!(required);
    }
    Schema::rule(&schema).ok()
}

impl InputRule {
    /// Returns the rule as JSON Schema.
    fn documented(&self) -> Value {
        let mut schema = Map::new();
        let is_text = self.kind.is_none_or(|kind| kind == InputType::String);
        let kind = self.own_kind();
        if let Some(kind) = kind {
            schema.insert("type".to_owned(), kind.to_string().into());
        } else if self.required {
            schema.insert("type".to_owned(), json!(NOT_NULL));
        }
        if !is_text {
            return schema.into();
        }
        let min = self.min_length.max(self.required.then_some(1));
        let lengths = [("minLength", min), ("maxLength", self.max_length)];
        for (keyword, length) in lengths {
            schema.extend(length.map(|length| (keyword.to_owned(), length.into())));
        }
        if let Some(Ok(pattern)) = &self.pattern
            && let Some(text) = pattern.to_json_schema().get("pattern")
        {
            schema.insert("pattern".to_owned(), text.clone());
        }
        schema.into()
    }
}

/// The types of a required field without a type rule.
const NOT_NULL: [&str; 5] = ["string", "number", "boolean", "object", "array"];

#[cfg(test)]
mod tests {
    use stockade_validation::ValidationOptions;

    use super::*;

    /// Checks that the schema and the rules agree on each of these bodies.
    #[track_caller]
    fn agrees(rule: &InputRule) {
        let rules = [("f".to_owned(), rule.clone())];
        let schema = schema_of(&rules).unwrap();
        let values = [
            json!({}),
            json!([]),
            json!(7),
            json!({ "f": null }),
            json!({ "f": "" }),
            json!({ "f": "ab" }),
            json!({ "f": "abcdef" }),
            json!({ "f": 0 }),
            json!({ "f": false }),
            json!({ "f": ["ab"] }),
            json!({ "f": {} }),
        ];
        for value in values {
            let passes = super::super::check(&rules, &value).is_ok();
            let errors = schema.check(&value, &ValidationOptions::new()).unwrap();
            assert_eq!(errors.is_empty(), passes, "{rule:?} {value}");
        }
    }

    #[test]
    fn schema_and_rules_accept_the_same_bodies() {
        let kinds = [
            None,
            Some(InputType::String),
            Some(InputType::Number),
            Some(InputType::Boolean),
            Some(InputType::Object),
            Some(InputType::Array),
            Some(InputType::Null),
        ];
        for kind in kinds {
            for required in [false, true] {
                // This rule rejects everything, which the type of a schema
                // cannot express.
                if required && kind == Some(InputType::Null) {
                    continue;
                }
                let rule = InputRule { required, kind, ..InputRule::new() };
                agrees(&rule);
                agrees(&rule.clone().min_length(3));
                agrees(&rule.clone().max_length(3));
                agrees(&rule.clone().min_length(1).max_length(2).pattern("^[a-c]+$"));
            }
        }
    }

    #[test]
    fn a_contradiction_has_no_schema() {
        let rule = InputRule::new().min_length(3).max_length(2);
        assert!(schema_of(&[("f".to_owned(), rule)]).is_none());
    }
}
