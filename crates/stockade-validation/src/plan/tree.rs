//! [`Plan`]: what each kind of value must fulfil, with nothing left to look up.

use serde_json::Value;

use crate::format::{Format, TextType};
use crate::number::Num;
use crate::pattern::Pattern;

/// What a value must fulfil, by its kind.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Everything is accepted as it is.
    pub(crate) any: bool,
    pub(crate) null: bool,
    pub(crate) yes: bool,
    pub(crate) no: bool,
    pub(crate) text: Accept<TextPlan>,
    pub(crate) number: Accept<NumberPlan>,
    pub(crate) array: Accept<ArrayPlan>,
    pub(crate) object: Accept<ObjectPlan>,
}

impl Plan {
    /// The plan of a schema that allows everything.
    pub(crate) const ANY: Self = Self {
        any: true,
        null: true,
        yes: true,
        no: true,
        text: Accept::All,
        number: Accept::All,
        array: Accept::All,
        object: Accept::All,
    };
}

/// For lifetimes that no schema has.
pub(crate) static ANY: Plan = Plan::ANY;

/// What is accepted of one kind.
#[derive(Debug)]
pub(crate) enum Accept<P> {
    /// Every value.
    All,
    /// What the plan says.
    If(Box<P>),
    /// No value.
    None,
}

/// Of a string.
#[derive(Debug)]
pub(crate) struct TextPlan {
    pub(crate) trim: bool,
    /// In code points.
    pub(crate) min: usize,
    /// In code points.
    pub(crate) max: usize,
    /// One of these, unless there are none.
    pub(crate) forms: Box<[TextType]>,
    pub(crate) format: Option<Format>,
    pub(crate) pattern: Option<Pattern>,
    /// One of these, sorted by length, then by letters.
    pub(crate) only: Option<Box<[Box<str>]>>,
}

/// Of a number.
#[derive(Debug)]
pub(crate) struct NumberPlan {
    /// Only whole numbers; floats among them become integers.
    pub(crate) integer: bool,
    pub(crate) low: Option<Limit>,
    pub(crate) high: Option<Limit>,
    /// One of these, sorted.
    pub(crate) only: Option<Box<[Num]>>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) num: Num,
    /// The limit itself is not accepted.
    pub(crate) strict: bool,
}

/// Of an array.
#[derive(Debug)]
pub(crate) struct ArrayPlan {
    pub(crate) min: usize,
    pub(crate) max: usize,
    pub(crate) unique: bool,
    /// Of the first elements, each its own.
    pub(crate) places: Box<[Plan]>,
    /// Of the other elements.
    pub(crate) items: Plan,
}

/// Of an object.
#[derive(Debug)]
pub(crate) struct ObjectPlan {
    /// The listed properties in schema order, then names that are only
    /// required.
    pub(crate) entries: Box<[Entry]>,
    /// Indices of `entries`, by length of the name, then by name.
    pub(super) by_name: Box<[usize]>,
    /// How many of `entries` are listed.
    pub(crate) listed: usize,
    /// Whether `properties` is there, even if it is empty.
    pub(super) lists_properties: bool,
    /// A bit for each entry that must be there.
    pub(crate) required: u64,
    /// A bit for each entry with a default.
    pub(crate) defaulted: u64,
    pub(super) additional: Additional,
    pub(crate) min: usize,
    pub(crate) max: usize,
}

/// A name that an object may have.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: Box<str>,
    pub(crate) plan: Plan,
    /// The default that is put in when the property is absent, unless it is a
    /// function.
    pub(crate) default: Option<Value>,
}

/// What becomes of keys that are not listed.
#[derive(Debug)]
pub(crate) enum Additional {
    /// `additionalProperties` is not there.
    Unsaid,
    Allowed,
    Refused,
    Plan(Plan),
}

/// The bits of [`ObjectPlan`] are enough for this many names.
pub(super) const MAX_ENTRIES: usize = 64;
