//! Each handler is next to its route; the routes are combined at the end.

use stockade::prelude::*;

fn root() -> RouteTree {
    async fn handler() -> &'static str {
        "Hello, World!"
    }

    routes! { GET: handler }
}

fn get_foo() -> RouteTree {
    async fn handler() -> &'static str {
        "Hi from `GET /foo`"
    }

    routes! { "foo": { GET: handler } }
}

fn post_foo() -> RouteTree {
    async fn handler() -> &'static str {
        "Hi from `POST /foo`"
    }

    routes! { "foo": { POST: handler } }
}

fn router() -> Router {
    create_router(routes! { ..root(), ..get_foo(), ..post_foo() }, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    router().listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn all_routes_exist() {
        let client = TestClient::new(router());
        client.get("/").await.assert_text("Hello, World!");
        client.get("/foo").await.assert_text("Hi from `GET /foo`");
        client.post("/foo").await.assert_text("Hi from `POST /foo`");
        let other = client.delete("/foo").await;
        other.assert_status(405).assert_header("allow", "GET, HEAD, POST, OPTIONS");
    }
}
