//! [`HostileFile`]: a file with a script.

use serde_json::Value;
use stockade_routing::map::{ContentInfo, RouteMap};

use crate::hardening::attack_target::AttackTarget;
use crate::sample::{Sample, named_kind};
use crate::shot::Shot;

/// A file with a script, and the claims of its client about it.
pub(super) struct HostileFile {
    /// The name in a form, which has a path or a quote.
    name: &'static str,
    /// A name for paths.
    pub(super) safe_name: &'static str,
    /// The media type that the client claims.
    media_type: &'static str,
    /// The text before and after the number of the upload.
    content: (&'static str, &'static str),
}

pub(super) const FILES: [HostileFile; 3] = [
    HostileFile {
        name: "../stockade.html",
        safe_name: "stockade.html",
        media_type: "text/html",
        content: HTML,
    },
    HostileFile {
        name: "a\\\"; filename=\\\"stockade.svg",
        safe_name: "stockade.svg",
        media_type: "image/svg+xml",
        content: (
            "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>/*upload ",
            "*/</script></svg>",
        ),
    },
    // Accepted by routes that only compare the claimed type.
    HostileFile {
        name: "stockade.png",
        safe_name: "stockade.png",
        media_type: "image/png",
        content: HTML,
    },
];

const HTML: (&str, &str) = ("<!doctype html><script>/*upload ", "*/</script>");

impl HostileFile {
    /// Returns the content of an upload, which is unique by its number.
    fn content(&self, number: usize) -> String {
        format!("{}{number}{}", self.content.0, self.content.1)
    }

    /// Returns true if a response contains this upload.
    pub(super) fn is_in(&self, body: &[u8], number: usize) -> bool {
        let content = self.content(number);
        body.windows(content.len()).any(|window| window == content.as_bytes())
    }

    /// Returns the file for messages.
    pub(super) fn shown(&self) -> String {
        let kind = if self.content == HTML { "HTML" } else { "SVG" };
        format!("{kind} with the type {} and the name `{}`,", self.media_type, self.name)
    }
}

/// Creates the request that uploads a file.
pub(super) fn upload(
    map: &RouteMap,
    target: &AttackTarget,
    file: &HostileFile,
    number: usize,
) -> Shot {
    let content = file.content(number);
    let mut contents = target.route.body.iter().flat_map(|body| &body.content);
    let form = contents.find(|it| it.media_type.starts_with("multipart/"));
    match form {
        Some(form) => {
            let (content_type, body) = form_with(map, form, file, &content);
            target.shot().body(&content_type, body)
        }
        None => target.shot().body(file.media_type, content),
    }
}

/// Creates a form with the file in each field for files, and generated values in
/// the other required fields. A form without a schema has one file.
fn form_with(
    map: &RouteMap,
    form: &ContentInfo,
    file: &HostileFile,
    content: &str,
) -> (String, Vec<u8>) {
    let sample = Sample::of(map);
    let reference = form.schema.get("$ref").and_then(Value::as_str);
    let schema = reference.and_then(|it| sample.referred(it)).unwrap_or(&form.schema);
    let fields = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let required = sample.required(schema);
    let mut body = Vec::new();
    let mut part = |head: String, content: &str| {
        let lines = format!("--{BOUNDARY}\r\n{head}\r\n\r\n{content}\r\n");
        body.extend_from_slice(lines.as_bytes());
    };
    let head = |name: &str| {
        format!(
            "Content-Disposition: form-data; name=\"{name}\"; filename=\"{}\"\r\nContent-Type: {}",
            file.name, file.media_type
        )
    };
    let mut has_file = false;
    for (name, field) in fields {
        if is_file(sample, field) {
            has_file = true;
            part(head(name), content);
        } else if required.contains(name) {
            let value = sample.value(field).unwrap_or_default();
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            part(format!("Content-Disposition: form-data; name=\"{name}\""), &text);
        }
    }
    if !has_file {
        part(head("file"), content);
    }
    body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
    (format!("multipart/form-data; boundary={BOUNDARY}"), body)
}

/// Returns true if a field of a form is a file, or a list of files.
fn is_file(sample: Sample<'_>, field: &Value) -> bool {
    let reference = field.get("$ref").and_then(Value::as_str);
    let field = reference.and_then(|it| sample.referred(it)).unwrap_or(field);
    let kind = field.as_object().and_then(named_kind);
    let field = if kind == Some("array") { field.get("items").unwrap_or(field) } else { field };
    let choices = field.get("anyOf").and_then(Value::as_array);
    field.get("format").is_some_and(|format| format == "binary")
        || choices.into_iter().flatten().any(|choice| is_file(sample, choice))
}

/// The boundary of the forms, which no file contains.
const BOUNDARY: &str = "stockade-upload";
