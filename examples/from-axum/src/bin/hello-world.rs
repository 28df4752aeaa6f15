//! A page at `/`.

use stockade::prelude::*;
use stockade::reply::Html;

fn app() -> Router {
    create_router(
        routes! { "": { GET: async || Html("<h1>Hello, World!</h1>") } },
        RouterOptions::new(),
    )
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    app().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn serves_a_page() {
        let response = TestClient::new(app()).get("/").await;
        response.assert_status(200);
        assert_eq!(response.text(), "<h1>Hello, World!</h1>");
    }
}
