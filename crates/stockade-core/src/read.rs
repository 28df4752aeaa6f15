//! Reads a request body once, within its limit, and parses it on demand.
// Spec: Limits › Body size; Request object › body.

use std::future::poll_fn;
use std::pin::Pin;

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body, Frame, SizeHint};
use serde_json::{Map, Value, json};
use stockade_errors::{ApiError, BoxError};
use stockade_json::has_more_values;
use stockade_validation::ReadError;
use stockade_validation::read_internals::too_many_values;

use crate::media::Media;
use crate::{BodyError, HttpBody};

/// The rules for parsing a body.
#[derive(Clone, Copy)]
pub(crate) struct Rules {
    /// In bytes.
    pub(crate) max_body: u64,
    pub(crate) max_json_values: usize,
    /// True if the client receives the position of a JSON error.
    pub(crate) expose: bool,
}

/// The body of a request in its current state.
pub(crate) enum Payload {
    /// The body has not been used yet.
    Unread(HttpBody),
    /// All bytes are in memory.
    Bytes(Bytes),
    /// The bytes were parsed, and the value may have changed since.
    Parsed {
        value: Value,
        /// The original bytes.
        bytes: Bytes,
    },
    /// Middleware replaced the body.
    Replaced(Value),
    /// Reading failed. Each further attempt fails the same way.
    Failed(BodyError),
}

impl Payload {
    /// Returns the original bytes. A replaced body is serialized.
    pub(crate) async fn bytes(&mut self, limit: u64) -> Result<Bytes, ApiError> {
        if let Self::Unread(body) = self {
            let body = std::mem::take(body);
            // If the caller cancels the read, the rest of the body is lost.
            *self = Self::Failed(BodyError::Broken);
            *self = match collect(body, limit).await {
                Ok(bytes) => Self::Bytes(bytes),
                Err(error) => Self::Failed(BodyError::of(&error)),
            };
        }
        match self {
            Self::Bytes(bytes) | Self::Parsed { bytes, .. } => Ok(bytes.clone()),
            Self::Replaced(value) => Ok(serde_json::to_vec(value)?.into()),
            Self::Failed(error) => Err((*error).into()),
            Self::Unread(_) => Ok(Bytes::new()),
        }
    }

    /// Returns the parsed body for reading and changes.
    pub(crate) async fn value(
        &mut self,
        headers: &HeaderMap,
        rules: Rules,
    ) -> Result<&mut Value, ApiError> {
        if !matches!(self, Self::Parsed { .. } | Self::Replaced(_)) {
            let bytes = self.bytes(rules.max_body).await?;
            *self = Self::Parsed { value: parse(headers, &bytes, rules)?, bytes };
        }
        match self {
            Self::Parsed { value, .. } | Self::Replaced(value) => Ok(value),
            // The lines above make this unreachable. An error is safer than a
            // panic.
            _ => Err(BodyError::Broken.into()),
        }
    }

    /// Changes the stream of an unparsed body.
    pub(crate) fn map(&mut self, limit: u64, change: impl FnOnce(HttpBody) -> HttpBody) {
        if matches!(self, Self::Unread(_) | Self::Bytes(_)) {
            let body = self.take_stream(limit);
            *self = Self::Unread(change(body));
        }
    }

    /// Lends the body to a service, which may give it back. Also returns true
    /// if no copy stays here.
    pub(crate) fn lend(&mut self, limit: u64) -> (HttpBody, bool) {
        match self {
            Self::Unread(_) | Self::Bytes(_) => (self.take_stream(limit), true),
            Self::Parsed { bytes, .. } => (bytes.clone().into(), false),
            Self::Replaced(value) => (value.to_string().into(), false),
            Self::Failed(error) => (HttpBody::new(FailedBody { error: Some(*error) }), false),
        }
    }

    /// Restores a body that was lent.
    pub(crate) fn give_back(&mut self, body: HttpBody) {
        *self = Self::Unread(body);
    }

    /// Takes the body as a stream, which ends with an error above the limit.
    pub(crate) fn take_stream(&mut self, limit: u64) -> HttpBody {
        match std::mem::replace(self, Self::Bytes(Bytes::new())) {
            Self::Unread(body) => HttpBody::new(Limited { body, left: limit }),
            Self::Bytes(bytes) | Self::Parsed { bytes, .. } => bytes.into(),
            Self::Replaced(value) => value.to_string().into(),
            Self::Failed(error) => HttpBody::new(FailedBody { error: Some(error) }),
        }
    }
}

