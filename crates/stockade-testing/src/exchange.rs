//! [`Exchange`]: a request and its response, as a failing test prints them.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};

use crate::redact;

/// A request, for messages.
#[derive(Clone)]
pub(crate) struct SentRequest {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    /// `None` for a stream.
    pub(crate) body: Option<Bytes>,
    /// The line of the test.
    pub(crate) location: &'static Location<'static>,
}

/// A request and its response.
#[derive(Clone)]
pub(crate) struct Exchange {
    pub(crate) asked: Arc<SentRequest>,
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    /// The part of the body that has come.
    pub(crate) body: Bytes,
}

impl fmt::Display for SentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "asked at {}:{}", self.location.file(), self.location.line())?;
        writeln!(f, "> {} {}", self.method, redact::target(&self.target))?;
        write_headers(f, '>', &self.headers)?;
        match &self.body {
            Some(body) => write_body(f, '>', body, &self.headers),
            None => writeln!(f, ">\n> (a stream)"),
        }
    }
}

impl fmt::Display for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.asked)?;
        writeln!(f, "< {}", self.status)?;
        write_headers(f, '<', &self.headers)?;
        write_body(f, '<', &self.body, &self.headers)
    }
}

fn write_headers(f: &mut fmt::Formatter<'_>, mark: char, headers: &HeaderMap) -> fmt::Result {
    headers
        .iter()
        .try_for_each(|(name, value)| writeln!(f, "{mark} {name}: {}", redact::header(name, value)))
}

fn write_body(
    f: &mut fmt::Formatter<'_>,
    mark: char,
    body: &Bytes,
    headers: &HeaderMap,
) -> fmt::Result {
    if body.is_empty() {
        return Ok(());
    }
    writeln!(f, "{mark}")?;
    let Ok(text) = std::str::from_utf8(body) else {
        return writeln!(f, "{mark} ({} bytes that are no text)", body.len());
    };
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // A body without a content type is no form.
    let text = redact::body(text, content_type.unwrap_or_default());
    let shown = &text[..boundary(&text, MAX_SHOWN)];
    shown.lines().try_for_each(|line| writeln!(f, "{mark} {line}"))?;
    if shown.len() < text.len() {
        writeln!(f, "{mark} … ({} bytes in all)", body.len())?;
    }
    Ok(())
}

/// Returns the last place up to `index` where a text may be cut.
fn boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// The bytes of a body that are printed.
const MAX_SHOWN: usize = 8_192;
