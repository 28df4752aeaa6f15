//! An app in a custom hyper accept loop: on port 3000 without, and on port 3001
//! with client addresses. It lacks the protection of `create_server` against
//! slow and hostile clients, which the documentation of `App` as a service
//! lists.

use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto;
use hyper_util::service::TowerToHyperService;
use stockade::PeerAddr;
use stockade::prelude::*;
use tokio::net::TcpListener;
use tower::ServiceExt as _;

fn plain() -> Result<App, ConfigError> {
    create_router(routes! { GET: async || "Hello!" }, RouterOptions::new()).build()
}

fn with_peer() -> Result<App, ConfigError> {
    let api = routes! { GET: async |PeerAddr(peer): PeerAddr| format!("Hello {peer}") };
    create_router(api, RouterOptions::new()).build()
}

async fn serve(app: App, listener: TcpListener, tells_peer: bool) -> Result<(), BoxError> {
    loop {
        let (socket, peer) = listener.accept().await?;
        let service = app.clone().map_request(move |mut request: stockade::http::Request<_>| {
            tells_peer.then(|| request.extensions_mut().insert(PeerAddr(peer)));
            request
        });
        tokio::spawn(async move {
            let connection = auto::Builder::new(TokioExecutor::new());
            let service = TowerToHyperService::new(service);
            let served = connection.serve_connection(TokioIo::new(socket), service).await;
            if let Err(error) = served {
                tracing::warn!("the connection of {peer} failed: {error:#}");
            }
        });
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let plain = serve(plain()?, TcpListener::bind("127.0.0.1:3000").await?, false);
    let with_peer = serve(with_peer()?, TcpListener::bind("127.0.0.1:3001").await?, true);
    tokio::try_join!(plain, with_peer)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    async fn start(app: App, tells_peer: bool) -> TestClient {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(serve(app, listener, tells_peer));
        TestClient::live(&format!("http://{address}"))
    }

    #[tokio::test]
    async fn hyper_serves_the_app() {
        let client = start(plain().unwrap(), false).await;
        client.get("/").await.assert_status(200).assert_text("Hello!");
        client.get("/nowhere").await.assert_status(404).assert_error("Not Found");
    }

    #[tokio::test]
    async fn the_handler_knows_the_client() {
        let client = start(with_peer().unwrap(), true).await;
        client.get("/").await.assert_status(200).assert_text_contains("Hello 127.0.0.1:");
    }
}
