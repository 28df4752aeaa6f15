//! Health checks: handlers for liveness and readiness probes, such as
//! Kubernetes probes.
//!
//! ```
//! use stockade::middleware::health::{Readiness, live, ready};
//!
//! let readiness = Readiness::new();
//! // create_router(api, options).state(readiness.clone())
//! // routes! { "health": { "live": { GET: live }, "ready": { GET: ready } } }
//! readiness.set(false);
//! assert!(!readiness.is_ready());
//! # let _ = (live, ready);
//! ```

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};
use stockade_core::description::{Content, ContentSchema, HeaderDoc, ResponseDoc};
use stockade_core::extract::State;
use stockade_core::{Reply, Response, RouteDescription};
use stockade_errors::ApiError;

/// The readiness of the program to accept requests. Clones share one state.
///
/// A `Readiness` is initially ready. The stockade server finds it in the
/// application's state and sets it to false when a shutdown begins, so that a
/// load balancer sends requests elsewhere. The program may set it too.
///
/// It may also watch dependencies, such as a store that all processes share.
/// Use [`watching`](Self::watching) for nearly all of them. If all processes
/// become unready because one store is down, no process responds at all, not
/// even to requests that do not need the store.
///
/// ```
/// use std::time::Duration;
///
/// use stockade::middleware::health::Readiness;
///
/// let away = || Some(Duration::from_secs(60));
/// let readiness = Readiness::new().watching("cache", away).critical("database", || None::<Duration>);
/// assert!(readiness.is_ready());
/// assert_eq!(readiness.degraded(), ["cache"]);
///
/// let readiness = Readiness::new().critical("database", away);
/// assert!(!readiness.is_ready());
/// ```
#[derive(Clone, Debug)]
pub struct Readiness {
    ready: Arc<AtomicBool>,
    parts: Vec<Part>,
    shows_details: bool,
}

/// A dependency of the program.
#[derive(Clone)]
struct Part {
    name: Arc<str>,
    watched: Arc<dyn HealthCheck>,
    is_critical: bool,
}

/// A dependency that a [`Readiness`] watches: a store connection, or any
/// function that returns how long the dependency has been down.
///
/// It is called for each response, so it must return a known state without
/// checking the dependency.
pub trait HealthCheck: Send + Sync + 'static {
    /// Returns how long the dependency has been down, or `None` if it is up.
    fn down_for(&self) -> Option<Duration>;
}

impl<F: Fn() -> Option<Duration> + Send + Sync + 'static> HealthCheck for F {
    fn down_for(&self) -> Option<Duration> {
        self()
    }
}

impl Default for Readiness {
    fn default() -> Self {
        Self { ready: Arc::new(AtomicBool::new(true)), parts: Vec::new(), shows_details: false }
    }
}

impl Readiness {
    /// Creates a state that is ready.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Watches a dependency under a name. It appears in
    /// [`degraded`](Self::degraded) but does not affect readiness. Only this
    /// value and its later clones watch it.
    #[must_use]
    pub fn watching(self, name: impl Into<String>, watched: impl HealthCheck) -> Self {
        self.with(name.into(), watched, false)
    }

    /// Watches a dependency that every response needs: the program is not ready
    /// once the dependency has been down for 10 s.
    ///
    /// Nothing that all processes share should be critical; otherwise all of
    /// them would leave the load balancer at once.
    #[must_use]
    pub fn critical(self, name: impl Into<String>, watched: impl HealthCheck) -> Self {
        self.with(name.into(), watched, true)
    }

    /// Sets whether the response of [`ready`] lists the first 100 failed
    /// dependencies as `degraded`. Default: false, because anyone can read it
    /// on a public route.
    #[must_use]
    pub fn details(mut self, shows: bool) -> Self {
        self.shows_details = shows;
        self
    }

