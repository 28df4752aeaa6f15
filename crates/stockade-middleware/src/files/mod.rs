//! Files as responses: ranges, conditional requests, content types, download
//! names.
//!
//! ```
//! use stockade::ApiError;
//! use stockade::extract::{FileName, Path};
//! use stockade::middleware::files::{FileReply, FileRequest};
//!
//! async fn image(file: FileRequest, Path(name): Path<FileName>) -> Result<FileReply, ApiError> {
//!     file.within("/srv/images", &name).await
//! }
//!
//! async fn export(file: FileRequest) -> Result<FileReply, ApiError> {
//!     Ok(file.open("/srv/exports/2025.csv").await?.download("orders 2025.csv"))
//! }
//! # let _ = stockade::Handler::new(image);
//! # let _ = stockade::Handler::new(export);
//! ```
//!
//! # Beyond the spec
//! The specification does not define files. Source: RFC 9110, sections 13 and
//! 14.

// Files:
// - here: `FileRequest`, `FileReply`.
// - `chunks`: the bytes of a file as a body.
// - `range`: the requested part of a file.

mod chunks;
mod range;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use http::{HeaderValue, Method, StatusCode, header};
use stockade_core::description::{BodyDoc, Content, ContentSchema, HeaderDoc, ResponseDoc};
use stockade_core::download_internals::{SANDBOX, described, disposition, safe_media_type};
use stockade_core::extract::FileName;
use stockade_core::{ApiError, FromRequest, HttpBody, Reply, Request, Response, RouteDescription};
use tokio::task::spawn_blocking;

use self::chunks::FileChunks;
use self::range::{RangeRequest, Selected};
use crate::conditional::{
    ETag, Outcome, Preconditions, Validators, describe_conditions, whole_seconds,
};
use crate::described::{is_any, may_read};

/// The conditions and the range of a request for a file; a handler argument
/// that opens the file.
///
/// See the [module docs](crate::files) for handlers that take it. Conditions
/// apply only to GET and HEAD, and ranges only to GET.
#[derive(Clone, Debug)]
pub struct FileRequest {
    /// `None` for methods other than GET and HEAD.
    conditions: Option<Preconditions>,
    range: Option<RangeRequest>,
}

impl FromRequest for FileRequest {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let reads = matches!(*req.method(), Method::GET | Method::HEAD);
        Ok(Self {
            conditions: reads.then(|| Preconditions::of(req.method(), req.headers())),
            range: RangeRequest::of(req.method(), req.headers()),
        })
    }

    fn describe(doc: &mut RouteDescription) {
        if may_read(doc.method()) {
            describe_conditions(doc);
        }
        if has_ranges(doc.method()) {
            doc.reads_header("Range", false);
            doc.reads_header("If-Range", false);
        }
        doc.may_respond(404, "The file does not exist");
    }
}

impl FileRequest {
    /// Opens the file at a path that the program chooses. Symbolic links are
    /// followed.
    ///
    /// Use [`within`](Self::within) for a path from a client. Must be called on
    /// a tokio runtime.
    ///
    /// # Errors
    /// Fails with 404 if the path does not exist or is not a file, and with 500
    /// if it cannot be opened.
    pub async fn open(self, path: impl Into<PathBuf>) -> Result<FileReply, ApiError> {
        let path = path.into();
        let (path, opened) = blocking(move || open(&path).map(|opened| (path, opened))).await?;
        Ok(FileReply::new(self, &path, opened))
    }

    /// Opens the file with this name in a folder, never one outside.
    ///
    /// A [`FileName`] is not a path, so only a symbolic link can lead out of
    /// the folder. Such a link is not followed: the response is 404. Anyone who
    /// can change the folder during a request is trusted.
    ///
    /// # Errors
    /// Fails like [`open`](Self::open), and with 500 if the folder does not
    /// exist.
    pub async fn within(
        self,
        folder: impl Into<PathBuf>,
        name: &FileName,
    ) -> Result<FileReply, ApiError> {
        let (folder, name) = (folder.into(), name.clone());
        let (path, opened) = blocking(move || {
            let folder = folder.canonicalize().map_err(ApiError::internal)?;
            let path = folder.join(&name).canonicalize().map_err(of_file)?;
            if !path.starts_with(&folder) {
                return Err(ApiError::not_found());
            }
            let opened = open(&path)?;
            // The requested name determines the content type.
            Ok((PathBuf::from(name.as_str()), opened))
        })
        .await?;
        Ok(FileReply::new(self, &path, opened))
    }
}

