//! The keywords, and the kinds of value that they take.
//!
//! Spec: Validation schemas › Field-rule keywords.

use serde_json::Value;

/// The kind of value that a keyword takes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Any,
    Bool,
    /// A whole number that is not negative.
    Count,
    Function,
    List,
    Number,
    /// A boolean or a list of names.
    Required,
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
            // The compiler reports a number that is no count.
            Self::Count | Self::Number => value.is_number(),
            Self::Function => false,
            Self::List => value.is_array(),
            Self::Required => value.is_boolean() || is_names(value),
            Self::Schema => value.is_boolean() || value.is_object(),
            Self::Schemas => value.is_object(),
            Self::Text => value.is_string(),
            Self::TypeName => value.is_string() || is_names(value),
        }
    }

    /// Returns the words for a value of another kind.
    pub(crate) fn wanted(self) -> &'static str {
        match self {
            Self::Any => "a value",
            Self::Bool => "a boolean",
            Self::Count => "a whole number of 0 or more",
            Self::Function => "a function: give it with `Rule`",
            Self::List => "a list",
            Self::Number => "a number",
            Self::Required => "a boolean or a list of names",
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

/// Returns the kind of value that a keyword takes; words for documents are
/// none.
pub(crate) fn kind_of(keyword: &str) -> Option<Kind> {
    kind_in(KEYWORDS, keyword)
}

/// Returns the kind of value of a word for documents.
pub(crate) fn note_kind(keyword: &str) -> Option<Kind> {
    kind_in(NOTES, keyword)
}

pub(crate) fn is_note(keyword: &str) -> bool {
    note_kind(keyword).is_some()
}

/// Returns true for keywords and for words for documents.
#[cfg(feature = "schemars")]
pub(crate) fn is_known(keyword: &str) -> bool {
    names().any(|name| name == keyword)
}

pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().chain(NOTES).map(|(name, _)| *name)
}

fn kind_in(table: &[(&str, Kind)], keyword: &str) -> Option<Kind> {
    table.iter().find(|(name, _)| *name == keyword).map(|(_, kind)| *kind)
}

const KEYWORDS: &[(&str, Kind)] = &[
    ("type", Kind::TypeName),
    ("required", Kind::Required),
    ("enum", Kind::List),
    ("const", Kind::Any),
    ("pattern", Kind::Text),
    ("minLength", Kind::Count),
    ("maxLength", Kind::Count),
    ("minimum", Kind::Number),
    ("maximum", Kind::Number),
    ("exclusiveMinimum", Kind::Number),
    ("exclusiveMaximum", Kind::Number),
    ("min", Kind::Number),
    ("max", Kind::Number),
    ("items", Kind::Schema),
    ("minItems", Kind::Count),
    ("maxItems", Kind::Count),
    ("uniqueItems", Kind::Bool),
    ("minProperties", Kind::Count),
    ("maxProperties", Kind::Count),
    ("properties", Kind::Schemas),
    ("additionalProperties", Kind::Schema),
    ("nullable", Kind::Bool),
    ("format", Kind::Text),
    ("custom", Kind::Function),
    ("message", Kind::Text),
    ("trim", Kind::Bool),
    ("transform", Kind::Function),
    ("default", Kind::Any),
];

/// Words for documents, as JSON Schema has them.
const NOTES: &[(&str, Kind)] = &[
    ("title", Kind::Text),
    ("description", Kind::Text),
    ("$schema", Kind::Text),
    ("$id", Kind::Text),
    ("$comment", Kind::Text),
    ("examples", Kind::List),
    ("deprecated", Kind::Bool),
    ("readOnly", Kind::Bool),
    ("writeOnly", Kind::Bool),
];

/// Returns true for keywords of JSON Schema that are not ours and are no likely
/// names of fields.
pub(crate) fn is_foreign(keyword: &str) -> bool {
    keyword.starts_with('$') || FOREIGN.contains(&keyword)
}

const FOREIGN: &[&str] = &[
    "additionalItems",
    "allOf",
    "anyOf",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependentRequired",
    "dependentSchemas",
    "maxContains",
    "minContains",
    "multipleOf",
    "oneOf",
    "patternProperties",
    "prefixItems",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];
