//! Operations over a WebSocket. They run concurrently, take turns to send their
//! outcomes, and end with the connection.

use std::collections::VecDeque;
use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream as _;
use futures_sink::Sink as _;
use serde_json::Value;
use serde_json::value::RawValue;
use stockade_core::error_settings::Settings;
use stockade_core::extract::UserLifetime;
use stockade_core::{BoxFuture, ErrorContext, Request};
use stockade_errors::ApiError;
use stockade_middleware::__internal::ValueLookup;
use stockade_stages::rate_limit::meter::Meter;
use stockade_websockets::{Close, Message as SocketMessage, Receiver, Sender, WebSocket};
use tokio::time::{Instant, sleep_until};

use super::operation::{Operation, OperationState, Step};
use crate::graphql_error::GraphQlError;
use crate::graphql_response::GraphQlResponse;
use crate::message::Message;
use crate::protocol::{Action, NO_SUBPROTOCOL, Protocol, SUBPROTOCOL};
use crate::request_context::RequestContext;
use crate::service::{Refusal, Service};

/// Runs operations until the connection ends. Running operations end with it.
pub(super) async fn serve(
    service: Arc<Service>,
    socket: WebSocket,
    req: Request,
    protocol: Protocol,
    on_init: Option<ValueLookup<Value>>,
    logged_out_code: u16,
) {
    if socket.protocol() != Some(SUBPROTOCOL) {
        socket.close(NO_SUBPROTOCOL, "Subprotocol not acceptable").await;
        return;
    }
    let (receiver, sender) = socket.split();
    let told = sender.clone();
    let deadline = protocol.deadline().map(|at| Box::pin(sleep_until(at.into())));
    let mut connection = Connection {
        context: ErrorContext::of(&req),
        settings: req.settings(),
        values: req.max_json_values(),
        meter: req.shared(),
        service,
        receiver,
        sender: sender.clone(),
        shutdown: Some(Box::pin(async move { told.shutting_down().await })),
        deadline: deadline.map(|sleep| sleep as _),
        user: User::Unknown { req: Some(req), on_init: on_init.map(Box::new) },
        lifetime: None,
        logged_out_code,
        protocol,
        waiting: VecDeque::new(),
        operations: VecDeque::new(),
        close: None,
    };
    let close = poll_fn(|cx| connection.poll(cx)).await;
    // The streams end before the client responds to the close frame.
    drop(connection);
    if let Some(close) = close {
        sender.close(close.code, &close.reason).await;
    }
}

/// A connection with its operations.
struct Connection {
    service: Arc<Service>,
    context: ErrorContext,
    settings: Settings,
    /// The maximum number of JSON values in a message.
    values: usize,
    /// The rate limits that counted the handshake. They count operations too.
    meter: Option<Arc<Meter>>,
    protocol: Protocol,
    receiver: Receiver,
    sender: Sender,
    user: User,
    /// The lifetime of the user from `connection_init`. The WebSocket driver
    /// watches the user of the handshake.
    lifetime: Option<UserLifetime>,
    logged_out_code: u16,
    /// The messages that wait for room in the send queue. Reading stops at
    /// [`MAX_WAITING`].
    waiting: VecDeque<String>,
    /// The running operations. The first one is polled next.
    operations: VecDeque<Operation>,
    shutdown: Option<BoxFuture<'static, ()>>,
    deadline: Option<BoxFuture<'static, ()>>,
    /// The close frame to send after the waiting messages.
    close: Option<Close>,
}

