//! The functions that the macros call. Not part of the public interface.

mod variant;
mod wire_form;

use std::marker::PhantomData;

pub use serde_json::{Value, json};
#[cfg(feature = "derive")]
pub use stockade_macros::check_schema;

#[cfg(not(feature = "derive"))]
pub use crate::__check_schema as check_schema;

pub use self::variant::{Chosen, NotChosen, VariantOf};
pub use self::wire_form::{Kinds, NotRead, NotWritten, Reads, Writes, agrees, names_or_numbers};

use crate::direction::Direction;
pub use crate::direction::FieldPresence;
use crate::has_schema::HasSchema;
use crate::inner::{FirstOfRule, InnerRule, TaggedRule, VariantsRule};
use crate::rule::{Additional, Rule};

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

/// Makes a [`Rule::tagged_content`] from the names of variants. serde writes
/// content that is null, too.
#[track_caller]
pub fn tagged_content<const N: usize>(
    tag: &str,
    content: &str,
    variants: [(&str, Option<Rule>); N],
) -> Rule {
    let present = |rule: Rule| Rule { presence: FieldPresence::Always, ..rule };
    Rule::tagged_content(tag, content, variants.map(|(name, rule)| (name, rule.map(present))))
}

/// Rejects unknown members beside the tag and the content of a rule that
/// [`tagged_content`] made.
#[must_use = "a rule does nothing until it is built"]
pub fn closed(mut rule: Rule) -> Rule {
    if let Some(InnerRule::Tagged(TaggedRule { variants, other, .. })) = &mut rule.inner {
        let variants = variants.iter_mut().map(|(_, variant)| variant);
        for variant in variants.chain(other.as_deref_mut()) {
            variant.additional = Some(Additional::Allowed(false));
        }
    }
    rule
}

/// Makes a rule for one of these texts.
#[track_caller]
pub fn names<const N: usize>(names: [&str; N]) -> Rule {
    Rule::string().values(names)
}

/// Makes the last variant of a rule accept all unknown names.
#[must_use = "a rule does nothing until it is built"]
pub fn or_other(mut rule: Rule) -> Rule {
    match &mut rule.inner {
        Some(InnerRule::Tagged(TaggedRule { variants, other, .. })) => {
            *other = variants.pop().map(|(_, last)| Box::new(last));
        }
        Some(InnerRule::Variants(VariantsRule { variants, has_other })) => {
            variants.pop();
            *has_other = true;
        }
        _ => {}
    }
    rule
}

/// Makes a [`Rule::first_of`] for an enum. `chosen` finds the variant that serde builds.
#[must_use = "a rule does nothing until it is built"]
#[track_caller]
pub fn first_of<const N: usize>(variants: [Rule; N], chosen: Chosen) -> Rule {
    let union = FirstOfRule { variants: variants.into(), choice: chosen.0, keys: Vec::new() };
    Rule::any().with_inner(InnerRule::FirstOf(union))
}

/// Marks the end of the keywords of the type. The program adds the keywords that follow.
#[must_use = "a rule does nothing until it is built"]
pub fn typed(rule: Rule) -> Rule {
    Rule { typed: Some(Box::new(rule.clone())), ..rule }
}

/// Sets the other names of a property.
#[must_use = "a rule does nothing until it is built"]
pub fn aliased<const N: usize>(rule: Rule, names: [&str; N]) -> Rule {
    Rule { aliases: names.map(str::to_owned).into(), ..rule }
}

/// Allows a tuple to end after `least` elements, because the others have defaults.
#[must_use = "a rule does nothing until it is built"]
pub fn at_least(rule: Rule, least: usize) -> Rule {
    rule.min_items(least)
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

/// Adds a property, which must be there unless `optional`, and which is always
/// written.
pub fn property(rule: &mut Rule, name: &str, field: Rule, optional: bool) {
    property_in(rule, name, field, optional, FieldPresence::Always);
}

/// Adds a property with its presence; where it is read, it must be there unless
/// `optional`.
pub fn property_in(
    rule: &mut Rule,
    name: &str,
    field: Rule,
    optional: bool,
    presence: FieldPresence,
) {
    let field = Rule { presence, ..field };
    rule.properties.get_or_insert_default().push((name.to_owned(), field));
    if !optional && !presence.is_none(Direction::Read) {
        rule.required_fields.push(name.to_owned());
    }
}

/// Adds the tag of a struct, which serde writes and does not read.
#[must_use = "a rule does nothing until it is built"]
pub fn written_tag(mut rule: Rule, tag: &str, name: &str) -> Rule {
    let value = Rule::at(rule.location).with("const", name);
    property_in(&mut rule, tag, value, false, FieldPresence::WriteOnly);
    rule
}

/// Flattens a rule, as [`Rule::flatten`] does.
pub fn flatten(rule: &mut Rule, other: Rule) {
    rule.flattened.push(other);
}

/// Flattens a rule that is not the same in both directions.
pub fn flatten_in(rule: &mut Rule, other: Rule, presence: FieldPresence) {
    flatten(rule, Rule { presence, ..other });
}

/// Returns the rule of a type that is written and not read, so that it need not
/// have one: any value then.
///
/// `WriteOnly::<T>::rule()` is the function of [`WriteOnly`] where `T` has a
/// schema, else that of [`AnyValue`], because the former comes first.
#[derive(Debug)]
pub struct WriteOnly<T: ?Sized>(PhantomData<T>);

impl<T: HasSchema + ?Sized> WriteOnly<T> {
    #[must_use = "a rule does nothing until it is built"]
    #[track_caller]
    pub fn rule() -> Rule {
        T::field_rule()
    }
}

/// The rule of types without a schema: see [`WriteOnly`].
pub trait AnyValue {
    #[must_use = "a rule does nothing until it is built"]
    #[track_caller]
    fn rule() -> Rule {
        Rule::any()
    }
}

impl<T: ?Sized> AnyValue for WriteOnly<T> {}
