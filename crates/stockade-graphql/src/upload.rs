//! File uploads with an operation.
//!
//! Source: the multipart request specification of GraphQL, revision 2.

use std::collections::HashMap;

use async_graphql::{UploadValue, Value, Variables};
use bytes::Bytes;
use stockade_core::extract::{Multipart, Part};
use stockade_core::{FromRequest as _, Request};
use stockade_errors::ApiError;

use crate::message::{Message, Params};

/// The limits of file uploads. An operation receives a file as an argument of
/// type [`Upload`](async_graphql::Upload).
///
/// The form follows the multipart request specification: `operations`, `map`,
/// then the files. A page on another origin can send a form without a CORS
/// preflight. So a form needs the header `GraphQL-Require-Preflight` (or
/// `Apollo-Require-Preflight`) with any value; otherwise it gets a 403.
///
/// The whole form counts against
/// [`GraphQl::max_body`](crate::GraphQl::max_body).
#[derive(Clone, Copy, Debug)]
pub struct UploadOptions {
    files: usize,
    file_bytes: usize,
}

impl Default for UploadOptions {
    fn default() -> Self {
        Self { files: 5, file_bytes: 5 * 1_048_576 }
    }
}

impl UploadOptions {
    /// Creates the default limits: 5 files of 5 MiB each.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of files in a form. A form with more files gets
    /// a 413. Default: 5.
    #[must_use]
    pub fn max_files(mut self, files: usize) -> Self {
        self.files = files;
        self
    }

    /// Sets the maximum size of one file, in bytes. A larger file gets a 413.
    /// Default: 5 MiB.
    #[must_use]
    pub fn max_file_bytes(mut self, bytes: usize) -> Self {
        self.file_bytes = bytes;
        self
    }
}

/// A file and the variables that refer to it.
#[derive(Debug)]
pub(crate) struct File {
    pub(crate) name: String,
    pub(crate) content_type: Option<String>,
    pub(crate) content: Bytes,
    /// Paths such as `variables.files.0`.
    pub(crate) paths: Vec<String>,
}

impl File {
    /// Returns the file as an async-graphql value.
    pub(crate) fn value(&self) -> UploadValue {
        UploadValue {
            filename: self.name.clone(),
            content_type: self.content_type.clone(),
            content: self.content.clone(),
        }
    }
}

/// Reads a form with one operation and its files.
///
/// # Errors
/// Returns a 400 for a form that does not follow the specification, a 413 if
/// there are too many parts or a part is too large, or an error of reading the
/// body.
pub(crate) async fn read(
    req: &mut Request,
    uploads: UploadOptions,
    values: usize,
) -> Result<(Params, Vec<File>), ApiError> {
    let form = <Multipart>::from_request(req).await?;
    let mut form = form.limits(uploads.files.saturating_add(2), uploads.file_bytes);
    let operations = named(&mut form, "operations").await?.bytes().await?;
    let message = Message::read(&operations, 0, values)
        .map_err(|error| ApiError::new(error.status, error.message))?;
    let Message::One(mut params) = message else {
        return Err(ApiError::new(400, "A form must have exactly one operation"));
    };
    let map = named(&mut form, "map").await?.bytes().await?;
    let mut map: HashMap<String, Vec<String>> =
        serde_json::from_slice(&map).map_err(|_| malformed("map"))?;
    if map.values().map(Vec::len).sum::<usize>() > PLACES {
        return Err(ApiError::new(400, format!("`map` has more than {PLACES} places")));
    }
    for path in map.values().flatten() {
        hold_place(&mut params.variables, path)?;
    }
    let mut files = Vec::with_capacity(map.len());
    while let Some(part) = form.next().await? {
        let paths = part.name().and_then(|name| map.remove(name));
        let paths = paths.ok_or_else(|| ApiError::new(400, "`map` does not name a file"))?;
        files.push(File {
            name: part.file_name().unwrap_or_default().to_owned(),
            content_type: part.content_type().map(str::to_owned),
            content: part.bytes().await?,
            paths,
        });
    }
    if !map.is_empty() {
        return Err(ApiError::new(400, "A file that `map` names is missing"));
    }
    Ok((params, files))
}

async fn named(form: &mut Multipart, name: &'static str) -> Result<Part, ApiError> {
    let part = form.next().await?.filter(|part| part.name() == Some(name));
    part.ok_or_else(|| ApiError::new(400, format!("`{name}` is missing or in the wrong position")))
}

fn malformed(name: &str) -> ApiError {
    ApiError::new(400, format!("`{name}` is malformed"))
}

/// Sets a placeholder at a variable path of a file. The value there must be
/// null.
fn hold_place(variables: &mut Variables, path: &str) -> Result<(), ApiError> {
    let place = path.strip_prefix("variables.").and_then(|path| {
        let mut steps = path.split('.');
        let first = variables.get_mut(steps.next()?)?;
        steps.try_fold(first, |value, step| match value {
            Value::List(items) => items.get_mut(step.parse::<usize>().ok()?),
            Value::Object(fields) => fields.get_mut(step),
            _ => None,
        })
    });
    match place {
        Some(place) if *place == Value::Null => {
            *place = Value::Boolean(true);
            Ok(())
        }
        _ => Err(ApiError::new(400, "`map` must refer to a variable that is null")),
    }
}

/// The maximum number of variables that refer to files.
const PLACES: usize = 100;
