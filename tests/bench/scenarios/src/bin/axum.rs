//! axum, with tower-http for the file, and with hyper-util for TLS as in axum's
//! example.

use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::State;
use axum::extract::ws::{Message, Utf8Bytes, WebSocket, WebSocketUpgrade};
use axum::http::{StatusCode, header};
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use axum::{Json, Router};
use bench_common::{mode, workload};
use bench_scenarios::content::{self, MAX_ORDERS, Orders};
use bench_scenarios::{BoxError, Start, tls};
use futures_util::{Stream, StreamExt as _};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::broadcast::{self, Receiver, Sender};
use tokio_rustls::TlsAcceptor;
use tokio_stream::wrappers::BroadcastStream;
use tower_http::services::ServeFile;

fn main() -> Result<(), BoxError> {
    let start = Start::from_args()?;
    start.runtime()?.block_on(serve(start))
}

async fn serve(start: Start) -> Result<(), BoxError> {
    let listener = TcpListener::from_std(mode::listener()?)?;
    mode::announce(listener.local_addr()?);
    if start.scenario.protocol().is_some() {
        return serve_tls(&start, listener).await;
    }
    let listener = listener.tap_io(|stream| {
        // Otherwise responses wait for acknowledgements.
        let _ = stream.set_nodelay(true);
    });
    Ok(axum::serve(listener, app(&start)).await?)
}

/// Serves TLS connections, as in axum's example `low-level-rustls`.
async fn serve_tls(start: &Start, listener: TcpListener) -> Result<(), BoxError> {
    let acceptor = TlsAcceptor::from(Arc::new(tls::server(&start.folder, start.scenario)?));
    let app = app(start);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        let (acceptor, app) = (acceptor.clone(), app.clone());
        tokio::spawn(async move {
            let Ok(stream) = acceptor.accept(stream).await else { return };
            let service = TowerToHyperService::new(app);
            // An error only ends its own connection.
            let _ = auto::Builder::new(TokioExecutor::new())
                .serve_connection_with_upgrades(TokioIo::new(stream), service)
                .await;
        });
    }
}

type News = Sender<&'static str>;

fn app(start: &Start) -> Router {
    let news: News = broadcast::channel(16).0;
    Router::new()
        .route("/json", get(message))
        .route("/orders", post(orders))
        .route("/events", get(events))
        .route("/publish", post(publish))
        .route("/live", get(live))
        .route_service("/file", ServeFile::new(content::file_in(&start.folder)))
        .with_state(news)
}

async fn message() -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/json")], workload::MESSAGE)
}

async fn orders(Json(orders): Json<Orders>) -> Response {
    if orders.orders.len() > MAX_ORDERS {
        return StatusCode::BAD_REQUEST.into_response();
    }
    Json(orders).into_response()
}

async fn events(
    State(news): State<News>,
) -> Sse<impl Stream<Item = Result<Event, Infallible>> + Send> {
    let news = BroadcastStream::new(news.subscribe());
    Sse::new(news.filter_map(async |news| Some(Ok(Event::default().data(news.ok()?)))))
}

async fn publish(State(news): State<News>) -> StatusCode {
    // It is not an error if there are no receivers.
    let _ = news.send(content::NEWS);
    StatusCode::NO_CONTENT
}

async fn live(upgrade: WebSocketUpgrade, State(news): State<News>) -> Response {
    let news = news.subscribe();
    upgrade.on_upgrade(|socket| member(socket, news))
}

/// Sends the news to a member until it disconnects.
async fn member(mut socket: WebSocket, mut news: Receiver<&'static str>) {
    if socket.send(Message::text(content::WELCOME)).await.is_err() {
        return;
    }
    loop {
        tokio::select! {
            Ok(news) = news.recv() => {
                let text = Message::Text(Utf8Bytes::from_static(news));
                if socket.send(text).await.is_err() {
                    return;
                }
            }
            Some(Ok(_)) = socket.recv() => {}
            else => return,
        }
    }
}
