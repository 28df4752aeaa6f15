//! What is said of a value that does not fit its type.

use stockade_errors::__internal::{short_name, short_text};
use stockade_errors::FieldError;

/// What is said of an array where a struct is wanted.
pub(super) fn named_from_array() -> FieldError {
    field_error("", "Expected object, got array")
}

/// The record for an error of serde at a path.
pub(super) fn of_error(error: &serde_path_to_error::Error<serde_json::Error>) -> FieldError {
    field_error(&error.path().to_string(), &error.inner().to_string())
}

/// The record for the message of serde at a path.
pub(super) fn field_error(path: &str, message: &str) -> FieldError {
    // serde_json appends the place in the text, which is not the client's.
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let parent = if path == "." { "" } else { path };
    let named = |before: &str| message.strip_prefix(before)?.split('`').next();
    let (name, message) = if let Some(name) = named("missing field `") {
        (name, format!("Required field '{name}' is missing"))
    } else if let Some(name) = named(DUPLICATE) {
        (name, format!("Field '{name}' is there twice"))
    } else if let Some(name) = named("unknown field `") {
        (name, format!("Unknown field '{}'", short_name(name)))
    } else {
        ("", for_a_client(message))
    };
    let field = match (parent, name) {
        (parent, "") => parent.to_owned(),
        ("", name) => name.to_owned(),
        // The path of an unknown field ends with it already.
        (parent, name) if parent == name || parent.ends_with(&format!(".{name}")) => {
            parent.to_owned()
        }
        (parent, name) => format!("{parent}.{name}"),
    };
    FieldError::new(short_name(&field), message, "type")
}

/// Whether serde found a field of a struct twice.
pub(super) fn is_duplicate(error: &serde_json::Error) -> bool {
    error.to_string().starts_with(DUPLICATE)
}

/// Of a message that a type has for itself.
const MAX_MESSAGE_BYTES: usize = 1_000;

const DUPLICATE: &str = "duplicate field `";

/// serde's message without the names of Rust's types.
fn for_a_client(message: &str) -> String {
    let found = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "));
    let Some((found, expected)) = found else {
        // It may hold what the client sent.
        let message = short_text(message, MAX_MESSAGE_BYTES);
        let mut chars = message.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        return first.chain(chars).collect();
    };
    let expected = expected_kind(expected);
    if expected == "integer" && is_beyond_64_bits(found) {
        return "The integer is out of range".to_owned();
    }
    let found = found_kind(found);
    if message.starts_with("invalid value") && found == expected {
        format!("The {found} is out of range")
    } else {
        format!("Expected {expected}, got {found}")
    }
}

/// Returns true if serde found a float that is an integer of no type.
fn is_beyond_64_bits(found: &str) -> bool {
    let float = found.strip_prefix("floating point `").and_then(|rest| rest.strip_suffix('`'));
    float.and_then(|float| float.parse::<f64>().ok()).is_some_and(|float| float.abs() >= TWO_TO_63)
}

/// From here on every float is whole.
const TWO_TO_63: f64 = 9_223_372_036_854_775_808.0;

fn found_kind(found: &str) -> &str {
    match found.split([' ', '`', '"']).next() {
        Some("map") => "object",
        Some("sequence") => "array",
        Some("floating") => "number",
        Some("newtype" | "unit" | "Option") | None => "another type",
        Some(kind) => kind,
    }
}

fn expected_kind(expected: &str) -> &'static str {
    match expected {
        "i8" | "i16" | "i32" | "i64" | "i128" | "isize" | "u8" | "u16" | "u32" | "u64" | "u128"
        | "usize" => "integer",
        "f32" | "f64" => "number",
        "a string" | "a borrowed string" | "a character" => "string",
        "a boolean" => "boolean",
        "a sequence" => "array",
        "a map" => "object",
        _ if expected.starts_with("struct ") => "object",
        _ if expected.contains("tuple") || expected.contains("array") => "array",
        _ => "another type",
    }
}
