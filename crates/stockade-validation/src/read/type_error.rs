//! [`TypeError`]: the error for a value that does not fit a type.

use std::fmt;

use serde::de::{Error, Expected, Unexpected};
use stockade_errors::FieldError;
use stockade_errors::short_name::{short_name, short_text};

use super::source::ExpectedKind;
use crate::node::unknown_field;
use stockade_json::Refused;

/// The reason why a type was not read.
///
/// The fast path does not create messages, because the client never sees them.
/// Other paths name the expected and the actual kind of value.
#[derive(Debug)]
pub struct TypeError(Reason);

#[derive(Debug)]
enum Reason {
    Refused(Refused),
    Words(Box<Words>),
}

#[derive(Debug)]
struct Words {
    /// The path, from the inside to the outside.
    place: Vec<Step>,
    problem: Problem,
}

#[derive(Debug)]
enum Step {
    Name(String),
    Index(usize),
}

#[derive(Debug)]
enum Problem {
    Missing(&'static str),
    Twice(&'static str),
    Unknown(String),
    /// A text or a name that the type does not expect.
    Unexpected(String),
    /// A value of another type.
    Type {
        expected: &'static str,
        got: &'static str,
    },
    /// A number or another value outside the range of its type.
    Range(&'static str),
    /// An unknown variant; the text lists the valid ones.
    Variant(String),
    /// A message for a client.
    Message(String),
    /// A custom message from the type.
    Custom(String),
}

impl TypeError {
    #[cold]
    fn of(problem: Problem) -> Self {
        Self(Reason::Words(Box::new(Words { place: Vec::new(), problem })))
    }

    /// Creates an error with this message.
    #[cold]
    pub(super) fn message(message: impl Into<String>) -> Self {
        Self::of(Problem::Message(message.into()))
    }

    /// Returns the error for a value of another kind.
    #[cold]
    pub(super) fn kind(wanted: ExpectedKind, found: &'static str) -> Self {
        Self::expected(wanted.name(), found)
    }

    fn expected(wanted: &'static str, got: &'static str) -> Self {
        let expected = if wanted == got { ANOTHER } else { wanted };
        Self::of(Problem::Type { expected, got })
    }

    /// Returns the reason why the fast path gave up.
    pub(super) fn refused(&self) -> Refused {
        match self.0 {
            Reason::Refused(refused) => refused,
            Reason::Words(_) => Refused::Data,
        }
    }

    /// Adds a name before the path.
    #[cold]
    pub(super) fn in_member(self, name: &str) -> Self {
        self.within(Step::Name(short_name(name).into_owned()))
    }

    /// Adds an index before the path.
    #[cold]
    pub(super) fn in_element(self, index: usize) -> Self {
        self.within(Step::Index(index))
    }

    fn within(mut self, step: Step) -> Self {
        if let Reason::Words(words) = &mut self.0 {
            words.place.push(step);
        }
        self
    }

    /// Returns the field without a value.
    pub(super) fn missing(&self) -> Option<&'static str> {
        match &self.0 {
            Reason::Words(words) => match words.problem {
                Problem::Missing(name) => Some(name),
                _ => None,
            },
            Reason::Refused(_) => None,
        }
    }

    /// Returns true for a duplicate struct field.
    pub(super) fn is_duplicate(&self) -> bool {
        matches!(&self.0, Reason::Words(words) if matches!(words.problem, Problem::Twice(_)))
    }

    /// Returns true if the name of a member is not a field.
    pub(super) fn is_unknown(&self) -> bool {
        matches!(&self.0, Reason::Words(words) if matches!(words.problem, Problem::Unknown(_)))
    }

    /// Converts the error for an unexpected text to the error for an unknown
    /// field, because the text is the name of a member.
    pub(super) fn of_name(mut self) -> Self {
        if let Reason::Words(words) = &mut self.0
            && let Problem::Unexpected(name) = &mut words.problem
        {
            words.problem = Problem::Unknown(short_name(&std::mem::take(name)).into_owned());
        }
        self
    }

    /// Converts the error to the form that clients receive.
    pub(super) fn into_field_error(self) -> FieldError {
        let (mut place, problem) = match self.0 {
            Reason::Words(words) => (words.place, words.problem),
            // Only sources without messages return this reason.
            Reason::Refused(_) => (Vec::new(), Problem::Message("The value does not fit".into())),
        };
        place.reverse();
        let error = |place: &[Step], message: String| {
            FieldError::new(short_name(&path_of(place)), message, "type")
        };
        match problem {
            Problem::Missing(name) => {
                place.push(Step::Name(name.to_owned()));
                error(&place, format!("Required field '{name}' is missing"))
                    .with_text_id("required")
            }
            Problem::Twice(name) => {
                place.push(Step::Name(name.to_owned()));
                error(&place, format!("Duplicate field '{name}'")).with_text_id("duplicate")
            }
            Problem::Unknown(name) => {
                let message = unknown_field(&name);
                place.push(Step::Name(name));
                error(&place, message).with_text_id("additionalProperties")
            }
            Problem::Unexpected(_) => of_type(error(&place, String::new()), ANOTHER, "string"),
            Problem::Type { expected, got } => of_type(error(&place, String::new()), expected, got),
            Problem::Range(kind) => error(&place, out_of_range(kind))
                .with_text_id("out-of-range")
                .with_param("kind", kind),
            Problem::Variant(values) => error(&place, must_be_one_of(&values))
                .with_text_id("enum")
                .with_param("values", values),
            Problem::Message(message) => error(&place, message),
            Problem::Custom(message) => error(&place, for_a_client(&message)),
        }
    }
}

fn of_type(mut error: FieldError, expected: &'static str, got: &'static str) -> FieldError {
    error.message = expected_text(expected, got).into();
    error.with_text_id("type").with_param("expected", expected).with_param("got", got)
}

fn expected_text(expected: &str, got: &str) -> String {
    format!("Expected {expected}, got {got}")
}

fn out_of_range(kind: &str) -> String {
    format!("The {kind} is out of range")
}

fn must_be_one_of(values: &str) -> String {
    format!("Must be one of: {values}")
}

fn path_of(place: &[Step]) -> String {
    use std::fmt::Write as _;

    let mut path = String::new();
    for step in place {
        // Writing to a `String` never fails.
        let _ = match step {
            Step::Name(name) if path.is_empty() => write!(path, "{name}"),
            Step::Name(name) => write!(path, ".{name}"),
            Step::Index(index) => write!(path, "[{index}]"),
        };
    }
    path
}

/// Shortens a message, which may contain client text, and capitalizes it.
fn for_a_client(message: &str) -> String {
    let message = short_text(message, MAX_MESSAGE_BYTES);
    let mut chars = message.chars();
    let first = chars.next().into_iter().flat_map(char::to_uppercase);
    first.chain(chars).collect()
}

/// The length limit of a custom message.
const MAX_MESSAGE_BYTES: usize = 1_000;

/// Returns the kind of value that a type expects. The type's own description
/// may name Rust types, which a client does not know.
fn expected_kind(expected: &dyn Expected) -> &'static str {
    match expected.to_string().as_str() {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
        | "usize" => "integer",
        "f32" | "f64" => "number",
        "a string" | "a borrowed string" | "a character" => "string",
        "a boolean" => "boolean",
        "a sequence" => "array",
        "a map" => "object",
        own if own.starts_with("struct ") => "object",
        own if own.contains("tuple") || own.contains("array") => "array",
        _ => ANOTHER,
    }
}

fn found_kind(found: &Unexpected<'_>) -> &'static str {
    match found {
        Unexpected::Bool(_) => "boolean",
        Unexpected::Unsigned(_) | Unexpected::Signed(_) => "integer",
        Unexpected::Float(_) => "number",
        Unexpected::Char(_) => "character",
        Unexpected::Str(_) => "string",
        Unexpected::Bytes(_) => "byte array",
        Unexpected::Unit => "null",
        Unexpected::Seq => "array",
        Unexpected::Map => "object",
        _ => ANOTHER,
    }
}

const ANOTHER: &str = "another type";

/// From this value on, every float is whole, but too large for any integer
/// type.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

impl From<Refused> for TypeError {
    #[inline]
    fn from(refused: Refused) -> Self {
        Self(Reason::Refused(refused))
    }
}

impl Error for TypeError {
    #[cold]
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::of(Problem::Custom(message.to_string()))
    }

    #[cold]
    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let expected = expected_kind(expected);
        match found {
            Unexpected::Float(float) if expected == "integer" && float.abs() >= TWO_TO_63 => {
                Self::of(Problem::Range("integer"))
            }
            found => Self::expected(expected, found_kind(&found)),
        }
    }