/// A file as a response.
///
/// | request | response |
/// |---|---|
/// | none of the following | 200 with the whole file |
/// | a state that the client has (`If-None-Match`, `If-Modified-Since`) | 304 |
/// | a state that the file does not have (`If-Match`, `If-Unmodified-Since`) | 412 |
/// | one range of bytes | 206 with that part |
/// | a range behind the end | 416 with the length in `Content-Range` |
/// | several ranges, a malformed one, an `If-Range` of another state | 200 with the whole file |
///
/// The file is read in chunks of 64 KiB while it is sent, on tokio's threads
/// for blocking work. On Linux, most data in the page cache is read without
/// them. The content type follows from the extension of the name; text is
/// UTF-8. The `ETag` consists of the length and the time of the last change. It
/// is weak for two seconds after a change, because a second change in that time
/// may not be visible in either.
///
/// A browser runs HTML, SVG and scripts of the same origin. Send user uploads
/// with [`uploaded`](Self::uploaded), or from another origin.
#[derive(Debug)]
pub struct FileReply {
    request: FileRequest,
    opened: Opened,
    content_type: HeaderValue,
    disposition: Option<HeaderValue>,
}

#[derive(Debug)]
struct Opened {
    file: File,
    length: u64,
    /// `None` on systems that do not provide it.
    modified: Option<SystemTime>,
}

impl FileReply {
    fn new(request: FileRequest, path: &Path, opened: Opened) -> Self {
        Self { request, opened, content_type: content_type(path), disposition: None }
    }

    /// Replaces the content type.
    #[must_use]
    pub fn content_type(mut self, content_type: HeaderValue) -> Self {
        self.content_type = content_type;
        self
    }

    /// Makes browsers save the file under this name instead of showing it.
    ///
    /// Only the last part of a path is used. Control characters are removed.
    #[must_use]
    pub fn download(mut self, name: &str) -> Self {
        self.disposition = Some(attachment(name));
        self
    }

    /// Sends a file that a client uploaded so that no browser runs it: as a
    /// download under this name, with `nosniff`, a sandbox, and a content type
    /// without scripts. See [`Download`](stockade_core::reply::Download).
    #[must_use]
    pub fn uploaded(mut self, name: &str) -> FileDownload {
        let claimed = self.content_type.to_str().unwrap_or_default();
        self.content_type = HeaderValue::from_static(safe_media_type(claimed));
        FileDownload(self.download(name))
    }

    fn whole_or_part(&self, settled: bool, etag: Option<&ETag>) -> Selected {
        let modified = self.opened.modified.filter(|_| settled).map(whole_seconds);
        match &self.request.range {
            Some(range) if range.applies_to(etag, modified) => range.select(self.opened.length),
            _ => Selected::Whole,
        }
    }
}

impl Reply for FileReply {
    fn into_response(mut self) -> Result<Response, ApiError> {
        let settled = self.opened.is_settled();
        let etag = self.opened.etag(settled);
        let validators = validators(etag.clone(), self.opened.modified);
        let mut response = Response::default();
        let headers = response.headers_mut();
        if let Some(etag) = &etag {
            let etag = HeaderValue::try_from(etag.to_string()).map_err(ApiError::internal)?;
            headers.insert(header::ETAG, etag);
        }
        if let Some(conditions) = &self.request.conditions {
            conditions.check(&validators)?;
            if conditions.evaluate(&validators) == Outcome::NotModified {
                *response.status_mut() = StatusCode::NOT_MODIFIED;
                return Ok(response);
            }
        }
        let length = self.opened.length;
        let (start, end) = match self.whole_or_part(settled, etag.as_ref()) {
            Selected::Whole => (0, length),
            Selected::Part { start, end } => {
                let range = format!("bytes {start}-{}/{length}", end.saturating_sub(1));
                let range = HeaderValue::try_from(range).map_err(ApiError::internal)?;
                headers.insert(header::CONTENT_RANGE, range);
                self.opened.file.seek(SeekFrom::Start(start)).map_err(ApiError::internal)?;
                (start, end)
            }
            Selected::Unsatisfiable => {
                let error = ApiError::new(416, "Range Not Satisfiable");
                return Err(error.with_header("content-range", format!("bytes */{length}")));
            }
        };
        headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
        headers.insert(header::CONTENT_TYPE, self.content_type);
        if let Some(modified) = self.opened.modified.filter(|time| *time >= SystemTime::UNIX_EPOCH)
        {
            let modified = httpdate::fmt_http_date(modified);
            let modified = HeaderValue::try_from(modified).map_err(ApiError::internal)?;
            headers.insert(header::LAST_MODIFIED, modified);
        }
        if let Some(disposition) = self.disposition {
            headers.insert(header::CONTENT_DISPOSITION, disposition);
        }
        if headers.contains_key(header::CONTENT_RANGE) {
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        }
        *response.body_mut() = HttpBody::new(FileChunks::new(self.opened.file, end - start));
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        let method = doc.method().clone();
        doc.responds(file_answer(200).meaning("The whole file"));
        if may_read(&method) {
            let etag = HeaderDoc::new("ETag", "The tag of the current state").sometimes();
            let known = ResponseDoc::new(304).meaning("The client has the current state");
            doc.responds(known.header(etag));
            doc.may_respond(412, "The file does not have the state that the client expects");
        }
        if has_ranges(&method) {
            let range = || HeaderDoc::new("Content-Range", "The bytes, and the length of the file");
            doc.responds(file_answer(206).meaning("A part of the file").header(range()));
            let meaning = "The range is after the end of the file";
            doc.responds(ResponseDoc::error(416).meaning(meaning).header(range()));
        }
    }
}

