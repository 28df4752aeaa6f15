//! Health checks: handlers that tell monitoring if the program lives, and if it
//! takes requests.
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

/// The readiness of the program to take requests. Clones share one state.
///
/// A `Readiness` begins as ready. The own server finds it in the state of its
/// application and sets it to false when a shutdown begins, so that a load
/// balancer sends requests elsewhere. A program may set it too.
///
/// It may also watch what the program needs, such as an engine that all processes
/// share. That is [`watching`](Self::watching) for nearly everything: where all processes
/// become unready because one engine is away, nobody answers at all, not even those
/// requests that do not need it.
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

/// A part that the program needs.
#[derive(Clone)]
struct Part {
    name: Arc<str>,
    watched: Arc<dyn HealthCheck>,
    is_critical: bool,
}

/// A part of a program whose state a [`Readiness`] watches: a link to an engine, or any
/// function that returns how long the part has been away.
///
/// It is asked for each answer, so it must know the state and not find it out.
pub trait HealthCheck: Send + Sync + 'static {
    /// Returns the time for which the part has been away; `None` while it is there.
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
    /// Makes a state that is ready.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Watches a part of the program under a name: it is told by
    /// [`degraded`](Self::degraded) and decides nothing. Only this value and its later
    /// clones watch it.
    #[must_use]
    pub fn watching(self, name: impl Into<String>, watched: impl HealthCheck) -> Self {
        self.with(name.into(), watched, false)
    }

    /// Watches a part without which the program can answer nothing: once it has been away
    /// for 10 s, the program is not ready.
    ///
    /// Nothing that all processes share should be critical: all of them would leave the load
    /// balancer at once.
    #[must_use]
    pub fn critical(self, name: impl Into<String>, watched: impl HealthCheck) -> Self {
        self.with(name.into(), watched, true)
    }

    /// Tells the names of parts that are away in the answer of [`ready`], as `degraded`:
    /// the first 100 of them. Default: false, because anybody may read it where the
    /// route is open.
    #[must_use]
    pub fn details(mut self, shows: bool) -> Self {
        self.shows_details = shows;
        self
    }

    /// Takes requests from now on if true; refuses them otherwise.
    pub fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// Returns true while the program takes requests: it was not [`set`](Self::set) to
    /// false, and no critical part has been away for 10 s.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let is_missing = |part: &Part| {
            part.is_critical && part.watched.down_for().is_some_and(|time| time >= CRITICAL_AFTER)
        };
        self.ready.load(Ordering::Acquire) && !self.parts.iter().any(is_missing)
    }

    /// Returns the names of the parts that are away, in the order in which they were
    /// added.
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

/// Handles `/health/live`: answers 200 `{"status":"ok"}` as long as the program
/// answers at all. It looks at nothing else: a restart repairs no engine.
pub async fn live() -> LivenessReply {
    LivenessReply(())
}

/// Handles `/health/ready`: answers 200 `{"status":"ok"}`, or 503
/// `{"status":"unavailable"}` when requests should go elsewhere.
///
/// With [`Readiness::details`] it names the parts that are away:
/// `{"status":"ok","degraded":["redis"]}`. The 503 is not logged as an error.
pub async fn ready(readiness: State<Readiness>) -> ReadinessReply {
    let degraded = match readiness.shows_details {
        true => readiness.degraded().into_iter().take(MAX_NAMED).map(str::to_owned).collect(),
        false => Vec::new(),
    };
    ReadinessReply { is_ready: readiness.is_ready(), degraded }
}

/// The reply of [`live`].
#[derive(Clone, Copy, Debug)]
pub struct LivenessReply(());

/// The reply of [`ready`].
#[derive(Clone, Debug)]
pub struct ReadinessReply {
    is_ready: bool,
    /// The names of parts that are away, if they are to be told.
    degraded: Vec<String>,
}

impl Reply for LivenessReply {
    fn into_response(self) -> Result<Response, ApiError> {
        let Self(()) = self;
        answer(StatusCode::OK, json!({ "status": OK })).into_response()
    }

    fn describe(doc: &mut RouteDescription) {
        let members = json!({ "status": { "const": OK } });
        doc.responds(documented(StatusCode::OK, &members).meaning("The program is alive"));
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
        doc.responds(takes.meaning("The program takes requests"));
        let refuses = documented(StatusCode::SERVICE_UNAVAILABLE, &members(UNAVAILABLE));
        doc.responds(refuses.meaning("Requests should go elsewhere"));
    }
}

fn answer(status: StatusCode, body: Value) -> (StatusCode, (HeaderMap, Value)) {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static("no-store"))]);
    (status, (headers, body))
}

/// Returns an answer as [`answer`] makes it, for a description. Of these members it
/// always has the status.
fn documented(status: StatusCode, members: &Value) -> ResponseDoc {
    let schema = json!({ "type": "object", "properties": members, "required": ["status"] });
    let content = Content::new("application/json", ContentSchema::Json(schema));
    let no_store = HeaderDoc::new("Cache-Control", "Caches do not keep the answer");
    ResponseDoc::new(status).content(content).header(no_store)
}

const OK: &str = "ok";
const UNAVAILABLE: &str = "unavailable";
/// The number of parts that an answer names. Answers have a bound, and a program has
/// fewer parts.
const MAX_NAMED: usize = 100;
/// The time for which a critical part may be away.
const CRITICAL_AFTER: Duration = Duration::from_secs(10);
