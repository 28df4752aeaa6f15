//! The rules of `graphql-transport-ws`, independent of sockets, streams and
//! clocks.
//!
//! The input is an event of a connection: a message, the end of a stream, or a
//! point in time. The output is the resulting [`Action`].
//!
//! Source: <https://github.com/graphql/graphql-over-http/blob/main/rfcs/GraphQLOverWebSocket.md>.

use std::borrow::Cow;
use std::collections::HashSet;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use stockade_websockets::Close;

use crate::graphql_error::GraphQlError;

/// The name of the subprotocol.
pub(crate) const SUBPROTOCOL: &str = "graphql-transport-ws";

/// The state of a connection.
#[derive(Debug)]
pub(crate) struct Protocol {
    phase: Phase,
    /// The ids of the running operations.
    running: HashSet<String>,
    max_operations: usize,
    /// The deadline for the acknowledgment, or `None` if it is beyond the
    /// clock's range.
    deadline: Option<Instant>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    /// Only pings have arrived.
    New,
    /// The client's `connection_init` payload is being validated.
    Initializing,
    /// Operations may run.
    Acknowledged,
    /// The close frame was sent.
    Closed,
}

/// The action for an event.
#[derive(Debug)]
pub(crate) enum Action {
    Nothing,
    /// Send a message.
    Send(String),
    /// Validate the payload of `connection_init`, an object or nothing.
    Init(Option<Box<RawValue>>),
    /// Run the operation in this payload, an object.
    Start {
        id: String,
        payload: Box<RawValue>,
    },
    /// Drop the stream of the operation.
    Stop(String),
    /// Close the connection and end all streams.
    Close(Close),
}

/// A raw message from a client.
#[derive(Deserialize)]
struct ClientMessage {
    r#type: String,
    id: Option<String>,
    payload: Option<Box<RawValue>>,
}

/// A message to a client.
#[derive(Serialize)]
struct ServerMessage<'m, P> {
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'m str>,
    r#type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    payload: Option<P>,
}

impl Protocol {
    /// Creates the state of a new connection.
    pub(crate) fn new(max_operations: usize, deadline: Option<Instant>) -> Self {
        Self { phase: Phase::New, running: HashSet::new(), max_operations, deadline }
    }

