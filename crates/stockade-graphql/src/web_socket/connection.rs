//! Operations by a WebSocket: some run at a time, their outcomes go out in turn, and
//! all of them end with the connection.

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

/// Runs operations until the connection ends; those that still run end with it.
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
    // The streams end before the client has answered the close frame.
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
    /// The largest number of JSON values of a message.
    values: usize,
    /// The rate limits that have counted the handshake, by which operations count too.
    meter: Option<Arc<Meter>>,
    protocol: Protocol,
    receiver: Receiver,
    sender: Sender,
    user: User,
    /// The lifetime of the user that `connection_init` named. The driver of the WebSocket
    /// knows that of the handshake.
    lifetime: Option<UserLifetime>,
    logged_out_code: u16,
    /// The messages that wait for room in the send queue, a few at most.
    waiting: VecDeque<String>,
    /// The operations that run; the first is polled next.
    operations: VecDeque<Operation>,
    shutdown: Option<BoxFuture<'static, ()>>,
    deadline: Option<BoxFuture<'static, ()>>,
    /// The close frame that follows the messages that wait.
    close: Option<Close>,
}

/// The user of a connection.
enum User {
    /// `connection_init` has not come.
    Unknown {
        req: Option<Request>,
        on_init: Option<Box<ValueLookup<Value>>>,
    },
    /// The function of the application judges its payload.
    Asked(BoxFuture<'static, Result<Option<Known>, ApiError>>),
    Known(RequestContext),
}

/// A user who was accepted, and the lifetime if `connection_init` named the user.
type Known = (RequestContext, Option<UserLifetime>);

impl Connection {
    /// Goes on until nothing moves; gives the close frame to send, or `None` when the
    /// connection has ended already.
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
            // A client that does not read may still say that it wants no more.
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
        // Gives the driver and other tasks their turn.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Lets each operation go on once, while there is room for its outcome; true if one
    /// did, and `None` when the connection has ended.
    fn poll_operations(&mut self, cx: &mut Context<'_>) -> Option<bool> {
        let mut moved = false;
        for _ in 0..self.operations.len() {
            match self.poll_send(cx) {
                Poll::Ready(Some(_)) => moved |= self.poll_operation(cx),
                Poll::Ready(None) => return None,
                // The next one has its turn when there is room again.
                Poll::Pending => break,
            }
        }
        Some(moved)
    }

    /// Sends what waits, as far as there is room; then there is room for one more.
    /// True if something was sent; `None` when the connection has ended.
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

    /// Goes on with the function that judges `connection_init`.
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

    /// Ends all operations and the connection once the user is logged out.
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

    /// Takes a message; false when the connection has ended.
    fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        let action = match ready!(Pin::new(&mut self.receiver).poll_next(cx)) {
            Some(Ok(SocketMessage::Text(text))) => self.protocol.receive(&text),
            Some(Ok(SocketMessage::Binary(_))) => {
                self.protocol.bad_request("Messages of this protocol are texts")
            }
            // Pings, pongs and closes of WebSockets are none of the protocol.
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

    /// Goes on with the first operation, and puts it behind the others if it has not
    /// ended.
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

    /// Lets the function of the application judge the payload.
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

/// The number of messages that wait for room before no more of the client are read.
const MAX_WAITING: usize = 16;

/// The number of rounds before other tasks have their turn.
const MAX_ROUNDS: usize = 32;
