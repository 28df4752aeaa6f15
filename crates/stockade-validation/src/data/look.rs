//! [`Data`]: read access to a JSON value, parsed or unparsed.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// A read-only JSON value, parsed or unparsed.
pub(crate) trait Data<'d>: Copy {
    /// The elements of an array.
    type Items: Iterator<Item = Self>;
    /// The members of an object, each name once.
    type Members: Iterator<Item = (&'d str, Self)>;

    /// Returns the kind of the value.
    fn kind(self) -> Kind<'d>;

    /// Returns the elements of an array; none for any other value.
    fn items(self) -> Self::Items;

    /// Returns the members of an object in their order; none for any other
    /// value.
    fn members(self) -> Self::Members;

    /// Returns the member with this name.
    fn member(self, name: &str) -> Option<Self>;

    /// Returns the parsed value; borrows it if it is already parsed.
    fn to_value(self) -> Cow<'d, Value>;

    /// Returns true if the value is nested more than `levels` deep. `levels` is
    /// at least [`MAX_DEPTH`](crate::depth::MAX_DEPTH).
    fn exceeds(self, levels: usize) -> bool;

    /// Returns the number of values in the value, including itself, down to at
    /// least [`MAX_DEPTH`](crate::depth::MAX_DEPTH) levels.
    fn size(self) -> usize;

    /// Returns the address of the value. It is unique among values that are not
    /// empty.
    fn address(self) -> usize;

    /// Returns the text if the value is a string.
    fn text(self) -> Option<&'d str> {
        match self.kind() {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// The kind of a value, with the content of a scalar or the number of elements
/// or members.
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
    /// Returns the JSON name of the type.
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
