//! The schema of a page of items.

use std::borrow::Cow;
use std::marker::PhantomData;

use stockade_validation::{HasSchema, Rule};

use crate::Entity;

/// The type that provides the schema of a page.
pub(super) struct PageOf<T>(PhantomData<fn() -> T>);

/// The type of a page that may omit items.
pub(super) struct SkippingPageOf<T>(PhantomData<fn() -> T>);

/// Creates the rule of a page from the rule of its items.
pub(super) fn rule(items: Rule) -> Rule {
    let cursor = "The cursor of the next page; null on the last one";
    Rule::object([
        ("items", Rule::array(items).required()),
        ("next", Rule::string().nullable().description(cursor)),
    ])
    .required_fields(["next"])
}

/// Creates the rule of a page that may omit items.
pub(super) fn skipping_rule(items: Rule) -> Rule {
    let skipped =
        "The number of items that cannot be read and are omitted; absent if there are none";
    rule(items).property("skipped", Rule::integer().minimum(1).description(skipped))
}

impl<T: Entity> HasSchema for SkippingPageOf<T> {
    fn rule() -> Rule {
        skipping_rule(T::field_rule())
    }

    fn field_rule() -> Rule {
        Rule::of::<Self>()
    }

    fn schema_name() -> Cow<'static, str> {
        PageOf::<T>::schema_name()
    }
}

impl<T: Entity> HasSchema for PageOf<T> {
    fn rule() -> Rule {
        rule(T::field_rule())
    }

    fn field_rule() -> Rule {
        Rule::of::<Self>()
    }

    fn schema_name() -> Cow<'static, str> {
        format!("{}Page", T::schema_name()).into()
    }
}
