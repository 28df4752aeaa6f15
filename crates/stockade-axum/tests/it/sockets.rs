//! WebSockets in axum, over a port.

#[path = "../../../../tests/hosts/compressed.rs"]
mod compressed;

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use stockade_axum::ToAxum;
use stockade_core::ApiError;
use stockade_core::extract::ClientIp;
use stockade_routing::{Router, RouterOptions};
use stockade_websockets::{WebSocket, WebSocketOptions};
use tokio_tungstenite::tungstenite::{Error, Message};

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

/// Serves a router on a free port.
pub(crate) async fn serve(router: axum::Router) -> SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = router.into_make_service_with_connect_info::<SocketAddr>();
    tokio::spawn(async move { axum::serve(listener, service).await });
    address
}

#[tokio::test]
async fn web_sockets_work_as_service_and_as_routes() {
    let whole = axum::Router::new().nest_service("/api", api().to_axum_service().unwrap());
    let routes = axum::Router::new().nest("/api", api().to_host_router().unwrap());
    for router in [whole, routes] {
        let address = serve(router).await;
        let url = format!("ws://{address}/api/echo");
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let (mut socket, _) = tokio_tungstenite::client_async(&url, stream).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("127.0.0.1"));
        socket.send(Message::text("hi")).await.unwrap();
        assert_eq!(socket.next().await.unwrap().unwrap(), Message::text("hi"));
        socket.close(None).await.unwrap();
        while let Some(Ok(message)) = socket.next().await {
            assert!(message.is_close(), "{message:?}");
        }
    }
}

#[tokio::test]
async fn compresses_messages_as_service_and_as_routes() {
    let whole = axum::Router::new().nest_service("/whole", api().to_axum_service().unwrap());
    let address = serve(whole.nest("/routes", api().to_host_router().unwrap())).await;
    for way in ["whole", "routes"] {
        compressed::check(address, &format!("/{way}/compressed")).await;
    }
}

#[tokio::test]
async fn rejects_a_handshake_at_an_unknown_path() {
    let address = serve(axum::Router::new().merge(api().to_host_router().unwrap())).await;
    let stream = tokio::net::TcpStream::connect(address).await.unwrap();
    let refused = tokio_tungstenite::client_async(format!("ws://{address}/none"), stream).await;
    let Err(Error::Http(response)) = refused else { panic!("{refused:?}") };
    assert_eq!(response.status(), 404);
}
