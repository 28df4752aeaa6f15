//! An application and its tests: in process, and over a port.

use stockade::PeerAddr;
use stockade::prelude::*;

fn router() -> Router {
    let api = routes! {
        GET: async || "Hello, World!",
        "json": { POST: async |Body(payload): Body<Value>| json!({ "data": payload }) },
        "requires-connect-info": { GET: async |PeerAddr(peer): PeerAddr| format!("Hi {peer}") },
    };
    create_router(api, RouterOptions::new().access_log(true))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn hello_world() {
        let response = TestClient::new(router()).get("/").await;
        response.assert_status(200).assert_text("Hello, World!");
    }

    #[tokio::test]
    async fn returns_json() {
        let response = TestClient::new(router()).post("/json").json([1, 2, 3, 4]).await;
        response.assert_status(200).assert_json(json!({ "data": [1, 2, 3, 4] }));
    }

    #[tokio::test]
    async fn not_found() {
        let response = TestClient::new(router()).get("/does-not-exist").await;
        response.assert_status(404).assert_error("Not Found");
    }

    #[tokio::test]
    async fn works_over_a_real_port() {
        let server = router().create_server().unwrap().bind(0).await.unwrap();
        let client = TestClient::live(&format!("http://{}", server.local_addr()));
        let handle = server.handle();
        let served = tokio::spawn(server.serve());
        client.get("/").await.assert_status(200).assert_text("Hello, World!");
        handle.shutdown();
        served.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn several_requests_of_one_client() {
        let client = TestClient::new(router());
        for _ in 0..2 {
            client.get("/").await.assert_status(200);
        }
    }

    #[tokio::test]
    async fn the_test_sets_the_peer() {
        let client = TestClient::new(router()).with_peer("192.0.2.7:3000");
        client.get("/requires-connect-info").await.assert_text("Hi 192.0.2.7:3000");
    }
}
