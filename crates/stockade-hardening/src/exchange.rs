//! `Exchange`: a request and its response, as a failing test prints them.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode, header};

use crate::fail::fail;
use crate::redact;

/// A request, for messages.
#[derive(Clone)]
pub struct SentRequest {
    /// The method.
    pub method: Method,
    /// The path and the query as sent.
    pub target: String,
    /// The headers.
    pub headers: HeaderMap,
    /// `None` for a stream.
    pub body: Option<Bytes>,
    /// The line of the test.
    pub location: &'static Location<'static>,
}

/// A request and its response.
#[derive(Clone)]
pub struct Exchange {
    /// The request.
    pub asked: Arc<SentRequest>,
    /// The status of the response.
    pub status: StatusCode,
    /// The headers of the response.
    pub headers: HeaderMap,
    /// The part of the body that was received.
    pub body: Bytes,
}

impl Exchange {
    /// Returns the value of a response header, or `None` if it is missing.
    /// Repeated headers are joined with a comma and a space.
    pub fn header(&self, name: &str) -> Option<String> {
        let values = self.headers.get_all(name).iter();
        let values: Vec<_> =
            values.map(|value| String::from_utf8_lossy(value.as_bytes())).collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// Returns true for a stream of server-sent events.
    pub(crate) fn is_event_stream(&self) -> bool {
        self.header("content-type").is_some_and(|it| it.starts_with("text/event-stream"))
    }

    /// Fails the test if the response has another status.
    #[track_caller]
    pub fn assert_status(&self, expected: u16) {
        if self.status != expected {
            self.fail(format_args!("the status is {}, not {expected}", self.status.as_u16()));
        }
    }

    /// Fails the test if a header of the response is missing or has another value.
    #[track_caller]
    pub fn assert_header(&self, name: &str, expected: &str) {
        match self.header(name) {
            Some(value) if value == expected => {}
            Some(_) => self.fail(format_args!("the header {name} is not {expected:?}")),
            None => self.fail(format_args!("the header {name} is missing")),
        }
    }

    /// Fails the test with this message and the whole exchange.
    #[track_caller]
    pub fn fail(&self, message: impl fmt::Display) -> ! {
        fail(format_args!("{message}\n\n{self}"))
    }
}

impl fmt::Display for SentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "sent at {}:{}", self.location.file(), self.location.line())?;
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

// A derived implementation would print credentials.
impl fmt::Debug for SentRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
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
        return writeln!(f, "{mark} ({} bytes that are not text)", body.len());
    };
    let content_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    // A body without a content type is not treated as a form.
    let text = redact::body(text, content_type.unwrap_or_default());
    let shown = &text[..boundary(&text, MAX_SHOWN)];
    shown.lines().try_for_each(|line| writeln!(f, "{mark} {line}"))?;
    if shown.len() < text.len() {
        writeln!(f, "{mark} … ({} bytes in all)", body.len())?;
    }
    Ok(())
}

/// Returns the last character boundary at or before `index`.
fn boundary(text: &str, index: usize) -> usize {
    let index = index.min(text.len());
    (0..=index).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

/// The maximum number of body bytes that are printed.
const MAX_SHOWN: usize = 8_192;
