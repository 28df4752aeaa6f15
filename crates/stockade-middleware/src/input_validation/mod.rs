//! [`with_input_validation`]: simple checks of body fields.
// Spec: Middleware helpers › `withInputValidation`; Errors › Statuses.

mod documented;
mod rules;

use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};
use stockade_core::description::{InputFrom, ProblemDoc, ResponseDoc};
use stockade_core::{Control, Middleware, Request};
use stockade_errors::__internal::setters;
use stockade_errors::problem_internals::VALIDATION_FAILED;
use stockade_errors::{ApiError, ConfigError};
use stockade_validation::{Rule, Schema, ValidationOptions};

use crate::described::{needs_readable_body, reads_parsed_body};

pub use self::rules::{InputRules, IntoInputRules, form};

/// Checks fields of the body, each with its rule, in the listed order. The
/// rules are pairs of a field and an [`InputRule`], or JSON. The body does not
/// change.
///
/// A failure is a 400 with a list of strings: `<field> is required`, `<field>
/// must be of type <type>`, `<field> must be at least <n> characters`, `<field>
/// must be at most <n> characters`, `<field> format is invalid`.
///
/// ```
/// use stockade::middleware::{InputRule, InputType, with_input_validation};
///
/// let check = with_input_validation([
///     ("name", InputRule::new().required().kind(InputType::String).min_length(2)),
///     ("zip", InputRule::new().pattern("^[0-9]{5}$")),
/// ]);
/// assert_eq!(check.name(), "with_input_validation");
///
/// // The same rules as JSON, for example from a file.
/// let check = with_input_validation(stockade::serde_json::json!({
///     "name": { "required": true, "type": "string", "minLength": 2 },
///     "zip": { "pattern": "^[0-9]{5}$" },
/// }));
/// assert_eq!(check.name(), "with_input_validation");
/// ```
///
/// An invalid rule (an unknown key, an unknown type, a malformed pattern) is a
/// configuration error.
// Spec: Middleware helpers › `withInputValidation`.
#[doc(alias = "withInputValidation")]
#[track_caller]
pub fn with_input_validation<M>(rules: impl IntoInputRules<M>) -> Middleware {
    let InputRules { rules, mistakes } = rules.into_input_rules();
    let rules = Arc::new(rules);
    let own = Arc::clone(&rules);
    let schema = documented::schema_of(&rules);
    Middleware::before(move |mut req: Request| {
        let rules = Arc::clone(&rules);
        async move {
            let outcome = match req.body().await {
                Ok(body) => check(&rules, body),
                Err(error) => Err(error),
            };
            (req, outcome.map(|()| Control::Continue))
        }
    })
    .named("with_input_validation")
    .describing(move |doc| {
        reads_parsed_body(doc, "with_input_validation");
        needs_readable_body(doc);
        if let Some(schema) = &schema {
            doc.checks(InputFrom::Body, schema, &ValidationOptions::new());
        }
        let meaning = "A field of the body is invalid";
        let answer = ResponseDoc::error(doc.validation_status()).meaning(meaning);
        doc.responds(answer.problem(ProblemDoc::of_framework(VALIDATION_FAILED)));
        if let Err(mistakes) = ConfigError::check(mistakes.clone()) {
            doc.schema_issues("with_input_validation", &mistakes);
        }
        for (field, rule) in own.iter() {
            if let Some(Err(error)) = &rule.pattern {
                doc.schema_issues(&format!("with_input_validation: {field}"), error);
            }
        }
    })
}

/// The rule for one field; by default it allows everything.
///
/// For an absent field, only `required` is checked. Null counts as absent for
/// that check, but a `type` rejects it. Lengths and a pattern imply the type
/// `string`, unless the rule has another type.
// Spec: Middleware helpers › `withInputValidation`.
#[derive(Clone, Debug, Default)]
#[must_use = "a rule does not check anything by itself"]
pub struct InputRule {
    required: bool,
    kind: Option<InputType>,
    min_length: Option<usize>,
    max_length: Option<usize>,
    pattern: Option<Result<Schema, ConfigError>>,
}

/// The type of a JSON value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the names of JSON")]
pub enum InputType {
    String,
    Number,
    Boolean,
    Object,
    Array,
    Null,
}

impl InputRule {
    /// Creates a rule that allows everything.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requires the field, and rejects null and empty text.
    pub fn required(mut self) -> Self {
        self.required = true;
        self
    }

    setters! {
        /// Requires a value of this type. `type` in the specification.
        #[doc(alias = "type")]
        kind: some InputType;

        /// Requires at least this many Unicode code points.
        #[doc(alias = "minLength")]
        min_length: some usize;

        /// Allows at most this many Unicode code points.
        #[doc(alias = "maxLength")]
        max_length: some usize;
    }

