//! Tower services and layers in a route tree: the files of a folder, an older
//! axum API, and the tracing of `tower-http`.
//!
//! ```text
//! cargo run -p in-axum --bin tower_inside
//! curl -i localhost:3000/files/hello.rs
//! curl -i localhost:3000/old/users/7
//! curl -i -X PURGE localhost:3000/cache/7
//! ```

use stockade::middleware::layered;
use stockade::prelude::*;
use stockade::server::FromTower;
use tower_http::services::ServeDir;
use tower_http::trace::TraceLayer;

/// The old API, which needs no changes.
fn old() -> axum::Router {
    use axum::extract::Path;
    use axum::routing::{get, post};

    axum::Router::new()
        .route("/users/{id}", get(async |Path(id): Path<u32>| format!("user {id} of axum\n")))
        .route("/echo", post(async |body: String| body))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let files = ServeDir::new(env!("CARGO_MANIFEST_DIR"));
    let api = routes! {
        middleware: [layered(TraceLayer::new_for_http())],
        "files": { mount: FromTower(files) },
        "old": {
            mount: { old(), max_body: 64 * 1024 },
            // A more specific path takes precedence, so you can move one route
            // at a time.
            "users/me": { GET: async || "me of stockade\n" },
        },
        "cache/**": {
            GET: async || "cached\n",
            ANY: { async |req: Request| format!("{} of the cache\n", req.method()), name: "cache" },
        },
    };
    create_router(api, RouterOptions::new()).listen(3000).await?;
    Ok(())
}
