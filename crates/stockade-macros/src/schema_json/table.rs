//! The schema keywords, from the table shared with validation.

use stockade_path::__internal::keywords as table_of_keywords;

use super::json::Json;

/// The type of a keyword's value, as far as it affects the notation.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Holds {
    Any,
    Flag,
    Function,
    List,
    NameLists,
    Number,
    Required,
    Rules,
    Schema,
    Schemas,
    Text,
    TypeName,
}

impl Holds {
    /// Returns true if the value has this type. Returns `None` if this is only
    /// known at run time.
    pub(super) fn fits(self, value: &Json) -> Option<bool> {
        let is_names = |value: &Json| match value {
            Json::List(items) if items.iter().any(|item| matches!(item, Json::Unknown)) => None,
            Json::List(items) => Some(items.iter().all(|item| matches!(item, Json::Text))),
            _ => Some(false),
        };
        Some(match (self, value) {
            (_, Json::Unknown) => return None,
            (Self::Any, _)
            | (Self::Flag | Self::Required | Self::Schema, Json::Bool)
            | (Self::List, Json::List(_))
            | (Self::Number, Json::Number)
            | (Self::Schema | Self::Schemas, Json::Map(_))
            | (Self::Text | Self::TypeName, Json::Text) => true,
            (Self::Required | Self::TypeName, value) => return is_names(value),
            (Self::Rules, Json::List(items)) => {
                if items.iter().any(|item| matches!(item, Json::Unknown)) {
                    return None;
                }
                !items.is_empty()
                    && items.iter().all(|item| matches!(item, Json::Map(_) | Json::Bool))
            }
            (Self::NameLists, Json::Map(entries)) => {
                let mut all = true;
                for entry in entries {
                    all &= is_names(&entry.value)?;
                }
                all
            }
            _ => false,
        })
    }
}

/// A schema keyword.
pub(super) struct Keyword {
    pub(super) name: &'static str,
    pub(super) holds: Holds,
    /// True for annotations, which check nothing.
    pub(super) note: bool,
    /// True if a field map cannot have a field of this name.
    reserved: bool,
}

macro_rules! holds {
    (Count) => {
        Holds::Number
    };
    (Examples) => {
        Holds::List
    };
    (Format) => {
        Holds::Text
    };
    (Items) => {
        Holds::Schema
    };
    (Rule) => {
        Holds::Schema
    };
    ($kind:ident) => {
        Holds::$kind
    };
}

/// Returns true if a flag matches.
macro_rules! is_flag {
    (note note) => {
        true
    };
    (reserved reserved) => {
        true
    };
    ($wanted:ident $other:ident) => {
        false
    };
}

macro_rules! table {
    (
        ()
        keywords { $(
            $(#[$doc:meta])*
            $name:literal: $kind:ident $([$class:ident $place:ident])? $($flag:ident)*
                => $method:ident $(($($argument:tt)*) = $value:expr)?;
        )* }
        pairs { $($pairs:tt)* }
    ) => {
        const KEYWORDS: &[Keyword] = &[$(Keyword {
            name: $name,
            holds: holds!($kind),
            note: false $(|| is_flag!(note $flag))*,
            reserved: false $(|| is_flag!(reserved $flag))*,
        }),*];
    };
}

table_of_keywords!(table!);

/// Finds a keyword by name.
pub(super) fn find(name: &str) -> Option<&'static Keyword> {
    KEYWORDS.iter().find(|known| known.name == name)
}

/// Returns the names of all keywords.
pub(super) fn keywords() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|known| known.name)
}

/// Returns true for names that cannot be fields in a field map.
pub(super) fn is_reserved(name: &str) -> bool {
    name.starts_with('$')
        || name == "additionalItems"
        || find(name).is_some_and(|known| known.reserved)
}

/// Keywords that only have an effect together with others.
pub(super) const UNUSED_ALONE: [&str; 4] = ["$defs", "definitions", "then", "else"];
