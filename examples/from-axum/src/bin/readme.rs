//! Two routes: a text, and a user that is created from JSON.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;

#[derive(Deserialize, Schema)]
struct CreateUser {
    username: String,
}

#[derive(Serialize, Schema)]
struct User {
    id: u64,
    username: String,
}

async fn root() -> &'static str {
    "Hello, World!"
}

async fn create_user(Body(new): Body<CreateUser>) -> (StatusCode, Json<User>) {
    (StatusCode::CREATED, Json(User { id: 1_337, username: new.username }))
}

fn router() -> Router {
    create_router(routes! { GET: root, "users": { POST: create_user } }, RouterOptions::new())
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
    async fn a_user_is_created() {
        let client = TestClient::new(router());
        client.get("/").await.assert_status(200).assert_text("Hello, World!");
        let created = client.post("/users").json(json!({ "username": "ada" })).await;
        created.assert_status(201).assert_json(json!({ "id": 1_337, "username": "ada" }));
        let wrong = client.post("/users").json(json!({ "username": 7 })).await;
        wrong.assert_status(400).assert_field_error("username", "type");
    }
}
