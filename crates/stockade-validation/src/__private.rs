//! The functions that the macros call. Not part of the public interface.

pub use serde_json::{Value, json};

use crate::has_schema::HasSchema;
use crate::rule::Rule;

/// Returns the rule of a field.
#[must_use = "a rule does nothing until it is built"]
#[track_caller]
pub fn rule_of<T: HasSchema>() -> Rule {
    T::field_rule()
}

/// Makes a rule for an object without properties.
#[must_use = "a rule does nothing until it is built"]
#[track_caller]
pub fn object() -> Rule {
    Rule::object::<String>([])
}

/// Makes a [`Rule::tagged_content`] from the names of variants.
#[track_caller]
pub fn tagged_content<const N: usize>(
    tag: &str,
    content: &str,
    variants: [(&str, Option<Rule>); N],
) -> Rule {
    Rule::tagged_content(tag, content, variants)
}

/// Makes a rule for one of these texts.
#[track_caller]
pub fn names<const N: usize>(names: [&str; N]) -> Rule {
    Rule::string().one_of(names)
}

/// Makes a [`Rule::tagged`] from the names of variants.
#[track_caller]
pub fn tagged<const N: usize>(tag: &str, variants: [(&str, Rule); N]) -> Rule {
    Rule::tagged(tag, variants)
}

/// Makes a [`Rule::variants`] from the names of variants.
#[track_caller]
pub fn variants<const N: usize>(variants: [(&str, Option<Rule>); N]) -> Rule {
    Rule::variants(variants)
}

/// Makes an array.
#[must_use]
pub fn list<const N: usize>(values: [Value; N]) -> Value {
    Value::Array(values.into())
}

/// Sets a keyword that has no method, or takes a name.
pub fn with(rule: Rule, keyword: &str, value: impl Into<Value>) -> Rule {
    rule.with(keyword, value)
}

/// Changes the rule of the elements.
pub fn items(mut rule: Rule, change: impl FnOnce(Rule) -> Rule) -> Rule {
    let location = rule.location;
    let items = rule.items.take().map_or_else(|| Rule::at(location), |items| *items);
    rule.items(change(items))
}

/// Adds a property, which must be there unless `optional`.
pub fn property(rule: Rule, name: &str, field: Rule, optional: bool) -> Rule {
    let rule = rule.property(name, field);
    if optional { rule } else { rule.required_fields([name]) }
}
