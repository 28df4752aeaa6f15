//! A reverse proxy on port 4000 for a server on port 3000.

use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use stockade::http::uri::{Authority, Scheme};
use stockade::http::{self, Uri, Version};
use stockade::prelude::*;
use stockade::{HttpBody, PeerAddr};

type ProxyClient = Client<HttpConnector, HttpBody>;

async fn forward(
    client: State<ProxyClient>,
    upstream: State<Authority>,
    req: Request,
) -> Result<Response, BoxError> {
    let mut request = http::Request::from(req);
    let mut target = request.uri().clone().into_parts();
    target.scheme = Some(Scheme::HTTP);
    target.authority = Some(Authority::clone(&upstream));
    *request.uri_mut() = Uri::from_parts(target)?;
    // The client may have used HTTP/2.
    *request.version_mut() = Version::HTTP_11;
    let response = client.request(request).await.map_err(|error| {
        tracing::warn!(%error, "the server behind the proxy did not respond");
        ApiError::new(502, "Bad Gateway")
    })?;
    Ok(response.map(HttpBody::new))
}

/// Returns the proxy for `upstream`.
fn app(upstream: Authority) -> Result<App, ConfigError> {
    let client: ProxyClient = Client::builder(TokioExecutor::new()).build_http();
    let api = routes! { ANY: forward, "**": { ANY: forward } };
    create_router(api, RouterOptions::new()).state(client).state(upstream).build()
}

/// Returns the upstream server.
fn inner() -> Router {
    let api = routes! { GET: async |PeerAddr(peer): PeerAddr| format!("Hello, {}!", peer.ip()) };
    create_router(api, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let app = app(Authority::from_static("127.0.0.1:3000"))?;
    let inner = inner().create_server()?;
    tokio::try_join!(app.listen(4000), inner.listen(3000))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;
    use tokio::net::TcpListener;

    use super::*;

    /// Starts a server, and returns a client of a proxy for it.
    async fn in_front_of(router: Router) -> TestClient {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream = listener.local_addr().unwrap().to_string().parse().unwrap();
        tokio::spawn(router.create_server().unwrap().listen(listener));
        TestClient::new(app(upstream).unwrap())
    }

    #[tokio::test]
    async fn the_other_server_responds() {
        let client = in_front_of(inner()).await;
        client.get("/").await.assert_status(200).assert_text("Hello, 127.0.0.1!");
        client.get("/nowhere").await.assert_status(404).assert_error("Not Found");
    }

    #[tokio::test]
    async fn forwards_bodies_and_queries() {
        let mut echo = Router::new();
        echo.post("/echo", async |req: Request| {
            let query = req.uri().query().unwrap_or_default().to_owned();
            ([("x-query", query)], Response::new(req.into_parts().1))
        });
        let client = in_front_of(echo).await;
        let response = client.post("/echo?a=1&b=%20").body("x".repeat(100_000)).await;
        response.assert_status(200).assert_header("x-query", "a=1&b=%20");
        assert_eq!(response.text(), "x".repeat(100_000));
    }

    #[tokio::test]
    async fn an_unreachable_server_is_a_502() {
        let client = TestClient::new(app("127.0.0.1:1".parse().unwrap()).unwrap());
        client.get("/").await.assert_status(502);
    }
}
