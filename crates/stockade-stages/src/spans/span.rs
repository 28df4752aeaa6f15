//! [`RequestSpan`]: the span of one request.

use http::StatusCode;
use tracing::field::Empty;
use tracing::instrument::Instrumented;
use tracing::{Instrument as _, Span};

use stockade_core::Request;
use stockade_errors::panic::catch_panic;

use super::RequestSpans;
use super::fields::{SpanName, address, authority, known_method, scheme, version};
use crate::observation::Ending;
use crate::request_id::TraceParent;

/// The span of one request, or none if no subscriber accepts it.
#[derive(Debug)]
pub(crate) struct RequestSpan(Span);

impl RequestSpan {
    /// Returns a disabled span.
    pub(crate) fn none() -> Self {
        Self(Span::none())
    }

    /// Begins the span of a request with a known route and client.
    pub(crate) fn begin(req: &Request, spans: &RequestSpans) -> Self {
        // The values are computed only if the span is enabled.
        let span = tracing::info_span!(
            target: "stockade::request",
            "HTTP request",
            otel.name = %SpanName(req),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = known_method(req.method()).unwrap_or("_OTHER"),
            http.request.method_original = Empty,
            http.route = req.route(),
            http.response.status_code = Empty,
            url.scheme = scheme(req),
            url.path = spans.path_of(req),
            server.address = Empty,
            server.port = Empty,
            client.address = req.client_ip().map(display),
            network.protocol.version = version(req.version()),
            user_agent.original = spans.user_agent_of(req),
            error.type = Empty,
            request_id = req.id(),
            trace_id = TraceParent::of(req.headers()).map(|parent| parent.trace_id()),
        );
        let span = Self(span);
        if span.is_wanted() {
            span.complete(req, spans);
        }
        span
    }

    /// Records the remaining fields, and calls the hook.
    fn complete(&self, req: &Request, spans: &RequestSpans) {
        let Self(span) = self;
        if known_method(req.method()).is_none() {
            span.record("http.request.method_original", req.method().as_str());
        }
        if let Some(authority) = authority(req) {
            span.record("server.address", address(&authority));
            span.record("server.port", authority.port_u16());
        }
        // The hook runs before the span is entered, because a parent cannot be
        // set later.
        if let Some(on_span) = spans.hook()
            && let Err(error) = catch_panic(|| on_span(span, req.headers()))
        {
            log::error!(target: "stockade", "`on_span` of a router: {error}");
        }
    }

    /// Returns true if a subscriber accepts the span.
    pub(crate) fn is_wanted(&self) -> bool {
        !self.0.is_disabled()
    }

    /// Runs `work` within the span.
    pub(crate) fn in_scope<T>(&self, work: impl FnOnce() -> T) -> T {
        self.0.in_scope(work)
    }

    /// Returns a future that is polled and dropped within the span.
    pub(crate) fn instrument<F: Future>(&self, future: F) -> Instrumented<F> {
        future.instrument(self.0.clone())
    }

    /// Records the status of the response.
    pub(crate) fn record_status(&self, status: StatusCode) {
        if !self.is_wanted() {
            return;
        }
        self.0.record("http.response.status_code", status.as_u16());
        if status.is_server_error() {
            self.0.record("error.type", status.as_str());
            self.0.record("otel.status_code", ERROR);
        }
    }

    /// Records the end of the response, and ends the span.
    pub(crate) fn end(&mut self, ending: Ending) {
        let Self(span) = std::mem::replace(self, Self::none());
        if ending != Ending::Whole {
            span.record("error.type", "aborted");
        }
        if ending == Ending::Broken {
            span.record("otel.status_code", ERROR);
        }
    }
}

const ERROR: &str = "ERROR";
