//! [`with_request_id`]: a name for each request.

use stockade_core::middleware::form;
use stockade_core::{ApiError, IntoMiddleware, Middleware, Next, Request, Response};

use super::RequestId;
use super::id::X_REQUEST_ID;
use super::trace::tidy;

/// Gives each request an id: the one in `X-Request-Id`, if it can be believed,
/// else a new one. It is in the request's headers and [`RequestId`] for
/// everything that comes later, and in the response, errors included.
///
/// `traceparent` and `tracestate` reach the handler if they are valid, and are
/// dropped otherwise.
///
/// See the [module docs](super) for an example.
pub fn with_request_id() -> RequestIds {
    RequestIds { believes: true, begins_traces: false }
}

/// What [`with_request_id`] makes.
#[derive(Clone, Copy, Debug)]
#[must_use = "it names nothing until a route or a router has it"]
pub struct RequestIds {
    believes: bool,
    begins_traces: bool,
}

impl RequestIds {
    /// Whether an id of the client is taken over; true by default. A server
    /// that strangers reach directly may not want that.
    pub fn believe_client(mut self, believes: bool) -> Self {
        self.believes = believes;
        self
    }

    /// Whether a request without a valid `traceparent` begins a trace of its
    /// own; false by default.
    pub fn begin_traces(mut self, begins: bool) -> Self {
        self.begins_traces = begins;
        self
    }

    fn name(self, req: &mut Request) -> Result<RequestId, ApiError> {
        let sent = RequestId::sent(req.headers()).filter(|_| self.believes);
        let id = sent.map_or_else(RequestId::random, Ok)?;
        tidy(req.headers_mut(), self.begins_traces)?;
        req.headers_mut().insert(X_REQUEST_ID, id.to_header_value());
        req.extensions_mut().insert(id.clone());
        Ok(id)
    }
}

impl IntoMiddleware<form::Ready> for RequestIds {
    fn into_middleware(self) -> Middleware {
        let around = move |mut req: Request, next: Next| async move {
            let id = self.name(&mut req)?;
            let mut response = next.run(req).await;
            response.headers_mut().insert(X_REQUEST_ID, id.to_header_value());
            Ok::<Response, ApiError>(response)
        };
        Middleware::new(around).named("with_request_id")
    }
}
