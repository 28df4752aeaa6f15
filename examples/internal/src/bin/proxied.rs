//! A server for `cargo xtask nginx`, which runs it behind nginx.
//!
//! `GET /client` returns the address of the client and the header `Host`, `POST
//! /upload` the length of the body. `GET /events` sends an event at once, and
//! one for each `POST /events`. `/echo` is a WebSocket.

use futures_util::stream::unfold;
use stockade::extract::{ClientIp, Headers};
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use tokio::sync::broadcast::{self, Sender};

/// Sends the number of the next event to all streams.
type Numbers = Sender<u64>;

async fn client(ClientIp(address): ClientIp, headers: Headers) -> Value {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    json!({ "client": address.to_string(), "host": host })
}

async fn upload(body: Bytes) -> Value {
    json!({ "length": body.len() })
}

async fn events(numbers: State<Numbers>) -> Sse {
    let later = numbers.subscribe();
    Sse::new(unfold((Some(0), later), |(first, mut later)| async move {
        let number = match first {
            Some(number) => number,
            None => later.recv().await.ok()?,
        };
        Some((Ok::<_, BoxError>(Event::data(format!("event {number}"))), (None, later)))
    }))
}

async fn send_event(numbers: State<Numbers>) -> Value {
    json!({ "streams": numbers.send(1).unwrap_or_default() })
}

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = socket.recv().await {
        socket.send(message?).await?;
    }
    Ok(())
}

fn router() -> Router {
    let api = routes! {
        "client": { GET: client },
        "upload": { POST: { upload, max_body: 8 << 20 } },
        "events": { GET: events, POST: send_event },
        "echo": { WS: echo },
    };
    let options = RouterOptions::new().trust_proxy(1).enable_web_sockets(true);
    create_router(api, options).state(broadcast::channel::<u64>(16).0)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port: u16 = std::env::var("PORT")?.parse()?;
    router().listen(port).await?;
    Ok(())
}
