//! Health checks: handlers that tell monitoring if the program lives, and if it
//! takes requests.
//!
//! ```
//! use stockade::middleware::health::{Readiness, live, ready};
//!
//! let readiness = Readiness::new();
//! // RouterOptions::new().state(readiness.clone())
//! // routes! { "health": { "live": { GET: live }, "ready": { GET: ready } } }
//! readiness.set(false);
//! assert!(!readiness.is_ready());
//! # let _ = (live, ready);
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http::header::CACHE_CONTROL;
use http::{HeaderMap, HeaderValue, StatusCode};
use serde_json::{Value, json};
use stockade_core::description::{Answer, Content, ContentSchema, HeaderDoc};
use stockade_core::extract::State;
use stockade_core::{Reply, Response, RouteDoc};
use stockade_errors::ApiError;

/// The readiness of the program to take requests. Clones share one state.
///
/// A `Readiness` begins as ready. The own server finds it in the state of its
/// application and sets it to false when a shutdown begins, so that a load
/// balancer sends requests elsewhere. A program may set it too.
#[derive(Clone, Debug)]
pub struct Readiness {
    ready: Arc<AtomicBool>,
}

impl Default for Readiness {
    fn default() -> Self {
        Self { ready: Arc::new(AtomicBool::new(true)) }
    }
}

impl Readiness {
    /// Makes a state that is ready.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes requests from now on if true; refuses them otherwise.
    pub fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// Returns true while the program takes requests.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }
}

/// Handles `/health/live`: answers 200 `{"status":"ok"}` as long as the program
/// answers at all.
pub async fn live() -> LivenessReply {
    LivenessReply(())
}

/// Handles `/health/ready`: answers 200 `{"status":"ok"}`, or 503
/// `{"status":"unavailable"}` when requests should go elsewhere.
///
/// The 503 is not logged as an error.
pub async fn ready(readiness: State<Readiness>) -> ReadinessReply {
    ReadinessReply { is_ready: readiness.is_ready() }
}

/// The reply of [`live`].
#[derive(Clone, Copy, Debug)]
pub struct LivenessReply(());

/// The reply of [`ready`].
#[derive(Clone, Copy, Debug)]
pub struct ReadinessReply {
    is_ready: bool,
}

impl Reply for LivenessReply {
    fn into_response(self) -> Result<Response, ApiError> {
        let Self(()) = self;
        answer(StatusCode::OK, OK).into_response()
    }

    fn describe(doc: &mut RouteDoc) {
        doc.answers(documented(StatusCode::OK, OK).meaning("The program is alive"));
    }
}

impl Reply for ReadinessReply {
    fn into_response(self) -> Result<Response, ApiError> {
        let (status, text) = match self.is_ready {
            true => (StatusCode::OK, OK),
            false => (StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE),
        };
        answer(status, text).into_response()
    }

    fn describe(doc: &mut RouteDoc) {
        doc.answers(documented(StatusCode::OK, OK).meaning("The program takes requests"));
        let refuses = documented(StatusCode::SERVICE_UNAVAILABLE, UNAVAILABLE);
        doc.answers(refuses.meaning("Requests should go elsewhere"));
    }
}

fn answer(status: StatusCode, text: &str) -> (StatusCode, (HeaderMap, Value)) {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static("no-store"))]);
    (status, (headers, json!({ "status": text })))
}

/// Returns an answer as [`answer`] makes it, for a description.
fn documented(status: StatusCode, text: &str) -> Answer {
    let schema = json!({
        "type": "object",
        "properties": { "status": { "const": text } },
        "required": ["status"],
    });
    let content = Content::new("application/json", ContentSchema::Json(schema));
    let no_store = HeaderDoc::new("Cache-Control", "Caches do not keep the answer");
    Answer::new(status).content(content).header(no_store)
}

const OK: &str = "ok";
const UNAVAILABLE: &str = "unavailable";
