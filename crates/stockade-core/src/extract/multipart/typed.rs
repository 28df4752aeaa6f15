//! [`Multipart<T>`](super::Multipart): a form with files as a type.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stockade_errors::{ApiError, FieldError};
use stockade_validation::HasSchema;
use stockade_validation::read_internals::{PartKind, PartRule, nothing_read};

use super::file::{File, FilePart, FileStream, with_files};
use super::{Part, Parts};
use crate::extract::typed::{self, TypeInfo};
use crate::{Request, query};

/// Reads a form into a type.
///
/// # Errors
/// 413 for a part above its limit, 400 for a part with a forbidden media type
/// or a form that does not match the schema, and the errors of [`Parts::next`].
pub(super) async fn read<T: HasSchema + DeserializeOwned>(
    req: &mut Request,
) -> Result<T, ApiError> {
    let mut slot = None;
    let rules = typed::part_rules(req, &TypeInfo::of::<T>(&mut slot))?;
    let Content { data, files } = content(Parts::of(req)?, &rules).await?;
    with_files(files, || typed::form(req, data, TypeInfo::of::<T>(&mut slot)))?;
    slot.ok_or_else(nothing_read)
}

/// The content of a form.
#[derive(Default)]
struct Content {
    /// The texts, and the indexes of the files.
    data: Map<String, Value>,
    files: Vec<Option<File>>,
}

impl Content {
    fn add_file(&mut self, rule: &PartRule, file: File) -> Result<(), ApiError> {
        let place = Value::from(self.files.len());
        self.files.push(Some(file));
        match self.data.get_mut(&rule.name) {
            None => {
                let place = if rule.is_list { Value::Array(vec![place]) } else { place };
                self.data.insert(rule.name.clone(), place);
            }
            Some(Value::Array(known)) => known.push(place),
            Some(_) => {
                let error = FieldError::new(&*rule.name, "Expected one file", "type");
                return Err(ApiError::validation(vec![error.with_text_id("one-file")]));
            }
        }
        Ok(())
    }
}

/// Reads the parts up to the file that the handler streams.
async fn content(mut parts: Parts, rules: &[PartRule]) -> Result<Content, ApiError> {
    let mut content = Content::default();
    while let Some(mut part) = parts.next().await? {
        let name = part.name().unwrap_or_default().to_owned();
        let rule = rules.iter().find(|rule| rule.name == name);
        if let Some(max_bytes) = rule.and_then(|rule| rule.max_bytes) {
            part.bytes_max = max_bytes;
        }
        match rule {
            // A browser sends an empty file for a field without a selected
            // file.
            Some(rule) if rule.kind != PartKind::Text && part.file_name() == Some("") => {}
            Some(rule) if rule.kind == PartKind::File => {
                check_media_type(rule, &part)?;
                let file = FilePart {
                    file_name: part.file_name().map(str::to_owned),
                    content_type: part.content_type().map(str::to_owned),
                    bytes: part.bytes().await?,
                };
                content.add_file(rule, File::Part(file))?;
            }
            Some(rule) if rule.kind == PartKind::Stream => {
                check_media_type(rule, &part)?;
                let file = FileStream::new(part, parts, rule.max_bytes);
                content.add_file(rule, File::Stream(Box::new(file)))?;
                break;
            }
            // An unexpected file is not stored. The schema decides about its
            // name.
            None if part.file_name().is_some() => {
                query::add(&mut content.data, name.into(), Value::Null);
            }
            _ => {
                let text = part.text().await?;
                query::add(&mut content.data, name.into(), text.into());
            }
        }
    }
    Ok(content)
}

/// Fails if the field does not accept the media type that the client claims.
fn check_media_type(rule: &PartRule, part: &Part) -> Result<(), ApiError> {
    let claimed = part.content_type().unwrap_or("text/plain");
    let essence = claimed.split(';').next().unwrap_or_default().trim();
    let fits = |wanted: &String| match wanted.strip_suffix("/*") {
        Some(kind) => essence.split('/').next().is_some_and(|it| it.eq_ignore_ascii_case(kind)),
        None => essence.eq_ignore_ascii_case(wanted),
    };
    if rule.media_types.is_empty() || rule.media_types.iter().any(fits) {
        return Ok(());
    }
    let message = format!("Expected {}, got {essence}", rule.media_types.join(" or "));
    let error = FieldError::new(&*rule.name, message, "mediaType").with_text_id("mediaType");
    let error = error.with_param("values", rule.media_types.join(", "));
    Err(ApiError::validation(vec![error.with_param("got", essence.to_owned())]))
}
