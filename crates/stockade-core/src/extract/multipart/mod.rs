//! [`Multipart`]: `multipart/form-data`, as a type or part by part.

mod file;
mod typed;

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::header;
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use stockade_errors::ApiError;
use stockade_validation::HasSchema;

pub use self::file::{FilePart, FileStream};
use super::disposition::{Disposition, Parameters};
use super::part_headers::{BoundedHeaders, HeaderTooLong};
use super::typed::describe;
use crate::BodyKind;
use crate::body::BodyError;
use crate::description::InputFrom;
use crate::{FromRequest, Request, RouteDescription};

/// A `multipart/form-data` body, as a type or as its parts.
///
/// In `Multipart<T>`, each field of `T` is a part of the form. Texts are read
/// as in other forms: they become numbers and booleans if the schema of `T`
/// requires it. Files are [`FilePart`], `Option<FilePart>` or `Vec<FilePart>`.
/// The last field may be a [`FileStream`], which the handler reads as a stream.
/// Part names that `T` does not have are unknown fields.
///
/// ```
/// use stockade::ApiError;
/// use stockade::extract::{FilePart, FileStream, Multipart};
/// use stockade::validation::Schema;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Upload {
///     #[schema(max_length = 100)]
///     title: String,
///     #[schema(max_items = 3, max_bytes = 65_536, media_types = ["image/png"])]
///     previews: Vec<FilePart>,
///     file: FileStream,
/// }
///
/// async fn upload(Multipart(mut form): Multipart<Upload>) -> Result<String, ApiError> {
///     let mut length = 0;
///     while let Some(bytes) = form.file.chunk().await? {
///         length += bytes.len();
///     }
///     Ok(format!("{}: {} previews, {length} bytes", form.title, form.previews.len()))
/// }
///
/// # use stockade::testing::{MultipartForm, TestClient};
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.post("/upload", upload);
/// let client = TestClient::new(router);
/// let form = MultipartForm::new()
///     .text("title", "Tea")
///     .file("previews", "a.png", "image/png", "a picture")
///     .file("file", "tea.txt", "text/plain", "green");
/// client.post("/upload").multipart(form).await.assert_text("Tea: 1 previews, 5 bytes");
///
/// let form = MultipartForm::new().file("file", "tea.txt", "text/plain", "green");
/// client.post("/upload").multipart(form).await.assert_field_error("title", "required");
/// # }
/// ```
///
/// The whole body counts against the limit of the route. `#[schema(max_bytes =
/// …)]` limits one part, 1 MiB by default. A part above its limit gets a 413. A
/// file with a media type that is not in `media_types` gets a 400 with the rule
/// `mediaType`. Any body other than `multipart/form-data` gets a 415.
///
/// `Multipart` without a type returns the [parts](Parts) as they arrive.
#[doc(alias = "upload")]
#[derive(Debug)]
pub struct Multipart<T = Parts>(pub T);

impl<T> Deref for Multipart<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T> DerefMut for Multipart<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.0
    }
}

