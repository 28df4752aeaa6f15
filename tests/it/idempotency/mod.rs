//! Idempotency keys: a request that is sent several times runs once.

mod answers;
mod checks;
mod construction;
mod crashes;
mod model;
mod owners;
mod races;
mod scopes;
mod sockets;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::with_idempotency;
use stockade::prelude::*;

use crate::support::{app, request, text_of};

/// The number of times that a handler has started.
#[derive(Clone, Default)]
struct Runs(Arc<AtomicUsize>);

impl Runs {
    /// Increments the count and returns it.
    fn begin(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

fn in_memory() -> Idempotency {
    Idempotency::new(MemoryIdempotencyStore::new())
}

/// Uses the bearer token as the user's name. Requests without one belong to
/// their client.
fn by_name() -> Middleware {
    let user = async |name: String| Some(json!({ "sub": name }));
    with_auth(Auth::bearer(user).required(false))
}

fn quiet() -> RouterOptions {
    RouterOptions::new().rate_limit(false).expose_errors(false)
}

/// Creates an application with one handler at `POST /x` and `POST /y`, behind
/// the keys.
macro_rules! keyed {
    ($options:expr, $handler:expr) => {
        keyed!($options, $handler, quiet())
    };
    ($options:expr, $handler:expr, $router:expr) => {{
        let once = with_idempotency($options);
        let handler = $handler;
        let mut router = Router::with_options($router);
        router.post("/x", handler.clone()).middleware([by_name(), once.clone()]);
        router.post("/y", handler).middleware([by_name(), once]);
        app(router)
    }};
}
use keyed;

/// Sends a text with a key. Returns `status body`, or `status replayed body`
/// for a stored response.
async fn send(app: &App, key: &str, text: &str) -> String {
    send_lines(app, &format!("POST /x\nidempotency-key: \"{key}\""), text).await
}

async fn send_lines(app: &App, lines: &str, text: &str) -> String {
    let request = request(&format!("{lines}\ncontent-type: text/plain\n\n{text}"));
    shown(app.handle(request).await).await
}

async fn shown(response: Response) -> String {
    let status = response.status().as_u16();
    let replayed = match response.headers().get("idempotency-replayed") {
        Some(_) => "replayed ",
        None => "",
    };
    format!("{status} {replayed}{}", text_of(response.into_body()).await)
}

const RUNNING: &str = r#"409 {"error":"The request with this Idempotency-Key is still running"}"#;
const OTHER: &str = r#"422 {"error":"This Idempotency-Key belongs to a different request"}"#;
const UNKNOWN: &str =
    r#"409 {"error":"The outcome of the request with this Idempotency-Key is unknown"}"#;
