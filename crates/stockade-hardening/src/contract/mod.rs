//! [`Contract`]: holds answers against the map of the routes.
//!
//! The map is what documents, clients and people go by. A test that asks for an
//! answer anyway can prove that the map says the truth about it.

mod answer;
mod error;
mod schemas;

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header, request, response};
use stockade_core::upgrade::Upgrade;
use stockade_core::{HttpBody, Request, Response};
use stockade_routing::App;
use stockade_routing::map::asked_route::asked_route;
use stockade_routing::map::{RouteInfo, RouteMap};

use self::answer::Sent;
pub use self::error::ContractError;
pub(crate) use self::schemas::Schemas;
use crate::exchange::{Exchange, SentRequest};
use crate::fail::fail;
use crate::into_app::start;

/// The contract of an application: the answers that its map lists.
///
/// `TestClient::with_contract` holds each answer of a client against it. Tests that call [`App::handle`] themselves
/// call [`handle`](Self::handle) in its place:
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use stockade::prelude::*;
/// use stockade::testing::Contract;
///
/// let api = routes! { "users": { ":id": { GET: async |Path(id): Path<u64>| Json(id) } } };
/// let app = create_router(api, RouterOptions::new()).build()?;
/// let contract = Contract::of(&app);
/// let request = stockade::http::Request::get("/users/7").body(()).unwrap();
/// let response = contract.handle(request).await;
/// assert_eq!(response.status(), 200);
/// # Ok::<(), ConfigError>(())
/// # }).unwrap();
/// ```
///
/// # Rules
///
/// - The status is listed: itself, by its class (`2XX`) or by `default`. The
///   most exact of these counts, as in an OpenAPI document.
/// - The headers that such an answer always has are there, and the security
///   headers of the router.
/// - The media type is listed, and the body fits its JSON Schema, with formats.
///   Errors have the form of the application.
/// - There is no body where none is listed, and none with 204, 205 and 304.
///
/// Of a stream and of a body with a `Content-Encoding` the head alone is held
/// against the map. Outside of the contract are requests that no route takes
/// (404, 405), CORS preflights, 413 and 415 of routes that read no body, and,
/// where a route has middleware that does not describe itself, statuses that are
/// not listed.
#[derive(Clone)]
pub struct Contract {
    inner: Arc<Inner>,
}

struct Inner {
    app: App,
    map: RouteMap,
    schemas: Arc<Schemas>,
}

impl Contract {
    /// Makes the contract of an application. It computes the map once; clones
    /// share it.
    ///
    /// # Panics
    /// When the map has mistakes: schemas of replies that cannot be.
    #[track_caller]
    #[must_use]
    pub fn of(app: &App) -> Self {
        let map = app.route_map();
        if !map.mistakes.is_empty() {
            fail(format_args!("the map has mistakes:\n  {}", map.mistakes.join("\n  ")));
        }
        let schemas = Arc::new(Schemas::of(&map));
        Self { inner: Arc::new(Inner { app: app.clone(), map, schemas }) }
    }

    /// Returns the application.
    #[must_use]
    pub fn app(&self) -> &App {
        &self.inner.app
    }

    /// Returns the schemas of the map.
    #[cfg(feature = "proptest")]
    pub(crate) fn schemas(&self) -> Arc<Schemas> {
        Arc::clone(&self.inner.schemas)
    }

    /// Handles a request like [`App::handle`], and checks the response against the contract.
    /// The body of a stream is not read. The first call [starts](App::start) the application.
    ///
    /// # Panics
    /// The future panics if the response breaks the contract, with the exchange and the place
    /// of the call, and if a value of `Router::state_at_start` cannot be opened.
    #[track_caller]
    pub fn handle<R: Into<Request>>(
        &self,
        request: R,
    ) -> impl Future<Output = Response> + Send + use<R> {
        let (contract, location) = (self.clone(), Location::caller());
        let request = request.into();
        let asked = head_of(&request);
        async move {
            start(contract.app()).await;
            let answer = contract.app().handle(request).await;
            let (head, body) = answer.into_parts();
            let whole = body.as_bytes();
            let outcome = match whole {
                Some(bytes) => contract.check(&asked, &head, bytes),
                None => contract.check_head(&asked, &head),
            };
            if let Err(error) = outcome {
                let shown = whole.map_or_else(Bytes::new, Bytes::copy_from_slice);
                exchange(&asked, &head, shown, location).fail(error);
            }
            Response::from_parts(head, body)
        }
    }

    /// Holds an answer with its whole body against the contract.
    ///
    /// # Errors
    /// When the map does not list such an answer of the route that takes the
    /// request.
    pub fn check(
        &self,
        request: &request::Parts,
        response: &response::Parts,
        body: &[u8],
    ) -> Result<(), ContractError> {
        self.validate(request, response.status, &response.headers, Some(body))
    }

    /// Holds an answer whose body is not known, such as a stream, against the
    /// contract.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    pub fn check_head(
        &self,
        request: &request::Parts,
        response: &response::Parts,
    ) -> Result<(), ContractError> {
        self.validate(request, response.status, &response.headers, None)
    }

    /// Holds an exchange of a test client against the contract, with its body if
    /// all of that has come.
    ///
    /// # Errors
    /// As [`check`](Self::check).
    #[doc(hidden)]
    pub fn check_exchange(&self, exchange: &Exchange, is_whole: bool) -> Result<(), ContractError> {
        let asked = &exchange.asked;
        let request = http::Request::builder().method(&asked.method).uri(&asked.target);
        // The client has sent it, so that it is a request.
        let Ok(request) = request.body(()) else { return Ok(()) };
        let (mut request, ()) = request.into_parts();
        request.headers = asked.headers.clone();
        let body = is_whole.then_some(&*exchange.body);
        self.validate(&request, exchange.status, &exchange.headers, body)
    }

    fn validate(
        &self,
        request: &request::Parts,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&[u8]>,
    ) -> Result<(), ContractError> {
        let Some(route) = self.route_of(request) else { return Ok(()) };
        let sent = Sent { method: &request.method, status, headers, body };
        let faults = sent.faults(route, &self.inner.map, &self.inner.schemas);
        if faults.is_empty() { Ok(()) } else { Err(ContractError::new(route, faults)) }
    }

    /// Returns the route that takes a request.
    fn route_of(&self, request: &request::Parts) -> Option<&RouteInfo> {
        let mut head = request.clone();
        if head.headers.contains_key(header::UPGRADE) && head.extensions.get::<Upgrade>().is_none()
        {
            head.extensions.insert(Upgrade::http1());
        }
        let index = asked_route(&self.inner.app, Request::new(head, HttpBody::empty()))?;
        self.inner.map.routes.get(index)
    }
}

impl fmt::Debug for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Contract").field(&self.inner.app).finish()
    }
}

/// Returns a copy of the head of a request.
fn head_of(request: &Request) -> request::Parts {
    let (mut head, ()) = http::Request::new(()).into_parts();
    head.method = request.method().clone();
    head.uri = request.uri().clone();
    head.headers = request.headers().clone();
    head.extensions = request.extensions().clone();
    head
}

/// Returns the exchange for a message.
fn exchange(
    request: &request::Parts,
    response: &response::Parts,
    body: Bytes,
    location: &'static Location<'static>,
) -> Exchange {
    let asked = SentRequest {
        method: request.method.clone(),
        target: request.uri.to_string(),
        headers: request.headers.clone(),
        // The application has taken it.
        body: Some(Bytes::new()),
        location,
    };
    let headers = response.headers.clone();
    Exchange { asked: Arc::new(asked), status: response.status, headers, body }
}
