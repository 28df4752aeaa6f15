//! [`Contract`]: checks responses against the route map.
//!
//! Documents and clients rely on the map. Tests that send requests anyway can
//! prove that it describes the responses.

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

/// The contract of an application: the responses that its map lists.
///
/// `TestClient::with_contract` checks each response of a client against it. Tests that call
/// [`App::handle`] call [`handle`](Self::handle) instead:
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
/// - The status is listed: the status itself, its class (`2XX`) or `default`. The most exact
///   entry counts, as in an OpenAPI document.
/// - The response has the headers that are listed as always present, and the security headers
///   of the router.
/// - The media type is listed, and the body fits its JSON Schema, including formats. Errors
///   have the error format of the application.
/// - A response without a listed body has no body, and neither has a 204, 205 or 304.
///
/// Only the head of a stream and of a body with a `Content-Encoding` is checked. The contract
/// does not cover requests without a route (404, 405), CORS preflights, and 413 and 415 of
/// routes that read no body. If middleware of a route does not describe itself, the contract
/// does not cover statuses that are not listed either.
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
    /// Creates the contract of an application. It computes the map once; clones
    /// share it.
    ///
    /// # Panics
    /// Panics if the map has errors, such as a response schema that no value
    /// fits.
    #[track_caller]
    #[must_use]
    pub fn of(app: &App) -> Self {
        let map = app.route_map();
        if !map.mistakes.is_empty() {
            fail(format_args!(
                "the map has configuration errors:\n  {}",
                map.mistakes.join("\n  ")
            ));
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
        let head_of_request = head_of(&request);
        async move {
            start(contract.app()).await;
            let response = contract.app().handle(request).await;
            let (head, body) = response.into_parts();
            let whole = body.as_bytes();
            let outcome = match whole {
                Some(bytes) => contract.check(&head_of_request, &head, bytes),
                None => contract.check_head(&head_of_request, &head),
            };
            if let Err(error) = outcome {
                let shown = whole.map_or_else(Bytes::new, Bytes::copy_from_slice);
                exchange(&head_of_request, &head, shown, location).fail(error);
            }
            Response::from_parts(head, body)
        }
    }

    /// Checks a response with its whole body against the contract.
    ///
    /// # Errors
    /// Fails if the map does not list this response of the route that handles the request.
    pub fn check(
        &self,
        request: &request::Parts,
        response: &response::Parts,
        body: &[u8],
    ) -> Result<(), ContractError> {
        self.validate(request, response.status, &response.headers, Some(body))
    }

    /// Checks a response with an unknown body, such as a stream, against the contract.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    pub fn check_head(
        &self,
        request: &request::Parts,
        response: &response::Parts,
    ) -> Result<(), ContractError> {
        self.validate(request, response.status, &response.headers, None)
    }

    /// Checks an exchange of a test client against the contract, with its body if the client
    /// received all of it.
    ///
    /// # Errors
    /// The errors of [`check`](Self::check).
    #[doc(hidden)]
    pub fn check_exchange(&self, exchange: &Exchange, is_whole: bool) -> Result<(), ContractError> {
        let asked = &exchange.asked;
        let request = http::Request::builder().method(&asked.method).uri(&asked.target);
        // The client has sent it, so it is a valid request.
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

    /// Returns the route that handles a request.
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
        // The application has consumed it.
        body: Some(Bytes::new()),
        location,
    };
    let headers = response.headers.clone();
    Exchange { asked: Arc::new(asked), status: response.status, headers, body }
}
