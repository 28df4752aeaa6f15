//! xitca-web, in bare mode only.

use std::array;
use std::io;

use bench_common::{mode, route, user, workload};
use xitca_web::bytes::Bytes;
use xitca_web::handler::handler_service;
use xitca_web::handler::json::Json;
use xitca_web::handler::params::Params;
use xitca_web::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use xitca_web::route::{Route, get, post};
use xitca_web::{App, NestApp};

fn main() -> io::Result<()> {
    let listener = mode::listener()?;
    mode::announce(listener.local_addr()?);
    let server = app().serve().worker_threads(1).keep_alive_timeout(mode::KEEP_ALIVE);
    server.listen(listener)?.run().wait()
}

fn app() -> NestApp<()> {
    let mut app = App::new()
        .at(route::JSON, get(handler_service(message)))
        .at(&route::in_braces(route::PARAM), get(handler_service(parameters)))
        .at(route::PEOPLE, post(handler_service(echo)));
    let mut paths: Vec<(&str, Vec<Method>)> = Vec::new();
    for (method, path) in route::github() {
        let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
        match paths.iter_mut().find(|(own, _)| *own == path) {
            Some((_, methods)) => methods.push(method),
            None => paths.push((path, vec![method])),
        }
    }
    for (path, methods) in paths {
        // The number of methods is part of the type; the first method fills the
        // rest.
        let methods: [Method; MOST_METHODS] =
            array::from_fn(|at| methods.get(at).unwrap_or(&methods[0]).clone());
        let route = Route::new(methods).route(handler_service(message));
        app = app.at(&route::in_braces(path), route);
    }
    app
}

/// The maximum number of methods on one of GitHub's paths.
const MOST_METHODS: usize = 4;

async fn message() -> ([Header; 1], Bytes) {
    ([JSON], Bytes::from_static(workload::MESSAGE.as_bytes()))
}

async fn parameters(Params((user, post)): Params<(u32, u32)>) -> Json<Post> {
    Json(Post { user, post })
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}

async fn echo(body: Vec<u8>) -> (StatusCode, [Header; 1], Vec<u8>) {
    match user::echo(&body) {
        Ok(user) => (StatusCode::OK, [JSON], user),
        Err(refused) => (StatusCode::BAD_REQUEST, [JSON], refused.body()),
    }
}

type Header = (HeaderName, HeaderValue);

const JSON: Header = (header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
