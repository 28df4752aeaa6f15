//! [`KEYWORDS`]: each keyword with its value, its positions and the types that
//! it applies to.

use stockade_path::__internal::keywords;
use syn::Lit;

use super::Place;
use crate::schema::field_type::Class;

/// The type of a keyword's value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Takes {
    Flag,
    Any,
    Count,
    Number,
    Text,
    List,
    Kind,
    Format,
    Keywords,
}

impl Takes {
    pub(super) fn fits(self, literal: &Lit, negative: bool) -> bool {
        match self {
            Self::Count => matches!(literal, Lit::Int(_)) && !negative,
            Self::Number => matches!(literal, Lit::Int(_) | Lit::Float(_)),
            Self::Text => matches!(literal, Lit::Str(_)),
            Self::List => false,
            Self::Flag | Self::Any | Self::Kind | Self::Format | Self::Keywords => true,
        }
    }

    pub(super) fn wanted(self) -> &'static str {
        match self {
            Self::Count => "a non-negative integer",
            Self::Number => "a number",
            Self::Text => "a string",
            Self::List => "a list: `[…]`",
            Self::Flag | Self::Any | Self::Kind | Self::Format | Self::Keywords => "a value",
        }
    }
}

const EVERYWHERE: &[Place] = &[Place::Container, Place::Field, Place::Items];
const WORDS: &[Place] = &[Place::Container, Place::Variant, Place::Field, Place::Items];
const FIELDS: &[Place] = &[Place::Field];
const PARTS: &[Place] = &[Place::Field, Place::Items];

const ANY: &[Class] = &[];
const TEXT: &[Class] = &[Class::Text];
const NUMBER: &[Class] = &[Class::Number];
const LIST: &[Class] = &[Class::List];
const MAP: &[Class] = &[Class::Map];
const SIZED: &[Class] = &[Class::Number, Class::Text, Class::List];

/// A keyword of the derive.
pub(super) struct Entry {
    /// The keyword in a schema. For keywords that schemas do not have, the name
    /// in the derive.
    pub(super) in_schema: &'static str,
    pub(super) name: &'static str,
    pub(super) takes: Takes,
    pub(super) places: &'static [Place],
    /// The types that the keyword applies to. Empty means all types.
    pub(super) classes: &'static [Class],
}

impl Entry {
    /// Creates the entry of a keyword that only the derive has.
    const fn of_derive(name: &'static str, takes: Takes, places: &'static [Place]) -> Self {
        Self { in_schema: name, name, takes, places, classes: ANY }
    }
}

/// A lower and an upper bound, by their keywords in a schema.
pub(super) struct Pair {
    pub(super) low: &'static str,
    pub(super) high: &'static str,
    /// True if the bounds must differ.
    pub(super) strict: bool,
}

macro_rules! takes {
    (Examples) => {
        Takes::Any
    };
    (Function) => {
        Takes::Any
    };
    (Items) => {
        Takes::Keywords
    };
    (Required) => {
        Takes::Flag
    };
    (Rule) => {
        Takes::Any
    };
    (Rules) => {
        Takes::Any
    };
    (Schema) => {
        Takes::Any
    };
    (TypeName) => {
        Takes::Kind
    };
    ($kind:ident) => {
        Takes::$kind
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
            $in_schema:literal: $kind:ident $([$classes:ident $places:ident])? $($flag:ident)*
                => $name:ident $(($($argument:tt)*) = $value:expr)?;
        )* }
        pairs { $($low:literal $relation:tt $high:literal for $types:ident;)* }
    ) => {
        /// The keywords of the derive.
        pub(super) const KEYWORDS: &[Entry] = &[
            $($(Entry {
                in_schema: $in_schema,
                name: stringify!($name),
                takes: takes!($kind),
                places: $places,
                classes: $classes,
            },)?)*
            Entry::of_derive("opaque", Takes::Flag, FIELDS),
            Entry::of_derive("with", Takes::Any, &[Place::Container, Place::Field]),
            Entry::of_derive("name", Takes::Text, &[Place::Container]),
            Entry::of_derive("no_reply", Takes::Flag, &[Place::Container]),
        ];

        const ALL_PAIRS: &[(Pair, &[Class])] = &[$((
            Pair { low: $low, high: $high, strict: is_strict!($relation) },
            $types,
        )),*];
    };
}

keywords!(tables!);

/// Returns the pairs of bounds that can contradict each other for every type.
pub(super) fn pairs() -> impl Iterator<Item = &'static Pair> {
    ALL_PAIRS.iter().filter(|(_, classes)| classes.is_empty()).map(|(pair, _)| pair)
}

/// Finds a keyword by name.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    KEYWORDS.iter().find(|known| known.name == name)
}
