//! [`ResponseWriter`]: for handlers that write the response themselves.
//!
//! [`answer`] connects the handler's future and the writer's channel. As soon
//! as the head is sent, it returns the response, and polling the body continues
//! the handler. No task is spawned, so a client disconnect also ends the
//! handler.
// Spec: Handler contract, rule 2.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http::header::{CONTENT_TYPE, IntoHeaderName};
use http::{Extensions, HeaderValue, StatusCode};
use http_body::{Body, Frame};
use serde::Serialize;
use stockade_errors::panic::catch_panic;
use stockade_errors::{ApiError, BoxError};
use stockade_json::to_json;
use tokio::sync::mpsc;

use super::writer_link::{Head, Link, Message, Messages};
use crate::description::{ResponseDoc, StatusDoc};
use crate::{BoxFuture, FromRequest, HttpBody, Request, Response, RouteDescription, bug};

/// Writes the status, the headers and chunks of the body as they are produced.
///
/// The head is sent with the first chunk. No content type is set unless you set
/// the header. After the head is sent, an error of the handler closes the
/// connection. A started response ends when the writer is dropped; this is when
/// the handler returns, unless it moved the writer elsewhere. If nothing was
/// written, the status and headers from here are added to the handler's return
/// value.
///
/// ```
/// use stockade::ApiError;
/// use stockade::reply::ResponseWriter;
///
/// async fn countdown(mut res: ResponseWriter) -> Result<(), ApiError> {
///     res.status(202);
///     res.header("content-type", "text/plain")?;
///     for number in (1..=3).rev() {
///         res.write(format!("{number}\n")).await?;
///     }
///     Ok(())
/// }
///
/// # use stockade::testing::TestClient;
/// # #[tokio::main]
/// # async fn main() {
/// let mut router = stockade::Router::new();
/// router.get("/", countdown);
/// TestClient::new(router).get("/").await.assert_status(202).assert_text("3\n2\n1\n");
/// # }
/// ```
#[derive(Debug)]
pub struct ResponseWriter {
    sender: mpsc::Sender<Message>,
    /// Invariant: `Some` until the head is sent.
    head: Option<Head>,
    /// The extensions of the request.
    extensions: Extensions,
}

impl ResponseWriter {
    /// Sets the status. Default: 200. An invalid status, or a call after the
    /// head is sent, is ignored and logged.
    pub fn status(&mut self, status: u16) -> &mut Self {
        match (&mut self.head, StatusCode::from_u16(status)) {
            (Some(head), Ok(status)) => head.status = Some(status),
            (None, _) => log::error!("status {status} was set after the response had begun"),
            (_, Err(_)) => log::error!("{status} is not an HTTP status"),
        }
        self
    }

    /// Sets a header. Replaces an earlier header with the same name.
    ///
    /// # Errors
    /// Fails if the header is invalid, or if the head is already sent.
    pub fn header<N, V>(&mut self, name: N, value: V) -> Result<&mut Self, ApiError>
    where
        N: IntoHeaderName,
        V: TryInto<HeaderValue>,
        V::Error: Into<BoxError>,
    {
        let value = value.try_into().map_err(ApiError::internal)?;
        let Some(head) = &mut self.head else {
            return Err(ApiError::new(500, "a header was set after the response had begun"));
        };
        head.headers.insert(name, value);
        Ok(self)
    }

    /// Returns the values that middleware added to the request before the
    /// writer was extracted.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Sends a chunk of the body. The first chunk also sends the head.
    ///
    /// It waits if the client is slower than the handler.
    ///
    /// # Errors
    /// Fails if the client has disconnected.
    pub async fn write(&mut self, piece: impl Into<Bytes>) -> Result<(), ApiError> {
        self.begin().await?;
        let piece = piece.into();
        if piece.is_empty() {
            return Ok(());
        }
        self.sender.send(Message::Piece(piece)).await.map_err(|_| gone())
    }

    /// Sends a value as JSON with its content type, and ends the response.
    ///
    /// # Errors
    /// Fails if the value cannot be serialized, or if the client has
    /// disconnected.
    pub async fn json<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), ApiError> {
        let bytes = to_json(value)?;
        if let Some(head) = &mut self.head {
            head.headers
                .entry(CONTENT_TYPE)
                .or_insert(HeaderValue::from_static("application/json"));
        }
        self.write(bytes).await
    }

    /// Ends the response. Sends the head first if it is not sent yet.
    ///
    /// # Errors
    /// Fails if the client has disconnected.
    pub async fn end(mut self) -> Result<(), ApiError> {
        self.begin().await
    }

    async fn begin(&mut self) -> Result<(), ApiError> {
        if self.head.is_some() {
            // Take the head after the last wait: a canceled write leaves it to
            // the next write.
            let place = self.sender.reserve().await.map_err(|_| gone())?;
            if let Some(head) = self.head.take() {
                place.send(Message::Begin(head));
            }
        }
        Ok(())
    }
}