impl HttpBody {
    /// Reads the whole body into memory.
    ///
    /// # Errors
    /// Fails with [`BodyError::TooLarge`](crate::BodyError::TooLarge) as soon
    /// as more than `limit` bytes have arrived, and with any error of the
    /// stream.
    pub async fn collect(self, limit: u64) -> Result<Bytes, BoxError> {
        collect(self, limit).await
    }
}

/// Reads a body to its end. Fails if it has more than `limit` bytes.
pub(crate) async fn collect(mut body: HttpBody, limit: u64) -> Result<Bytes, BoxError> {
    let mut whole = BytesMut::new();
    let mut first = Bytes::new();
    while let Some(frame) = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx)).await {
        // Trailers are not part of the body.
        let Ok(data) = frame?.into_data() else { continue };
        let length = first.len() + whole.len() + data.len();
        if length as u64 > limit {
            return Err(BodyError::TooLarge.into_box());
        }
        // A body in a single chunk, the common case, is not copied.
        if first.is_empty() && whole.is_empty() {
            first = data;
            continue;
        }
        if whole.is_empty() {
            whole.reserve(length * 2);
            whole.extend_from_slice(&std::mem::take(&mut first));
        }
        whole.extend_from_slice(&data);
    }
    Ok(if whole.is_empty() { first } else { whole.freeze() })
}

/// Parses a body by its content type. An empty body is `{}`.
fn parse(headers: &HeaderMap, bytes: &[u8], rules: Rules) -> Result<Value, ApiError> {
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match Media::of(headers) {
        Media::Json => parse_json(bytes, rules).map_err(|error| match error {
            ReadError::Syntax(error) => invalid_json(&error, rules.expose),
            other => other.into(),
        }),
        Media::Form => crate::query::object(text_of(bytes)?).map(Value::Object),
        Media::Text => Ok(text_of(bytes)?.into()),
        Media::Other | Media::ForeignCharset => Err(unsupported()),
    }
}

fn parse_json(bytes: &[u8], rules: Rules) -> Result<Value, ReadError> {
    if has_more_values(bytes, rules.max_json_values) {
        return Err(too_many_values(bytes, rules.max_json_values));
    }
    serde_json::from_slice(bytes).map_err(ReadError::Syntax)
}

/// Returns the bytes of a form or a text as UTF-8.
pub(crate) fn text_of(bytes: &[u8]) -> Result<&str, ApiError> {
    std::str::from_utf8(bytes).map_err(|_| ApiError::new(400, "Request body is not valid UTF-8"))
}

/// Returns the 400 for bytes that are not valid JSON text.
#[cold]
pub(crate) fn not_json() -> ApiError {
    ApiError::new(400, NOT_JSON)
}

const NOT_JSON: &str = "Invalid JSON body";

/// Returns true if the error is the 400 for invalid JSON.
#[must_use]
pub fn is_not_json(error: &ApiError) -> bool {
    error.status() == 400 && error.message() == NOT_JSON
}

/// Returns the 400 for invalid JSON. It contains the position only if `expose`
/// is true.
#[cold]
pub(crate) fn invalid_json(error: &serde_json::Error, expose: bool) -> ApiError {
    let invalid = not_json();
    if expose {
        invalid.with_details(json!({ "line": error.line(), "column": error.column() }))
    } else {
        invalid
    }
}

/// Returns the 415 for an unsupported content type.
#[cold]
pub(crate) fn unsupported() -> ApiError {
    ApiError::new(415, "Unsupported Media Type")
}

/// A body that ends with an error after more than `left` bytes.
struct Limited {
    body: HttpBody,
    left: u64,
}

impl Body for Limited {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.body).poll_frame(cx).map(|frame| {
            let frame = match frame? {
                Ok(frame) => frame,
                Err(error) => return Some(Err(BodyError::of(&error).into_box())),
            };
            let length = frame.data_ref().map_or(0, |data| data.len() as u64);
            if let Some(left) = self.left.checked_sub(length) {
                self.left = left;
                return Some(Ok(frame));
            }
            self.body = HttpBody::empty();
            Some(Err(BodyError::TooLarge.into_box()))
        })
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// A body that is no longer readable.
struct FailedBody {
    error: Option<BodyError>,
}

impl Body for FailedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        std::task::Poll::Ready(self.error.take().map(|error| Err(error.into_box())))
    }
}
