//! [`Data`]: the view of a value that both forms of data share.

use std::borrow::Cow;

use serde_json::{Number, Value};

/// A JSON value that is only read, parsed or not.
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

    /// Returns the member of this name.
    fn member(self, name: &str) -> Option<Self>;

    /// Returns the parsed value, borrowed where it is parsed already.
    fn to_value(self) -> Cow<'d, Value>;

    /// Returns true if the value is nested more than `levels` deep. `levels` is
    /// at least [`MAX_DEPTH`](crate::depth::MAX_DEPTH).
    fn exceeds(self, levels: usize) -> bool;

    /// Returns the number of values in the value, itself included, at least as deep as
    /// [`MAX_DEPTH`](crate::depth::MAX_DEPTH).
    fn size(self) -> usize;

    /// Returns the address of the value. It is unique among values that are not empty.
    fn address(self) -> usize;

    /// Returns the text, if the value is one.
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
    /// Returns the name of the type in JSON.
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
