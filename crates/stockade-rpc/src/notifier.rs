//! [`Notifier`]: sends notifications to a client.

use std::fmt;

use serde::Serialize;
use stockade_core::extract::OptionalFromRequest;
use stockade_core::reply::Json;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::ApiError;
use stockade_websockets::{Sender, SocketError};

use crate::call_users::CallUsers;

/// The client of a WebSocket call. A method sends notifications to it, even
/// after the call has ended. Clones send to the same client.
///
/// A call over HTTP fails with -32000. Use `Option<Notifier>` if the method
/// also works without it.
///
/// ```
/// use stockade::prelude::*;
/// use stockade::rpc::{Notifier, Rpc};
///
/// async fn subscribe(news: Notifier) -> Result<(), ApiError> {
///     news.notify("news", json!({ "title": "It rains" })).await?;
///     Ok(())
/// }
///
/// let rpc = Rpc::new().method("subscribe", subscribe).web_socket(true);
/// let options = RouterOptions::new().enable_web_sockets(true);
/// assert!(create_router(rpc.routes(), options).build().is_ok());
/// ```
#[derive(Clone)]
pub struct Notifier {
    sender: Sender,
    users: CallUsers,
}

/// A notification in its JSON form.
#[derive(Serialize)]
struct Notification<'n, P> {
    jsonrpc: &'static str,
    method: &'n str,
    params: P,
}

impl Notifier {
    pub(crate) fn new(sender: Sender, users: CallUsers) -> Self {
        Self { sender, users }
    }

    /// Sends a notification. Waits while the queue of the connection is full.
    /// The parameters must serialize to an array or an object.
    ///
    /// # Errors
    /// [`SocketError::Closed`] if the connection has ended, and
    /// [`SocketError::Json`] if the parameters cannot be serialized.
    pub async fn notify(&self, method: &str, params: impl Serialize) -> Result<(), SocketError> {
        let notification = Json(Notification { jsonrpc: "2.0", method, params });
        let message = stockade_websockets::IntoMessage::into_message(notification)?;
        self.sender.send(message).await
    }

    /// Waits until the connection has ended, for tasks that should end with it.
    pub async fn ended(&self) {
        self.sender.ended().await;
    }
}

const NO_SOCKET: &str = "The method can only be called over a WebSocket";

impl FromRequest for Notifier {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let notifier = Self::from_request_optional(req).await?;
        notifier.ok_or_else(|| ApiError::new(400, NO_SOCKET))
    }

    fn describe(doc: &mut RouteDescription) {
        doc.may_respond(400, NO_SOCKET);
    }
}

impl OptionalFromRequest for Notifier {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        let notifier = req.extensions().get::<Self>().cloned();
        // Notifications may follow after the call, so the connection must end
        // when the user of the call is logged out.
        notifier.iter().for_each(|notifier| notifier.users.add(req));
        Ok(notifier)
    }

    fn describe_optional(_: &mut RouteDescription) {}
}

impl fmt::Debug for Notifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Notifier").field("socket", &self.sender.id()).finish()
    }
}
