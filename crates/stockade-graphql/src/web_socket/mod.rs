//! The WebSocket route.

mod connection;
mod operation;

use std::sync::Arc;

use stockade_core::{FromRequest, Middleware, Request, RouteDocs};
use stockade_errors::ApiError;
use stockade_routing::RouteEntry;
use stockade_websockets::WebSocket;
use tokio::time::Instant;

use self::connection::serve;
use crate::protocol::{Protocol, SUBPROTOCOL};
use crate::service::Service;
use crate::subscription_options::SubscriptionOptions;

/// Creates the WebSocket route.
#[track_caller]
pub(crate) fn web_socket(service: Arc<Service>, options: SubscriptionOptions) -> RouteEntry {
    let SubscriptionOptions { web_socket_options, on_init, init_timeout, max_operations, .. } =
        options;
    let describing = on_init.clone();
    let logged_out_code = web_socket_options.logged_out_code;
    // The order matters: the handshake is extracted before the request is
    // copied.
    let handler = move |socket: WebSocket, Handshake(req): Handshake| {
        let deadline = Instant::now().checked_add(init_timeout);
        let protocol = Protocol::new(max_operations, deadline.map(Instant::into_std));
        let on_init = on_init.clone();
        let service = Arc::clone(&service);
        async move { serve(service, socket, req, protocol, on_init, logged_out_code).await }
    };
    let mut socket = web_socket_options.protocols([SUBPROTOCOL]);
    // The protocol does not support binary messages and reports this to the
    // client.
    socket.binary = true;
    let entry = RouteEntry::web_socket(handler)
        .options(socket)
        .docs(
            RouteDocs::new("Runs GraphQL operations over `graphql-transport-ws`")
                .hidden("a document has one GET per path, which is the GET without a WebSocket"),
        )
        .with_parts();
    match describing {
        Some(on_init) => {
            let needs = Middleware::new(|_: &mut Request| Ok::<(), ApiError>(()));
            let needs = needs.named("on_init").describing(move |doc| on_init.describe(doc));
            entry.middleware([needs])
        }
        None => entry,
    }
}

/// The request of the handshake. It provides the context for the operations of
/// the connection.
struct Handshake(Request);

impl FromRequest for Handshake {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        Ok(Self(req.child()))
    }
}
