//! [`SerializationError`]: the errors of writing and reading.

use std::fmt;

use stockade_errors::{ApiError, BoxError};

/// The deepest nesting of arrays and objects. Deeper data is an error.
///
/// A variant with content counts as two levels: the object that names it and
/// its content. `Some` and newtypes leave no trace in JSON. They are counted
/// separately, up to twice as many.
pub const MAX_DEPTH: usize = 128;

/// A value that cannot become JSON, or JSON that cannot become a value.
///
/// As an [`ApiError`], an error of reading is a 400, because the data came from
/// the client. Any other error is a 500.
#[derive(Debug)]
#[non_exhaustive]
pub enum SerializationError {
    /// A function of `CustomSerialization`
    /// failed. An `ApiError` in it keeps its status.
    Custom(BoxError),
    /// A date is more than 8.64e15 ms away from 1970, or beyond the range of
    /// its type.
    DateOutOfRange,
    /// Two keys of a map become the same text.
    DuplicateKey {
        /// The text, of which at most 64 characters are kept.
        key: String,
    },
    /// A helper was switched off by an option.
    SwitchedOff {
        /// The name of the option, such as `enable_date`.
        option: &'static str,
    },
    /// Data is nested more than [`MAX_DEPTH`](MAX_DEPTH) levels, or has
    /// a cycle.
    TooDeep,
    /// JSON does not fit the type that is wanted.
    Unreadable {
        /// The reason.
        message: String,
    },
    /// A text is no date, or one that the type cannot hold.
    UnreadableDate {
        /// The text, of which at most 64 characters are kept.
        text: String,
    },
    /// The `Serialize` of a type failed.
    Unwritable {
        /// The text of its error.
        message: String,
    },
}

impl SerializationError {
    #[doc(hidden)]
    #[must_use]
    pub fn unreadable_date(text: &str) -> Self {
        Self::UnreadableDate { text: shortened(text) }
    }

    #[doc(hidden)]
    #[must_use]
    pub fn duplicate_key(key: &str) -> Self {
        Self::DuplicateKey { key: shortened(key) }
    }
}

impl fmt::Display for SerializationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Custom(source) => source.fmt(f),
            Self::DateOutOfRange => f.write_str("date is out of range"),
            Self::DuplicateKey { key } => write!(f, "several keys become {key:?}"),
            Self::SwitchedOff { option } => write!(f, "switched off by the option `{option}`"),
            Self::TooDeep => write!(f, "nested more than {MAX_DEPTH} levels"),
            Self::Unreadable { message } => write!(f, "cannot be read: {message}"),
            Self::UnreadableDate { text } => write!(f, "{text:?} is no date that can be read"),
            Self::Unwritable { message } => write!(f, "cannot be written: {message}"),
        }
    }
}

impl std::error::Error for SerializationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // `Display` shows the text of the error itself.
            Self::Custom(source) => source.source(),
            _ => None,
        }
    }
}

/// Makes a 400 of an error of reading, and a 500 of any other.
impl From<SerializationError> for ApiError {
    fn from(error: SerializationError) -> Self {
        match error {
            SerializationError::Custom(source) => source.into(),
            SerializationError::Unreadable { .. } | SerializationError::UnreadableDate { .. } => {
                Self::new(400, error.to_string()).with_source(error)
            }
            _ => Self::internal(error),
        }
    }
}

/// Returns the beginning of a text from outside.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_KEPT_CHARS).collect()
}

const MAX_KEPT_CHARS: usize = 64;
