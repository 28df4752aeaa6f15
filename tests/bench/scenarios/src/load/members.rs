//! Many clients that receive the same news. Each publication starts when all
//! clients have received the previous one.

use std::cell::Cell;
use std::rc::Rc;
use std::time::Instant;

use bench_scenarios::{BoxError, content, tls};
use bytes::Bytes;
use futures_util::StreamExt as _;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{CONTENT_TYPE, HOST};
use hyper::{Method, Request, StatusCode};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::spawn_local;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, client_async};

use super::Target;
use super::http::{http1_over, tcp};
use super::tally::Tally;

/// The number of clients that receive the news.
const MEMBERS: usize = 1_000;

/// Opens the readers of server-sent events and starts publishing.
pub(super) async fn open_events(target: Target<'_>, tally: &Rc<Tally>) -> Result<(), BoxError> {
    let round = Rc::new(Round::default());
    for _ in 0..MEMBERS {
        let mut sender = http1_over(tcp(target).await?).await?;
        let response = sender.send_request(request(Method::GET, "/events")?).await?;
        let kind = response.headers().get(CONTENT_TYPE).map(|kind| kind.as_bytes());
        let is_stream = kind.is_some_and(|kind| kind.starts_with(b"text/event-stream"));
        if response.status() != StatusCode::OK || !is_stream {
            return Err(format!("{} is no stream of events", response.status()).into());
        }
        let (tally, round) = (Rc::clone(tally), Rc::clone(&round));
        spawn_local(async move {
            tally.ended(read_events(response.into_body(), &tally, &round).await);
            drop(sender);
        });
    }
    publish(target, tally, &round).await
}

async fn read_events(mut body: Incoming, tally: &Tally, round: &Round) -> Result<(), BoxError> {
    let (event, mut read) = (content::event().into_bytes(), Vec::new());
    while let Some(frame) = body.frame().await {
        read.extend_from_slice(&frame?.into_data().unwrap_or_default());
        while read.len() >= event.len() {
            if !read.starts_with(&event) {
                return Err(format!("an event is {:?}", String::from_utf8_lossy(&read)).into());
            }
            read.drain(..event.len());
            round.delivered(tally);
        }
    }
    Ok(())
}

/// Opens the WebSocket members and starts publishing.
pub(super) async fn open_sockets(target: Target<'_>, tally: &Rc<Tally>) -> Result<(), BoxError> {
    let round = Rc::new(Round::default());
    for _ in 0..MEMBERS {
        let stream = tcp(target).await?;
        let (mut socket, _) = client_async("ws://localhost/live", stream).await?;
        // A client that receives this is in the room.
        match socket.next().await {
            Some(Ok(Message::Text(text))) if text.as_str() == content::WELCOME => {}
            other => return Err(format!("the welcome is {other:?}").into()),
        }
        let (tally, round) = (Rc::clone(tally), Rc::clone(&round));
        spawn_local(async move { tally.ended(read_messages(socket, &tally, &round).await) });
    }
    publish(target, tally, &round).await
}

async fn read_messages(
    mut socket: WebSocketStream<TcpStream>,
    tally: &Tally,
    round: &Round,
) -> Result<(), BoxError> {
    while let Some(message) = socket.next().await {
        match message? {
            Message::Text(text) if text.as_str() == content::NEWS => round.delivered(tally),
            Message::Ping(_) | Message::Pong(_) => {}
            other => return Err(format!("a message is {other:?}").into()),
        }
    }
    Ok(())
}

/// The deliveries of one publication.
#[derive(Default)]
struct Round {
    left: Cell<usize>,
    all_there: Notify,
}

impl Round {
    fn delivered(&self, tally: &Tally) {
        tally.add(1.0);
        let left = self.left.get().saturating_sub(1);
        self.left.set(left);
        if left == 0 {
            self.all_there.notify_one();
        }
    }
}

/// Publishes once and continues in a task.
async fn publish(target: Target<'_>, tally: &Rc<Tally>, round: &Rc<Round>) -> Result<(), BoxError> {
    let mut sender = http1_over(tcp(target).await?).await?;
    publish_once(&mut sender, tally, round).await?;
    let (tally, round) = (Rc::clone(tally), Rc::clone(round));
    spawn_local(async move {
        loop {
            let published = publish_once(&mut sender, &tally, &round).await;
            if published.is_err() {
                return tally.ended(published);
            }
        }
    });
    Ok(())
}

/// Publishes and waits until all clients have the news.
async fn publish_once(
    sender: &mut http1::SendRequest<Full<Bytes>>,
    tally: &Tally,
    round: &Round,
) -> Result<(), BoxError> {
    round.left.set(MEMBERS);
    let start = Instant::now();
    sender.ready().await?;
    let response = sender.send_request(request(Method::POST, "/publish")?).await?;
    if response.status() != StatusCode::NO_CONTENT {
        return Err(format!("{} to a publication", response.status()).into());
    }
    round.all_there.notified().await;
    tally.took(start);
    Ok(())
}

fn request(method: Method, path: &str) -> Result<Request<Full<Bytes>>, BoxError> {
    Ok(Request::builder().method(method).uri(path).header(HOST, tls::NAME).body(Full::default())?)
}
