//! [`SerializationError`]: an error of writing or reading.

use std::fmt;

use stockade_errors::{ApiError, BoxError};

/// The deepest nesting of arrays and objects. Deeper data is an error.
///
/// A variant with content counts as two levels: the object with its name, and
/// its content. `Some` and newtypes do not appear in JSON. They are counted
/// separately, up to twice this limit.
pub const MAX_DEPTH: usize = 128;

/// A value that cannot become JSON, or JSON that cannot become a value.
///
/// As an [`ApiError`], a read error is a 400, because the data came from the
/// client. Any other error is a 500.
#[derive(Debug)]
#[non_exhaustive]
pub enum SerializationError {
    /// A function of `CustomSerialization` failed. An `ApiError` as the source
    /// keeps its status.
    Custom(BoxError),
    /// A date is more than 8.64e15 ms away from 1970, or outside the range of
    /// its type.
    DateOutOfRange,
    /// Two map keys become the same text.
    DuplicateKey {
        /// The text, shortened to 64 characters.
        key: String,
    },
    /// An option disabled the helper.
    SwitchedOff {
        /// The name of the option, such as `enable_date`.
        option: &'static str,
    },
    /// Data is nested more than [`MAX_DEPTH`](MAX_DEPTH) levels deep, or has a
    /// cycle.
    TooDeep,
    /// The JSON does not match the target type.
    Unreadable {
        /// The reason.
        message: String,
    },
    /// A text is not a date, or the type cannot represent the date.
    UnreadableDate {
        /// The text, shortened to 64 characters.
        text: String,
    },
    /// A `Serialize` implementation failed.
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
            Self::SwitchedOff { option } => write!(f, "disabled by the option `{option}`"),
            Self::TooDeep => write!(f, "nested more than {MAX_DEPTH} levels"),
            Self::Unreadable { message } => write!(f, "cannot be read: {message}"),
            Self::UnreadableDate { text } => write!(f, "{text:?} is not a readable date"),
            Self::Unwritable { message } => write!(f, "cannot be written: {message}"),
        }
    }
}

impl std::error::Error for SerializationError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // `Display` already shows the text of the error itself.
            Self::Custom(source) => source.source(),
            _ => None,
        }
    }
}

/// Converts a read error to a 400, and any other error to a 500.
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

/// Returns the start of an untrusted text.
fn shortened(text: &str) -> String {
    text.chars().take(MAX_KEPT_CHARS).collect()
}

const MAX_KEPT_CHARS: usize = 64;
