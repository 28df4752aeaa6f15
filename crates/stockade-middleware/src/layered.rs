//! [`layered`]: converts tower layers into middleware.

use std::any::type_name;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http_body::Body;
use stockade_core::lent_request::{LentRequest, into_body};
use stockade_core::{ErrorContext, Middleware, Next, Request, Response};
use stockade_errors::locks::lock;
use stockade_errors::{ApiError, BoxError};
use tower_layer::Layer;
use tower_service::Service;

use crate::TowerService;

/// Converts a tower layer, for example from the crate `tower-http`, into
/// middleware.
///
/// The layer is applied once, in this call; each request gets a clone of its
/// service. Middleware before it in the list runs outside the layer. The rest
/// of the middleware and the handler run inside it. Their errors have already
/// become responses when the layer sees them, as after [`Next::run`].
///
/// ```
/// use stockade::middleware::layered;
/// use tower_layer::layer_fn;
///
/// // In a program: `layered(TraceLayer::new_for_http())`.
/// let middleware = layered(layer_fn(|rest| rest)).named("nothing");
/// assert_eq!(middleware.name(), "nothing");
/// ```
///
/// A service of the layer may change the request, the response and their
/// bodies, and may respond itself. These rules apply:
///
/// - The request body ends with an error if it exceeds the limit of the route.
///   A body that earlier middleware has parsed does not change: the service
///   sees a copy of its bytes.
/// - The route and its parameters do not change if the service changes the
///   target.
/// - An error of the service is an error of the request: an [`ApiError`] is
///   used unchanged, anything else becomes a 500 and is logged. Layers that
///   have errors, such as `tower::timeout`, may be followed by a layer that
///   turns them into responses.
/// - The extensions of the request reach the rest of the chain. A service that
///   creates a new request without them, or calls the rest more than once, gets
///   a 500.
/// - CORS, the security headers and the rate limit of the router run outside
///   all middleware, and therefore outside every layer.
pub fn layered<L>(layer: L) -> Middleware
where
    L: Layer<InnerService, Service: TowerService>,
{
    let service = layer.layer(InnerService { private: () });
    let run = move |req: Request, next: Next| {
        let service = service.clone();
        async move {
            let (mut request, lent) = LentRequest::of(req);
            let held = Held(Arc::new(Mutex::new(Some((lent, next)))));
            request.extensions_mut().insert(held);
            service.answer(request).await
        }
    };
    Middleware::new(run).named(type_name::<L>())
}

/// The parts of a request that a layer does not see, and the rest of the chain.
/// Calling [`InnerService`] takes them out.
#[derive(Clone)]
struct Held(Arc<Mutex<Option<(LentRequest, Next)>>>);

impl Held {
    fn take(&self) -> Option<(LentRequest, Next)> {
        lock(&self.0).take()
    }
}

/// The service inside a layer: the rest of the middleware and the handler.
///
/// It is always ready and never fails.
#[derive(Clone, Debug)]
pub struct InnerService {
    private: (),
}

impl<B> Service<http::Request<B>> for InnerService
where
    B: Body + Send + 'static,
    B::Error: Into<BoxError>,
{
    type Response = Response;
    type Error = Infallible;
    type Future = InnerFuture;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        let () = self.private;
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> InnerFuture {
        let mut request = request.map(into_body);
        let held = request.extensions_mut().remove::<Held>();
        let Some((lent, next)) = held.and_then(|held| held.take()) else {
            let context = ErrorContext::of(&Request::from(request));
            let error = ApiError::new(500, LOST);
            return InnerFuture { response: Box::pin(async move { context.answer(error) }) };
        };
        let req = lent.attach(request);
        InnerFuture { response: Box::pin(next.run(req)) }
    }
}

const LOST: &str =
    "a layer called the inner service twice, or with a request that lost its extensions";

/// The future of [`InnerService`].
#[must_use = "futures do nothing unless polled"]
pub struct InnerFuture {
    response: Pin<Box<dyn Future<Output = Response> + Send>>,
}

impl Future for InnerFuture {
    type Output = Result<Response, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.response.as_mut().poll(cx).map(Ok)
    }
}

impl std::fmt::Debug for InnerFuture {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("InnerFuture")
    }
}
