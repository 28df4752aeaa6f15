//! poem, with its own middleware, governor and jsonwebtoken in full mode.

mod full;

use std::error::Error;

use bench_common::{Mode, mode, route, user, workload};
use poem::http::{Method, StatusCode, header};
use poem::listener::TcpAcceptor;
use poem::web::{Json, Path};
use poem::{Body, Response, Route, RouteMethod, Server, get, handler, post};
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let mode = Mode::from_args();
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = mode::listener()?;
        mode::announce(listener.local_addr()?);
        let server = Server::new_with_acceptor(TcpAcceptor::from_std(listener)?);
        match mode {
            Mode::Full => server.run(full::with_batteries(app(mode)?)).await?,
            _ => server.run(app(mode)?).await?,
        }
        Ok(())
    })
}

fn app(mode: Mode) -> Result<Route, Box<dyn Error>> {
    let mut app = Route::new().at(route::JSON, get(message));
    app = match mode {
        Mode::Full => app
            .at(route::PARAM, get(parameters.around(full::token)))
            .at(route::PEOPLE, post(echo.with(full::body_limit()))),
        _ => app.at(route::PARAM, get(parameters)).at(route::PEOPLE, post(echo)),
    };
    let mut paths: Vec<(&str, RouteMethod)> = Vec::new();
    for (method, path) in route::github() {
        let method = Method::from_bytes(method.as_bytes())?;
        match paths.iter_mut().find(|(own, _)| *own == path) {
            Some((_, route)) => *route = std::mem::take(route).method(method, message),
            None => paths.push((path, RouteMethod::new().method(method, message))),
        }
    }
    for (path, route) in paths {
        app = app.try_at(path, route)?;
    }
    Ok(app)
}

#[handler]
fn message() -> Response {
    json(StatusCode::OK, workload::MESSAGE)
}

#[handler]
fn parameters(Path((user, post)): Path<(u32, u32)>) -> Json<Post> {
    Json(Post { user, post })
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}

#[handler]
fn echo(body: Vec<u8>) -> Response {
    match user::echo(&body) {
        Ok(user) => json(StatusCode::OK, user),
        Err(refused) => json(StatusCode::BAD_REQUEST, refused.body()),
    }
}

pub(crate) fn json(status: StatusCode, body: impl Into<Body>) -> Response {
    let answer = Response::builder().status(status);
    answer.header(header::CONTENT_TYPE, "application/json").body(body)
}
