//! HTTPS on port 3000, and a server on port 7878 that redirects to it.

use stockade::http::Uri;
use stockade::prelude::*;
use stockade::reply::Redirect;
use stockade::server::TlsConfig;

const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/cert.pem");
const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/self_signed_certs/key.pem");

fn app() -> Result<App, ConfigError> {
    create_router(routes! { GET: async || "Hello, World!" }, RouterOptions::new()).build()
}

/// Redirects every request to HTTPS.
fn redirects() -> Result<App, ConfigError> {
    let redirect = async |uri: Uri| {
        let target = uri.path_and_query().map_or("/", |target| target.as_str());
        Redirect::permanent(format!("https://localhost:3000{target}"))
    };
    create_router(RouteTree::new(), RouterOptions::new().fallback(redirect)).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let https = app()?.create_server()?.tls(TlsConfig::from_files(CERTIFICATE, KEY)?);
    let http = redirects()?.create_server()?;
    tokio::try_join!(https.listen(3000), http.listen(7878))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use from_axum::tls_client;
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn the_app_uses_tls() {
        let server = app().unwrap().create_server().unwrap();
        let server = server.tls(TlsConfig::from_files(CERTIFICATE, KEY).unwrap());
        let server = server.bind(0).await.unwrap();
        let address = server.local_addr();
        tokio::spawn(server.serve());
        let answer = tls_client::get(address, "/").await;
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nHello, World!"), "{answer}");
    }

    #[tokio::test]
    async fn other_requests_are_redirected() {
        let client = TestClient::new(redirects().unwrap());
        for path in ["/", "/a/b?c=d"] {
            let response = client.get(path).await;
            let target = format!("https://localhost:3000{path}");
            response.assert_status(308).assert_header("location", &target);
        }
    }
}
