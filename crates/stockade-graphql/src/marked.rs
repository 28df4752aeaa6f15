//! Checks that a GraphQL schema follows the marks `read_only` and `write_only`
//! of its Rust types.
//!
//! async-graphql does not read these marks. The check runs when the router is
//! built, so it does not slow down requests.

use std::collections::BTreeMap;
use std::sync::Arc;

use stockade_core::type_check::{MarkedTypes, TypeCheck};
use stockade_map::GraphQlInfo;
use stockade_validation::marks::{Mark, MarkedType, Marks};
use stockade_validation::{HasSchema, Rule};

/// The members of a schema with their types, as named by
/// [`schema_fact`](crate::members::schema_fact).
type Members = BTreeMap<String, String>;

/// The rules for comparing a schema with marked types.
#[derive(Clone, Debug, Default)]
pub(crate) struct MarkRules {
    /// The rules of types, each with the name of its GraphQL type.
    described: Vec<(String, fn() -> Rule)>,
    /// The members that may break a mark, each with the reason.
    allowed: Vec<(String, String)>,
}

impl MarkRules {
    pub(crate) fn describe<T: HasSchema>(&mut self, name: String) {
        self.described.push((name, T::field_rule));
    }

    pub(crate) fn allow(&mut self, member: String, reason: String) {
        self.allowed.push((member, reason));
    }

    /// Creates the check for a schema.
    pub(crate) fn for_schema(self, schema: &Arc<GraphQlInfo>) -> TypeCheck {
        let schema = Arc::clone(schema);
        TypeCheck::new(move |types| self.check(&schema.members, types))
    }

    /// Returns the configuration errors of the rules, and the members that
    /// break a mark.
    fn check(&self, members: &Members, known: &MarkedTypes) -> Vec<String> {
        let mut types = known.clone();
        let mut mistakes = Vec::new();
        for (name, rule) in &self.described {
            if !has_type(members, name) {
                mistakes.push(format!("check_marks: unknown type `{name}`"));
            }
            add_as(&mut types, name, rule());
        }
        for (member, reason) in &self.allowed {
            if reason.trim().is_empty() {
                mistakes.push(format!("allow_marked: `{member}` must have a reason"));
            }
            if !members.contains_key(member) {
                mistakes.push(format!("allow_marked: unknown member `{member}`"));
            }
        }
        let found = types.iter().flat_map(|(name, marked)| broken(members, &types, name, marked));
        let found = found.filter(|(member, _)| self.allowed.iter().all(|(it, _)| it != member));
        mistakes.extend(found.map(|(_, message)| message));
        mistakes
    }
}

/// Adds the types of a rule. The rule's own type gets the name of the GraphQL
/// type.
fn add_as(types: &mut MarkedTypes, name: &str, rule: Rule) {
    let both = [rule.clone().build(), rule.for_replies().build()];
    for marks in both.into_iter().flatten().map(|schema| Marks::of(&schema)) {
        let mut own = MarkedTypes::new();
        marks.add_types(&mut own);
        if let Some(whole) = marks.type_name().and_then(|known| own.get(known)).cloned() {
            merge(types.entry(name.to_owned()).or_default(), whole);
        }
        own.into_iter().for_each(|(name, it)| merge(types.entry(name).or_default(), it));
    }
}

fn merge(into: &mut MarkedType, other: MarkedType) {
    into.read_only.extend(other.read_only);
    into.write_only.extend(other.write_only);
}

/// Returns the members that break a mark of a type, each with a message.
fn broken(
    members: &Members,
    types: &MarkedTypes,
    name: &str,
    marked: &MarkedType,
) -> Vec<(String, String)> {
    let mut found = Vec::new();
    for (mark, properties) in
        [(Mark::WriteOnly, &marked.write_only), (Mark::ReadOnly, &marked.read_only)]
    {
        for property in properties {
            for member in members.keys().filter(|it| describes(it, types, name, mark, property)) {
                found.push((member.clone(), message(member, name, mark, property)));
            }
        }
    }
    found
}

