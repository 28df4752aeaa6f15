//! [`Path`]: the position of a value, as a linked list on the stack.

use std::fmt;

use stockade_errors::short_name::{short_name, short_path};

/// A path such as `address.zip` or `tags[0]`, converted to text only when
/// needed.
pub(super) enum Path<'p> {
    /// The whole input, displayed as empty text.
    Root,
    /// A property.
    Field {
        /// Its name.
        name: &'p str,
        /// The path of the object.
        parent: &'p Self,
    },
    /// An element.
    Item {
        /// Its place.
        index: usize,
        /// The path of the array.
        parent: &'p Self,
    },
}

impl Path<'_> {
    /// Returns the path as text for the client, with at most 200 bytes. The
    /// client may have chosen names in it.
    pub(super) fn shown(&self) -> String {
        match self {
            // Avoids the formatter in the common case.
            Self::Field { name, parent: Self::Root } => short_name(name).into_owned(),
            _ => short_path(self),
        }
    }

    /// Returns the name of the property. Empty for an element.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::Field { name, .. } => name,
            Self::Root | Self::Item { .. } => "",
        }
    }
}

impl fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Field { name, parent: Self::Root } => f.write_str(name),
            Self::Field { name, parent } => write!(f, "{parent}.{name}"),
            Self::Item { index, parent } => write!(f, "{parent}[{index}]"),
        }
    }
}
