//! [`CallResult`]: the result of a call, from the response of its route.
//!
//! Hot: a JSON result in memory is escaped once. The text has no additions, so
//! an agent sees exactly the output of the route.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use stockade_core::{BodyError, Response};

use super::call::ToolFailure;
use super::compile::CompiledTool;

/// The result of a call.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct CallResult {
    /// The content, as a JSON array.
    pub(crate) content: String,
    /// The structured result as JSON, for a tool that has a schema for it.
    pub(crate) structured: Option<String>,
    pub(crate) is_error: bool,
    /// The status of the response; `None` if the call did not reach its route.
    pub(crate) status: Option<u16>,
}

/// The response to a call.
#[derive(Debug)]
pub(crate) enum Outcome {
    Result(CallResult),
    /// The credentials are missing or invalid, so the client must log in.
    Unauthorized(Response),
}

impl CallResult {
    /// Creates an error with this text for the agent.
    pub(crate) fn error(text: &str) -> Self {
        Self { content: text_content(text), structured: None, is_error: true, status: None }
    }

    fn of_text(text: &str, is_error: bool, status: StatusCode) -> Self {
        let status = Some(status.as_u16());
        Self { content: text_content(text), structured: None, is_error, status }
    }
}

impl From<ToolFailure> for CallResult {
    fn from(failure: ToolFailure) -> Self {
        Self::error(&failure.to_string())
    }
}

impl CompiledTool {
    /// Converts the response of the route.
    pub(crate) async fn result(&self, response: Response) -> Outcome {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED {
            return Outcome::Unauthorized(response);
        }
        let (parts, body) = response.into_parts();
        let headers = parts.headers;
        if status.is_redirection() {
            return Outcome::Result(redirect(status, &headers));
        }
        let length = body.as_bytes().map(<[u8]>::len);
        let is_failed = status.is_client_error() || status.is_server_error();
        Outcome::Result(match body.collect(self.max_result).await {
            Ok(bytes) if is_failed => failed(status, &headers, &bytes),
            Err(_) if is_failed => failed(status, &headers, &Bytes::new()),
            Ok(bytes) => self.succeeded(status, &headers, &bytes),
            Err(error) => {
                let is_large = BodyError::of(&error) == BodyError::TooLarge;
                CallResult::of_text(&self.unreadable(is_large, length), true, status)
            }
        })
    }

    fn succeeded(&self, status: StatusCode, headers: &HeaderMap, bytes: &Bytes) -> CallResult {
        let content_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
        let content_type = content_type.unwrap_or_default();
        let media_type = essence(content_type);
        let mut result = match () {
            () if bytes.is_empty() => {
                CallResult::of_text(&format!("Done (HTTP {}).", status.as_u16()), false, status)
            }
            () if headers.contains_key(header::CONTENT_ENCODING) => {
                self.resource(status, "application/octet-stream", bytes)
            }
            () if is_json(media_type) || is_text(media_type) => {
                CallResult::of_text(&String::from_utf8_lossy(bytes), false, status)
            }
            () if media_type.starts_with("image/") => media(status, "image", media_type, bytes),
            () if media_type.starts_with("audio/") => media(status, "audio", media_type, bytes),
            () => self.resource(status, media_type, bytes),
        };
        if self.is_structured {
            let object = std::str::from_utf8(bytes).ok().filter(|_| is_json(media_type));
            if let Some(object) = object.filter(|text| text.trim_start().starts_with('{')) {
                result.structured = Some(object.to_owned());
            } else {
                let text = "The tool did not return the JSON object of its schema.";
                result = CallResult::of_text(text, true, status);
            }
        }
        result
    }

    /// Returns a file in the content.
    fn resource(&self, status: StatusCode, media_type: &str, bytes: &Bytes) -> CallResult {
        let mut resource = json!({ "uri": format!("tool:{}", self.name()) });
        if !media_type.is_empty() {
            resource["mimeType"] = json!(media_type);
        }
        match std::str::from_utf8(bytes) {
            Ok(text) => resource["text"] = json!(text),
            Err(_) => resource["blob"] = json!(STANDARD.encode(bytes)),
        }
        with_content(status, &json!([{ "type": "resource", "resource": resource }]))
    }

    /// Returns the text for a result that is too large, or ends early.
    #[cold]
    fn unreadable(&self, is_large: bool, length: Option<usize>) -> String {
        let max = self.max_result;
        match (is_large, length) {
            (false, _) => "The result was interrupted.".to_owned(),
            (true, Some(length)) => format!(
                "The result has {length} bytes, but at most {max} are allowed. Request less data."
            ),
            (true, None) => {
                format!("The result has more than the allowed {max} bytes. Request less data.")
            }
        }
    }
}

fn redirect(status: StatusCode, headers: &HeaderMap) -> CallResult {
    let location = headers.get(header::LOCATION).and_then(|it| it.to_str().ok());
    let location = location.map_or_else(String::new, |it| format!(", Location: {it}"));
    CallResult::of_text(&format!("HTTP {}{location}", status.as_u16()), false, status)
}

/// Returns the result of an error response. The text of a server error stays
/// hidden, because it may contain internals.
fn failed(status: StatusCode, headers: &HeaderMap, bytes: &Bytes) -> CallResult {
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|it| it.to_str().ok());
    let media_type = essence(content_type.unwrap_or_default());
    let is_shown = status.is_client_error() && (is_json(media_type) || is_text(media_type));
    let body = match std::str::from_utf8(bytes) {
        Ok(body) if is_shown && !body.is_empty() => body,
        _ => status.canonical_reason().unwrap_or("Error"),
    };
    let seconds = headers.get(header::RETRY_AFTER).and_then(|it| it.to_str().ok()?.parse().ok());
    let retry = seconds
        .map_or_else(String::new, |seconds: u64| format!("\nRetry after {seconds} seconds."));
    CallResult::of_text(&format!("HTTP {}: {body}{retry}", status.as_u16()), true, status)
}

fn media(status: StatusCode, kind: &str, media_type: &str, bytes: &Bytes) -> CallResult {
    let data = STANDARD.encode(bytes);
    with_content(status, &json!([{ "type": kind, "data": data, "mimeType": media_type }]))
}

fn with_content(status: StatusCode, content: &Value) -> CallResult {
    let status = Some(status.as_u16());
    CallResult { content: content.to_string(), structured: None, is_error: false, status }
}

/// Returns the content with one text.
fn text_content(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len() + text.len() / 8 + 40);
    out.extend_from_slice(br#"[{"type":"text","text":"#);
    // Writing a text to memory cannot fail.
    drop(serde_json::to_writer(&mut out, text));
    out.extend_from_slice(b"}]");
    String::from_utf8(out).unwrap_or_default()
}

/// Returns a media type without its parameters.
pub(crate) fn essence(content_type: &str) -> &str {
    content_type.split(';').next().unwrap_or_default().trim()
}

fn is_json(media_type: &str) -> bool {
    media_type == "application/json" || media_type.ends_with("+json")
}

fn is_text(media_type: &str) -> bool {
    media_type.starts_with("text/")
}
