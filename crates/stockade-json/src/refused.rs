//! [`Refused`]: an error without a message, which costs nothing to create.

use std::fmt;

/// The reason for a failed read.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refused {
    /// The text is not JSON.
    Syntax,
    /// The visitor does not accept the value.
    Data,
    /// The text contains too many values.
    TooMany,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Syntax => "not JSON",
            Self::Data => "not wanted",
            Self::TooMany => "too many values",
        })
    }
}
