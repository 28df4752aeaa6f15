//! Computes the types of a union from the types of its variants.

use serde_json::Value;

use crate::direction::Direction;
use crate::format::TextType;
use crate::inner::InnerRule;
use crate::rule::Rule;

/// Maximum depth of nested references.
const MAX_FOLLOWED: usize = 16;

/// Adds `type` to the rule of a union that does not set it.
pub(super) fn add_types_of_union(rule: &mut Rule, direction: Direction) {
    if let Some(types) = types_of_union(rule, direction) {
        rule.keywords.insert("type".to_owned(), types);
    }
}

/// Returns the value of `type` for a union without that keyword. Returns `None`
/// for other rules, and if a variant accepts values of any type.
fn types_of_union(rule: &Rule, direction: Direction) -> Option<Value> {
    let is_union = matches!(rule.inner, Some(InnerRule::FirstOf(_)));
    if !is_union || rule.type_name().is_some() {
        return None;
    }
    let mut names = Vec::new();
    add_types(rule, direction, MAX_FOLLOWED, &mut names)?;
    if names.iter().any(|name| name == "number") {
        names.retain(|name| name != "integer");
    }
    Some(match names.as_slice() {
        [name] => name.as_str().into(),
        _ => names.into(),
    })
}

/// Adds the names of the types that a rule accepts. Returns `None` if the types
/// are not limited.
fn add_types(
    rule: &Rule,
    direction: Direction,
    left: usize,
    names: &mut Vec<String>,
) -> Option<()> {
    let left = left.checked_sub(1)?;
    let mut rule = rule;
    while direction == Direction::Write
        && let Some(written) = &rule.written
    {
        rule = written;
    }
    let mut add = |name: &str| {
        let name = if TextType::from_name(name).is_some() { "string" } else { name };
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    if rule.boolean == Some(false) {
        return Some(());
    }
    match (rule.type_name(), &rule.inner) {
        (Some(Value::Array(listed)), _) => listed.iter().filter_map(Value::as_str).for_each(add),
        (Some(name), _) => add(name.as_str()?),
        (None, Some(InnerRule::Reference(reference))) => {
            add_types(&reference.rule(), direction, left, names)?;
        }
        (None, Some(InnerRule::FirstOf(union))) => {
            for variant in &union.variants {
                add_types(variant, direction, left, names)?;
            }
        }
        (None, _) => return None,
    }
    if rule.keywords.get("nullable") == Some(&Value::Bool(true))
        && !names.iter().any(|it| it == "null")
    {
        names.push("null".to_owned());
    }
    Some(())
}
