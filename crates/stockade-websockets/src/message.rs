//! [`Message`], [`IntoMessage`] for values to send, and [`SocketError`].

use std::fmt;

use bytes::Bytes;
use serde::Serialize;
use serde_json::Value;
use stockade_core::Response;
use stockade_core::reply::{IntoError, Json};
use stockade_errors::{ApiError, FieldError};
use stockade_json::to_json_string;
use stockade_validation::ReadError;

use crate::close::{Close, Violation};
use crate::frame::OpCode;

/// A message from or to a client.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// A text. It may be empty.
    Text(String),
    /// Binary data. Received only with [`WebSocketOptions::binary`].
    ///
    /// [`WebSocketOptions::binary`]: crate::WebSocketOptions::binary
    Binary(Bytes),
    /// A ping of at most 125 bytes. A client's ping is received only with
    /// [`WebSocketOptions::control_messages`]; the driver has already answered
    /// it.
    ///
    /// [`WebSocketOptions::control_messages`]:
    /// crate::WebSocketOptions::control_messages
    Ping(Bytes),
    /// A pong of at most 125 bytes. A client's pong is received only with
    /// [`WebSocketOptions::control_messages`].
    ///
    /// [`WebSocketOptions::control_messages`]:
    /// crate::WebSocketOptions::control_messages
    Pong(Bytes),
    /// The end of the connection. A client's close is received only with
    /// [`WebSocketOptions::control_messages`], as the last message; the driver
    /// has already answered it.
    ///
    /// [`WebSocketOptions::control_messages`]:
    /// crate::WebSocketOptions::control_messages
    Close(Close),
}

impl Message {
    /// Returns the text, or `None` for other messages.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the length in bytes; for a close, the length of its reason.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an empty message is a message")]
    pub fn len(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Binary(bytes) | Self::Ping(bytes) | Self::Pong(bytes) => bytes.len(),
            Self::Close(close) => close.reason.len(),
        }
    }
}

/// A value that can be sent as a message: `&str`, `String`, a JSON [`Value`]
/// such as `json!({ … })`, or `Json<T>`; `Bytes` and `Vec<u8>` as binary; or a
/// [`Message`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be sent as a message",
    label = "not a string, a JSON value, Json<T> or bytes",
    note = "to send a value as JSON, use `Json(value)`"
)]
pub trait IntoMessage {
    /// Converts the value into a message.
    ///
    /// # Errors
    /// [`SocketError::Json`] if the value cannot be serialized as JSON.
    fn into_message(self) -> Result<Message, SocketError>;
}

macro_rules! into_message {
    ($($kind:ty => $message:expr;)*) => {$(
        impl IntoMessage for $kind {
            fn into_message(self) -> Result<Message, SocketError> {
                Ok($message(self))
            }
        }
    )*};
}

into_message! {
    Message => std::convert::identity;
    String => Message::Text;
    &str => |text: &str| Message::Text(text.to_owned());
    Bytes => Message::Binary;
    Vec<u8> => |bytes: Vec<u8>| Message::Binary(bytes.into());
}

impl<T: Serialize> IntoMessage for Json<T> {
    fn into_message(self) -> Result<Message, SocketError> {
        to_json_string(&self.0).map(Message::Text).map_err(SocketError::Json)
    }
}

/// Sends the value as JSON, as in the response of a request handler.
impl IntoMessage for Value {
    fn into_message(self) -> Result<Message, SocketError> {
        Json(self).into_message()
    }
}

/// The reason why a message cannot be received or sent.
///
/// `?` converts it in a handler that returns `Result<(), ApiError>`.
#[derive(Debug)]
#[non_exhaustive]
pub enum SocketError {
    /// The connection has ended.
    Closed,
    /// The connection broke without a close frame.
    Broken,
    /// The client broke a rule of the protocol or the route and was sent this
    /// code and reason.
    Client(Close),
    /// The client reads too slowly, and the queue is full.
    Full,
    /// A message does not deserialize into the expected type, or a value cannot
    /// be serialized as JSON.
    Json(serde_json::Error),
    /// A message failed the validation of the route.
    Invalid(Vec<FieldError>),
    /// A JSON message contains more values than this limit.
    TooManyValues(usize),
    /// A function in the route's schema failed or panicked.
    Failed(ApiError),
    /// The client was silent for too long and did not answer a ping.
    Silent,
    /// An outgoing ping or pong exceeds 125 bytes.
    TooLong,
}

