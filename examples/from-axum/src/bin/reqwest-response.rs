//! Streaming: the response of another server, and the program's own stream.
//! Each chunk is logged.

use std::convert::Infallible;
use std::time::Duration;

use reqwest::Client;
use stockade::middleware::with_body_hooks;
use stockade::prelude::*;
use stockade::reply::Streamed;
use stockade::{HttpBody, http};
use tokio_stream::StreamExt as _;

async fn hand_on(client: State<Client>, url: State<String>) -> Result<Response, StatusCode> {
    let response = client.get(url.as_str()).send().await.map_err(|error| {
        tracing::error!(%error, "the other server did not respond");
        StatusCode::BAD_GATEWAY
    })?;
    Ok(http::Response::from(response).map(HttpBody::new))
}

async fn numbers(State(pause): State<Duration>) -> Streamed {
    let numbers = tokio_stream::iter(0..5).throttle(*pause);
    Streamed::new(numbers.map(|number| Ok::<_, Infallible>(number.to_string())))
}

/// Returns the app that forwards the response from `url`.
fn app(url: String, pause: Duration) -> Result<App, ConfigError> {
    let log = with_body_hooks()
        .on_response(|piece| tracing::info!("streaming {} bytes", piece.bytes().len()));
    let api = routes! { middleware: [log], GET: hand_on, "stream": { GET: numbers } };
    let router = create_router(api, RouterOptions::new());
    router.state(Client::new()).state(url).state(pause).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let app = app("http://127.0.0.1:3000/stream".to_owned(), Duration::from_secs(1))?;
    app.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;
    use tokio::net::TcpListener;

    use super::*;

    #[tokio::test]
    async fn pieces_arrive_one_by_one_through_both_servers() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = app(format!("http://{address}/stream"), Duration::from_millis(100)).unwrap();
        tokio::spawn(app.create_server().unwrap().listen(listener));

        let mut stream = TestClient::live(&format!("http://{address}")).get("/").stream().await;
        stream.assert_status(200).assert_header("content-type", "application/octet-stream");
        for number in 0..5 {
            assert_eq!(stream.chunk().await.unwrap(), number.to_string());
        }
        assert_eq!(stream.chunk().await, None);
    }

    #[tokio::test]
    async fn an_unreachable_server_is_a_502() {
        let app = app("http://127.0.0.1:1/".to_owned(), Duration::ZERO).unwrap();
        TestClient::new(app).get("/").await.assert_status(502);
    }
}