/// The user of a connection.
enum User {
    /// `connection_init` has not arrived yet.
    Unknown {
        req: Option<Request>,
        on_init: Option<Box<ValueLookup<Value>>>,
    },
    /// The application's function is validating the payload.
    Asked(BoxFuture<'static, Result<Option<Known>, ApiError>>),
    Known(RequestContext),
}

/// An accepted user, with the lifetime if the user comes from
/// `connection_init`.
type Known = (RequestContext, Option<UserLifetime>);

impl Connection {
    /// Makes all possible progress. Returns the close frame to send, or `None`
    /// if the connection has already ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<Close>> {
        for _ in 0..MAX_ROUNDS {
            let (has_room, mut moved) = match self.poll_send(cx) {
                Poll::Ready(Some(sent)) => (true, sent),
                Poll::Ready(None) => return Poll::Ready(None),
                Poll::Pending => (false, false),
            };
            if self.close.is_some() {
                return if has_room { Poll::Ready(self.close.take()) } else { Poll::Pending };
            }
            moved |= self.poll_shutdown(cx) | self.poll_clock(cx) | self.poll_user(cx);
            moved |= self.poll_lifetime(cx);
            // A client that does not read may still cancel operations.
            if self.waiting.len() < MAX_WAITING {
                match self.poll_receive(cx) {
                    Poll::Ready(false) => return Poll::Ready(None),
                    Poll::Ready(true) => moved = true,
                    Poll::Pending => {}
                }
            }
            match self.poll_operations(cx) {
                Some(operations_moved) => moved |= operations_moved,
                None => return Poll::Ready(None),
            }
            if !moved {
                return Poll::Pending;
            }
        }
        // Yields to the driver and other tasks.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Polls each operation once while there is room for its outcome. Returns
    /// true if one made progress, and `None` if the connection has ended.
    fn poll_operations(&mut self, cx: &mut Context<'_>) -> Option<bool> {
        let mut moved = false;
        for _ in 0..self.operations.len() {
            match self.poll_send(cx) {
                Poll::Ready(Some(_)) => moved |= self.poll_operation(cx),
                Poll::Ready(None) => return None,
                // The next operation gets its turn when there is room again.
                Poll::Pending => break,
            }
        }
        Some(moved)
    }

    /// Sends waiting messages until there is room for one more. Returns true if
    /// something was sent, and `None` if the connection has ended.
    fn poll_send(&mut self, cx: &mut Context<'_>) -> Poll<Option<bool>> {
        let mut sent = false;
        loop {
            if ready!(Pin::new(&mut self.sender).poll_ready(cx)).is_err() {
                return Poll::Ready(None);
            }
            let Some(text) = self.waiting.pop_front() else { return Poll::Ready(Some(sent)) };
            if Pin::new(&mut self.sender).start_send(SocketMessage::Text(text)).is_err() {
                return Poll::Ready(None);
            }
            sent = true;
        }
    }

    fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(shutdown) = &mut self.shutdown else { return false };
        if shutdown.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.shutdown = None;
        for action in self.protocol.shut_down() {
            self.act(action);
        }
        true
    }

    fn poll_clock(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = &mut self.deadline else { return false };
        if self.protocol.deadline().is_some() && deadline.as_mut().poll(cx).is_pending() {
            return false;
        }
        self.deadline = None;
        let action = self.protocol.expire(Instant::now().into_std());
        self.act(action);
        true
    }

    /// Polls the function that validates `connection_init`.
    fn poll_user(&mut self, cx: &mut Context<'_>) -> bool {
        let User::Asked(asked) = &mut self.user else { return false };
        let Poll::Ready(outcome) = asked.as_mut().poll(cx) else { return false };
        let action = match outcome {
            Ok(Some((caller, lifetime))) => {
                self.user = User::Known(caller);
                self.lifetime = lifetime;
                self.protocol.acknowledge()
            }
            Ok(None) => self.protocol.forbid("Forbidden"),
            Err(error) if error.status() < 500 => self.protocol.forbid(error.message().to_owned()),
            Err(error) => {
                self.context.log(&error);
                self.protocol.fail()
            }
        };
        self.act(action);
        true
    }

    /// Ends all operations and the connection once the user has logged out.
    fn poll_lifetime(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(lifetime) = &mut self.lifetime else { return false };
        if Pin::new(lifetime).poll(cx).is_pending() {
            return false;
        }
        self.lifetime = None;
        for action in self.protocol.log_out(self.logged_out_code) {
            self.act(action);
        }
        true
    }

