//! The handler of a WebSocket route: an `async fn` that takes the connection.
//!
//! Its extractors run before the upgrade, so that their errors answer the
//! handshake.

use std::sync::{Arc, Mutex, PoisonError};

use http::header::{SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_PROTOCOL, UPGRADE};
use http::{HeaderName, HeaderValue};
use stockade_core::__internal::ErrorContextExt as _;
use stockade_core::upgrade::Upgraded;
use stockade_core::{
    ErrorContext, FromRequest, Handler, Request, Response, RouteDoc, Shape, Signature,
};
use stockade_errors::ApiError;

use crate::handshake::Accepted;
use crate::session::Session;
use crate::socket::{WebSocket, pair};

/// Makes the handler of a WebSocket route: an `async fn` of a [`WebSocket`] and
/// extractors, in any order.
///
/// Its return value is not sent. `()` or a value ends the connection with 1000;
/// an error or a panic ends it with 1011 and is logged.
///
/// The route must run `Rules::guard` first.
pub fn web_socket_handler<F, Args>(function: F) -> Handler
where
    F: Shape<Args>,
    F::Signature: Signature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send + 'static,
{
    Handler::erased(
        move |req| Box::pin(open(function.clone(), req)),
        <F::Signature as Signature>::describe,
    )
}

/// Extracts the arguments and answers the handshake.
async fn open<F, Args>(function: F, mut req: Request) -> Result<Response, ApiError>
where
    F: Shape<Args>,
    F::Signature: Signature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send + 'static,
{
    let accepted = req.extensions_mut().remove::<Accepted>();
    let Accepted { rules, negotiated } =
        accepted.ok_or_else(|| ApiError::new(500, "no handshake"))?;
    let client = req.client_ip();
    let permit = rules.connections.enter(client)?;
    let context = ErrorContext::of(&req);
    // There is a route: its middleware has accepted the request.
    let route = req.route().unwrap_or_default();
    let (socket, ends) = pair(&rules.options, route, negotiated.protocol.as_deref(), client)?;
    req.extensions_mut().insert(PendingSocket(Arc::new(Mutex::new(Some(socket)))));
    let args = <F::Signature as Signature>::extract(&mut req).await?;
    drop(req);
    let mut response = negotiated.upgrade.switch(move |upgraded: Upgraded| {
        let handling = Box::pin(async move { F::Signature::reply(function.call(args).await) });
        let max_payload = rules.max_payload;
        Session::start(upgraded, ends, handling, max_payload, context, permit)
    });
    let mut set = |name: HeaderName, value: &str| {
        HeaderValue::from_str(value).map(|value| response.headers_mut().insert(name, value))
    };
    if let Some(accept) = &negotiated.accept {
        set(UPGRADE, "websocket").map_err(ApiError::internal)?;
        set(SEC_WEBSOCKET_ACCEPT, accept).map_err(ApiError::internal)?;
    }
    if let Some(protocol) = &negotiated.protocol {
        set(SEC_WEBSOCKET_PROTOCOL, protocol).map_err(ApiError::internal)?;
    }
    Ok(response)
}

/// The connection, which waits in the extensions of the request to be extracted.
/// Extensions must be `Clone`.
#[derive(Clone)]
struct PendingSocket(Arc<Mutex<Option<WebSocket>>>);

impl FromRequest for WebSocket {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let socket =
            req.extensions_mut().remove::<PendingSocket>().and_then(|PendingSocket(socket)| {
                socket.lock().unwrap_or_else(PoisonError::into_inner).take()
            });
        socket.ok_or_else(|| ApiError::new(500, "this route is not one for WebSockets"))
    }

    fn describe(doc: &mut RouteDoc) {
        doc.takes_upgrade();
    }
}
