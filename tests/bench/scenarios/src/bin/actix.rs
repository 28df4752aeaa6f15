//! actix-web, with actix-files and actix-ws.

use std::io;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use actix_files::NamedFile;
use actix_web::http::header;
use actix_web::rt::System;
use actix_web::web::{self, Bytes, Data, Json, Payload};
use actix_web::{App, HttpRequest, HttpResponse, HttpServer, rt};
use actix_ws::Session;
use bench_common::{mode, workload};
use bench_scenarios::content::{self, MAX_ORDERS, Orders};
use bench_scenarios::{BoxError, Start, tls};
use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use tokio::sync::broadcast::{self, Sender};
use tokio_stream::wrappers::BroadcastStream;

fn main() -> Result<(), BoxError> {
    let start = Start::from_args()?;
    System::new().block_on(serve(start))
}

async fn serve(start: Start) -> Result<(), BoxError> {
    let site = Data::new(Site {
        file: content::file_in(&start.folder),
        news: broadcast::channel(16).0,
        members: Mutex::default(),
    });
    let server = HttpServer::new(move || {
        App::new()
            .app_data(site.clone())
            .route("/json", web::get().to(message))
            .route("/orders", web::post().to(orders))
            .route("/events", web::get().to(events))
            .route("/publish", web::post().to(publish))
            .route("/live", web::get().to(live))
            .route("/file", web::get().to(file))
    });
    let server = server
        .workers(start.scenario.workers())
        .keep_alive(mode::KEEP_ALIVE)
        .max_connections(mode::MAX_CONNECTIONS as usize);
    let listener = mode::listener()?;
    let address = listener.local_addr()?;
    let server = match start.scenario.protocol() {
        Some(_) => server.listen_rustls_0_23(listener, tls::server(&start.folder, start.scenario)?),
        None => server.listen(listener),
    };
    mode::announce(address);
    Ok(server?.run().await?)
}

/// State that all workers share.
struct Site {
    file: PathBuf,
    news: Sender<&'static str>,
    /// A list of sessions, as in the actix-ws example.
    members: Mutex<Vec<Session>>,
}

async fn message() -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "application/json"))
        .body(workload::MESSAGE)
}

async fn orders(orders: Json<Orders>) -> HttpResponse {
    if orders.orders.len() > MAX_ORDERS {
        return HttpResponse::BadRequest().finish();
    }
    HttpResponse::Ok().json(&*orders)
}

async fn events(site: Data<Site>) -> HttpResponse {
    let events = BroadcastStream::new(site.news.subscribe())
        .map_ok(|news| Bytes::from(format!("data: {news}\n\n")))
        .map_err(io::Error::other);
    HttpResponse::Ok()
        .insert_header((header::CONTENT_TYPE, "text/event-stream"))
        .insert_header((header::CACHE_CONTROL, "no-cache"))
        .streaming(events)
}

async fn publish(site: Data<Site>) -> HttpResponse {
    // It is not an error if there are no receivers.
    let _ = site.news.send(content::NEWS);
    let members = site.members.lock().unwrap_or_else(PoisonError::into_inner).clone();
    join_all(members.into_iter().map(async |mut member| member.text(content::NEWS).await)).await;
    HttpResponse::NoContent().finish()
}

async fn live(
    request: HttpRequest,
    body: Payload,
    site: Data<Site>,
) -> actix_web::Result<HttpResponse> {
    let (response, mut session, mut messages) = actix_ws::handle(&request, body)?;
    rt::spawn(async move {
        site.members.lock().unwrap_or_else(PoisonError::into_inner).push(session.clone());
        if session.text(content::WELCOME).await.is_ok() {
            while let Some(Ok(_)) = messages.recv().await {}
        }
    });
    Ok(response)
}

async fn file(site: Data<Site>) -> io::Result<NamedFile> {
    NamedFile::open_async(&site.file).await
}
