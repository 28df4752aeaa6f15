//! [`FilePart`] and [`FileStream`]: the files of a typed form.

use std::cell::RefCell;
use std::fmt;

use bytes::Bytes;
use serde::de::{Deserialize, Deserializer, Error, Visitor};
use stockade_errors::ApiError;
use stockade_validation::read_internals::PartKind;
use stockade_validation::{HasSchema, Rule};

use super::{Part, Parts, too_large};

/// A file of a typed form, in memory: a field of `T` in
/// [`Multipart<T>`](super::Multipart).
///
/// `Option<FilePart>` is an optional file, and `Vec<FilePart>` accepts several.
/// In the field, `#[schema(max_bytes = …)]` limits the content (default 1 MiB).
/// `#[schema(media_types = ["image/png"])]` limits the media type that the
/// client claims.
///
/// Only `multipart/form-data` contains files. A type with a file in `Body<T>`,
/// `Query<T>` or `Path<T>` is a configuration error.
#[derive(Clone)]
#[non_exhaustive]
pub struct FilePart {
    /// The name that the client sent. Never use it as a path; parse it as a
    /// [`FileName`](crate::extract::FileName).
    pub file_name: Option<String>,
    /// The media type that the client claims.
    pub content_type: Option<String>,
    /// The content.
    pub bytes: Bytes,
}

impl fmt::Debug for FilePart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FilePart")
            .field("file_name", &self.file_name)
            .field("content_type", &self.content_type)
            .field("bytes", &self.bytes.len())
            .finish()
    }
}

/// The last file of a typed form, which the handler reads as a stream. It must
/// be the last field of `T` in [`Multipart<T>`](super::Multipart).
///
/// The handler starts after the header of this part has arrived. The earlier
/// parts are complete then. A part after the file is an error of
/// [`chunk`](Self::chunk).
///
/// `#[schema(max_bytes = …)]` limits the content. The default is the limit of
/// the route, `max_body`.
pub struct FileStream {
    part: Option<Part>,
    rest: Parts,
    file_name: Option<String>,
    content_type: Option<String>,
    /// The number of bytes that may still arrive.
    left: usize,
}

impl FileStream {
    pub(super) fn new(part: Part, rest: Parts, max_bytes: Option<usize>) -> Self {
        Self {
            file_name: part.file_name().map(str::to_owned),
            content_type: part.content_type().map(str::to_owned),
            part: Some(part),
            rest,
            left: max_bytes.unwrap_or(usize::MAX),
        }
    }

    /// Returns the name that the client sent. Never use it as a path; parse it
    /// as a [`FileName`](crate::extract::FileName).
    #[must_use]
    pub fn file_name(&self) -> Option<&str> {
        self.file_name.as_deref()
    }

    /// Returns the media type that the client claims.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.content_type.as_deref()
    }

    /// Returns the next chunk of the content, or `None` at the end of the form.
    ///
    /// # Errors
    /// 413 for content above `max_bytes`, 400 if another part follows, and the
    /// errors of [`Part::chunk`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        let Some(part) = &mut self.part else { return Ok(None) };
        if let Some(bytes) = part.chunk().await? {
            self.left = self.left.checked_sub(bytes.len()).ok_or_else(too_large)?;
            return Ok(Some(bytes));
        }
        // The next part is available only after this one is dropped.
        self.part = None;
        match self.rest.next().await? {
            None => Ok(None),
            Some(part) => {
                let name = part.name().unwrap_or_default();
                Err(ApiError::new(400, format!("The part '{name}' must come before the file")))
            }
        }
    }
}

impl fmt::Debug for FileStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileStream")
            .field("file_name", &self.file_name)
            .field("content_type", &self.content_type)
            .finish_non_exhaustive()
    }
}

impl HasSchema for FilePart {
    fn rule() -> Rule {
        Rule::file(PartKind::File)
    }
}

impl HasSchema for FileStream {
    fn rule() -> Rule {
        Rule::file(PartKind::Stream)
    }
}

/// A file that is not assigned to its field yet.
pub(super) enum File {
    Part(FilePart),
    Stream(Box<FileStream>),
}

thread_local! {
    /// The files of the form that this thread deserializes. serde cannot
    /// represent a stream, so the form data contains the index of a file in
    /// this list.
    static FILES: RefCell<Vec<Option<File>>> = const { RefCell::new(Vec::new()) };
}

/// Runs `read`. Meanwhile, [`FilePart`] and [`FileStream`] can be deserialized
/// from these files.
pub(super) fn with_files<R>(files: Vec<Option<File>>, read: impl FnOnce() -> R) -> R {
    /// Removes the files, even after a panic.
    struct Cleared;

    impl Drop for Cleared {
        fn drop(&mut self) {
            drop(FILES.take());
        }
    }

    let _cleared = Cleared;
    FILES.set(files);
    read()
}

/// Takes a file from the list.
fn take<E: Error>(place: u64) -> Result<File, E> {
    let place = usize::try_from(place).map_err(E::custom)?;
    let file = FILES.with_borrow_mut(|files| files.get_mut(place).and_then(Option::take));
    file.ok_or_else(|| E::custom(NO_FILE))
}

const NO_FILE: &str = "only multipart/form-data can contain files";

struct Place;

impl Visitor<'_> for Place {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a file")
    }

    fn visit_u64<E: Error>(self, place: u64) -> Result<u64, E> {
        Ok(place)
    }
}

impl<'de> Deserialize<'de> for FilePart {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match take(deserializer.deserialize_u64(Place)?)? {
            File::Part(part) => Ok(part),
            File::Stream(_) => Err(D::Error::custom(NO_FILE)),
        }
    }
}

impl<'de> Deserialize<'de> for FileStream {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match take(deserializer.deserialize_u64(Place)?)? {
            File::Stream(stream) => Ok(*stream),
            File::Part(_) => Err(D::Error::custom(NO_FILE)),
        }
    }
}
