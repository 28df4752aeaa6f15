//! A server on a Unix socket, which reads its client's process, and a client
//! for it. Only for Unix.

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use stockade::prelude::*;
use stockade::server::UnixSocket;
use stockade::{HttpBody, PeerCredentials, http};
use tokio::net::UnixStream;

fn app() -> Result<App, ConfigError> {
    let hello = async |peer: PeerCredentials| {
        tracing::info!("a request of {peer:?}");
        format!("Hello, user {}!", peer.uid)
    };
    create_router(routes! { GET: hello }, RouterOptions::new()).build()
}

/// Requests the root path from a server.
async fn ask(stream: UnixStream) -> Result<String, BoxError> {
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await?;
    tokio::spawn(connection);
    let request = http::Request::get("/").header("host", "localhost").body(HttpBody::empty())?;
    let response = sender.send_request(request).await?;
    let text = HttpBody::new(response.into_body()).collect(1_024).await?;
    Ok(String::from_utf8(text.into())?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let socket = UnixSocket::new("/tmp/stockade-hello.sock");
    let server = app()?.create_server()?.bind(socket.clone()).await?;
    let served = tokio::spawn(server.with_signals().serve());
    tracing::info!("{}", ask(UnixStream::connect(socket.path()).await?).await?);
    Ok(served.await??)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    #[tokio::test]
    async fn the_user_of_the_client_is_known() {
        let path = std::env::temp_dir().join(format!("from-axum-{}.sock", std::process::id()));
        let server = app().unwrap().create_server().unwrap();
        let server = server.bind(UnixSocket::new(&path)).await.unwrap();
        let handle = server.handle();
        let served = tokio::spawn(server.serve());
        let own = fs::metadata(&path).unwrap().uid();
        let answer = ask(UnixStream::connect(&path).await.unwrap()).await.unwrap();
        assert_eq!(answer, format!("Hello, user {own}!"));
        handle.shutdown();
        served.await.unwrap().unwrap();
        assert!(!path.exists());
    }
}