    #[cold]
    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        let (kind, expected_kind) = (found_kind(&found), expected_kind(expected));
        if kind == expected_kind {
            return Self::of(Problem::Range(kind));
        }
        if let Unexpected::Str(text) = found
            && expected_kind == ANOTHER
        {
            return Self::of(Problem::Unexpected(text.to_owned()));
        }
        Self::invalid_type(found, expected)
    }

    #[cold]
    fn unknown_variant(_variant: &str, expected: &'static [&'static str]) -> Self {
        Self::of(Problem::Variant(expected.join(", ")))
    }

    #[cold]
    fn unknown_field(field: &str, _expected: &'static [&'static str]) -> Self {
        Self::of(Problem::Unknown(short_name(field).into_owned()))
    }

    #[cold]
    fn missing_field(field: &'static str) -> Self {
        Self::of(Problem::Missing(field))
    }

    #[cold]
    fn duplicate_field(field: &'static str) -> Self {
        Self::of(Problem::Twice(field))
    }
}

impl fmt::Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reason::Refused(refused) => refused.fmt(f),
            Reason::Words(words) => match &words.problem {
                Problem::Missing(name) => write!(f, "missing field `{name}`"),
                Problem::Twice(name) => write!(f, "duplicate field `{name}`"),
                Problem::Unknown(name) => write!(f, "unknown field `{name}`"),
                Problem::Unexpected(_) => f.write_str(&expected_text(ANOTHER, "string")),
                Problem::Type { expected, got } => f.write_str(&expected_text(expected, got)),
                Problem::Range(kind) => f.write_str(&out_of_range(kind)),
                Problem::Variant(values) => f.write_str(&must_be_one_of(values)),
                Problem::Message(message) | Problem::Custom(message) => f.write_str(message),
            },
        }
    }
}

impl std::error::Error for TypeError {}