/// A file that a client uploaded, as a response; see [`FileReply::uploaded`].
#[derive(Debug)]
pub struct FileDownload(FileReply);

impl Reply for FileDownload {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = self.0.into_response()?;
        if response.headers().contains_key(header::CONTENT_TYPE) {
            let headers = response.headers_mut();
            headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
            headers.insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(SANDBOX));
        }
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.responses_changed(FileReply::describe, |answer| {
            if matches!(answer.body, BodyDoc::Content(_)) {
                answer.headers.retain(|header| header.name != "Content-Disposition");
                *answer = described(answer.clone());
            }
        });
    }
}

/// Returns true if a route with this method accepts GET, the only method with
/// ranges.
fn has_ranges(method: &Method) -> bool {
    *method == Method::GET || is_any(method)
}

/// Returns a response that has bytes of a file.
fn file_answer(status: u16) -> ResponseDoc {
    let headers = [
        HeaderDoc::new("Accept-Ranges", "The unit of ranges: bytes"),
        HeaderDoc::new("ETag", "The tag of the current state").sometimes(),
        HeaderDoc::new("Last-Modified", "The time of the last modification").sometimes(),
        HeaderDoc::new("Content-Disposition", "The suggested file name").sometimes(),
    ];
    let bytes = Content::new("*/*", ContentSchema::Bytes);
    headers.into_iter().fold(ResponseDoc::new(status).content(bytes), ResponseDoc::header)
}

impl Opened {
    /// Returns true if another change would have a different time.
    fn is_settled(&self) -> bool {
        let age = self.modified.and_then(|time| SystemTime::now().duration_since(time).ok());
        age.is_some_and(|age| age >= TIME_RESOLUTION)
    }

    /// Creates the tag of the current state, or `None` if the time is unknown.
    fn etag(&self, settled: bool) -> Option<ETag> {
        let age = self.modified?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        let etag = ETag::new(&format!("{:x}-{:x}", self.length, age.as_nanos()))?;
        Some(if settled { etag } else { etag.weak() })
    }
}

fn validators(etag: Option<ETag>, modified: Option<SystemTime>) -> Validators {
    match (etag, modified) {
        (Some(etag), Some(modified)) => Validators::etag(etag).and_modified(modified),
        (Some(etag), None) => Validators::etag(etag),
        (None, Some(modified)) => Validators::modified(modified),
        (None, None) => Validators::present(),
    }
}

/// Runs work that waits for the file system.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, ApiError> + Send + 'static,
) -> Result<T, ApiError> {
    spawn_blocking(work).await.map_err(ApiError::internal)?
}

fn open(path: &Path) -> Result<Opened, ApiError> {
    // Opening a pipe would wait for its other end.
    if !fs::metadata(path).map_err(of_file)?.is_file() {
        return Err(ApiError::not_found());
    }
    let file = File::open(path).map_err(of_file)?;
    let metadata = file.metadata().map_err(of_file)?;
    if !metadata.is_file() {
        return Err(ApiError::not_found());
    }
    // Some systems do not provide the time. The response then omits the
    // validator.
    Ok(Opened { file, length: metadata.len(), modified: metadata.modified().ok() })
}

/// Converts an error to a 404 if the path does not exist, otherwise to a 500.
fn of_file(error: io::Error) -> ApiError {
    use io::ErrorKind::{InvalidFilename, InvalidInput, NotADirectory, NotFound};

    match error.kind() {
        // A NUL in a path is an `InvalidInput`.
        NotFound | NotADirectory | InvalidFilename | InvalidInput => {
            ApiError::not_found().with_source(error)
        }
        _ => ApiError::internal(error),
    }
}

fn content_type(path: &Path) -> HeaderValue {
    let media = mime_infer::from_path(path).first_or_octet_stream();
    let text = match media.type_() {
        mime_infer::mime::TEXT if media.get_param("charset").is_none() => {
            format!("{media}; charset=utf-8")
        }
        _ => media.to_string(),
    };
    let unknown = const { HeaderValue::from_static("application/octet-stream") };
    // All types in the table are visible ASCII.
    HeaderValue::try_from(text).unwrap_or(unknown)
}

/// Creates a `Content-Disposition`.
fn attachment(name: &str) -> HeaderValue {
    disposition("attachment", name)
}

/// The maximum age difference of two changes with the same timestamp (FAT).
const TIME_RESOLUTION: Duration = Duration::from_secs(2);