    /// Requires a match of this regular expression somewhere in the text, with
    /// the limits of the schema keyword `pattern`. A malformed pattern is a
    /// configuration error.
    #[track_caller]
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.pattern = Some(Rule::any().pattern(pattern).build());
        self
    }

    /// Returns the failures of the value of `field`.
    fn faults(&self, field: &str, value: Option<&Value>) -> Vec<String> {
        let is_empty = |value: &&Value| value.is_null() || value.as_str() == Some("");
        if self.required && value.filter(|value| !is_empty(value)).is_none() {
            return vec![format!("{field} is required")];
        }
        let Some(value) = value else {
            return Vec::new();
        };
        let mut faults = Vec::new();
        if let Some(kind) = self.own_kind().filter(|kind| *kind != InputType::of(value)) {
            faults.push(format!("{field} must be of type {kind}"));
        }
        if let Some(text) = value.as_str() {
            let length = text.chars().count();
            if let Some(min) = self.min_length.filter(|min| length < *min) {
                faults.push(format!("{field} must be at least {min} characters"));
            }
            if let Some(max) = self.max_length.filter(|max| length > *max) {
                faults.push(format!("{field} must be at most {max} characters"));
            }
            match self.broken_pattern(value).as_deref() {
                None => {}
                Some("pattern") => faults.push(format!("{field} format is invalid")),
                Some(_) => faults.push(format!(
                    "{field} cannot be checked: its pattern takes too many steps; send a \
                     shorter text"
                )),
            }
        }
        faults
    }

    /// Returns the type that the field must have.
    fn own_kind(&self) -> Option<InputType> {
        let asks_for_text =
            self.min_length.is_some() || self.max_length.is_some() || self.pattern.is_some();
        self.kind.or_else(|| asks_for_text.then_some(InputType::String))
    }

    /// Returns the name of the rule that the text violates: `pattern`, or its
    /// step limit.
    fn broken_pattern(&self, value: &Value) -> Option<String> {
        let Some(Ok(pattern)) = &self.pattern else { return None };
        match pattern.check(value, &ValidationOptions::new()) {
            Ok(errors) => errors.into_iter().next().map(|error| error.rule.into()),
            Err(_) => Some("pattern".to_owned()),
        }
    }
}

impl InputType {
    fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(_) => Self::Boolean,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::Array(_) => Self::Array,
            Value::Object(_) => Self::Object,
        }
    }
}

impl fmt::Display for InputType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::Object => "object",
            Self::Array => "array",
            Self::Null => "null",
        })
    }
}

fn check(rules: &[(String, InputRule)], body: &Value) -> Result<(), ApiError> {
    let faults: Vec<String> =
        rules.iter().flat_map(|(field, rule)| rule.faults(field, body.get(field))).collect();
    if faults.is_empty() {
        return Ok(());
    }
    Err(ApiError::validation(&[]).with_details(json!(faults)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn faults(rule: InputRule, body: impl Into<Value>, expected: &[&str]) {
        let body = body.into();
        let outcome = check(&[("f".to_owned(), rule)], &body);
        let details = outcome.err().map_or(json!([]), |error| error.details().cloned().unwrap());
        assert_eq!(details, json!(expected), "{body}");
    }

    #[test]
    fn a_missing_required_field_has_one_error() {
        let rule = || InputRule::new().required().kind(InputType::Number).min_length(3);
        for body in [json!({}), json!({ "f": null }), json!({ "f": "" }), json!([]), json!(7)] {
            faults(rule(), body, &["f is required"]);
        }
        faults(InputRule::new().required(), json!({ "f": false }), &[]);
        faults(InputRule::new().required(), json!({ "f": 0 }), &[]);
    }

    #[test]
    fn reports_a_text_that_takes_too_many_steps() {
        let rule = InputRule::new().pattern(r"^(a+)+\1$");
        let message = "f cannot be checked: its pattern takes too many steps; send a shorter text";
        faults(rule, json!({ "f": "a".repeat(60) + "b" }), &[message]);
    }

    #[test]
    fn reports_all_other_errors_of_a_field() {
        let rule = InputRule::new().kind(InputType::Number).min_length(3).pattern("^[0-9]+$");
        let expected =
            ["f must be of type number", "f must be at least 3 characters", "f format is invalid"];
        faults(rule, json!({ "f": "ä" }), &expected);
        let long = InputRule::new().max_length(2);
        faults(long.clone(), json!({ "f": "äöü" }), &["f must be at most 2 characters"]);
        faults(long, json!({ "f": "äö" }), &[]);
    }

    #[test]
    fn types_are_json_types() {
        let values = [
            (InputType::String, json!("")),
            (InputType::Number, json!(1.5)),
            (InputType::Boolean, json!(true)),
            (InputType::Object, json!({})),
            (InputType::Array, json!([])),
        ];
        for (kind, _) in &values {
            for (other, value) in &values {
                let fault = format!("f must be of type {kind}");
                let expected: &[&str] = if kind == other { &[] } else { &[&fault] };
                faults(InputRule::new().kind(*kind), json!({ "f": value }), expected);
            }
        }
    }

    #[test]
    fn does_not_check_absent_fields() {
        let rule = || InputRule::new().kind(InputType::String).min_length(1).pattern("x");
        for body in [json!({}), json!("text"), json!(null), json!([{ "f": 1 }]), json!(7)] {
            faults(rule(), body, &[]);
        }
    }

    #[test]
    fn only_required_treats_null_as_absent() {
        let null = || json!({ "f": null });
        faults(InputRule::new(), null(), &[]);
        faults(InputRule::new().required(), null(), &["f is required"]);
        faults(InputRule::new().kind(InputType::Null), null(), &[]);
        for kind in [InputType::String, InputType::Number, InputType::Object] {
            let fault = format!("f must be of type {kind}");
            faults(InputRule::new().kind(kind), null(), &[&fault]);
        }
    }

    #[test]
    fn length_and_pattern_apply_to_text() {
        let values =
            [json!(null), json!(true), json!(12345), json!(["12345"]), json!({ "$ne": 1 })];
        for value in values {
            for rule in [
                InputRule::new().pattern("^[0-9]{5}$"),
                InputRule::new().min_length(1),
                InputRule::new().max_length(9),
                InputRule::new().pattern("^[0-9]{5}$").min_length(1).max_length(9),
            ] {
                let body = json!({ "f": value });
                faults(rule, body, &["f must be of type string"]);
            }
        }
        // An explicit type takes precedence.
        let number = InputRule::new().kind(InputType::Number).pattern("^[a-z]$").max_length(1);
        faults(number, json!({ "f": 12345 }), &[]);
    }
}
