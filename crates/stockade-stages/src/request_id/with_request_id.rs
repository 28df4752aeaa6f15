//! [`with_request_id`]: middleware that assigns an id to each request.

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

/// Sets the id of each request: the client's `X-Request-Id` if it is valid,
/// else a new id. The id is in the request headers, in [`RequestId`], in
/// [`Request::id`] and in the response, including errors.
///
/// `traceparent` and `tracestate` reach the handler if they are valid, and are
/// removed otherwise. A valid `traceparent` is also added to the response.
///
/// This middleware is for single routes and for other hosts. A router with the
/// option `request_id` assigns an id to every request, including requests that
/// no middleware sees. An existing id of a request does not change.
///
/// See the [module docs](super) for an example.
pub fn with_request_id() -> RequestIds {
    RequestIds { believe_client: true, begin_traces: false }
}

/// The middleware of [`with_request_id`], and the option `request_id` of a
/// router.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[must_use = "it does nothing until a route or a router uses it"]
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
    /// Adds both to the response headers.
    pub(crate) fn write_to(&self, headers: &mut HeaderMap) {
        headers.insert(X_REQUEST_ID, self.id.to_header_value());
        if let Some(trace) = &self.trace {
            headers.insert(TRACEPARENT, trace.clone());
        }
    }
}

impl RequestIds {
    setters! {
        /// Sets whether the client's id is used. Default: true. Set it to false
        /// if untrusted clients reach the server directly.
        believe_client: bool;

        /// Sets whether a trace begins for a request without a valid
        /// `traceparent`. Default: false.
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
