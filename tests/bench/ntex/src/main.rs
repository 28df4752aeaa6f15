//! ntex, in bare mode only.

use std::io;

use bench_common::{mode, route, user, workload};
use ntex::http::{HttpServiceConfig, Method, header};
use ntex::service::cfg::SharedCfg;
use ntex::time::Seconds;
use ntex::util::Bytes;
use ntex::web::{self, App, HttpResponse, HttpServer, ServiceConfig, guard};

#[ntex::main]
async fn main() -> io::Result<()> {
    let listener = mode::listener()?;
    mode::announce(listener.local_addr()?);
    let keep_alive = Seconds::checked_new(usize::try_from(mode::KEEP_ALIVE.as_secs()).unwrap_or(0));
    let http = HttpServiceConfig::new().set_keepalive_timeout(keep_alive);
    let config = SharedCfg::new("bench").add(http);
    let server = HttpServer::new(async || App::new().configure(routes));
    let server = server.workers(1).maxconn(mode::MAX_CONNECTIONS as usize).config(config);
    server.listen(listener)?.run().await
}

fn routes(config: &mut ServiceConfig) {
    config.service(web::resource(route::JSON).route(web::get().to(message)));
    config.service(web::resource(route::in_braces(route::PARAM)).route(web::get().to(post)));
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
    HttpResponse::Ok().header(header::CONTENT_TYPE, JSON).body(workload::MESSAGE)
}

async fn post(path: web::types::Path<(u32, u32)>) -> HttpResponse {
    let (user, post) = path.into_inner();
    HttpResponse::Ok().json(&Post { user, post })
}

#[derive(serde::Serialize)]
struct Post {
    user: u32,
    post: u32,
}

async fn echo(body: Bytes) -> HttpResponse {
    match user::echo(&body) {
        Ok(user) => HttpResponse::Ok().header(header::CONTENT_TYPE, JSON).body(user),
        Err(refused) => {
            HttpResponse::BadRequest().header(header::CONTENT_TYPE, JSON).body(refused.body())
        }
    }
}

const JSON: &str = "application/json";
