//! A query that its type validates, with errors in a custom text format.

use serde::Deserialize;
use stockade::middleware::with_sanitization;
use stockade::prelude::*;
use stockade::{ErrorKind, ErrorReply};

#[derive(Deserialize, Schema)]
struct NameInput {
    #[schema(min_length = 2, message = "Can not be empty")]
    name: String,
}

async fn handler(Query(input): Query<NameInput>) -> Html<String> {
    Html(format!("<h1>Hello, {}!</h1>", input.name))
}

fn in_words(reply: &mut ErrorReply) {
    if reply.kind() == ErrorKind::Validation {
        let errors = reply.field_errors().iter();
        let errors = errors.map(|error| format!("{}: {}", error.field, error.message));
        let text = format!("Input validation error: [{}]", errors.collect::<Vec<_>>().join(", "));
        reply.set_body("text/plain; charset=utf-8", text);
    }
}

fn router() -> Router {
    // The name is escaped as text, so it cannot contain markup.
    let api = routes! {
        GET: { handler, middleware: [with_sanitization()], error_handling: in_words },
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
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn rejects_a_short_name() {
        for query in ["?name=", "?name=X"] {
            let response = TestClient::new(router()).get(format!("/{query}")).await;
            let expected = "Input validation error: [name: Can not be empty]";
            response.assert_status(400).assert_text(expected);
        }
        let absent = TestClient::new(router()).get("/").await;
        absent.assert_status(400).assert_text_contains("[name: ");
    }

    #[tokio::test]
    async fn a_name_is_greeted() {
        let response = TestClient::new(router()).get("/?name=LT").await;
        response.assert_status(200).assert_text("<h1>Hello, LT!</h1>");
        let response = TestClient::new(router()).get("/?name=%3Ci%3E").await;
        response.assert_status(200).assert_text("<h1>Hello, &lt;i&gt;!</h1>");
    }
}
