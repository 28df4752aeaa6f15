//! [`with_request_id`]: an id for each request.

use http::{HeaderMap, HeaderValue};
use serde::Deserialize;
use stockade_core::description::HeaderDoc;
use stockade_core::middleware::form;
use stockade_core::{
    ApiError, IntoMiddleware, IntoSetting, Middleware, Next, Request, Response, RouteDescription,
    Setting,
};
use stockade_errors::__internal::setters;

use super::RequestId;
use super::id::X_REQUEST_ID;
use super::trace::{TRACEPARENT, tidy};

/// Sets the id of each request: the one in `X-Request-Id` if it is valid, else
/// a new one. The id is in the headers of the request, in [`RequestId`], in
/// [`Request::id`] and in the response, errors included.
///
/// `traceparent` and `tracestate` reach the handler if they are valid, and are
/// removed otherwise. A valid `traceparent` stands in the response too.
///
/// This middleware is for single routes and for other hosts. A router with the
/// option `request_id` gives every request an id, also those that no middleware
/// sees. A request that has an id keeps it.
///
/// See the [module docs](super) for an example.
pub fn with_request_id() -> RequestIds {
    RequestIds { believe_client: true, begin_traces: false }
}

/// The middleware of [`with_request_id`], and the option `request_id` of a
/// router.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use = "it names nothing until a route or a router has it"]
pub struct RequestIds {
    #[serde(alias = "believeClient")]
    believe_client: bool,
    #[serde(alias = "beginTraces")]
    begin_traces: bool,
}

impl Default for RequestIds {
    fn default() -> Self {
        with_request_id()
    }
}

/// The id of a request, and its `traceparent`.
#[derive(Clone, Debug)]
pub(crate) struct RequestNames {
    id: RequestId,
    /// A valid `traceparent`.
    trace: Option<HeaderValue>,
}

impl RequestNames {
    /// Adds both to the headers of a response.
    pub(crate) fn write_to(&self, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, self.id.to_header_value());
        if let Some(trace) = &self.trace {
            headers.insert(TRACEPARENT, trace.clone());
        }
    }
}

impl RequestIds {
    setters! {
        /// Uses the id of the client if true; true by default. Set it to false for
        /// a server that strangers reach directly.
        believe_client: bool;

        /// Begins a trace for a request without a valid `traceparent`, if true;
        /// false by default.
        begin_traces: bool;
    }

    /// Sets the id of a request, unless it has one.
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

    /// Describes the headers that it reads and adds.
    pub(crate) fn describe(self, doc: &mut RouteDescription) {
        if self.believe_client {
            doc.reads_header("X-Request-Id", false);
        }
        doc.reads_header("traceparent", false);
        doc.reads_header("tracestate", false);
        doc.adds_header(HeaderDoc::new("X-Request-Id", "The id of the request"), None);
        let trace = HeaderDoc::new("traceparent", "The position of the request in its trace");
        let trace = if self.begin_traces { trace } else { trace.sometimes() };
        doc.adds_header(trace, None);
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
        Middleware::new(around).named("with_request_id").describing(move |doc| self.describe(doc))
    }
}

impl IntoSetting<Self> for RequestIds {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}
