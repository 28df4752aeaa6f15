//! A complete WebSocket example: a page that opens the connection; pings, pongs
//! and close frames as messages; and a task for each direction.

use std::net::SocketAddr;
use std::ops::ControlFlow;
use std::time::Duration;

use stockade::PeerAddr;
use stockade::extract::TypedHeader;
use stockade::extract::headers::UserAgent;
use stockade::middleware::{SecurityHeaders, layered};
use stockade::prelude::*;
use stockade::websockets::{
    Close, Message, Sender, SocketError, WebSocketOptions, WebSocketUpgrade,
};
use tokio::time::sleep;
use tower_http::services::ServeDir;
use tower_http::trace::TraceLayer;

/// Responds to the handshake. This is the last function with access to HTTP.
async fn upgrade(
    upgrade: WebSocketUpgrade,
    user_agent: Option<TypedHeader<UserAgent>>,
    PeerAddr(peer): PeerAddr,
) -> Response {
    let agent = user_agent.as_ref().map_or("unknown browser", |agent| agent.as_str());
    tracing::info!("`{agent}` at {peer} connected");
    upgrade.on_upgrade(move |socket| talk(socket, peer))
}

async fn talk(mut socket: WebSocket, peer: SocketAddr) -> Result<(), SocketError> {
    socket.send(Message::Ping(Bytes::from_static(&[1, 2, 3]))).await?;
    // This is often the reply to the ping.
    let Some(first) = socket.recv().await.transpose()? else { return Ok(()) };
    if show(&first, peer).is_break() {
        return Ok(());
    }
    for number in 1..5 {
        socket.send(format!("Hi {number} times!")).await?;
        sleep(Duration::from_millis(100)).await;
    }

    let (mut receiver, sender) = socket.split();
    let mut sending = tokio::spawn(count(sender));
    let mut receiving = tokio::spawn(async move {
        let mut count = 0;
        while let Some(Ok(message)) = receiver.recv().await {
            count += 1;
            if show(&message, peer).is_break() {
                break;
            }
        }
        count
    });
    tokio::select! {
        sent = &mut sending => tracing::info!("sent to {peer}: {sent:?}"),
        received = &mut receiving => tracing::info!("received from {peer}: {received:?}"),
    }
    sending.abort();
    receiving.abort();
    Ok(())
}

/// Sends unsolicited messages, then closes the connection.
async fn count(sender: Sender) -> Result<u32, SocketError> {
    for number in 0..20 {
        sender.send(format!("Server message {number}")).await?;
        sleep(Duration::from_millis(300)).await;
    }
    sender.send(Message::Close(Close::new(Close::NORMAL, "Goodbye"))).await?;
    Ok(20)
}

fn show(message: &Message, peer: SocketAddr) -> ControlFlow<()> {
    match message {
        Message::Text(text) => tracing::info!("{peer} sent the text {text:?}"),
        Message::Binary(bytes) => tracing::info!("{peer} sent {} bytes", bytes.len()),
        Message::Ping(bytes) => tracing::info!("{peer} sent a ping with {bytes:?}"),
        Message::Pong(bytes) => tracing::info!("{peer} sent a pong with {bytes:?}"),
        Message::Close(close) => {
            tracing::info!("{peer} closed with {} and {:?}", close.code, close.reason);
            return ControlFlow::Break(());
        }
        _ => {}
    }
    ControlFlow::Continue(())
}

fn app() -> Result<App, ConfigError> {
    let page = ServeDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/websockets"));
    let api = routes! {
        middleware: [layered(TraceLayer::new_for_http())],
        mount: page,
        "ws": {
            ws: {
                upgrade,
                options: WebSocketOptions::new().binary(true).control_messages(true),
            },
        },
    };
    // The default policy does not allow scripts.
    let headers = SecurityHeaders::new().set("content-security-policy", "default-src 'self'")?;
    let options = RouterOptions::new().enable_web_sockets(true).security_headers(headers);
    create_router(api, options).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app()?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::{TestClient, TestMessage};

    use super::*;

    #[tokio::test]
    async fn the_page_opens_the_socket() {
        let client = TestClient::new(app().unwrap());
        client.get("/").await.assert_status(200).assert_text_contains("script.js");
        client.get("/script.js").await.assert_text_contains("new WebSocket(");
    }

    #[tokio::test]
    async fn the_server_sends_messages_and_closes() {
        let server = app().unwrap().create_server().unwrap().bind(0).await.unwrap();
        let client = TestClient::live(&format!("http://{}", server.local_addr()));
        tokio::spawn(server.serve());
        let mut socket = client.websocket("/ws").connect().await;
        // The pong is the first message.
        for number in 1..5 {
            assert_eq!(socket.receive_text().await, format!("Hi {number} times!"));
        }
        socket.send_text("hello").await;
        socket.send_binary(vec![1, 2]).await;
        for number in 0..20 {
            assert_eq!(socket.receive_text().await, format!("Server message {number}"));
        }
        let end = TestMessage::Close(Close::NORMAL, "Goodbye".to_owned());
        assert_eq!(socket.receive().await, end);
    }

    #[tokio::test]
    async fn a_client_can_disconnect() {
        let server = app().unwrap().create_server().unwrap().bind(0).await.unwrap();
        let client = TestClient::live(&format!("http://{}", server.local_addr()));
        tokio::spawn(server.serve());
        let mut socket = client.websocket("/ws").connect().await;
        assert_eq!(socket.receive_text().await, "Hi 1 times!");
        let (code, _) = socket.close_with(Close::NORMAL, "enough").await;
        assert_eq!(code, Close::NORMAL);
    }
}