/// The parts of a `multipart/form-data` body, as they arrive.
///
/// The whole body counts against the limit of the route. [`MultipartLimits`]
/// limits the number of parts, the size of each part and its header. Any body
/// other than `multipart/form-data` gets a 415.
///
/// ```
/// use stockade::ApiError;
/// use stockade::extract::Multipart;
///
/// async fn upload(mut form: Multipart) -> Result<String, ApiError> {
///     let mut seen = String::new();
///     while let Some(part) = form.next().await? {
///         let name = part.name().unwrap_or("?").to_owned();
///         let bytes = part.bytes().await?;
///         seen += &format!("{name}: {} bytes\n", bytes.len());
///     }
///     Ok(seen)
/// }
///
/// # use stockade::testing::{MultipartForm, TestClient};
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.post("/upload", upload);
/// let form = MultipartForm::new().text("note", "hi");
/// let sent = TestClient::new(router).post("/upload").multipart(form).await;
/// sent.assert_text("note: 2 bytes\n");
/// # }
/// ```
///
/// To keep a large file out of memory, write it to disk chunk by chunk. Choose
/// the file name in your program, and rename the file only when it is complete.
/// If the client disconnects, the handler returns or is dropped. A guard that
/// removes the unfinished file on drop covers both cases.
///
/// ```
/// use std::path::{Path, PathBuf};
/// use stockade::ApiError;
/// use stockade::extract::{Multipart, Part};
/// use tokio::fs::{self, File};
/// use tokio::io::AsyncWriteExt as _;
///
/// /// Removes the file unless it was renamed.
/// struct Unfinished(PathBuf);
///
/// impl Drop for Unfinished {
///     fn drop(&mut self) {
///         let _ = std::fs::remove_file(&self.0);
///     }
/// }
///
/// async fn store(part: &mut Part, to: &Path) -> Result<(), ApiError> {
///     // A program with several uploads at a time adds a number.
///     let unfinished = Unfinished(to.with_extension("part"));
///     let mut file = File::create(&unfinished.0).await.map_err(ApiError::internal)?;
///     while let Some(bytes) = part.chunk().await? {
///         file.write_all(&bytes).await.map_err(ApiError::internal)?;
///     }
///     file.flush().await.map_err(ApiError::internal)?;
///     fs::rename(&unfinished.0, to).await.map_err(ApiError::internal)
/// }
///
/// async fn upload(mut form: Multipart) -> Result<(), ApiError> {
///     let Some(mut part) = form.next().await? else {
///         return Err(ApiError::new(400, "no file in the form"));
///     };
/// #   let to = std::env::temp_dir().join(format!("stockade-upload-{}", std::process::id()));
///     // let to = folder.join(format!("room-{id}.png"));
///     store(&mut part, &to).await?;
/// #   assert_eq!(fs::read(&to).await.unwrap(), b"a picture");
/// #   assert!(!to.with_extension("part").exists());
/// #   fs::remove_file(&to).await.unwrap();
///     Ok(())
/// }
///
/// # use stockade::testing::{MultipartForm, TestClient};
/// # #[tokio::main]
/// # async fn main() {
/// # let mut router = stockade::Router::new();
/// router.post("/picture", upload).max_body(2 << 20);
/// # let form = MultipartForm::new().file("picture", "x.png", "image/png", "a picture");
/// # TestClient::new(router).post("/picture").multipart(form).await.assert_status(204);
/// # }
/// ```
pub struct Parts {
    parts: multer::Multipart<'static>,
    limits: MultipartLimits,
    seen: usize,
}

/// The limits of a [`Multipart`] without a type.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct MultipartLimits {
    /// The maximum number of parts. Default: 100.
    pub parts: usize,
    /// The maximum number of bytes of one part that [`Part::bytes`] and
    /// [`Part::text`] read. Default: 1 MiB. Only the limit of the route applies
    /// to [`Part::chunk`].
    pub part_bytes: usize,
}

impl MultipartLimits {
    /// The maximum length of a part's header in bytes, including the empty line
    /// at its end: 8 KiB. The header contains the field name and the file name.
    /// The same limit applies to the text before the first part. A longer
    /// header gets a 400.
    pub const MAX_PART_HEADER: usize = 8_192;
}

impl Default for MultipartLimits {
    fn default() -> Self {
        Self { parts: 100, part_bytes: 1_048_576 }
    }
}

impl Multipart {
    /// Sets other limits: the number of parts, and the bytes of one part that
    /// [`Part::bytes`] and [`Part::text`] read. Only the limit of the route,
    /// `max_body`, applies to [`Part::chunk`].
    #[must_use]
    pub fn limits(mut self, parts: usize, part_bytes: usize) -> Self {
        self.0.limits = MultipartLimits { parts, part_bytes };
        self
    }
}

impl Parts {
    /// Starts to read the body of a request.
    fn of(req: &mut Request) -> Result<Self, ApiError> {
        // A missing type, or a type that is not valid text, gets a 415 like any
        // other type.
        let content_type = crate::headers::content_type(req.headers()).unwrap_or_default();
        let boundary = boundary_of(content_type)?;
        let stream = BoundedHeaders::new(req.take_stream().into_data_stream(), &boundary);
        Ok(Self {
            parts: multer::Multipart::new(stream, boundary),
            limits: MultipartLimits::default(),
            seen: 0,
        })
    }

    /// Returns the next part, or `None` at the end. Drop the previous part
    /// first; its unread rest is skipped.
    ///
    /// # Errors
    /// 500 if the previous part still exists, 400 for a malformed body or a
    /// header above [`MultipartLimits::MAX_PART_HEADER`], 413 for too many
    /// parts, and 408 and 413 as for any body.
    pub async fn next(&mut self) -> Result<Option<Part>, ApiError> {
        let Some(field) = self.parts.next_field().await.map_err(unreadable)? else {
            return Ok(None);
        };
        self.seen += 1;
        if self.seen > self.limits.parts {
            return Err(ApiError::new(413, "Too many parts"));
        }
        let disposition = field.headers().get(header::CONTENT_DISPOSITION);
        let disposition = disposition.map(|value| Disposition::parse(value.as_bytes()));
        let disposition = disposition.unwrap_or_default();
        Ok(Some(Part { field, disposition, bytes_max: self.limits.part_bytes }))
    }
}

