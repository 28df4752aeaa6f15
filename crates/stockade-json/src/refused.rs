//! [`Refused`]: an error without words, which costs nothing to make.

use std::fmt;

/// The reason why a text gives no value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Refused {
    /// The text is not JSON.
    Syntax,
    /// The reader of the values does not take this one.
    Data,
    /// The text holds more values than may be kept.
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
