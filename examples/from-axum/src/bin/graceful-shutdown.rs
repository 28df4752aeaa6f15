//! Graceful shutdown on Ctrl-C and SIGTERM: running requests complete first. No
//! request takes longer than ten seconds, which also limits the shutdown.

use std::time::Duration;

use stockade::middleware::with_timeout;
use stockade::prelude::*;
use tokio::time::sleep;

const LIMIT: Duration = Duration::from_secs(10);

fn router(slow: Duration) -> Router {
    let api = routes! {
        middleware: [with_timeout(LIMIT).status(408)],
        "slow": { GET: async move || sleep(slow).await },
        "forever": { GET: std::future::pending::<()> },
    };
    create_router(api, RouterOptions::new().access_log(true))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router(Duration::from_secs(5)).listen("0.0.0.0:3000").await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn running_requests_get_a_response() {
        let server = router(Duration::from_millis(500)).create_server().unwrap();
        let server = server.bind(0).await.unwrap();
        let (handle, client) =
            (server.handle(), TestClient::live(&format!("http://{}", server.local_addr())));
        let served = tokio::spawn(server.serve());
        let slow = tokio::spawn(client.get("/slow").send());
        sleep(Duration::from_millis(200)).await;
        handle.shutdown();
        slow.await.unwrap().assert_status(204);
        served.await.unwrap().unwrap();
        assert!(client.get("/slow").try_send().await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn no_request_exceeds_the_timeout() {
        let client = TestClient::new(router(Duration::ZERO)).with_timeout(None);
        client.get("/slow").await.assert_status(204);
        client.get("/forever").await.assert_status(408);
    }
}
