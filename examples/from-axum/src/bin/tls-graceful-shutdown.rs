//! HTTPS on port 3000 and redirects on port 7878. Ctrl-C and SIGTERM shut down
//! both servers, which give running requests 10 s to complete.

use std::time::Duration;

use stockade::http::Uri;
use stockade::prelude::*;
use stockade::reply::Redirect;
use stockade::server::{ServerOptions, TlsConfig};

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
    let options = ServerOptions::new().shutdown_timeout(Duration::from_secs(10));
    let https = app()?.create_server_with(options.clone())?;
    let https = https.tls(TlsConfig::from_files(CERTIFICATE, KEY)?);
    let http = redirects()?.create_server_with(options)?;
    tokio::try_join!(https.listen(3000), http.listen(7878))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use from_axum::tls_client;
    use tokio::net::TcpStream;
    use tokio::sync::Notify;

    use super::*;

    #[tokio::test]
    async fn a_running_request_gets_a_response_during_shutdown() {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let mut router = Router::new();
        let (entered, wait) = (Arc::clone(&begun), Arc::clone(&go_on));
        router.get("/slow", move || async move {
            entered.notify_one();
            wait.notified().await;
            "done"
        });
        let tls = TlsConfig::from_files(CERTIFICATE, KEY).unwrap();
        let server = router.create_server().unwrap().tls(tls).bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        let served = tokio::spawn(server.serve());
        let asking = tokio::spawn(tls_client::get(address, "/slow"));
        begun.notified().await;
        handle.shutdown();
        while TcpStream::connect(address).await.is_ok() {
            tokio::task::yield_now().await;
        }
        assert!(!served.is_finished());
        go_on.notify_one();
        assert!(asking.await.unwrap().ends_with("\r\n\r\ndone"));
        served.await.unwrap().unwrap();
    }
}
