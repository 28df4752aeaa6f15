//! The table of keywords and the types of their values.
// Spec: Validation schemas › Field-rule keywords.

use serde_json::{Map, Value};
use stockade_path::__internal::keywords;

use crate::node::kind;

/// The type of a keyword's value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Any,
    Bool,
    /// A non-negative whole number.
    Count,
    Function,
    List,
    /// An object of name lists.
    NameLists,
    Number,
    /// A boolean or a list of names.
    Required,
    /// A non-empty list of schemas.
    Rules,
    Schema,
    /// An object of schemas.
    Schemas,
    Text,
    /// A name or a list of names.
    TypeName,
}

impl Kind {
    pub(crate) fn fits(self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Bool => value.is_boolean(),
            // The compiler reports numbers that are not counts.
            Self::Count | Self::Number => value.is_number(),
            Self::Function => false,
            Self::List => value.is_array(),
            Self::NameLists => value.as_object().is_some_and(|lists| lists.values().all(is_names)),
            Self::Required => value.is_boolean() || is_names(value),
            Self::Rules => value.as_array().is_some_and(|rules| {
                !rules.is_empty() && rules.iter().all(|rule| Self::Schema.fits(rule))
            }),
            Self::Schema => value.is_boolean() || value.is_object(),
            Self::Schemas => value.is_object(),
            Self::Text => value.is_string(),
            Self::TypeName => value.is_string() || is_names(value),
        }
    }

    /// Returns the phrase that describes the expected value in error messages.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "a boolean",
            Self::Count => "a non-negative integer",
            Self::Function => "a function: set it with `Rule`",
            Self::List => "a list",
            Self::NameLists => "an object of lists of names",
            Self::Number => "a number",
            Self::Required => "a boolean or a list of names",
            Self::Rules => "a list of one or more schemas",
            Self::Schema => "a schema: an object or a boolean",
            Self::Schemas => "an object of schemas",
            Self::Text => "a string",
            Self::TypeName => "the name of a type or a list of names",
        }
    }
}

fn is_names(value: &Value) -> bool {
    value.as_array().is_some_and(|names| names.iter().all(Value::is_string))
}

/// An entry in the table of keywords.
struct Keyword {
    name: &'static str,
    kind: Kind,
    /// Bits of [`kind`](crate::node::kind): the types that the keyword applies
    /// to. 0 means all types.
    types: u8,
    /// True if JSON Schema does not define the keyword.
    #[cfg_attr(not(feature = "schemars"), expect(dead_code, reason = "read by schemars only"))]
    ours: bool,
    /// True for annotations, which check nothing.
    note: bool,
    /// True if a field map cannot have a field of this name.
    reserved: bool,
    /// True if the typed reader can check it while it reads an array or an
    /// object.
    streams: bool,
}

/// Returns the type of a keyword's value, or `None` for annotations.
pub(crate) fn kind_of(keyword: &str) -> Option<Kind> {
    find(keyword).filter(|known| !known.note).map(|known| known.kind)
}

/// Returns the type of an annotation's value.
pub(crate) fn note_kind(keyword: &str) -> Option<Kind> {
    find(keyword).filter(|known| known.note).map(|known| known.kind)
}

pub(crate) fn is_note(keyword: &str) -> bool {
    note_kind(keyword).is_some()
}

/// Returns true if the keyword means the same in JSON Schema.
#[cfg(feature = "schemars")]
pub(crate) fn is_standard(keyword: &str) -> bool {
    find(keyword).is_some_and(|known| !known.ours)
}

/// Returns true if a keyword constrains all members of an object together.
/// These members cannot be moved to another object.
pub(crate) fn bounds_members(keyword: &str) -> bool {
    let is_bound = |known: &Keyword| known.types == kind::OBJECT && known.kind != Kind::Schema;
    find(keyword).is_some_and(is_bound)
}

/// Returns true if a keyword needs the whole array or object (`kind`), so the
/// typed reader cannot check it.
pub(crate) fn needs_whole(keywords: &Map<String, Value>, kind: u8) -> bool {
    let is_whole = |known: &Keyword| known.types & kind != 0 && !known.streams;
    keywords.iter().any(|(name, value)| *value != false && find(name).is_some_and(is_whole))
}

/// Returns the names of all keywords in the order of the specification.
pub fn names() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|known| known.name)
}

fn find(keyword: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|known| known.name == keyword)
}

const ANY: u8 = 0;
const TEXT: u8 = kind::STRING;
const NUMBER: u8 = kind::NUMBER | kind::INTEGER;
const LIST: u8 = kind::ARRAY;
const MAP: u8 = kind::OBJECT;
const SIZED: u8 = TEXT | NUMBER | LIST;

/// Two bounds on the same quantity.
pub(super) struct Pair {
    pub(super) low: &'static str,
    pub(super) high: &'static str,
    /// True if the bounds must differ.
    pub(super) strict: bool,
    /// The types for which both keywords limit the same quantity. 0 means all
    /// types.
    pub(super) types: u8,
}

macro_rules! kind_of_value {
    (Examples) => {
        Kind::List
    };
    (Flag) => {
        Kind::Bool
    };
    (Format) => {
        Kind::Text
    };
    (Items) => {
        Kind::Schema
    };
    (Rule) => {
        Kind::Schema
    };
    ($kind:ident) => {
        Kind::$kind
    };
}

macro_rules! is_strict {
    (<) => {
        true
    };
    (<=) => {
        false
    };
}

macro_rules! tables {
    (
        ()
        keywords { $(
            $(#[$doc:meta])*
            $name:literal: $kind:ident $([$class:ident $place:ident])? $($flag:ident)*
                => $method:ident $(($($argument:tt)*) = $value:expr)?;
        )* }
        pairs { $($low:literal $relation:tt $high:literal for $types:ident;)* }
    ) => {
        const KEYWORDS: &[Keyword] = &[$(Keyword {
            $(types: $class,)?
            $($flag: true,)*
            ..Keyword::new($name, kind_of_value!($kind))
        }),*];

        pub(super) const PAIRS: &[Pair] = &[$(Pair {
            low: $low,
            high: $high,
            strict: is_strict!($relation),
            types: $types,
        }),*];
    };
}

keywords!(tables!);

impl Keyword {
    const fn new(name: &'static str, kind: Kind) -> Self {
        Self { name, kind, types: ANY, ours: false, note: false, reserved: false, streams: false }
    }
}

/// Returns true for JSON Schema keywords that cannot be field names in a field
/// map.
pub(crate) fn is_reserved(keyword: &str) -> bool {
    keyword.starts_with('$')
        || find(keyword).is_some_and(|known| known.reserved)
        || keyword == "additionalItems"
}