    /// Receives a message. Returns false if the connection has ended.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let action = match ready!(Pin::new(&mut self.receiver).poll_next(cx)) {
            Some(Ok(SocketMessage::Text(text))) => self.protocol.receive(&text),
            Some(Ok(SocketMessage::Binary(_))) => {
                self.protocol.bad_request("Messages of this protocol must be text")
            }
            // WebSocket pings, pongs and closes are not part of the protocol.
            Some(Ok(_)) => Action::Nothing,
            Some(Err(error)) => {
                log::debug!(target: "stockade::graphql", "a connection ended: {error}");
                return Poll::Ready(false);
            }
            None => return Poll::Ready(false),
        };
        self.act(action);
        Poll::Ready(true)
    }

    /// Polls the first operation. Moves it to the end of the queue if it has
    /// not ended.
    fn poll_operation(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(mut operation) = self.operations.pop_front() else { return false };
        let Poll::Ready(step) = operation.poll(cx) else {
            self.operations.push_back(operation);
            return false;
        };
        let action = match step {
            Step::Started => Action::Nothing,
            Step::Outcome(outcome) => {
                let User::Known(caller) = &self.user else { return false };
                let response =
                    GraphQlResponse::of(outcome, self.service.shown(self.settings), caller);
                if response.has_run() {
                    self.protocol.next(&operation.id, &response)
                } else {
                    self.protocol.error(&operation.id, &response.errors())
                }
            }
            Step::Refused(error) => self.protocol.error(&operation.id, &[error]),
            Step::Panicked(error) => {
                self.context.log(&error);
                let error = GraphQlError::of_error(&error, self.settings);
                self.protocol.error(&operation.id, &[error])
            }
            Step::Ended => self.protocol.complete(&operation.id),
        };
        if self.protocol.runs(&operation.id) {
            self.operations.push_back(operation);
        }
        self.act(action);
        true
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Nothing => {}
            Action::Send(text) => self.waiting.push_back(text),
            Action::Init(payload) => self.init(payload),
            Action::Start { id, payload } => self.start(id, &payload),
            Action::Stop(id) => self.operations.retain(|operation| operation.id != id),
            Action::Close(close) => {
                self.operations.clear();
                self.close = Some(close);
            }
        }
    }

    /// Validates the payload with the application's function.
    fn init(&mut self, payload: Option<Box<RawValue>>) {
        let User::Unknown { req, on_init } = &mut self.user else { return };
        let Some(mut req) = req.take() else { return };
        let on_init = on_init.take();
        self.user = User::Asked(Box::pin(async move {
            let mut lifetime = None;
            if let Some(on_init) = on_init {
                let payload = match payload {
                    Some(payload) => serde_json::from_str(payload.get())?,
                    None => Value::Null,
                };
                if !on_init.find(&mut req, payload).await? {
                    return Ok(None);
                }
                lifetime = UserLifetime::of(&req);
            }
            Ok(Some((RequestContext::of(req), lifetime)))
        }));
    }

    fn start(&mut self, id: String, payload: &RawValue) {
        let User::Known(caller) = &self.user else { return };
        let params = match Message::read(payload.get().as_bytes(), 0, self.values) {
            Ok(Message::One(params)) => params,
            Ok(Message::Batch(_)) => return,
            Err(unreadable) => {
                let action = self.protocol.bad_request(unreadable.message);
                return self.act(action);
            }
        };
        let (service, caller, settings) =
            (Arc::clone(&self.service), caller.clone(), self.settings);
        let meter = self.meter.clone();
        let starting = async move {
            if let Some(meter) = meter {
                let refused = |error| GraphQlError::of_error(&error, settings);
                meter.charge().await.map_err(refused)?;
            }
            service.subscribe(params, caller, settings).map_err(Refusal::into_error)
        };
        let state = OperationState::Starting(Box::pin(starting));
        self.operations.push_back(Operation { id, state });
    }
}

/// Reading from the client stops at this number of waiting messages.
const MAX_WAITING: usize = 16;

/// The maximum number of rounds before other tasks run.
const MAX_ROUNDS: usize = 32;
