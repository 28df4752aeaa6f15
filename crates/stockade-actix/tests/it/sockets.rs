//! WebSockets in actix-web, over a port.

#[path = "../../../../tests/hosts/compressed.rs"]
mod compressed;

use futures_util::{SinkExt as _, StreamExt as _};
use stockade_core::ApiError;
use stockade_core::extract::ClientIp;
use stockade_routing::{Router, RouterOptions};
use stockade_websockets::{WebSocket, WebSocketOptions};
use tokio::net::TcpStream;
use tokio_tungstenite::client_async;
use tokio_tungstenite::tungstenite::{Error, Message};

use crate::bodies::serve;

async fn echo(mut socket: WebSocket, ClientIp(client): ClientIp) -> Result<(), ApiError> {
    socket.send(client.to_string()).await?;
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn api() -> Router {
    let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
    router.add_web_socket_route("/echo", echo, WebSocketOptions::new());
    router.add_web_socket_route("/compressed", only_echo, compressing());
    router.get("/echo", async || "a page");
    router
}

async fn only_echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn compressing() -> WebSocketOptions {
    WebSocketOptions::new().compression(true)
}

#[actix_web::test]
async fn web_sockets_work_as_service_and_as_routes() {
    let address = serve(api);
    for way in ["whole", "routes"] {
        let stream = TcpStream::connect(address).await.unwrap();
        let url = format!("ws://{address}/{way}/echo");
        let (mut socket, _) = client_async(url, stream).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("127.0.0.1"));
        let long = "x".repeat(100_000);
        for text in ["hi", &long] {
            socket.send(Message::text(text)).await.unwrap();
            assert_eq!(socket.next().await.unwrap().unwrap(), Message::text(text));
        }
        socket.close(None).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            assert!(message.is_close(), "{message:?}");
        }
    }
}

#[actix_web::test]
async fn compresses_messages_as_service_and_as_routes() {
    let address = serve(api);
    for way in ["whole", "routes"] {
        compressed::check(address, &format!("/{way}/compressed")).await;
    }
}

#[actix_web::test]
async fn rejects_a_foreign_origin() {
    let address = serve(api);
    for way in ["whole", "routes"] {
        let stream = TcpStream::connect(address).await.unwrap();
        let request = http::Request::get(format!("ws://{address}/{way}/echo"))
            .header("host", address.to_string())
            .header("connection", "upgrade")
            .header("upgrade", "websocket")
            .header("sec-websocket-version", "13")
            .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
            .header("origin", "https://evil.example");
        let refused = client_async(request.body(()).unwrap(), stream).await;
        let Err(Error::Http(response)) = refused else { panic!("{refused:?}") };
        assert_eq!(response.status(), 403);
    }
}
