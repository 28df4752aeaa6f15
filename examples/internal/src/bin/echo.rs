//! A WebSocket server that echoes every message.
//!
//! ```text
//! cargo run -p internal-examples --bin echo
//! ```
//!
//! `/` accepts text messages, as the specification requires. `/binary` also
//! accepts binary messages, up to 64 MiB. `/compressed` and `/takeover` do the
//! same with compressed messages. `cargo xtask autobahn` runs the Autobahn test
//! suite against them.

use stockade::prelude::*;
use stockade::server::ServerOptions;
use stockade::websockets::{Deflate, WebSocketOptions};

/// Echoes messages. A close frame gets a close frame as response.
async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(message) = socket.recv().await {
        socket.send(message?).await?;
    }
    Ok(())
}

fn router() -> Router {
    // A test suite opens hundreds of connections per minute.
    let options = RouterOptions::new()
        .enable_web_sockets(true)
        .rate_limit(false)
        .ws_max_connections(20_000)
        .ws_max_connections_per_client(20_000);
    let mut router = Router::with_options(options);
    router.get("/", async || "connect with a WebSocket");
    router.add_web_socket_route("/", echo, WebSocketOptions::new());
    let binary = WebSocketOptions::new().binary(true).max_payload(64 << 20);
    router.add_web_socket_route("/binary", echo, binary.clone());
    router.add_web_socket_route("/compressed", echo, binary.clone().compression(true));
    let takeover = Deflate::new().context_takeover(true);
    router.add_web_socket_route("/takeover", echo, binary.compression(takeover));
    router
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    env_logger::init();
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    let options = ServerOptions::new().max_connections(20_000).max_connections_per_client(20_000);
    let server = router().create_server_with(options)?.bind(port).await?;
    println!("listening on ws://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
