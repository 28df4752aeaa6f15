//! axum, with tower-http, tower_governor and jsonwebtoken in full mode.

mod full;

use std::error::Error;
use std::net::SocketAddr;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::{self, MethodFilter, MethodRouter};
use axum::{Json, Router};
use bench_common::{Mode, mode, route, user, workload};
use tokio::net::TcpSocket;
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let app = app(Mode::from_args())?;
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let socket = TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from(([127, 0, 0, 1], 0)))?;
        let listener = socket.listen(mode::BACKLOG)?;
        mode::announce(listener.local_addr()?);
        let service = app.into_make_service_with_connect_info::<SocketAddr>();
        let listener = axum::serve::ListenerExt::tap_io(listener, |stream| {
            // Otherwise responses wait for acknowledgements.
            let _ = stream.set_nodelay(true);
        });
        Ok(axum::serve(listener, service).await?)
    })
}

fn app(mode: Mode) -> Result<Router, Box<dyn Error>> {
    let mut param = routing::get(post);
    if mode == Mode::Full {
        param = full::with_token(param);
    }
    let mut app = Router::new()
        .route(route::JSON, routing::get(message))
        .route(route::PEOPLE, routing::post(echo))
        .route(&route::in_braces(route::PARAM), param);
    for (method, path) in route::github() {
        app = app.route(&route::in_braces(path), on(method)?);
    }
    if mode == Mode::Full {
        app = full::with_batteries(app);
    }
    let limit = usize::try_from(mode::MAX_BODY)?;
    Ok(if mode == Mode::Full { app.layer(DefaultBodyLimit::max(limit)) } else { app })
}

fn on(method: &str) -> Result<MethodRouter, Box<dyn Error>> {
    let method = axum::http::Method::from_bytes(method.as_bytes())?;
    Ok(routing::on(MethodFilter::try_from(method)?, message))
}

async fn message() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], workload::MESSAGE)
}

async fn post(Path((user, post)): Path<(u32, u32)>) -> Json<Post> {
    Json(Post { user, post })
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}

async fn echo(body: Bytes) -> Response {
    let (status, body) = match user::echo(&body) {
        Ok(user) => (StatusCode::OK, user),
        Err(refused) => (StatusCode::BAD_REQUEST, refused.body()),
    };
    (status, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}
