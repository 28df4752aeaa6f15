//! [`Sse`]: server-sent events.
//!
//! Source: WHATWG HTML, section 9.2 (Server-sent events).

use std::fmt::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderValue, header};
use serde::Serialize;
use stockade_errors::{ApiError, BoxError};

use crate::{HttpBody, Reply, Response};

/// A stream of events as `text/event-stream`.
///
/// Browsers read it with `EventSource`. An event is sent when the stream gives
/// it.
#[derive(Debug)]
pub struct Sse {
    body: HttpBody,
}

impl Sse {
    /// Sends the events of `stream`; an error ends the connection.
    pub fn new<S, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<Event, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        Self { body: HttpBody::stream(Encoded { stream: Box::pin(stream) }) }
    }
}

impl Reply for Sse {
    fn into_response(self) -> Result<Response, ApiError> {
        let mut response = Response::new(self.body);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        Ok(response)
    }
}

/// One event: its data, and if wanted its name, its id and a retry time.
///
/// ```
/// use stockade_core::reply::Event;
///
/// let event = Event::data("two\nlines").name("greeting").id("7");
/// assert_eq!(event.to_string(), "event: greeting\nid: 7\ndata: two\ndata: lines\n\n");
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Event {
    text: String,
    data: String,
}

impl Event {
    /// An event with this text as its data; several lines are allowed.
    pub fn data(data: impl Into<String>) -> Self {
        Self { text: String::new(), data: data.into() }
    }

    /// An event with this value as its data, written as JSON.
    ///
    /// # Errors
    /// When the value cannot be serialised.
    pub fn json<T: Serialize>(value: &T) -> Result<Self, ApiError> {
        Ok(Self::data(serde_json::to_string(value)?))
    }

    /// Names the event; a line break in the name becomes a space.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.field("event", name)
    }

    /// Numbers the event, so that a client that comes back can say what it saw
    /// last. A line break becomes a space, and so does a NUL.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.field("id", id)
    }

    /// Tells the client to wait this long before it connects again.
    #[must_use]
    pub fn retry_ms(self, milliseconds: u64) -> Self {
        self.field("retry", &milliseconds.to_string())
    }

    fn field(mut self, name: &str, value: &str) -> Self {
        self.text.push_str(name);
        self.text.push_str(": ");
        // A line break would begin another field.
        self.text
            .extend(value.chars().map(|c| if matches!(c, '\n' | '\r' | '\0') { ' ' } else { c }));
        self.text.push('\n');
        self
    }
}

impl std::fmt::Display for Event {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text)?;
        // CR, LF and CR LF all end a line in this format.
        let mut rest = self.data.as_str();
        loop {
            match rest.find(['\r', '\n']) {
                None => {
                    return write!(f, "data: {rest}\n\n");
                }
                Some(end) => {
                    writeln!(f, "data: {}", &rest[..end])?;
                    let skip = if rest[end..].starts_with("\r\n") { 2 } else { 1 };
                    rest = &rest[end + skip..];
                }
            }
        }
    }
}

/// The events of a stream as bytes.
struct Encoded<S> {
    stream: Pin<Box<S>>,
}

impl<S, E> Stream for Encoded<S>
where
    S: Stream<Item = Result<Event, E>>,
{
    type Item = Result<Bytes, E>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.stream.as_mut().poll_next(cx).map(|event| {
            event.map(|event| {
                let mut text = String::new();
                // Writing into a String cannot fail.
                let _ = write!(text, "{}", event?);
                Ok(text.into())
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(event: &Event, expected: &str) {
        assert_eq!(event.to_string(), expected);
    }

    #[test]
    fn each_line_of_the_data_is_a_field() {
        check(&Event::data("one"), "data: one\n\n");
        check(&Event::data(""), "data: \n\n");
        check(&Event::data("a\r\nb\rc\nd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
        check(&Event::data("end\n"), "data: end\ndata: \n\n");
    }

    #[test]
    fn a_name_or_id_cannot_begin_another_field() {
        check(&Event::data("x").name("a\ndata: evil"), "event: a data: evil\ndata: x\n\n");
        check(&Event::data("x").id("1\r2\0"), "id: 1 2 \ndata: x\n\n");
        check(&Event::data("x").retry_ms(5_000), "retry: 5000\ndata: x\n\n");
    }
}
