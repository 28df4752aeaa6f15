//! Middleware and an extractor that read the whole body before the handler,
//! which still receives it.

use stockade::prelude::*;
use stockade::{FromRequest, RouteDescription};

/// Prints the body, which stays available for later readers.
async fn print_request_body(body: Bytes, _req: &mut Request) {
    do_thing_with_request_body(&body);
}

fn do_thing_with_request_body(body: &Bytes) {
    tracing::info!(?body, "read");
}

/// The body, after it was printed.
struct SeenBody(Bytes);

impl FromRequest for SeenBody {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let body = Bytes::from_request(req).await?;
        do_thing_with_request_body(&body);
        Ok(Self(body))
    }

    fn describe(doc: &mut RouteDescription) {
        <Bytes as FromRequest>::describe(doc);
    }
}

async fn handler(SeenBody(body): SeenBody) -> Bytes {
    body
}

fn router() -> Router {
    let api = routes! { middleware: [print_request_body], POST: handler };
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
    async fn both_middleware_and_handler_read_the_body() {
        let (logged, _guard) = Logged::lines();
        let response = TestClient::new(router()).post("/").body("tea").await;
        response.assert_status(200).assert_text("tea");
        assert_eq!(logged.count(r#"read body=b"tea""#), 2);
    }

    #[tokio::test]
    async fn the_middleware_rejects_a_body_above_the_limit() {
        let response = TestClient::new(router()).post("/").body(vec![b'x'; 1_048_577]).await;
        response.assert_status(413);
    }
}
