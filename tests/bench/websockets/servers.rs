//! The servers: each prints its address and echoes every text.
//!
//! All have a single-threaded runtime and `TCP_NODELAY`.

use std::net::SocketAddr;

use fastwebsockets::{FragmentCollector, OpCode, upgrade};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use stockade::prelude::*;
use stockade::websockets::WebSocketOptions;
use tokio::net::{TcpListener, TcpStream};

use crate::Error;

/// The names in the order of the table.
pub const NAMES: [&str; 3] = ["stockade", "fastwebsockets", "tokio-tungstenite"];

/// The index of our server.
pub const OURS: usize = 0;

/// The index of the baseline.
pub const JUDGE: usize = 1;

pub fn serve(name: &str) -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        match name {
            "stockade" => stockade().await,
            "fastwebsockets" => accept(by_fastwebsockets).await,
            "tokio-tungstenite" => accept(by_tungstenite).await,
            _ => Err(format!("unknown server {name:?}").into()),
        }
    })
}

/// Prints the address for the load generator.
fn say(address: SocketAddr) {
    println!("{address}");
}

async fn stockade() -> Result<(), Error> {
    async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(text) = socket.recv_text().await {
            socket.send(text?).await?;
        }
        Ok(())
    }

    let options = RouterOptions::new().enable_web_sockets(true).rate_limit(false);
    let mut router = Router::with_options(options);
    router.add_web_socket_route("/", echo, WebSocketOptions::new());
    let server = router.create_server()?.bind(0).await?;
    say(server.local_addr());
    Ok(server.serve().await?)
}

/// Runs a function on each connection.
async fn accept<F: Future<Output = ()> + Send + 'static>(
    run: impl Fn(TcpStream) -> F,
) -> Result<(), Error> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    say(listener.local_addr()?);
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(run(stream));
    }
}

async fn by_fastwebsockets(stream: TcpStream) {
    let service = service_fn(async |mut request| {
        let (response, opening) = upgrade::upgrade(&mut request)?;
        tokio::spawn(echo_frames(opening));
        Ok::<_, fastwebsockets::WebSocketError>(response)
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // A client that disconnects is not an error.
    let _ = connection.with_upgrades().await;
}

async fn echo_frames(opening: upgrade::UpgradeFut) -> Result<(), fastwebsockets::WebSocketError> {
    let mut socket = FragmentCollector::new(opening.await?);
    loop {
        let frame = socket.read_frame().await?;
        match frame.opcode {
            OpCode::Close => return Ok(()),
            OpCode::Text => socket.write_frame(frame).await?,
            _ => {}
        }
    }
}

async fn by_tungstenite(stream: TcpStream) {
    let Ok(mut socket) = tokio_tungstenite::accept_async(stream).await else { return };
    while let Some(Ok(message)) = socket.next().await {
        if message.is_text() && socket.send(message).await.is_err() {
            return;
        }
    }
}
