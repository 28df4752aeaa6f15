//! A handler for all paths without a route.

use stockade::prelude::*;

async fn handler_404() -> (StatusCode, &'static str) {
    (StatusCode::NOT_FOUND, "nothing to see here")
}

fn router() -> Router {
    let api = routes! { GET: async || Html("<h1>Hello, World!</h1>") };
    create_router(api, RouterOptions::new().fallback(handler_404))
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
    async fn the_handler_serves_other_paths() {
        let client = TestClient::new(router());
        client.get("/").await.assert_status(200).assert_text("<h1>Hello, World!</h1>");
        for path in ["/nowhere", "/a/b/c"] {
            client.get(path).await.assert_status(404).assert_text("nothing to see here");
        }
    }
}