impl SocketError {
    /// Returns true if the connection has ended and no more messages can be
    /// exchanged.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Closed | Self::Broken | Self::Client(_) | Self::Silent)
    }
}

impl fmt::Display for SocketError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Closed => f.write_str("the connection has ended"),
            Self::Broken => f.write_str("the connection was lost"),
            Self::Client(close) => write!(f, "the client was rejected with {close}"),
            Self::Full => f.write_str("the client reads too slowly"),
            Self::Json(error) => write!(f, "a message and JSON: {error}"),
            Self::Invalid(errors) => write!(f, "a message has {} invalid fields", errors.len()),
            Self::TooManyValues(most) => write!(f, "a message has more than {most} values"),
            Self::Failed(error) => write!(f, "the message schema failed: {error}"),
            Self::Silent => f.write_str("the client was silent for too long"),
            Self::TooLong => f.write_str("a ping or a pong must have at most 125 bytes"),
        }
    }
}

impl std::error::Error for SocketError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Failed(error) => Some(error),
            _ => None,
        }
    }
}

impl From<SocketError> for ApiError {
    /// Converts to a 400; for an invalid message it lists the failing fields.
    /// The end of a connection is also a 400, because clients could otherwise
    /// write error-level log lines.
    fn from(error: SocketError) -> Self {
        match error {
            SocketError::Invalid(errors) => Self::validation(errors),
            SocketError::Failed(error) => error,
            error => Self::new(400, error.to_string()).with_source(error),
        }
    }
}

impl IntoError for SocketError {
    fn into_error_response(self) -> Result<Response, ApiError> {
        Err(self.into())
    }
}

impl From<ReadError> for SocketError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Syntax(error) => Self::Json(error),
            ReadError::Invalid(errors) => Self::Invalid(errors),
            ReadError::Failed(error) => Self::Failed(error),
            ReadError::TooManyValues(most) => Self::TooManyValues(most),
            error => Self::Failed(ApiError::internal(error)),
        }
    }
}

impl From<Violation> for SocketError {
    fn from(violation: Violation) -> Self {
        Self::Client(violation.close())
    }
}

/// The payload of an outgoing message.
#[derive(Clone, Debug)]
pub(crate) enum Payload {
    Owned(Vec<u8>),
    /// The payload of a broadcast, shared by all its receivers.
    Shared(Bytes),
}

impl Payload {
    pub(crate) fn as_slice(&self) -> &[u8] {
        match self {
            Self::Owned(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// A request to the driver of a connection.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Text(Payload),
    Binary(Payload),
    /// A ping or a pong.
    Control(OpCode, Bytes),
    Close(Close),
    /// The client reads too slowly.
    TooSlow,
    /// The handler has room for more messages from the client.
    ResumeReading,
}

impl Outgoing {
    /// Returns the number of bytes this occupies in the send queue.
    pub(crate) fn cost(&self) -> usize {
        match self {
            Self::Text(payload) | Self::Binary(payload) => cost(payload.as_slice().len()),
            Self::Control(_, payload) => cost(payload.len()),
            Self::Close(_) | Self::TooSlow | Self::ResumeReading => 0,
        }
    }
}

impl TryFrom<Message> for Outgoing {
    type Error = SocketError;

    fn try_from(message: Message) -> Result<Self, SocketError> {
        Ok(match message {
            Message::Text(text) => Self::Text(Payload::Owned(text.into_bytes())),
            Message::Binary(bytes) => Self::Binary(Payload::Shared(bytes)),
            Message::Ping(bytes) | Message::Pong(bytes) if bytes.len() > MAX_CONTROL => {
                return Err(SocketError::TooLong);
            }
            Message::Ping(bytes) => Self::Control(OpCode::Ping, bytes),
            Message::Pong(bytes) => Self::Control(OpCode::Pong, bytes),
            Message::Close(close) => Self::Close(close),
        })
    }
}

/// The largest payload of a control frame, in bytes (RFC 6455, section 5.5).
const MAX_CONTROL: usize = 125;

/// Returns the number of bytes a message of `length` bytes occupies in a queue.
/// An empty message also occupies some.
pub(crate) fn cost(length: usize) -> usize {
    length.saturating_add(64)
}
