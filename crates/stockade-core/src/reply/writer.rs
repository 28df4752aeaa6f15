//! [`ResponseWriter`]: for handlers that write the response themselves.
//!
//! The handler's future and the writer's channel meet in [`answer`]: as soon as
//! the head is sent, the response leaves with a body that goes on driving the
//! handler. Nothing is spawned, so a client that leaves ends the handler too.
//!
//! Spec: Handler contract, rule 2.

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

/// Writes status, headers and pieces of the body as they are produced.
///
/// The head leaves with the first piece; without a `content-type` header there
/// is none. What was begun is sent: an error of the handler after that cuts the
/// connection. A response that was begun ends when the writer is dropped, which is when the handler returns unless it moved the
/// writer elsewhere. If nothing was written, status and headers set here are
/// added to what the handler returns.
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
    /// Those of the request.
    extensions: Extensions,
}

impl ResponseWriter {
    /// Sets the status; 200 if it is never set. A number that is no status is
    /// ignored and logged, and so is a call after the head was sent.
    pub fn status(&mut self, status: u16) -> &mut Self {
        match (&mut self.head, StatusCode::from_u16(status)) {
            (Some(head), Ok(status)) => head.status = Some(status),
            (None, _) => log::error!("status {status} was set after the response had begun"),
            (_, Err(_)) => log::error!("{status} is not an HTTP status"),
        }
        self
    }

    /// Sets a header, replacing an earlier one of that name.
    ///
    /// # Errors
    /// When the value cannot stand in a header, or the head was sent already.
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

    /// The values that middleware attached to the request, as they were when the
    /// writer was taken.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Sends a piece of the body; the first one sends the head as well.
    ///
    /// It waits while the client is slower than the handler.
    ///
    /// # Errors
    /// When the client is gone.
    pub async fn write(&mut self, piece: impl Into<Bytes>) -> Result<(), ApiError> {
        self.begin().await?;
        let piece = piece.into();
        if piece.is_empty() {
            return Ok(());
        }
        self.sender.send(Message::Piece(piece)).await.map_err(|_| gone())
    }

    /// Sends a value as JSON, with its content type, and ends the response.
    ///
    /// # Errors
    /// When the value cannot be serialised, or the client is gone.
    pub async fn json<T: Serialize + ?Sized>(mut self, value: &T) -> Result<(), ApiError> {
        let bytes = to_json(value)?;
        if let Some(head) = &mut self.head {
            head.headers
                .entry(CONTENT_TYPE)
                .or_insert(HeaderValue::from_static("application/json"));
        }
        self.write(bytes).await
    }

    /// Ends the response; a head that was not sent is sent now.
    ///
    /// # Errors
    /// When the client is gone.
    pub async fn end(mut self) -> Result<(), ApiError> {
        self.begin().await
    }

    async fn begin(&mut self) -> Result<(), ApiError> {
        if self.head.is_some() {
            // The head is taken after the last wait: a write that is given up
            // leaves it to the next one.
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
            // There is room: nothing was sent before the head.
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
            // It may have begun just now. If not, nothing is to be waited for.
            if failed {
                return Poll::Ready(receiver.try_recv().ok());
            }
        }
        // The handler may have written, or dropped the writer, just now.
        receiver.poll_recv(cx)
    })
    .await;

    match message {
        // What has begun goes out, also if the handler failed meanwhile.
        Some(Message::Begin(head)) => {
            let failure = returned.and_then(Result::err);
            let mut response = Response::new(HttpBody::new(Written { receiver, handler, failure }));
            // 200, unless the handler set another.
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
        Some(Message::Piece(_)) => Err(bug("a piece of a body came before its head")),
        None => finish(returned, handler).await,
    }
}

/// A panic is an error here already, so that what was written before is sent.
fn poll_handler(
    handler: &mut HandlerFuture,
    cx: &mut Context<'_>,
) -> Poll<Result<Response, ApiError>> {
    catch_panic(|| handler.as_mut().poll(cx)).unwrap_or_else(|error| Poll::Ready(Err(error)))
}

/// Returns the outcome of the handler, waiting for it if it still runs.
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
    /// The error of a handler that has ended, told after the last piece.
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
                // The writer is gone; the handler may still have work to do.
                Poll::Ready(None) if self.handler.is_none() => {
                    return Poll::Ready(self.failure.take().map(|error| Err(error.into())));
                }
                Poll::Ready(None) | Poll::Pending => {}
            }
            let Some(handler) = &mut self.handler else { return Poll::Pending };
            match poll_handler(handler, cx) {
                // It may have written just now. The channel is asked once and
                // not until it is empty: when a task has used up its turn,
                // tokio's channels say "pending" whatever they hold.
                Poll::Pending => match ready!(self.receiver.poll_recv(cx)) {
                    Some(Message::Piece(piece)) => {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Some(Message::Begin(_) | Message::Unbegun(_)) => {}
                    None => return Poll::Pending,
                },
                Poll::Ready(Ok(_)) => self.handler = None,
                // Its pieces are sent first. It is too late for a status: then
                // the connection ends, so that the client notices.
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
    ApiError::new(500, "the client is gone")
}

/// The number of pieces that the handler may be ahead of the connection.
const PIECES_AHEAD: usize = 8;
