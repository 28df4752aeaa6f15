//! [`Data`]: what can be asked of a value, whatever form it has.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// A value of JSON that is only read.
pub(crate) trait Data<'d>: Copy {
    /// The elements of an array.
    type Items: Iterator<Item = Self>;
    /// The members of an object, each name once.
    type Members: Iterator<Item = (&'d str, Self)>;

    /// What it is.
    fn kind(self) -> Kind<'d>;

    /// The elements; none of what is no array.
    fn items(self) -> Self::Items;

    /// The members in their order; none of what is no object.
    fn members(self) -> Self::Members;

    /// The member of this name.
    fn member(self, name: &str) -> Option<Self>;

    /// Parsed; a copy in the other form.
    fn to_value(self) -> Cow<'d, Value>;

    /// Whether it is nested more than `levels` deep, of which there are at
    /// least [`MAX_DEPTH`](crate::depth::MAX_DEPTH).
    fn exceeds(self, levels: usize) -> bool;

    /// The text, if it is one.
    fn text(self) -> Option<&'d str> {
        match self.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// What a value is, with its content or with the count of what it contains.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind<'d> {
    Null,
    Bool(bool),
    Number(&'d Number),
    Text(&'d str),
    Array(usize),
    Object(usize),
}

impl Kind<'_> {
    /// The name of its type.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::Text(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }
}
