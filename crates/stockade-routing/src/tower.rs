//! [`App`] as a tower service: for hyper, axum's `nest_service`, tower's
//! layers, AWS Lambda.
//!
//! Hot: nothing is allocated here for a request without a body, and one box for
//! one with a body.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use http_body::Body;
use stockade_core::{HttpBody, Request, Response};
use stockade_errors::BoxError;
use tower_service::Service;

use crate::app::App;
use crate::dispatch::ResponseFuture;

/// Answers requests with a body of any type. It is always ready, and never
/// fails.
///
/// All stages and all options of the router apply, as they do to
/// [`App::handle`]. A host says who is at the other end of the connection by a
/// `PeerAddr` in the extensions of the request; without one, all clients share
/// one rate limit. One that can give a connection away puts an `Upgrade` there;
/// without it WebSocket routes answer 400.
///
/// ```
/// use std::convert::Infallible;
///
/// use stockade::{App, Router};
/// use tower_service::Service;
///
/// fn serves<B>(_: &impl Service<stockade::http::Request<B>, Error = Infallible>) {}
///
/// let app = Router::new().build()?;
/// serves::<String>(&app);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
///
/// Spec: Use inside a host framework.
impl<B> Service<http::Request<B>> for App
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Serving;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Serving {
        let (head, body) = request.into_parts();
        Serving { response: self.handle(Request::new(head, HttpBody::new(body))) }
    }
}

/// The future of an [`App`] as a tower service.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct Serving {
    response: ResponseFuture,
}

impl Future for Serving {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(ready!(Pin::new(&mut self.response).poll(cx))))
    }
}
