//! Whether the program lives, and whether it takes requests: handlers for those
//! who watch it.
//!
//! ```
//! use stockade_middleware::health::{Readiness, live, ready};
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
use stockade_core::extract::State;

/// Whether requests shall come here; a clone says and sets the same.
///
/// It is ready from the beginning. The own server sets the one that is state of
/// its application to false when a shutdown begins, and whoever distributes
/// requests sends them elsewhere; a program may set it too, for reasons of its
/// own.
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
    /// Ready.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says whether requests shall come here, from now on.
    pub fn set(&self, ready: bool) {
        self.ready.store(ready, Ordering::Release);
    }

    /// Whether requests shall come here.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.ready.load(Ordering::Acquire)
    }
}

/// The handler of `/health/live`: 200 `{"status":"ok"}`, as long as anything
/// answers at all.
pub async fn live() -> (StatusCode, (HeaderMap, Value)) {
    answer(StatusCode::OK, "ok")
}

/// The handler of `/health/ready`: 200 `{"status":"ok"}`, or 503
/// `{"status":"unavailable"}` when requests shall go elsewhere.
///
/// The 503 is an answer and no error: it is not logged as one.
pub async fn ready(readiness: State<Readiness>) -> (StatusCode, (HeaderMap, Value)) {
    if readiness.is_ready() {
        answer(StatusCode::OK, "ok")
    } else {
        answer(StatusCode::SERVICE_UNAVAILABLE, "unavailable")
    }
}

fn answer(status: StatusCode, text: &str) -> (StatusCode, (HeaderMap, Value)) {
    let headers = HeaderMap::from_iter([(CACHE_CONTROL, HeaderValue::from_static("no-store"))]);
    (status, (headers, json!({ "status": text })))
}