    /// Sets whether the program accepts requests.
    pub fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// Returns true if the program accepts requests: it was not
    /// [`set`](Self::set) to false, and no critical dependency has been down
    /// for 10 s.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let is_missing = |part: &Part| {
            part.is_critical && part.watched.down_for().is_some_and(|time| time >= CRITICAL_AFTER)
        };
        self.ready.load(Ordering::Acquire) && !self.parts.iter().any(is_missing)
    }

    /// Returns the names of the failed dependencies in the order of their
    /// registration.
    #[must_use]
    pub fn degraded(&self) -> Vec<&str> {
        let away = self.parts.iter().filter(|part| part.watched.down_for().is_some());
        away.map(|part| &*part.name).collect()
    }

    fn with(mut self, name: String, watched: impl HealthCheck, is_critical: bool) -> Self {
        self.parts.push(Part { name: name.into(), watched: Arc::new(watched), is_critical });
        self
    }
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.name)
    }
}

/// Handles `/health/live`: responds with 200 `{"status":"ok"}` as long as the
/// program responds at all. It checks nothing else, because a restart does not
/// repair a store.
pub async fn live() -> LivenessReply {
    LivenessReply(())
}

/// Handles `/health/ready`: responds with 200 `{"status":"ok"}`, or with 503
/// `{"status":"unavailable"}` if requests should go elsewhere.
///
/// [`Readiness::details`] adds the list of failed dependencies:
/// `{"status":"ok","degraded":["redis"]}`. The 503 is not logged as an error.
pub async fn ready(readiness: State<Readiness>) -> ReadinessReply {
    let degraded = match readiness.shows_details {
        true => readiness.degraded().into_iter().take(MAX_NAMED).map(str::to_owned).collect(),
        false => Vec::new(),
    };
    ReadinessReply { is_ready: readiness.is_ready(), degraded }
}

/// The response of [`live`].
#[derive(Clone, Copy, Debug)]
pub struct LivenessReply(());

/// The response of [`ready`].
#[derive(Clone, Debug)]
pub struct ReadinessReply {
    is_ready: bool,
    /// The names of the failed dependencies, if details are enabled.
    degraded: Vec<String>,
}

impl Reply for LivenessReply {
    fn into_response(self) -> Result<Response, ApiError> {
        let Self(()) = self;
        answer(StatusCode::OK, json!({ "status": OK })).into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        let members = json!({ "status": { "const": OK } });
        doc.responds(documented(StatusCode::OK, &members).meaning("The process is alive"));
    }
}

impl Reply for ReadinessReply {
    fn into_response(self) -> Result<Response, ApiError> {
        let (status, text) = match self.is_ready {
            true => (StatusCode::OK, OK),
            false => (StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE),
        };
        let mut body = json!({ "status": text });
        if !self.degraded.is_empty() {
            body["degraded"] = self.degraded.into();
        }
        answer(status, body).into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        let members = |text: &str| {
            let names =
                json!({ "type": "array", "items": { "type": "string" }, "maxItems": MAX_NAMED });
            json!({ "status": { "const": text }, "degraded": names })
        };
        let takes = documented(StatusCode::OK, &members(OK));
        doc.responds(takes.meaning("The process accepts requests"));
        let refuses = documented(StatusCode::SERVICE_UNAVAILABLE, &members(UNAVAILABLE));
        doc.responds(refuses.meaning("The process does not accept requests"));
    }
}

fn answer(status: StatusCode, body: Value) -> (StatusCode, (HeaderMap, Value)) {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static("no-store"))]);
    (status, (headers, body))
}

/// Describes a response of [`answer`]. Only the member `status` is always
/// present.
fn documented(status: StatusCode, members: &Value) -> ResponseDoc {
    let schema = json!({ "type": "object", "properties": members, "required": ["status"] });
    let content = Content::new("application/json", ContentSchema::Json(schema));
    let no_store = HeaderDoc::new("Cache-Control", "Caches must not store the response");
    ResponseDoc::new(status).content(content).header(no_store)
}

const OK: &str = "ok";
const UNAVAILABLE: &str = "unavailable";
/// The maximum number of dependencies in a response. Responses are bounded, and
/// a program has fewer dependencies.
const MAX_NAMED: usize = 100;
/// The time for which a critical dependency may be down.
const CRITICAL_AFTER: Duration = Duration::from_secs(10);