    /// Returns the time when [`expire`](Self::expire) is due.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let waits = matches!(self.phase, Phase::New | Phase::Initializing);
        self.deadline.filter(|_| waits)
    }

    /// Closes a connection that is not acknowledged in time.
    pub(crate) fn expire(&mut self, now: Instant) -> Action {
        if self.deadline().is_some_and(|deadline| deadline <= now) {
            return self.close(INIT_TIMEOUT, "Connection initialisation timeout");
        }
        Action::Nothing
    }

    /// Processes a text message.
    pub(crate) fn receive(&mut self, text: &str) -> Action {
        if self.phase == Phase::Closed {
            return Action::Nothing;
        }
        let Ok(message) = serde_json::from_str::<ClientMessage>(text) else {
            return self.bad_request("The message is malformed");
        };
        let ClientMessage { r#type, id, payload } = message;
        match &*r#type {
            "connection_init" => self.init(payload),
            "ping" if is_object(payload.as_deref()) => self.send("pong", None, payload),
            "pong" if is_object(payload.as_deref()) => Action::Nothing,
            "ping" | "pong" => self.bad_request(NO_OBJECT),
            "subscribe" => match (id, payload) {
                (Some(id), Some(payload)) if is_id(&id) => self.subscribe(id, payload),
                (Some(id), None) if is_id(&id) => self.bad_request(NO_OBJECT),
                _ => self.bad_request(NO_ID),
            },
            "complete" => match id {
                Some(id) if self.running.remove(&id) => Action::Stop(id),
                // The operation may have ended at the same time.
                Some(_) => Action::Nothing,
                None => self.bad_request(NO_ID),
            },
            _ => self.bad_request("The message has an unknown type"),
        }
    }

    fn init(&mut self, payload: Option<Box<RawValue>>) -> Action {
        if self.phase != Phase::New {
            return self.close(TOO_MANY_INITS, "Too many initialisation requests");
        }
        if !is_object(payload.as_deref()) {
            return self.bad_request(NO_OBJECT);
        }
        if payload.as_ref().is_some_and(|payload| payload.get().len() > MAX_INIT) {
            return self.bad_request("The payload of `connection_init` is too large");
        }
        self.phase = Phase::Initializing;
        Action::Init(payload)
    }

    fn subscribe(&mut self, id: String, payload: Box<RawValue>) -> Action {
        if self.phase != Phase::Acknowledged {
            return self.close(UNAUTHORIZED, "Unauthorized");
        }
        if !is_object(Some(&payload)) {
            return self.bad_request(NO_OBJECT);
        }
        if self.running.contains(&id) {
            let reason = format!("Subscriber for {id} already exists");
            return self.close(ALREADY_EXISTS, reason);
        }
        if self.running.len() >= self.max_operations {
            let message = format!("At most {} operations can run at a time", self.max_operations);
            return self.send(
                "error",
                Some(&id),
                Some([serde_json::json!({ "message": message })]),
            );
        }
        self.running.insert(id.clone());
        Action::Start { id, payload }
    }

    /// Closes the connection after a message that the protocol does not allow.
    pub(crate) fn bad_request(&mut self, reason: impl Into<Cow<'static, str>>) -> Action {
        self.close(BAD_REQUEST, reason)
    }

    /// Allows operations after the payload of `connection_init` was accepted.
    pub(crate) fn acknowledge(&mut self) -> Action {
        if self.phase != Phase::Initializing {
            return Action::Nothing;
        }
        self.phase = Phase::Acknowledged;
        self.send("connection_ack", None, None::<()>)
    }

    /// Closes a connection after its `connection_init` was rejected.
    pub(crate) fn forbid(&mut self, reason: impl Into<Cow<'static, str>>) -> Action {
        self.close(FORBIDDEN, reason)
    }

    /// Closes a connection because of a server error.
    pub(crate) fn fail(&mut self) -> Action {
        self.close(INTERNAL, "Internal server error")
    }

    /// Sends an outcome of an operation.
    pub(crate) fn next(&mut self, id: &str, outcome: &impl Serialize) -> Action {
        if !self.running.contains(id) {
            return Action::Nothing;
        }
        self.send("next", Some(id), Some(outcome))
    }

    /// Ends an operation that did not start: its document or variables are
    /// invalid, or it was rejected.
    pub(crate) fn error(&mut self, id: &str, errors: &impl Serialize) -> Action {
        if !self.running.remove(id) {
            return Action::Nothing;
        }
        self.send("error", Some(id), Some(errors))
    }

    /// Ends an operation without further outcomes.
    pub(crate) fn complete(&mut self, id: &str) -> Action {
        if !self.running.remove(id) {
            return Action::Nothing;
        }
        self.send("complete", Some(id), None::<()>)
    }

    /// Returns true if an operation with this id is running.
    pub(crate) fn runs(&self, id: &str) -> bool {
        self.running.contains(id)
    }

    /// Ends all operations and then the connection, because the server is shutting down.
    pub(crate) fn shut_down(&mut self) -> Vec<Action> {
        let mut ids: Vec<String> = self.running.iter().cloned().collect();
        ids.sort_unstable();
        let mut actions: Vec<_> = ids.iter().map(|id| self.complete(id)).collect();
        actions.push(self.close(Close::GOING_AWAY, "the server is shutting down"));
        actions
    }

    /// Ends all operations with an error and then the connection, because the
    /// user's credentials are no longer valid.
    pub(crate) fn log_out(&mut self, code: u16) -> Vec<Action> {
        let mut ids: Vec<String> = self.running.iter().cloned().collect();
        ids.sort_unstable();
        let errors = [GraphQlError::logged_out()];
        let mut actions: Vec<_> = ids.iter().map(|id| self.error(id, &errors)).collect();
        actions.push(self.close(code, "the login has ended"));
        actions
    }

    fn close(&mut self, code: u16, reason: impl Into<Cow<'static, str>>) -> Action {
        if self.phase == Phase::Closed {
            return Action::Nothing;
        }
        self.phase = Phase::Closed;
        self.running.clear();
        Action::Close(Close::new(code, reason))
    }

    fn send(
        &mut self,
        r#type: &'static str,
        id: Option<&str>,
        payload: Option<impl Serialize>,
    ) -> Action {
        match serde_json::to_string(&ServerMessage { id, r#type, payload }) {
            Ok(text) => Action::Send(text),
            Err(error) => {
                log::error!(target: "stockade::error", "GraphQL over WebSocket: {error}");
                self.fail()
            }
        }
    }
}

/// Returns true for an object and for a missing payload.
fn is_object(payload: Option<&RawValue>) -> bool {
    payload.is_none_or(|payload| payload.get().starts_with('{'))
}

/// Returns true if an id has an allowed length.
fn is_id(id: &str) -> bool {
    (1..=MAX_ID).contains(&id.len())
}

/// The maximum length of an operation id, in bytes. Clients use numbers or
/// UUIDs.
const MAX_ID: usize = 100;

/// The maximum size of a `connection_init` payload, in bytes: 64 KiB.
const MAX_INIT: usize = 65_536;

const NO_ID: &str = "The message id must have 1 to 100 bytes";
const NO_OBJECT: &str = "The payload must be an object";

// The protocol's close codes: HTTP status codes plus 4000.
const BAD_REQUEST: u16 = 4_400;
const UNAUTHORIZED: u16 = 4_401;
const FORBIDDEN: u16 = 4_403;
pub(crate) const NO_SUBPROTOCOL: u16 = 4_406;
const INIT_TIMEOUT: u16 = 4_408;
const ALREADY_EXISTS: u16 = 4_409;
const TOO_MANY_INITS: u16 = 4_429;
const INTERNAL: u16 = 4_500;

#[cfg(test)]
mod tests;