/// Returns true if a schema member exposes a marked property of a type.
fn describes(member: &str, types: &MarkedTypes, name: &str, mark: Mark, property: &str) -> bool {
    let input = member.strip_prefix("input ");
    // An argument is not a member of the value.
    let Some((of, field)) = input.unwrap_or(member).split_once('.') else { return false };
    if (mark == Mark::ReadOnly) != input.is_some() || !is_same(field, property) {
        return false;
    }
    if of == name {
        return true;
    }
    // An object and an input cannot share a name, so the input of `User` is
    // `UserInput`.
    let is_own_input =
        mark == Mark::ReadOnly && of.strip_suffix("Input") == Some(name) && !types.contains_key(of);
    // An input often selects an item by its id.
    is_own_input && property != "id"
}

/// Compares names, ignoring the difference between `snake_case` and
/// `camelCase`.
fn is_same(field: &str, property: &str) -> bool {
    let letters = |name: &str| -> String {
        name.chars().filter(|c| !matches!(c, '_' | '-')).flat_map(char::to_lowercase).collect()
    };
    letters(field) == letters(property)
}

fn has_type(members: &Members, name: &str) -> bool {
    let is_of = |member: &String| {
        let of = member.strip_prefix("input ").unwrap_or(member).split_once('.');
        of.is_some_and(|(of, _)| of == name)
    };
    members.keys().any(is_of)
}

fn message(member: &str, name: &str, mark: Mark, property: &str) -> String {
    let (word, attribute, action) = match mark {
        Mark::WriteOnly => ("write-only", "skip_output", "clients can read it"),
        Mark::ReadOnly => ("read-only", "skip_input", "clients can set it"),
    };
    format!(
        "`{property}` of the type `{name}` is {word}, but the GraphQL schema has `{member}`, so \
         {action}: add `#[graphql({attribute})]` to the field, or call `allow_marked(\"{member}\", \
         \"<reason>\")`"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::members::schema_fact;

    fn members() -> Members {
        let sdl = "
            type Query { user(passwordHash: Int): User }
            type User { id: ID! name: String passwordHash: String role: String }
            type UserInputs { role: String }
            input UserInput { id: ID! name: String role: String passwordHash: String }
            input Team { id: ID! }
            schema { query: Query }
        ";
        schema_fact(sdl.to_owned()).unwrap().members
    }

    fn marked(read_only: &[&str], write_only: &[&str]) -> MarkedType {
        let names = |names: &[&str]| names.iter().map(|it| (*it).to_owned()).collect();
        MarkedType { read_only: names(read_only), write_only: names(write_only) }
    }

    #[track_caller]
    fn check(types: &[(&str, MarkedType)], expected: &[&str]) {
        let types: MarkedTypes =
            types.iter().map(|(name, it)| ((*name).to_owned(), it.clone())).collect();
        let found = types.iter().flat_map(|(name, it)| broken(&members(), &types, name, it));
        assert_eq!(found.map(|(member, _)| member).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn finds_marked_members_by_both_spellings() {
        let user = marked(&["id", "role"], &["password_hash"]);
        check(&[("User", user)], &["User.passwordHash", "input UserInput.role"]);
        check(&[("User", marked(&[], &["passwordHash"]))], &["User.passwordHash"]);
        // The input type has separate marks.
        let input = marked(&["role"], &[]);
        let user = marked(&["name"], &[]);
        check(&[("User", user), ("UserInput", input)], &["input UserInput.role"]);
        check(&[("Team", marked(&["id"], &[]))], &["input Team.id"]);
    }

    #[test]
    fn ignores_other_types_and_arguments() {
        check(&[("Query", marked(&[], &["user_password_hash"]))], &[]);
        check(&[("Other", marked(&["role"], &["password_hash"]))], &[]);
        check(&[("User", marked(&[], &["secret"]))], &[]);
    }
}
