//! Multipart forms with files.
//!
//! A generated form is an object. The content of a file is a text, like the
//! value of a field; the list of file fields tells them apart.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::breaks::Break;
use super::fit::Schemas;
use super::input::text_of;
use crate::MultipartForm;

pub(super) const FORM_DATA: &str = "multipart/form-data";

/// A field of a form that contains one or more files.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct FileField {
    pub(super) name: String,
    /// The media type of the files.
    pub(super) media_type: String,
}

/// Returns the file fields of a form in the order of its schema. A streamed
/// file is the last one.
pub(super) fn file_fields(schemas: &Schemas, schema: &Value) -> Vec<FileField> {
    let properties = schemas.followed(schema).get("properties").and_then(Value::as_object);
    let files = properties.into_iter().flatten().filter(|(_, rule)| is_file(schemas, rule));
    let field = |(name, rule): (&String, &Value)| FileField {
        name: name.clone(),
        media_type: media_type(rule),
    };
    files.map(field).collect()
}

fn is_file(schemas: &Schemas, rule: &Value) -> bool {
    let rule = schemas.followed(rule);
    let is_binary = |rule: &Value| rule.get("format").is_some_and(|format| format == "binary");
    is_binary(rule) || rule.get("items").is_some_and(|items| is_binary(schemas.followed(items)))
}

/// Returns a media type that the field accepts.
fn media_type(rule: &Value) -> String {
    let listed = rule.get("x-media-types").and_then(Value::as_array);
    let first = listed.and_then(|listed| listed.first()).and_then(Value::as_str);
    match first.map(|first| (first, first.strip_suffix("/*"))) {
        Some((_, Some(kind))) => format!("{kind}/plain"),
        Some((first, None)) => first.to_owned(),
        None => "application/octet-stream".to_owned(),
    }
}

/// Returns the schema of a form with plain texts instead of files.
pub(super) fn with_texts(schemas: &Schemas, schema: &Value) -> Value {
    changed(schemas, schema, |rule| {
        if rule.get("format").is_some_and(|format| format == "binary") {
            rule.remove("format");
        }
    })
}

/// Returns the schema of a form with limits for the texts of fields that have a
/// maximum size.
pub(super) fn with_limits(schemas: &Schemas, schema: &Value) -> Value {
    changed(schemas, schema, |rule| {
        if rule.get("type").is_some_and(|kind| kind == "string")
            && let Some(bytes) = rule.get(MAX_BYTES).and_then(Value::as_u64)
        {
            let listed = rule.get("maxLength").and_then(Value::as_u64);
            let most = (bytes / BYTES_OF_A_CHAR).min(listed.unwrap_or(u64::MAX));
            rule.insert("maxLength".to_owned(), most.into());
        }
    })
}

/// Returns true if a violation only exceeds the maximum size of a part.
pub(super) fn is_size(schema: &Value, found: &Break) -> bool {
    let name = found.field.split('[').next().unwrap_or_default();
    let has_limit = schema["properties"][name].get(MAX_BYTES).is_some();
    has_limit && found.rules.iter().any(|rule| rule == "maxLength")
}

/// Changes the rules of a form's fields, and of the elements of its lists.
fn changed(schemas: &Schemas, schema: &Value, change: impl Fn(&mut Map<String, Value>)) -> Value {
    let mut schema = schemas.followed(schema).clone();
    let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
    for rule in properties.into_iter().flat_map(Map::values_mut) {
        *rule = schemas.followed(rule).clone();
        let Value::Object(rule) = rule else { continue };
        change(rule);
        let limit = rule.get(MAX_BYTES).cloned();
        if let Some(items) = rule.get_mut("items") {
            *items = schemas.followed(items).clone();
            if let Value::Object(items) = items {
                items.extend(limit.map(|limit| (MAX_BYTES.to_owned(), limit)));
                change(items);
            }
        }
    }
    schema
}

/// Returns the content type and the body of a form. Files come last, because a
/// streamed file ends the form.
pub(super) fn encoded(members: &Map<String, Value>, files: &[FileField]) -> (String, Vec<u8>) {
    let field_of = |name: &str| files.iter().find(|file| file.name == name);
    let texts = members.iter().filter(|(name, _)| field_of(name).is_none());
    let form = texts.fold(MultipartForm::new(), |form, (name, value)| {
        each(value).fold(form, |form, value| form.text(name, text_of(value)))
    });
    let present = files.iter().filter_map(|file| Some((file, members.get(&file.name)?)));
    let form = present.fold(form, |form, (file, value)| {
        let add = |form: MultipartForm, value: &Value| {
            form.file(&file.name, "a", &file.media_type, text_of(value))
        };
        each(value).fold(form, add)
    });
    form.encode()
}

/// Returns the values of a field, one for each part.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    match value {
        Value::Array(values) => values.as_slice(),
        value => std::slice::from_ref(value),
    }
    .iter()
}

const MAX_BYTES: &str = "x-max-bytes";

/// The largest number of bytes of a character in UTF-8.
const BYTES_OF_A_CHAR: u64 = 4;
