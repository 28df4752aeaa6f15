//! An API inside an axum application, which has its own pages, state and
//! middleware.
//!
//! ```text
//! cargo run -p in-axum
//! ```
//!
//! Below `/api` the whole application responds, with all its stages. Below
//! `/v1` the same routes belong to axum, and its layers format their errors.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{MatchedPath, Request as TheirRequest, State as TheirState};
use axum::middleware::{Next as TheirNext, from_fn, from_fn_with_state, map_response};
use axum::response::Response as TheirResponse;
use axum::routing::get;
use stockade::axum::ToAxum;
use stockade::middleware::with_rate_limit;
use stockade::prelude::*;

/// The state of the host: the number of requests.
type Visits = Arc<AtomicU64>;

#[derive(serde::Deserialize, Schema)]
struct NewNote {
    #[schema(trim, min_length = 1, max_length = 200)]
    text: String,
}

async fn create(Body(note): Body<NewNote>) -> (StatusCode, Value) {
    (StatusCode::CREATED, json!({ "text": note.text }))
}

async fn flight(req: Request) -> Value {
    json!({ "flight": req.param_values(), "client": req.client_ip().map(|ip| ip.to_string()) })
}

async fn broken() -> Result<(), ApiError> {
    Err(ApiError::new(500, "the disk of db-7 is full"))
}

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn api() -> Router {
    let routes = routes! {
        "flights/:from-:to": { GET: flight },
        "files/**": { GET: async |Path(splat): Path<String>| splat },
        "notes": { POST: create },
        "broken": { GET: broken },
        "login": { POST: { async || "in", middleware: [with_rate_limit(2 / MINUTE)] } },
        "echo": { ws: echo },
    };
    create_router(routes, RouterOptions::new().enable_web_sockets(true).max_body_size(1_024))
}

/// Host middleware, which also runs for stockade routes.
async fn count(
    TheirState(visits): TheirState<Visits>,
    request: TheirRequest,
    next: TheirNext,
) -> TheirResponse {
    visits.fetch_add(1, Ordering::Relaxed);
    next.run(request).await
}

/// Adds axum's matched path to the response.
async fn tell(path: Option<MatchedPath>, request: TheirRequest, next: TheirNext) -> TheirResponse {
    let mut response = next.run(request).await;
    if let Some(path) = path.and_then(|path| path.as_str().parse().ok()) {
        response.headers_mut().insert("x-matched", path);
    }
    response
}

/// Formats stockade errors in the host's format, with the original status and
/// headers.
async fn shape(mut response: TheirResponse) -> TheirResponse {
    if let Some(error) = response.extensions().get::<ApiError>() {
        let text = format!("sorry: {}\n", error.public_message(false));
        *response.body_mut() = text.into();
        let plain = header::HeaderValue::from_static("text/plain; charset=utf-8");
        response.headers_mut().insert(header::CONTENT_TYPE, plain);
    }
    response
}

fn host() -> Result<axum::Router, ConfigError> {
    let visits = Visits::default();
    let routes = api().to_host_router()?.layer(map_response(shape));
    Ok(axum::Router::new()
        .route(
            "/",
            get(async |TheirState(visits): TheirState<Visits>| {
                format!("{} requests so far\n", visits.load(Ordering::Relaxed))
            }),
        )
        .nest_service("/api", api().to_axum_service()?)
        .nest("/v1", routes)
        .fallback(async || (StatusCode::NOT_FOUND, "no page\n"))
        .layer(from_fn(tell))
        .layer(from_fn_with_state(Arc::clone(&visits), count))
        .with_state(visits))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}; Ctrl-C ends it", listener.local_addr()?);
    // Rate limits need this to distinguish clients.
    let service = host()?.into_make_service_with_connect_info::<SocketAddr>();
    axum::serve(listener, service).await?;
    Ok(())
}
