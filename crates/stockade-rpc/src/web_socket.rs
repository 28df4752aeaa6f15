//! Calls in WebSocket messages. Several run concurrently, and each gets a
//! response when it is ready.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_core::Stream as _;
use stockade_core::{BoxFuture, FromRequest, Request};
use stockade_errors::ApiError;
use stockade_routing::RouteEntry;
use stockade_websockets::{Message as SocketMessage, Receiver, Sender, SocketError, WebSocket};

use crate::batch::{self, charge, charge_one, meter_of};
use crate::call_users::CallUsers;
use crate::message::{self, Message};
use crate::notifier::Notifier;
use crate::response_object::ResponseObject;
use crate::service::{RunningEntry, Service};

/// Creates the route entry of the WebSocket.
#[track_caller]
pub(crate) fn web_socket(service: Arc<Service>, logged_out_code: u16) -> RouteEntry {
    // The order matters: the handshake is extracted before the request is
    // copied.
    let handler = move |socket: WebSocket, Whole(req): Whole| {
        let service = Arc::clone(&service);
        async move { serve(service, socket, req, logged_out_code).await }
    };
    RouteEntry::web_socket(handler).with_parts()
}

/// The request of the handshake. Each call gets a child of it.
struct Whole(Request);

impl FromRequest for Whole {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let mut whole = req.child();
        whole.carry_json();
        Ok(Self(whole))
    }
}

/// Responds to messages until the connection ends, which cancels running calls.
async fn serve(
    service: Arc<Service>,
    socket: WebSocket,
    mut req: Request,
    logged_out_code: u16,
) -> Result<(), ApiError> {
    let (receiver, sender) = socket.split();
    let users = CallUsers::of(&req);
    req.extensions_mut().insert(Notifier::new(sender.clone(), users.clone()));
    let mut running = Running { receiver, answers: Vec::new(), users, is_logged_out: false };
    while let Some(message) = poll_fn(|cx| running.poll(cx)).await {
        let bytes = match message? {
            SocketMessage::Text(text) => Bytes::from(text),
            SocketMessage::Binary(bytes) => bytes,
            // Pings, pongs and closes are not calls.
            _ => continue,
        };
        let answer = answer(Arc::clone(&service), req.child(), bytes, sender.clone());
        running.answers.push(Box::pin(answer));
    }
    if running.is_logged_out {
        // Cancel running calls first.
        drop(running);
        sender.close(logged_out_code, "the login has ended").await;
    }
    Ok(())
}

/// The calls in progress, and the receiver of further messages.
struct Running {
    receiver: Receiver,
    answers: Vec<BoxFuture<'static, Result<(), ApiError>>>,
    users: CallUsers,
    /// True once one of the users is logged out.
    is_logged_out: bool,
}

impl Running {
    /// Polls the calls, and returns the next message unless the concurrency
    /// limit is reached. Returns `None` when the connection has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<SocketMessage, SocketError>>> {
        self.answers.retain_mut(|answer| match answer.as_mut().poll(cx) {
            Poll::Ready(Ok(())) => false,
            Poll::Ready(Err(error)) => {
                log::error!(target: "stockade::error", "JSON-RPC over WebSocket: {error}");
                false
            }
            Poll::Pending => true,
        });
        if self.users.poll_end(cx).is_ready() {
            self.is_logged_out = true;
            return Poll::Ready(None);
        }
        if self.answers.len() >= MAX_RUNNING {
            return Poll::Pending;
        }
        Pin::new(&mut self.receiver).poll_next(cx)
    }
}

/// Runs the calls of a message and sends the response, if any.
///
/// # Errors
/// Fails only because of a bug in stockade.
async fn answer(
    service: Arc<Service>,
    req: Request,
    bytes: Bytes,
    sender: Sender,
) -> Result<(), ApiError> {
    let text = match message::read(&bytes, service.rules) {
        Ok(Message::One(mut entry)) => {
            if let Some(meter) = meter_of(&req) {
                charge(&meter, std::iter::once(&mut entry), req.settings()).await;
            }
            let methods = service.methods()?;
            let running = RunningEntry::begin(methods, req, &bytes, entry, service.max_answer);
            running.await.map(|answer| answer.text)
        }
        Ok(Message::Batch(mut entries)) => {
            if let Some(meter) = meter_of(&req) {
                charge(&meter, entries.iter_mut(), req.settings()).await;
            }
            batch::run(&service, req, &bytes, entries).await?.text
        }
        // An unreadable message is charged like a call, as over HTTP.
        Err(error) => {
            let refused = match meter_of(&req) {
                Some(meter) => charge_one(&meter, req.settings()).await.err(),
                None => None,
            };
            Some(ResponseObject::failed("null", false, &refused.unwrap_or(error)).text)
        }
    };
    if let Some(text) = text {
        // Only raw bytes from a handler can be invalid UTF-8. They are not
        // valid JSON either.
        let text = String::from_utf8_lossy(&text).into_owned();
        // It fails only if the connection has ended.
        let _ = sender.send(text).await;
    }
    Ok(())
}

/// The maximum number of messages that are handled concurrently.
const MAX_RUNNING: usize = 16;
