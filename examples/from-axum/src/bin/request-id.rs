//! A request id, in the response and in all log lines of a request.

use stockade::middleware::{with_request_id, with_tracing};
use stockade::prelude::*;

async fn handler() -> Html<&'static str> {
    tracing::info!("Hello world!");
    Html("<h1>Hello, World!</h1>")
}

fn router() -> Router {
    let options = RouterOptions::new().request_id(with_request_id()).tracing(with_tracing());
    create_router(routes! { GET: handler }, options)
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
    use stockade::testing::{TestClient, TestResponse};

    use super::*;

    fn id_of(response: &TestResponse) -> String {
        response.header("x-request-id").unwrap()
    }

    #[tokio::test]
    async fn the_response_and_the_log_have_the_id() {
        let (logged, _guard) = Logged::lines();
        let client = TestClient::new(router());
        let (first, second) = (client.get("/").await, client.get("/").await);
        first.assert_text("<h1>Hello, World!</h1>");
        assert_ne!(id_of(&first), id_of(&second));
        for response in [first, second] {
            let line = format!("request_id=\"{}\"", id_of(&response));
            assert_eq!(logged.count(&line), 1, "{line} is not in:\n{}", logged.text());
        }
        assert_eq!(logged.count("Hello world!"), 2);
    }
}
