//! [`Application`]: handles the requests of a server, either an [`App`] or a
//! tower service. [`FromTower`]: wraps a tower service.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll};

use http::request::Parts;
use hyper::upgrade::OnUpgrade;
use stockade_core::completion::Completions;
use stockade_core::upgrade::switches;
use stockade_core::{BoxFuture, ErrorContext, HttpBody, PeerAddr, Request, Response};
use stockade_errors::panic::{CatchPanic, catch_panic};
use stockade_errors::{ApiError, ConfigError};
use stockade_routing::__internal::HeadSink;
use stockade_routing::{App, ResponseFuture};
use stockade_stages::TowerService;
use tower_service::Service;

use crate::service::{AppService, Client, ReadConnections, request_of};
use crate::{CreateServer, ServeError, Server, ServerOptions};

/// A tower service as the application of a server: an axum router, an [`App`]
/// inside tower layers, or a proxy.
///
/// The server still enforces its own rules: the limits for connections, heads
/// and slow clients in both directions, `Host` and framing, TLS, HTTP/2 and the
/// shutdown. A request has [`PeerAddr`] or
/// [`LocalPeer`](stockade_core::LocalPeer) in its extensions. The service is
/// responsible for everything that a router would do:
///
/// - the body limit (`max_body_size`), which is unlimited here, and the
///   client's address behind proxies (`trust_proxy`);
/// - rate limiting, CORS, security headers, validation and the access log;
/// - the format of errors, except for rejections by the server itself, which
///   use the default format. Errors of the service are logged: an [`ApiError`]
///   keeps its status, a request body error has its own status, and any other
///   error is a 500;
/// - an incorrect `Content-Length` in a response, which a router corrects;
/// - WebSockets. They work with an inner [`App`] if its response keeps its
///   extensions. WebSockets of other frameworks need hyper's connection, which
///   is not available here; their 101 response becomes a 500.
///
/// [`ServerOptions::call`] has no effect.
///
/// ```
/// use std::convert::Infallible;
///
/// use stockade::HttpBody;
/// use stockade::server::{CreateServer, FromTower};
///
/// # fn of<S>(service: S) -> Result<(), Box<dyn std::error::Error>>
/// # where
/// #     S: tower_service::Service<stockade::http::Request<HttpBody>, Response = stockade::http::Response<HttpBody>>
/// #         + Clone + Send + Sync + 'static,
/// #     S::Error: Into<stockade::BoxError>,
/// #     S::Future: Send,
/// # {
/// let server = FromTower(service).create_server()?;
/// # drop(server);
/// # Ok(())
/// # }
/// ```
///
/// It is also a tower service and can be mounted in a tree: in `"assets": {
/// mount: FromTower(ServeDir::new("public")) }` it marks the value as a tower
/// service rather than an [`App`]. `mount` also accepts services without it.
#[derive(Clone, Debug)]
pub struct FromTower<S>(pub S);

/// Calls the inner service.
impl<R, S: Service<R>> Service<R> for FromTower<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: R) -> S::Future {
        self.0.call(request)
    }
}

impl<S: TowerService> CreateServer for FromTower<S> {
    #[track_caller]
    fn create_server_with(self, options: ServerOptions) -> Result<Server, ConfigError> {
        let location = Location::caller();
        let mistakes = options.issues().into_iter().map(|mistake| mistake.at(location));
        ConfigError::check(mistakes.collect())?;
        let call = move |request| -> BoxFuture<'static, Result<Response, ApiError>> {
            Box::pin(self.0.clone().answer(request))
        };
        Ok(Server::of(Application::Tower(Arc::new(call)), options))
    }
}

/// The application that handles the requests of a server.
#[derive(Clone)]
pub(crate) enum Application {
    App(App),
    Tower(Arc<dyn Call>),
}

impl Application {
    /// Opens the values of the application. Boxed, because every program
    /// compiles the body of an `async fn` again.
    pub(crate) fn start(&self) -> BoxFuture<'_, Result<(), ServeError>> {
        Box::pin(async move {
            match self {
                Self::App(app) => app.start().await.map_err(|source| ServeError::Start { source }),
                Self::Tower(_) => Ok(()),
            }
        })
    }

    /// Returns the path of the documentation page, if any.
    pub(crate) fn documents_page(&self) -> Option<String> {
        match self {
            Self::App(app) => app.documents_page().map(str::to_owned),
            Self::Tower(_) => None,
        }
    }
}

