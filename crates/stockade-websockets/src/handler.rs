//! WebSocket route handlers: an `async fn` that takes the connection.
//!
//! The extractors run before the upgrade, so an extractor error is the response
//! to the handshake.

use stockade_core::{Handler, HandlerFn, HandlerSignature, Request, Response};
use stockade_errors::ApiError;

use crate::upgrade::{Handshake, Pending};

/// Creates the handler of a WebSocket route from an `async fn` that takes a
/// [`WebSocket`](crate::WebSocket) and extractors, in any order.
///
/// Its return value is not sent. `()` or a value ends the connection with 1000;
/// an error or a panic ends it with 1011 and is logged. A function that takes a
/// [`WebSocketUpgrade`](crate::WebSocketUpgrade) instead runs before the
/// response, and its return value is the response.
///
/// The route must run `Rules::guard` first.
pub fn web_socket_handler<F, Args>(function: F) -> Handler
where
    F: HandlerFn<Args>,
    F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send + 'static,
{
    Handler::erased(
        move |req| Box::pin(open(function.clone(), req)),
        <F::Signature as HandlerSignature>::describe,
    )
}

/// Extracts the arguments and responds to the handshake.
async fn open<F, Args>(function: F, mut req: Request) -> Result<Response, ApiError>
where
    F: HandlerFn<Args>,
    F::Signature: HandlerSignature<Args = Args, Output = F::Output>,
    F::Future: Send,
    Args: Send + 'static,
{
    let handshake = Handshake::of(&mut req)?;
    let pending_lifetime = handshake.lifetime.clone();
    let pending = Pending::new(handshake);
    req.extensions_mut().insert(pending.clone());
    let args = <F::Signature as HandlerSignature>::extract(&mut req).await?;
    pending_lifetime.set(req.take_lifetime());
    drop(req);
    match pending.into_paired() {
        Some(paired) => {
            Ok(paired.answer(async move { F::Signature::reply(function.call(args).await) }))
        }
        None => F::Signature::reply(function.call(args).await),
    }
}
