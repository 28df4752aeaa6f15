//! [`with_concurrency_limit`]: limits the number of requests in flight.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::endpoint_internals::Overloaded;
use stockade_core::middleware::form;
use stockade_core::{
    BoxError, HttpBody, IntoMiddleware, IntoSetting, Middleware, Next, Request, Setting,
};
use stockade_errors::ApiError;
use stockade_validation::__internal::LogRate;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Limits the number of requests in flight to `max`. Further requests get a 503
/// with `Retry-After` immediately (load shedding).
///
/// A request is in flight until the last byte of its response was sent, or
/// until its client disconnects. An event stream holds its place until it ends,
/// so exclude its route. A WebSocket holds a place only during its handshake;
/// `ws_max_connections` limits the sessions.
///
/// All routes that share a limit count together: the routes of a router
/// (`RouterOptions::concurrency_limit`), of a group or of one route's options.
/// Clones of a limit share its count. A route may have several limits.
/// `concurrency_limit: false` in the route options excludes a route from all of
/// them; the routes of health checks are always excluded.
///
/// The limit runs as middleware, after the rate limit, which also counts
/// rejected requests. Requests without a route do not count.
///
/// A client that sends its body slowly holds a place, at most for the body
/// timeout. The rate limit determines how many places one client can hold. Set
/// the concurrency limit higher than that, to leave places for other clients.
///
/// Rejections are not errors: they are logged at debug level, and summarized
/// once a second at warn level.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::Middleware;
/// use stockade::middleware::with_concurrency_limit;
///
/// let reports = with_concurrency_limit(4).retry_after(Duration::from_secs(30));
/// assert_eq!(Middleware::new(reports).name(), "with_concurrency_limit");
/// ```
///
/// # Beyond the spec
/// The specification does not define concurrency limits.
pub fn with_concurrency_limit(max: usize) -> ConcurrencyLimit {
    let places = Arc::new(Semaphore::new(max.min(Semaphore::MAX_PERMITS)));
    let refusals = Arc::new(LogRate::default());
    ConcurrencyLimit {
        max,
        retry_after: Duration::from_secs(1),
        places,
        refusals,
        is_number: false,
    }
}

/// The middleware of [`with_concurrency_limit`].
#[derive(Clone)]
#[must_use = "it does nothing until a route or a router uses it"]
pub struct ConcurrencyLimit {
    max: usize,
    retry_after: Duration,
    places: Arc<Semaphore>,
    refusals: Arc<LogRate>,
    /// True if it was written as a number. Each router then has its own places.
    is_number: bool,
}

impl ConcurrencyLimit {
    /// Sets the value of `Retry-After` for rejected clients, in whole seconds,
    /// rounded up, at least 1. Default: 1 s.
    pub fn retry_after(mut self, time: Duration) -> Self {
        self.retry_after = time;
        self
    }

    /// Returns the error for a request without a place.
    #[cold]
    fn refuse(&self, req: &Request) -> ApiError {
        if let Some(unlogged) = self.refusals.next() {
            log::warn!(
                target: "stockade",
                "{} {} was rejected, because {} requests are in flight; so were {unlogged} others",
                req.method(), req.route().unwrap_or("-"), self.max
            );
        }
        let whole = u64::from(self.retry_after.subsec_nanos() > 0);
        let seconds = self.retry_after.as_secs().saturating_add(whole).max(1);
        ApiError::new(503, "too many requests are in flight")
            .with_source(Overloaded)
            .with_header("Retry-After", seconds.to_string())
    }
}

impl fmt::Debug for ConcurrencyLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConcurrencyLimit")
            .field("max", &self.max)
            .field("retry_after", &self.retry_after)
            .finish_non_exhaustive()
    }
}

/// Marks the middleware, to exclude routes from it.
#[derive(Debug)]
pub struct LimitsConcurrency;

impl IntoMiddleware<form::Ready> for ConcurrencyLimit {
    fn into_middleware(self) -> Middleware {
        let is_zero = self.max == 0;
        let around = move |req: Request, next: Next| {
            let place = Arc::clone(&self.places).try_acquire_owned();
            let place = place.map_err(|_| self.refuse(&req));
            async move {
                let place = place?;
                let mut response = next.try_run(req).await?;
                if response.body().as_bytes().is_none() {
                    let body = std::mem::take(response.body_mut());
                    *response.body_mut() = HttpBody::new(PlacedBody { body, place: Some(place) });
                }
                Ok::<_, ApiError>(response)
            }
        };
        let middleware = Middleware::new(around).named("with_concurrency_limit");
        middleware.marked(LimitsConcurrency).describing(move |doc| {
            let retry_after =
                HeaderDoc::new("Retry-After", "The number of seconds until the next attempt");
            let refusal = ResponseDoc::error(503).meaning("Too many requests are in flight");
            doc.responds(refusal.header(retry_after));
            if is_zero {
                doc.issue("a concurrency limit must not be 0");
            }
        })
    }
}

impl IntoSetting<ConcurrencyLimit> for usize {
    fn into_setting(self) -> Setting<ConcurrencyLimit> {
        Setting::Value(ConcurrencyLimit { is_number: true, ..with_concurrency_limit(self) })
    }
}

impl IntoSetting<Self> for ConcurrencyLimit {
    fn into_setting(self) -> Setting<Self> {
        Setting::Value(self)
    }
}

impl ConcurrencyLimit {
    /// Returns the limit for a router. A limit that was written as a number
    /// gets its own places, because several routers may be built from the same
    /// options.
    #[doc(hidden)]
    pub fn for_router(&self) -> Self {
        if self.is_number {
            with_concurrency_limit(self.max).retry_after(self.retry_after)
        } else {
            self.clone()
        }
    }
}

/// A stream that holds the place of its request until it ends.
struct PlacedBody {
    body: HttpBody,
    /// `None` after the end of the stream.
    place: Option<OwnedSemaphorePermit>,
}

impl Body for PlacedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let polled = ready!(Pin::new(&mut self.body).poll_frame(cx));
        if !matches!(polled, Some(Ok(_))) {
            self.place = None;
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