/// A tower service of any type.
pub(crate) trait Call:
    Fn(http::Request<HttpBody>) -> BoxFuture<'static, Result<Response, ApiError>> + Send + Sync
{
}

impl<F> Call for F where
    F: Fn(http::Request<HttpBody>) -> BoxFuture<'static, Result<Response, ApiError>> + Send + Sync
{
}

/// The response future of an [`Application`].
#[expect(clippy::large_enum_variant, reason = "a box would cost each request an allocation")]
pub(crate) enum ApplicationFuture {
    App(ResponseFuture),
    Tower(BoxFuture<'static, Response>),
}

impl fmt::Debug for Application {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::App(app) => app.fmt(f),
            Self::Tower(_) => f.write_str("Tower(..)"),
        }
    }
}

impl AppService for Application {
    type Future = ApplicationFuture;

    fn call(&self, head: Parts, body: HttpBody, client: Client) -> ApplicationFuture {
        match self {
            Self::App(app) => ApplicationFuture::App(app.handle(request_of(head, body, client))),
            Self::Tower(call) => {
                ApplicationFuture::Tower(call_service(call.as_ref(), head, body, client))
            }
        }
    }

    fn poll_into(
        future: &mut ApplicationFuture,
        cx: &mut Context<'_>,
        slot: &mut Poll<Response>,
        sink: Option<&HeadSink>,
    ) {
        match future {
            ApplicationFuture::App(future) => App::poll_into(future, cx, slot, sink),
            ApplicationFuture::Tower(future) => *slot = future.as_mut().poll(cx),
        }
    }

    #[cold]
    fn refuse(&self, request: Request, error: ApiError) -> ApplicationFuture {
        match self {
            Self::App(app) => ApplicationFuture::App(app.refuse(request, error)),
            Self::Tower(_) => {
                let response = ErrorContext::of(&request).answer(error);
                ApplicationFuture::Tower(Box::pin(std::future::ready(response)))
            }
        }
    }

    fn trusts_proxy(&self) -> bool {
        matches!(self, Self::App(app) if app.trusts_proxy())
    }

    fn trusts_local_peer(&self) -> bool {
        // A tower service enforces its own limits, if any.
        !matches!(self, Self::App(app) if !app.trusts_local_peer())
    }

    fn count_connections(&self, read: ReadConnections) {
        if let Self::App(app) = self {
            app.count_connections(read);
        }
    }

    fn leaving(&self) {
        if let Self::App(app) = self {
            app.leaving();
        }
    }

    fn completions(&self) -> Option<&Completions> {
        match self {
            Self::App(app) => Some(app.completions()),
            Self::Tower(_) => None,
        }
    }
}

/// Passes a request to a tower service.
fn call_service(
    call: &dyn Call,
    head: Parts,
    body: HttpBody,
    client: Client,
) -> BoxFuture<'static, Response> {
    let mut request = request_of(head, HttpBody::empty(), client);
    let context = ErrorContext::of(&request);
    let mut handed = http::Request::new(body);
    *handed.method_mut() = request.method().clone();
    *handed.uri_mut() = request.uri().clone();
    *handed.version_mut() = request.version();
    *handed.headers_mut() = std::mem::take(request.headers_mut());
    *handed.extensions_mut() = std::mem::take(request.extensions_mut());
    if let Some(address) = client.address {
        handed.extensions_mut().insert(PeerAddr(address));
    }
    // The guard only understands HTTP, but would check the bytes of the other
    // protocol.
    handed.extensions_mut().remove::<OnUpgrade>();
    let future = match catch_panic(|| call(handed)) {
        Ok(future) => future,
        Err(panic) => return Box::pin(std::future::ready(context.answer(panic))),
    };
    Box::pin(async move {
        let answered = CatchPanic::new(future).await.and_then(|answered| answered);
        answered.and_then(checked).unwrap_or_else(|error| context.answer(error))
    })
}

/// Fails for a response that takes over the connection without a function to
/// run on it.
fn checked(response: Response) -> Result<Response, ApiError> {
    if response.status().is_informational() && !switches(&response) {
        let text = "a tower service returned a status below 200 without a connection";
        return Err(ApiError::new(500, text));
    }
    Ok(response)
}