impl fmt::Debug for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Parts").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl FromRequest for Multipart {
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Parts::of(req).map(Self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_body(BodyKind::Multipart);
    }
}

impl<T: HasSchema + DeserializeOwned + Send> FromRequest for Multipart<T> {
    const TAKES_REQUEST: bool = true;

    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        typed::read(req).await.map(Self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_body(BodyKind::Multipart);
        // A form is read once, so its first failure is reported.
        describe::<T>(doc, InputFrom::Body, |_| Ok(()));
    }
}

/// One part of a [`Multipart`].
///
/// Read its content as a whole, with [`chunk`](Self::chunk), or as a `Stream`.
pub struct Part {
    field: multer::Field<'static>,
    disposition: Disposition,
    bytes_max: usize,
}

impl Part {
    /// Returns the field name. The escapes `%22`, `%0D` and `%0A` of browsers
    /// are decoded.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.disposition.name.as_deref()
    }

    /// Returns the file name that the client sent. It is the parameter
    /// `filename*` (RFC 8187) if it can be decoded, and otherwise `filename`.
    /// The escapes `%22`, `%0D` and `%0A` of browsers are decoded.
    ///
    /// Never use it as a path, because it may contain `/`, `..` and control
    /// characters. Parse it as a [`FileName`](super::FileName), which rejects
    /// them.
    #[must_use]
    pub fn file_name(&self) -> Option<&str> {
        self.disposition.file_name.as_deref()
    }

    /// Returns the content type that the client claims.
    #[must_use]
    pub fn content_type(&self) -> Option<&str> {
        self.field.content_type().map(AsRef::as_ref)
    }

    /// Returns the next chunk of the content, or `None` at the end.
    ///
    /// # Errors
    /// Fails like [`Parts::next`].
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, ApiError> {
        self.field.chunk().await.map_err(unreadable)
    }

    /// Returns the whole content.
    ///
    /// # Errors
    /// Fails like [`Parts::next`], and with a 413 above the limit of a part.
    pub async fn bytes(mut self) -> Result<Bytes, ApiError> {
        let mut whole = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if whole.len() + chunk.len() > self.bytes_max {
                return Err(too_large());
            }
            whole.extend_from_slice(&chunk);
        }
        Ok(whole.into())
    }

    /// Returns the whole content as text.
    ///
    /// # Errors
    /// Fails like [`bytes`](Self::bytes), and with a 400 if it is not UTF-8.
    pub async fn text(self) -> Result<String, ApiError> {
        let bytes = self.bytes().await?;
        String::from_utf8(bytes.into()).map_err(|_| ApiError::new(400, "A part is not valid UTF-8"))
    }
}

/// The content of the part, like [`chunk`](Part::chunk).
impl Stream for Part {
    type Item = Result<Bytes, ApiError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let field = Pin::new(&mut self.get_mut().field);
        field.poll_next(cx).map(|chunk| chunk.map(|chunk| chunk.map_err(unreadable)))
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part").field("name", &self.name()).finish_non_exhaustive()
    }
}

/// Returns the boundary of a content type.
///
/// # Errors
/// 415 for any other type, and 400 unless it has exactly one boundary.
fn boundary_of(content_type: &str) -> Result<String, ApiError> {
    let (essence, parameters) = content_type.split_once(';').unwrap_or((content_type, ""));
    if !essence.trim().eq_ignore_ascii_case("multipart/form-data") {
        return Err(ApiError::new(415, "Unsupported Media Type"));
    }
    let mut boundaries = Parameters::of(parameters.as_bytes())
        .filter(|parameter| parameter.name.eq_ignore_ascii_case(b"boundary"));
    // Another program may find other parts if there are two boundaries.
    let boundary = match (boundaries.next(), boundaries.next()) {
        (Some(boundary), None) => String::from_utf8(boundary.value).ok(),
        (Some(_), Some(_)) => {
            return Err(ApiError::new(400, "The multipart boundary is ambiguous"));
        }
        (None, _) => None,
    };
    let boundary = boundary.filter(|boundary| !boundary.is_empty());
    boundary.ok_or_else(|| ApiError::new(400, "The multipart boundary is missing"))
}

fn too_large() -> ApiError {
    ApiError::new(413, "A part is too large")
}

/// Converts a multer error.
fn unreadable(error: multer::Error) -> ApiError {
    match error {
        multer::Error::LockFailure => {
            ApiError::new(500, "a part must be dropped before the next part is read")
        }
        multer::Error::StreamReadFailed(error) if error.is::<HeaderTooLong>() => {
            ApiError::new(400, "The header of a part is too long")
        }
        multer::Error::StreamReadFailed(error) => BodyError::of(&error).into(),
        _ => ApiError::new(400, "Malformed multipart body"),
    }
}
