//! [`Body`]: the body as a typed value; its raw bytes; its stream.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::error::Category;
use serde_json::{Map, Value};
use stockade_errors::{ApiError, FieldError};

use crate::doc::{BodyKind, ParamShape};
use crate::media::Media;
use crate::read::{Payload, invalid_json, not_json, text_of, unsupported};
use crate::text::{Pair, from_nothing, from_pairs, from_text, shape_of};
use crate::{FromRequest, HttpBody, Request, RouteDoc};

/// The body, parsed by its content type into a typed value.
///
/// JSON (`application/json`, `…+json`) goes from the bytes to the value
/// directly; a form is read like a query string; `text/*` is one text. An absent
/// body is a 400, unless `T` is an `Option`. Anything else is 415.
///
/// ```
/// use stockade_core::extract::Body;
///
/// #[derive(serde::Deserialize)]
/// struct NewUser { name: String }
///
/// async fn create(Body(user): Body<NewUser>) -> String { user.name }
/// async fn touch(Body(user): Body<Option<NewUser>>) -> &'static str {
///     if user.is_some() { "with a body" } else { "without" }
/// }
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Body<T>(pub T);

impl<T: DeserializeOwned + Send> FromRequest for Body<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        if req.has_no_body() {
            return absent().map(Self);
        }
        let media = Media::of(req.headers());
        match &req.payload {
            // Nothing was sent, and no default was put in its place.
            Payload::Parsed { value: Value::Object(object), bytes }
                if bytes.is_empty() && object.is_empty() =>
            {
                return absent().map(Self);
            }
            Payload::Parsed { value, bytes } => {
                let is_form = media == Media::Form && !bytes.is_empty();
                return from_value(value, is_form).map(Self);
            }
            Payload::Replaced(value) => return from_value(value, false).map(Self),
            Payload::Unread(_) | Payload::Bytes(_) | Payload::Failed(_) => {}
        }
        let bytes = req.bytes().await?;
        if bytes.is_empty() {
            return absent().map(Self);
        }
        match media {
            Media::Json => from_json(&bytes, req.settings.expose_errors),
            Media::Form => from_pairs(crate::query::pairs(text_of(&bytes)?)?),
            Media::Text => from_text(text_of(&bytes)?),
            Media::Other | Media::ForeignCharset => Err(unsupported()),
        }
        .map(Self)
    }

    fn describe(doc: &mut RouteDoc) {
        let optional = from_nothing::<T>().is_some();
        doc.reads_body(if optional { BodyKind::Optional } else { BodyKind::Typed });
    }
}

impl FromRequest for Bytes {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        req.bytes().await
    }

    fn describe(doc: &mut RouteDoc) {
        doc.reads_body(BodyKind::Raw);
    }
}

impl FromRequest for HttpBody {
    /// A stream cannot be given twice, so it is taken last.
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(req.take_stream())
    }

    fn describe(doc: &mut RouteDoc) {
        doc.reads_body(BodyKind::Raw);
    }
}

fn absent<T: DeserializeOwned>() -> Result<T, ApiError> {
    from_nothing().ok_or_else(|| ApiError::new(400, "Request body is required"))
}

fn from_json<T: DeserializeOwned>(bytes: &[u8], expose: bool) -> Result<T, ApiError> {
    // serde reads a struct from an array too, by position. Clients of an API
    // name their fields.
    if bytes.trim_ascii_start().first() == Some(&b'[')
        && matches!(shape_of::<T>(), ParamShape::Fields(_))
        && serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_ok()
    {
        return Err(field_error("", "Expected object, got array"));
    }
    // serde_json does not look into texts that the type ignores.
    let Ok(text) = std::str::from_utf8(bytes) else {
        return Err(not_json());
    };
    serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Data => misfit::<T>(bytes, &error),
        Category::Io | Category::Syntax | Category::Eof => invalid_json(&error, expose),
    })
}

/// Says which field of a body does not fit: the body is read a second time,
/// now with an eye on the path, which would slow down every good one.
#[cold]
fn misfit<T: DeserializeOwned>(bytes: &[u8], first: &serde_json::Error) -> ApiError {
    let mut reader = serde_json::Deserializer::from_slice(bytes);
    match serde_path_to_error::deserialize::<_, T>(&mut reader) {
        Ok(_) => field_error("", &first.to_string()),
        Err(error) => field_error(&error.path().to_string(), &error.inner().to_string()),
    }
}

/// Reads a parsed body; the texts of a form may be numbers and lists.
fn from_value<T: DeserializeOwned>(value: &Value, is_form: bool) -> Result<T, ApiError> {
    if let (true, Value::Object(form)) = (is_form, value)
        && let Some(pairs) = pairs_of(form)
    {
        return from_pairs(pairs);
    }
    T::deserialize(value).map_err(|_| {
        let error = serde_path_to_error::deserialize::<_, T>(value).err();
        error.map_or_else(
            || field_error("", "the value does not fit"),
            |error| field_error(&error.path().to_string(), &error.inner().to_string()),
        )
    })
}

/// The pairs of a form that was parsed; `None` if something else was put in.
fn pairs_of(form: &Map<String, Value>) -> Option<Vec<Pair<'_>>> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    };
    let mut pairs = Vec::with_capacity(form.len());
    for (name, value) in form {
        let values = value.as_array().map_or_else(|| std::slice::from_ref(value), Vec::as_slice);
        for value in values {
            pairs.push((name.into(), text(value)?.into()));
        }
    }
    Some(pairs)
}

/// The body of a 400 for the message of serde at a path.
fn field_error(path: &str, message: &str) -> ApiError {
    // serde_json appends the place in the text, which is not the client's.
    let message = message.rsplit_once(" at line ").map_or(message, |(message, _)| message);
    let parent = if path == "." { "" } else { path };
    let named = |before: &str| message.strip_prefix(before)?.split('`').next();
    let (name, message) = if let Some(name) = named("missing field `") {
        (name, format!("Required field '{name}' is missing"))
    } else if let Some(name) = named("duplicate field `") {
        (name, format!("Field '{name}' is there twice"))
    } else if let Some(name) = named("unknown field `") {
        (name, format!("Unknown field '{name}'"))
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
    ApiError::validation(&[FieldError::new(field, message, "type")])
}

/// serde's message without the names of Rust's types.
fn for_a_client(message: &str) -> String {
    let found = message
        .strip_prefix("invalid type: ")
        .or_else(|| message.strip_prefix("invalid value: "))
        .and_then(|rest| rest.rsplit_once(", expected "));
    let Some((found, expected)) = found else {
        let mut chars = message.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        return first.chain(chars).collect();
    };
    let found = match found.split([' ', '`', '"']).next() {
        Some("map") => "object",
        Some("sequence") => "array",
        Some("floating") => "number",
        Some("newtype" | "unit" | "Option") | None => "another type",
        Some(kind) => kind,
    };
    let expected = match expected {
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
    };
    if message.starts_with("invalid value") && found == expected {
        format!("The {found} is out of range")
    } else {
        format!("Expected {expected}, got {found}")
    }
}
