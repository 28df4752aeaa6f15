//! The responses that chapter 1 shows.

use stockade::testing::TestClient;

use super::router;

#[tokio::test]
async fn greets_with_security_headers() {
    let client = TestClient::new(router());
    let response = client.get("/hello").await;
    response.assert_status(200).assert_text("Hello from the notes API\n");
    response.assert_header("content-type", "text/plain; charset=utf-8");
    response.assert_header("x-content-type-options", "nosniff");
    response.assert_header("ratelimit-policy", "\"default\";q=100;w=60");
}

#[tokio::test]
async fn rejects_unknown_paths_and_methods() {
    let client = TestClient::new(router());
    client.get("/hallo").await.assert_status(404).assert_error("Not Found");
    let response = client.delete("/hello").await;
    response.assert_status(405).assert_error("Method Not Allowed");
    response.assert_header("allow", "GET, HEAD, OPTIONS");
}
