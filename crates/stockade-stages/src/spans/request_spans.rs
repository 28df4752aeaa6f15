//! [`with_tracing`]: a span for each request.

use std::fmt;
use std::sync::Arc;

use http::HeaderMap;
use http::header::USER_AGENT;
use serde::Deserialize;
use stockade_core::middleware::form;
use stockade_core::{IntoMiddleware, IntoSetting, Middleware, Next, Request, Setting};
use tracing::Span;

use super::RequestSpan;
use crate::described::unseen;
use crate::observation::Observation;
use stockade_core::headers::only;

/// Creates a span for each request. The rest of the middleware and the handler
/// run in this span.
///
/// This middleware is for single routes and for other hosts. A router with the
/// option `tracing` creates a span for every request, including requests that
/// no middleware sees. If both are on, one span is inside the other.
///
/// See the [module](crate::spans) for the span and its fields.
pub fn with_tracing() -> RequestSpans {
    RequestSpans::default()
}

/// The middleware of [`with_tracing`], and the option `tracing` of a router.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "RequestSpansOptions")]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct RequestSpans {
    url_path: bool,
    user_agent: bool,
    on_span: Option<OnSpan>,
}

type OnSpan = Arc<dyn Fn(&Span, &HeaderMap) + Send + Sync>;

impl RequestSpans {
    /// Sets whether the path of a request is recorded in `url.path`, without
    /// the query. Default: false, because a path may contain secrets and
    /// personal names.
    pub fn url_path(mut self, records: bool) -> Self {
        self.url_path = records;
        self
    }

    /// Sets whether `User-Agent` is recorded in `user_agent.original`. Default:
    /// false.
    pub fn user_agent(mut self, records: bool) -> Self {
        self.user_agent = records;
        self
    }

    /// Calls `hook` with each new span and the headers of its request, before
    /// the span is entered. Default: none.
    ///
    /// A hook can add the span to a trace that began elsewhere, with
    /// `set_parent` of the crate `tracing-opentelemetry`
    /// (`examples/opentelemetry`). It is called only if a subscriber accepts
    /// the span. A panic in the hook is logged, and the request continues.
    ///
    /// The headers come from the client; your hook decides what to record.
    pub fn on_span(mut self, hook: impl Fn(&Span, &HeaderMap) + Send + Sync + 'static) -> Self {
        self.on_span = Some(Arc::new(hook));
        self
    }

    pub(super) fn path_of<'r>(&self, req: &'r Request) -> Option<&'r str> {
        self.url_path.then(|| req.path())
    }

    pub(super) fn user_agent_of<'r>(&self, req: &'r Request) -> Option<&'r str> {
        let agent = self.user_agent.then(|| only(req.headers(), &USER_AGENT)).flatten();
        agent.and_then(|agent| agent.to_str().ok())
    }

    pub(super) fn hook(&self) -> Option<&OnSpan> {
        self.on_span.as_ref()
    }
}

impl fmt::Debug for RequestSpans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestSpans")
            .field("url_path", &self.url_path)
            .field("user_agent", &self.user_agent)
            .field("on_span", &self.on_span.is_some())
            .finish()
    }
}

impl IntoMiddleware<form::Ready> for RequestSpans {
    fn into_middleware(self) -> Middleware {
        let around = move |req: Request, next: Next| {
            let span = RequestSpan::begin(&req, &self);
            async move {
                if !span.is_wanted() {
                    return next.try_run(req).await;
                }
                let method = req.method().clone();
                let rest = span.instrument(next.try_run(req));
                Observation::begin(&method).within(span).observed(rest.await)
            }
        };
        Middleware::new(around).named("with_tracing").describing(unseen)
    }
}

/// The options in a configuration file.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct RequestSpansOptions {
    #[serde(alias = "urlPath")]
    url_path: bool,
    #[serde(alias = "userAgent")]
    user_agent: bool,
}

impl From<RequestSpansOptions> for RequestSpans {
    fn from(options: RequestSpansOptions) -> Self {
        with_tracing().url_path(options.url_path).user_agent(options.user_agent)
    }
}

impl IntoSetting<Self> for RequestSpans {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}
