//! A body that is JSON or a form, depending on its content type. Other types
//! are rejected.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;

#[derive(Deserialize, Schema, Serialize)]
struct Payload {
    foo: String,
}

async fn handler(Body(payload): Body<Payload>) -> Payload {
    payload
}

fn router() -> Router {
    let accepts = ["application/json", "application/x-www-form-urlencoded"];
    create_router(routes! { POST: { handler, accepts: accepts } }, RouterOptions::new())
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
    async fn reads_json_and_forms() {
        let (client, payload) = (TestClient::new(router()), json!({ "foo": "tea" }));
        client.post("/").json(&payload).await.assert_json(&payload);
        client.post("/").form(&payload).await.assert_json(&payload);
    }

    #[tokio::test]
    async fn rejects_other_types() {
        for media in ["text/plain", "application/xml", "application/jsonp"] {
            let request = TestClient::new(router()).post("/").body(r#"{"foo":"tea"}"#);
            request.header("content-type", media).await.assert_status(415);
        }
    }
}
