//! A page with a form, and the handler that receives it.

use serde::Deserialize;
use stockade::prelude::*;

const FORM: &str = r#"<!doctype html>
<form action="/" method="post">
    <label>Your name: <input name="name"></label>
    <label>Your email: <input name="email"></label>
    <button>Subscribe</button>
</form>"#;

/// Returns the page, with a policy that allows its form.
async fn show_form() -> impl Reply {
    ([("content-security-policy", "default-src 'none'; form-action 'self'")], Html(FORM))
}

#[derive(Deserialize, Schema)]
struct Input {
    name: String,
    email: String,
}

async fn accept_form(Body(input): Body<Input>) -> String {
    format!("email='{}'\nname='{}'\n", input.email, input.name)
}

fn router() -> Router {
    let accept = ["application/x-www-form-urlencoded"];
    let api = routes! { GET: show_form, POST: { accept_form, accepts: accept } };
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
    async fn shows_a_form() {
        let page = TestClient::new(router()).get("/").await;
        page.assert_status(200).assert_text_contains("<button>Subscribe</button>");
        let policy = page.header("content-security-policy").unwrap();
        assert!(policy.contains("form-action 'self'"));
    }

    #[tokio::test]
    async fn accepts_a_form() {
        let client = TestClient::new(router());
        let input = json!({ "name": "ada", "email": "ada@example.org" });
        let response = client.post("/").form(&input).await;
        response.assert_status(200).assert_text("email='ada@example.org'\nname='ada'\n");
        client.post("/").json(&input).await.assert_status(415);
        let half = client.post("/").form(json!({ "name": "ada" })).await;
        half.assert_status(400).assert_field_error("email", "required");
    }
}
