//! stockade, with all stages off or with its defaults.

use std::path::PathBuf;
use std::sync::Arc;

use bench_common::{Mode, mode, workload};
use bench_scenarios::content::{self, MAX_ORDERS};
use bench_scenarios::{Start, tls};
use futures_util::stream::unfold;
use serde::{Deserialize, Serialize};
use stockade::middleware::RateLimit;
use stockade::middleware::files::{FileReply, FileRequest};
use stockade::prelude::*;
use stockade::reply::JsonText;
use stockade::reply::{Event, Sse};
use stockade::server::{ServerOptions, TlsConfig};
use stockade::websockets::{Audience, Rooms};
use tokio::sync::broadcast::{self, error::RecvError};

fn main() -> Result<(), BoxError> {
    let start = Start::from_args()?;
    start.runtime()?.block_on(serve(start))
}

async fn serve(start: Start) -> Result<(), BoxError> {
    // All connections come from one address.
    let options = ServerOptions::new()
        .max_connections(mode::MAX_CONNECTIONS)
        .max_connections_per_client(mode::MAX_CONNECTIONS)
        .backlog(mode::BACKLOG);
    let mut server = router(&start).create_server_with(options)?;
    if start.scenario.protocol().is_some() {
        let config = Arc::new(tls::server(&start.folder, start.scenario)?);
        server = server.tls(TlsConfig::from_rustls(config)?);
    }
    let server = server.bind("127.0.0.1:0").await?;
    mode::announce(server.local_addr());
    Ok(server.serve().await?)
}

type News = broadcast::Sender<&'static str>;

/// The path of the file to send.
struct Place(PathBuf);

fn router(start: &Start) -> Router {
    let (news, _): (News, _) = broadcast::channel(16);
    let options = options(start.mode)
        .enable_web_sockets(true)
        // All members connect from one address.
        .ws_max_connections_per_client(mode::MAX_CONNECTIONS);
    let api = routes! {
        "json": { GET: message },
        "orders": { POST: echo },
        "events": { GET: events },
        "publish": { POST: publish },
        "live": { ws: live },
        "file": { GET: file },
    };
    create_router(api, options)
        .state(news)
        .state(Rooms::default())
        .state(Place(content::file_in(&start.folder)))
}

fn options(mode: Mode) -> RouterOptions {
    let limit = RateLimit::new().max_requests(mode::MAX_REQUESTS);
    match mode {
        Mode::Bare => {
            RouterOptions::new().cors(false).enable_security_headers(false).rate_limit(false)
        }
        _ => RouterOptions::new().rate_limit(limit),
    }
}

async fn message() -> JsonText<&'static str> {
    JsonText(workload::MESSAGE)
}

async fn echo(Body(orders): Body<Orders>) -> Json<Orders> {
    Json(orders)
}

#[derive(Deserialize, Schema, Serialize)]
struct Orders {
    #[schema(max_items = 2000)]
    orders: Vec<Order>,
}

const _: () = assert!(MAX_ORDERS == 2_000, "the schema says the same");

#[derive(Deserialize, Schema, Serialize)]
struct Order {
    id: u32,
    product: String,
    quantity: u32,
    price: f64,
    paid: bool,
}

async fn events(news: State<News>) -> Sse {
    Sse::new(unfold(news.subscribe(), |mut news| async move {
        loop {
            match news.recv().await {
                Ok(text) => return Some((Ok::<_, BoxError>(Event::data(text)), news)),
                Err(RecvError::Lagged(_)) => {}
                Err(RecvError::Closed) => return None,
            }
        }
    }))
}

/// Sends the news to the event readers and the members of the room.
async fn publish(news: State<News>, rooms: State<Rooms>) -> StatusCode {
    // It is not an error if there are no receivers.
    let _ = news.send(content::NEWS);
    rooms.broadcast(Audience::Room(ROOM), content::NEWS);
    StatusCode::NO_CONTENT
}

const ROOM: &str = "all";

async fn live(mut socket: WebSocket, rooms: State<Rooms>) -> Result<(), ApiError> {
    let member = rooms.enter(socket.sender())?;
    member.join(ROOM)?;
    if socket.send(content::WELCOME).await.is_ok() {
        while let Some(Ok(_)) = socket.recv_text().await {}
    }
    Ok(())
}

async fn file(file: FileRequest, place: State<Place>) -> Result<FileReply, ApiError> {
    file.open(&place.0.0).await
}
