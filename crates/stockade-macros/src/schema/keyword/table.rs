//! [`KEYWORDS`]: each keyword with what it takes, where it stands and the types
//! that it fits.

use syn::Lit;

use super::Place;
use crate::schema::field_type::Class;

/// The kind of value that a keyword takes.
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
            Self::Count => "a whole number of 0 or more",
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

pub(super) type Entry = (&'static str, Takes, &'static [Place], &'static [Class]);

/// The keywords: each with its kind of value, its places, and the types that it
/// fits.
pub(super) const KEYWORDS: &[Entry] = &[
    ("kind", Takes::Kind, EVERYWHERE, ANY),
    ("required", Takes::Flag, FIELDS, ANY),
    ("one_of", Takes::List, EVERYWHERE, ANY),
    ("constant", Takes::Any, EVERYWHERE, ANY),
    ("pattern", Takes::Text, EVERYWHERE, TEXT),
    ("min_length", Takes::Count, EVERYWHERE, TEXT),
    ("max_length", Takes::Count, EVERYWHERE, TEXT),
    ("minimum", Takes::Number, EVERYWHERE, NUMBER),
    ("maximum", Takes::Number, EVERYWHERE, NUMBER),
    ("exclusive_minimum", Takes::Number, EVERYWHERE, NUMBER),
    ("exclusive_maximum", Takes::Number, EVERYWHERE, NUMBER),
    ("min", Takes::Number, EVERYWHERE, SIZED),
    ("max", Takes::Number, EVERYWHERE, SIZED),
    ("items", Takes::Keywords, EVERYWHERE, LIST),
    ("min_items", Takes::Count, EVERYWHERE, LIST),
    ("max_items", Takes::Count, EVERYWHERE, LIST),
    ("unique_items", Takes::Flag, EVERYWHERE, LIST),
    ("min_properties", Takes::Count, EVERYWHERE, MAP),
    ("max_properties", Takes::Count, EVERYWHERE, MAP),
    ("additional_properties", Takes::Any, EVERYWHERE, MAP),
    ("nullable", Takes::Flag, PARTS, ANY),
    ("format", Takes::Format, EVERYWHERE, TEXT),
    ("custom", Takes::Any, EVERYWHERE, ANY),
    ("message", Takes::Text, EVERYWHERE, ANY),
    ("trim", Takes::Flag, EVERYWHERE, TEXT),
    ("transform", Takes::Any, EVERYWHERE, ANY),
    ("default", Takes::Any, FIELDS, ANY),
    ("title", Takes::Text, WORDS, ANY),
    ("description", Takes::Text, WORDS, ANY),
    ("example", Takes::Any, WORDS, ANY),
    ("deprecated", Takes::Flag, WORDS, ANY),
    ("read_only", Takes::Flag, FIELDS, ANY),
    ("write_only", Takes::Flag, FIELDS, ANY),
    ("opaque", Takes::Flag, FIELDS, ANY),
    ("with", Takes::Any, &[Place::Container, Place::Field], ANY),
    ("name", Takes::Text, &[Place::Container], ANY),
];

/// Pairs of a lower and an upper bound; true if the two must differ.
pub(super) const PAIRS: &[(&str, &str, bool)] = &[
    ("min_length", "max_length", false),
    ("minimum", "maximum", false),
    ("exclusive_minimum", "exclusive_maximum", true),
    ("minimum", "exclusive_maximum", true),
    ("exclusive_minimum", "maximum", true),
    ("min", "max", false),
    ("min_items", "max_items", false),
    ("min_properties", "max_properties", false),
];
