//! [`with_request_id`]: a name for each request.

use http::{HeaderMap, HeaderValue};
use serde::{Deserialize, Deserializer};
use stockade_core::middleware::form;
use stockade_core::{ApiError, IntoMiddleware, Middleware, Next, Request, Response};

use super::RequestId;
use super::id::X_REQUEST_ID;
use super::trace::{TRACEPARENT, tidy};

/// Gives each request an id: the one in `X-Request-Id`, if it can be believed,
/// else a new one. It is in the request's headers, in [`RequestId`] and in
/// [`Request::id`] for everything that comes later, and in the response, errors
/// included.
///
/// `traceparent` and `tracestate` reach the handler if they are valid, and are
/// dropped otherwise; a valid `traceparent` stands in the response too.
///
/// It is for single routes and for other hosts. What a router is given as its
/// option `request_id` names every request, also those that no middleware sees;
/// a request that has its name already keeps it.
///
/// See the [module docs](super) for an example.
pub fn with_request_id() -> RequestIds {
    RequestIds { believe_client: true, begin_traces: false }
}

/// What [`with_request_id`] makes: how requests are named.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use = "it names nothing until a route or a router has it"]
pub struct RequestIds {
    believe_client: bool,
    begin_traces: bool,
}

impl Default for RequestIds {
    fn default() -> Self {
        with_request_id()
    }
}

/// The names of one request.
#[derive(Clone, Debug)]
pub(crate) struct RequestNames {
    id: RequestId,
    /// A valid `traceparent`.
    trace: Option<HeaderValue>,
}

impl RequestNames {
    /// Adds them to the headers of a response.
    pub(crate) fn write_to(&self, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, self.id.to_header_value());
        if let Some(trace) = &self.trace {
            headers.insert(TRACEPARENT, trace.clone());
        }
    }
}

impl RequestIds {
    /// Whether an id of the client is taken over; true by default. A server
    /// that strangers reach directly may not want that.
    pub fn believe_client(mut self, believes: bool) -> Self {
        self.believe_client = believes;
        self
    }

    /// Whether a request without a valid `traceparent` begins a trace of its
    /// own; false by default.
    pub fn begin_traces(mut self, begins: bool) -> Self {
        self.begin_traces = begins;
        self
    }

    /// RequestNames a request, unless it has a name.
    pub(crate) fn enter(self, req: &mut Request) -> Result<RequestNames, ApiError> {
        let known = RequestId::of(req).cloned();
        let is_new = known.is_none();
        let id = known.map_or_else(|| self.id(req.headers()), Ok)?;
        let trace = tidy(req.headers_mut(), self.begin_traces)?;
        if is_new {
            req.headers_mut().insert(X_REQUEST_ID, id.to_header_value());
            req.set_id(id.as_str());
            req.extensions_mut().insert(id.clone());
        }
        Ok(RequestNames { id, trace })
    }

    fn id(self, headers: &HeaderMap) -> Result<RequestId, ApiError> {
        let sent = RequestId::sent(headers).filter(|_| self.believe_client);
        sent.map_or_else(RequestId::random, Ok)
    }
}

impl IntoMiddleware<form::Ready> for RequestIds {
    fn into_middleware(self) -> Middleware {
        let around = move |mut req: Request, next: Next| async move {
            let names = self.enter(&mut req)?;
            let mut response = next.run(req).await;
            names.write_to(response.headers_mut());
            Ok::<Response, ApiError>(response)
        };
        Middleware::new(around).named("with_request_id")
    }
}

/// Reads the option of a router as it stands in a file: `true`, `false`, or an
/// object with `believe_client` and `begin_traces`.
///
/// # Errors
/// For anything else.
pub fn optional_request_ids<'de, D: Deserializer<'de>>(
    source: D,
) -> Result<Option<RequestIds>, D::Error> {
    Ok(match RequestIdsNotation::deserialize(source)? {
        RequestIdsNotation::Switch(wanted) => wanted.then(with_request_id),
        RequestIdsNotation::Options(options) => Some(options),
    })
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "true, false, or an object with believe_client and begin_traces")]
enum RequestIdsNotation {
    Switch(bool),
    Options(RequestIds),
}
