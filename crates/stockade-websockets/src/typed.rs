//! [`TypedWebSocket`]: a connection with typed messages.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_core::description::SchemaOf;
use stockade_core::reply::Json;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::ApiError;
use stockade_validation::{HasSchema, Schema};

use crate::handshake::Rules;
use crate::message::SocketError;
use crate::socket::{Receiver, Sender};
use crate::upgrade::{Pending, describe_upgrade};

/// A connection that receives values of `In` and sends values of `Out`, each as
/// JSON text. The handler takes this argument instead of a
/// [`WebSocket`](crate::WebSocket).
///
/// The schema of `In` validates each message, unless the route sets its own
/// [`validation`](crate::WebSocketOptions#structfield.validation). Both types
/// appear in the API documents.
///
/// ```
/// use stockade::ApiError;
/// use stockade::prelude::*;
/// use stockade::websockets::{SocketError, TypedWebSocket};
///
/// #[derive(serde::Deserialize, Schema)]
/// struct Question {
///     #[schema(min_length = 1)]
///     text: String,
/// }
///
/// #[derive(serde::Serialize, Schema)]
/// struct Reply {
///     length: usize,
/// }
///
/// async fn count(mut socket: TypedWebSocket<Question, Reply>) -> Result<(), ApiError> {
///     while let Some(question) = socket.recv().await {
///         match question {
///             Ok(question) => socket.send(&Reply { length: question.text.len() }).await?,
///             // The client may try again.
///             Err(SocketError::Invalid(_)) => socket.send(&Reply { length: 0 }).await?,
///             Err(error) => return Err(error.into()),
///         }
///     }
///     Ok(())
/// }
///
/// let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
/// router.add_web_socket_route("/count", count, Default::default());
/// let map = router.build()?.route_map();
/// let messages = map.routes[0].web_socket.as_ref();
/// assert!(messages.is_some_and(|it| it.receives.is_some() && it.sends.is_some()));
/// # Ok::<(), ConfigError>(())
/// ```
pub struct TypedWebSocket<In, Out> {
    receiver: TypedReceiver<In>,
    sender: TypedSender<Out>,
}

impl<In: DeserializeOwned, Out: Serialize> TypedWebSocket<In, Out> {
    /// Splits the connection into its receiver and its sender, in this order.
    #[must_use]
    pub fn split(self) -> (TypedReceiver<In>, TypedSender<Out>) {
        (self.receiver, self.sender)
    }

    /// Waits for the next message; see [`TypedReceiver::recv`].
    pub async fn recv(&mut self) -> Option<Result<In, SocketError>> {
        self.receiver.recv().await
    }

    /// Sends a message; see [`TypedSender::send`].
    ///
    /// # Errors
    /// The errors of [`TypedSender::send`].
    pub async fn send(&self, message: &Out) -> Result<(), SocketError> {
        self.sender.send(message).await
    }

    /// Ends the connection; see [`Sender::close`].
    pub async fn close(&self, code: u16, reason: &str) {
        self.sender.untyped().close(code, reason).await;
    }

    /// Returns the sending half, for untyped messages, for
    /// [`Rooms`](crate::Rooms), and for information about the connection.
    #[must_use]
    pub fn untyped(&self) -> &Sender {
        self.sender.untyped()
    }
}

/// The receiving half of a [`TypedWebSocket`].
pub struct TypedReceiver<In> {
    receiver: Receiver,
    schema: Schema,
    message: PhantomData<fn() -> In>,
}

impl<In: DeserializeOwned> TypedReceiver<In> {
    /// Waits for the next text, validates it and deserializes it from JSON.
    /// Returns `None` when the connection has ended.
    ///
    /// The connection survives the same errors as in [`Receiver::recv_json`].
    pub async fn recv(&mut self) -> Option<Result<In, SocketError>> {
        self.receiver.recv_json_by(Some(&self.schema)).await
    }

    /// Returns the untyped half, for messages of any form.
    #[must_use]
    pub fn into_untyped(self) -> Receiver {
        self.receiver
    }
}

/// The sending half of a [`TypedWebSocket`]. Clones send to the same client.
pub struct TypedSender<Out> {
    sender: Sender,
    message: PhantomData<fn(Out)>,
}

impl<Out: Serialize> TypedSender<Out> {
    /// Queues a message as JSON; see [`Sender::send`].
    ///
    /// # Errors
    /// The errors of [`Sender::send`].
    pub async fn send(&self, message: &Out) -> Result<(), SocketError> {
        self.sender.send(Json(message)).await
    }

    /// Queues a message as JSON without waiting; see [`Sender::try_send`].
    ///
    /// # Errors
    /// The errors of [`Sender::try_send`].
    pub fn try_send(&self, message: &Out) -> Result<(), SocketError> {
        self.sender.try_send(Json(message))
    }

    /// Returns the untyped half, for messages of any form.
    #[must_use]
    pub fn untyped(&self) -> &Sender {
        &self.sender
    }
}

impl<Out> Clone for TypedSender<Out> {
    fn clone(&self) -> Self {
        Self { sender: self.sender.clone(), message: PhantomData }
    }
}

impl<In, Out> fmt::Debug for TypedWebSocket<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { receiver, sender } = self;
        f.debug_struct("TypedWebSocket").field("in", receiver).field("out", sender).finish()
    }
}

impl<In> fmt::Debug for TypedReceiver<In> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedReceiver").field(&self.receiver).finish()
    }
}

impl<Out> fmt::Debug for TypedSender<Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TypedSender").field(&self.sender).finish()
    }
}

impl<In, Out> FromRequest for TypedWebSocket<In, Out>
where
    In: HasSchema + DeserializeOwned,
    Out: HasSchema + Serialize,
{
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let (pending, handshake) = Pending::take(req)?;
        let schema = handshake.rules().schema(In::schema).map_err(ApiError::internal)?;
        let (receiver, sender) = pending.open(handshake).split();
        Ok(Self {
            receiver: TypedReceiver { receiver, schema, message: PhantomData },
            sender: TypedSender { sender, message: PhantomData },
        })
    }

    fn describe(doc: &mut RouteDescription) {
        describe_upgrade(doc, false);
        doc.sends_no_reply();
        doc.sends(SchemaOf::reply::<Out>());
        // The handshake of this route has already added its description.
        let rules = doc.common_mut().remove::<Arc<Rules>>();
        let schema = rules.map_or_else(In::schema, |rules| rules.schema(In::schema));
        match schema {
            Ok(schema) => doc.receives(Some(schema)),
            Err(error) => doc.schema_issues(std::any::type_name::<In>(), &error),
        }
    }
}
