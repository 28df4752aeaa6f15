//! actix-web, with actix-cors, actix-governor and jsonwebtoken in full mode.

mod full;

use std::io;

use actix_cors::Cors;
use actix_governor::Governor;
use actix_web::http::{Method, header};
use actix_web::middleware::{Condition, DefaultHeaders};
use actix_web::web::{self, Bytes, PayloadConfig, ServiceConfig};
use actix_web::{App, HttpResponse, HttpServer, guard};
use bench_common::header::SECURITY;
use bench_common::{Mode, mode, route, user, workload};

#[actix_web::main]
async fn main() -> io::Result<()> {
    let mode = Mode::from_args();
    let is_full = mode == Mode::Full;
    let limit = full::limit();
    let server = HttpServer::new(move || {
        let security = SECURITY.into_iter().fold(DefaultHeaders::new(), DefaultHeaders::add);
        let cors = if is_full { full::cors() } else { Cors::default() };
        App::new()
            .app_data(PayloadConfig::new(usize::try_from(mode::MAX_BODY).unwrap_or(usize::MAX)))
            .wrap(Condition::new(is_full, Governor::new(&limit)))
            .wrap(Condition::new(is_full, cors))
            .wrap(Condition::new(is_full, security))
            .configure(|config| routes(config, is_full))
    });
    let server = server
        .workers(1)
        .keep_alive(mode::KEEP_ALIVE)
        .backlog(mode::BACKLOG)
        .bind(("127.0.0.1", 0))?;
    for address in server.addrs() {
        mode::announce(address);
    }
    server.max_connections(mode::MAX_CONNECTIONS as usize).run().await
}

/// Registers one resource for each path, as the actix-web documentation
/// recommends.
fn routes(config: &mut ServiceConfig, is_full: bool) {
    config.service(web::resource(route::JSON).route(web::get().to(message)));
    let param = web::resource(route::in_braces(route::PARAM));
    if is_full {
        config.service(param.route(web::get().to(full::post)));
    } else {
        config.service(param.route(web::get().to(post)));
    }
    config.service(web::resource(route::PEOPLE).route(web::post().to(echo)));
    let mut paths: Vec<(&str, Vec<&str>)> = Vec::new();
    for (method, path) in route::github() {
        match paths.iter_mut().find(|(own, _)| *own == path) {
            Some((_, methods)) => methods.push(method),
            None => paths.push((path, vec![method])),
        }
    }
    for (path, methods) in paths {
        let resource = web::resource(route::in_braces(path));
        let resource = methods.into_iter().fold(resource, |resource, method| {
            let method = Method::from_bytes(method.as_bytes()).unwrap_or(Method::GET);
            resource.route(web::route().guard(guard::Method(method)).to(message))
        });
        config.service(resource);
    }
}

async fn message() -> HttpResponse {
    HttpResponse::Ok().insert_header(JSON).body(workload::MESSAGE)
}

pub(crate) async fn post(path: web::Path<(u32, u32)>) -> HttpResponse {
    let (user, post) = path.into_inner();
    HttpResponse::Ok().json(Post { user, post })
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}

async fn echo(body: Bytes) -> HttpResponse {
    match user::echo(&body) {
        Ok(user) => HttpResponse::Ok().insert_header(JSON).body(user),
        Err(refused) => HttpResponse::BadRequest().insert_header(JSON).body(refused.body()),
    }
}

pub(crate) const JSON: (header::HeaderName, &str) = (header::CONTENT_TYPE, "application/json");
