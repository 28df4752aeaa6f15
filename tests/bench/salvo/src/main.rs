//! salvo, with its own middleware and jsonwebtoken in full mode.

mod full;

use std::error::Error;

use bench_common::{Mode, mode, route, user, workload};
use salvo::conn::tcp::TcpAcceptor;
use salvo::http::{HeaderValue, Method, StatusCode, header};
use salvo::routing::{MethodFilter, Router};
use salvo::writing::Json;
use salvo::{Request, Response, Server, Service, handler};
use tokio::net::TcpListener;
use tokio::runtime::Builder;

fn main() -> Result<(), Box<dyn Error>> {
    let mode = Mode::from_args();
    Builder::new_current_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::from_std(mode::listener()?)?;
        mode::announce(listener.local_addr()?);
        let mut service = Service::new(router(mode)?);
        if mode == Mode::Full {
            service = full::with_batteries(service);
        }
        Ok(Server::new(TcpAcceptor::try_from(listener)?).try_serve(service).await?)
    })
}

fn router(mode: Mode) -> Result<Router, Box<dyn Error>> {
    let mut param = Router::with_path(path(route::PARAM)).get(parameters);
    if mode == Mode::Full {
        param = param.hoop(full::bearer);
    }
    let mut router = Router::new()
        .push(Router::with_path(path(route::JSON)).get(message))
        .push(param)
        .push(Router::with_path(path(route::PEOPLE)).post(echo));
    let mut paths: Vec<(&str, Router)> = Vec::new();
    for (method, own) in route::github() {
        let method = Method::from_bytes(method.as_bytes())?;
        let route = Router::with_filter(MethodFilter(method)).goal(message);
        match paths.iter_mut().find(|(path, _)| *path == own) {
            Some((_, router)) => router.routers_mut().push(route),
            None => paths.push((own, Router::with_path(path(own)).push(route))),
        }
    }
    for (_, route) in paths {
        router = router.push(route);
    }
    Ok(router)
}

fn path(path: &str) -> String {
    route::in_braces(path.trim_start_matches('/'))
}

#[handler]
async fn message(response: &mut Response) {
    json(response, StatusCode::OK, workload::MESSAGE);
}

#[handler]
async fn parameters(request: &mut Request, response: &mut Response) {
    match (request.param("id"), request.param("post")) {
        (Some(user), Some(post)) => response.render(Json(Post { user, post })),
        _ => json(response, StatusCode::NOT_FOUND, r#"{"error":"Not Found"}"#),
    }
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}

#[handler]
async fn echo(request: &mut Request, response: &mut Response) {
    let body = request.payload().await;
    match user::echo(body.map_or(&[], |body| body)) {
        Ok(user) => json(response, StatusCode::OK, user),
        Err(refused) => json(response, StatusCode::BAD_REQUEST, refused.body()),
    }
}

pub(crate) fn json(
    response: &mut Response,
    status: StatusCode,
    body: impl Into<salvo::http::ResBody>,
) {
    response.status_code(status);
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(header::CONTENT_TYPE, json);
    response.body(body);
}