impl Drop for ResponseWriter {
    fn drop(&mut self) {
        if let Some(head) = self.head.take() {
            // There is room, because nothing was sent before the head.
            let _ = self.sender.try_send(Message::Unbegun(head));
        }
    }
}

impl FromRequest for ResponseWriter {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
        req.inner.writer = Some(Link::Writer(receiver));
        let extensions = req.extensions().clone();
        Ok(Self { sender, head: Some(Head::default()), extensions })
    }

    fn describe(doc: &mut RouteDescription) {
        doc.writes_response();
        doc.responds(ResponseDoc::unknown(StatusDoc::Class(2)));
    }
}

type HandlerFuture = BoxFuture<'static, Result<Response, ApiError>>;

/// Drives the handler until the head is known.
pub(crate) async fn answer(
    mut receiver: Messages,
    handler: HandlerFuture,
) -> Result<Response, ApiError> {
    let mut handler = Some(handler);
    let mut returned = None;
    let message = poll_fn(|cx| {
        if let Poll::Ready(message) = receiver.poll_recv(cx) {
            return Poll::Ready(message);
        }
        if let Some(future) = &mut handler
            && let Poll::Ready(outcome) = poll_handler(future, cx)
        {
            handler = None;
            let failed = outcome.is_err();
            returned = Some(outcome);
            // The response may have begun in this poll. If not, there is
            // nothing to wait for.
            if failed {
                return Poll::Ready(receiver.try_recv().ok());
            }
        }
        // The handler may have written or dropped the writer in this poll.
        receiver.poll_recv(cx)
    })
    .await;

    match message {
        // A started response is sent even if the handler has failed since.
        Some(Message::Begin(head)) => {
            let failure = returned.and_then(Result::err);
            let mut response = Response::new(HttpBody::new(Written { receiver, handler, failure }));
            // 200, unless the handler set another status.
            *response.status_mut() = head.status.unwrap_or_default();
            *response.headers_mut() = head.headers;
            Ok(response)
        }
        Some(Message::Unbegun(head)) => {
            let mut response = finish(returned, handler).await?;
            if let Some(status) = head.status {
                *response.status_mut() = status;
            }
            response.headers_mut().extend(head.headers);
            Ok(response)
        }
        Some(Message::Piece(_)) => Err(bug("a piece of a body arrived before its head")),
        None => finish(returned, handler).await,
    }
}

/// Converts a panic to an error here, so earlier chunks are still sent.
fn poll_handler(
    handler: &mut HandlerFuture,
    cx: &mut Context<'_>,
) -> Poll<Result<Response, ApiError>> {
    catch_panic(|| handler.as_mut().poll(cx)).unwrap_or_else(|error| Poll::Ready(Err(error)))
}

/// Returns the handler's result. Waits for it if the handler still runs.
async fn finish(
    returned: Option<Result<Response, ApiError>>,
    handler: Option<HandlerFuture>,
) -> Result<Response, ApiError> {
    match (returned, handler) {
        (Some(outcome), _) => outcome,
        (None, Some(handler)) => handler.await,
        (None, None) => Err(bug("a handler ended without a response")),
    }
}

/// The body of a response that its handler is still writing.
struct Written {
    receiver: mpsc::Receiver<Message>,
    handler: Option<HandlerFuture>,
    /// The error of a finished handler, returned after the last chunk.
    failure: Option<ApiError>,
}

impl Body for Written {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        loop {
            match self.receiver.poll_recv(cx) {
                Poll::Ready(Some(Message::Piece(piece))) => {
                    return Poll::Ready(Some(Ok(Frame::data(piece))));
                }
                Poll::Ready(Some(Message::Begin(_) | Message::Unbegun(_))) => continue,
                // The writer is dropped, but the handler may still have work to
                // do.
                Poll::Ready(None) if self.handler.is_none() => {
                    return Poll::Ready(self.failure.take().map(|error| Err(error.into())));
                }
                Poll::Ready(None) | Poll::Pending => {}
            }
            let Some(handler) = &mut self.handler else { return Poll::Pending };
            match poll_handler(handler, cx) {
                // The handler may have written in this poll. Poll the channel
                // only once rather than until it is empty: tokio's channels
                // return `Pending` after a task has used up its budget,
                // whatever they contain.
                Poll::Pending => match ready!(self.receiver.poll_recv(cx)) {
                    Some(Message::Piece(piece)) => {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Some(Message::Begin(_) | Message::Unbegun(_)) => {}
                    None => return Poll::Pending,
                },
                Poll::Ready(Ok(_)) => self.handler = None,
                // Send its chunks first. It is too late for a status, so the
                // error closes the connection to inform the client.
                Poll::Ready(Err(error)) => {
                    self.handler = None;
                    self.failure = Some(error);
                }
            }
        }
    }
}

#[cold]
fn gone() -> ApiError {
    ApiError::new(500, "the client disconnected")
}

/// The number of chunks that the handler may be ahead of the connection.
const PIECES_AHEAD: usize = 8;
