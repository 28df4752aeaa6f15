//! The bodies of requests and responses in the log.

use stockade::middleware::with_body_hooks;
use stockade::prelude::*;

fn router() -> Router {
    let print = with_body_hooks()
        .on_request(|piece| tracing::info!("request body = {}", piece.text()))
        .on_response(|piece| tracing::info!("response body = {}", piece.text()));
    let api = routes! {
        middleware: [print],
        POST: async |_: Bytes| "Hello from `POST /`",
    };
    create_router(api, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use from_axum::logged::Logged;
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn both_bodies_are_logged() {
        let (logged, _guard) = Logged::lines();
        let response = TestClient::new(router()).post("/").body("tea\n").await;
        response.assert_status(200).assert_text("Hello from `POST /`");
        assert_eq!(logged.count(r"request body = tea\n"), 1, "{}", logged.text());
        assert_eq!(logged.count("response body = Hello from `POST /`"), 1);
    }
}
