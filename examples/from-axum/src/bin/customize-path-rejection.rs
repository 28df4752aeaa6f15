//! A custom error format for path parameters that do not fit their type.

use serde::{Deserialize, Serialize};
use stockade::ErrorReply;
use stockade::prelude::*;

#[derive(Deserialize, Schema, Serialize)]
struct Params {
    user_id: u32,
    team_id: u32,
}

async fn handler(Path(params): Path<Params>) -> Params {
    params
}

/// Reports the first invalid parameter.
fn path_error(reply: &mut ErrorReply) {
    let body = match reply.field_errors().first() {
        Some(failed) => json!({ "message": failed.message, "location": failed.field }),
        None => json!({ "message": reply.message(), "location": null }),
    };
    reply.set_json(body);
}

fn router() -> Router {
    let api = routes! {
        "users/:user_id/teams/:team_id": { GET: { handler, error_handling: path_error } },
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
    async fn names_the_invalid_parameter() {
        let client = TestClient::new(router());
        let right = client.get("/users/1/teams/2").await;
        right.assert_json(json!({ "user_id": 1, "team_id": 2 }));
        let wrong = client.get("/users/1/teams/blue").await;
        let expected = json!({ "message": "Expected integer, got string", "location": "team_id" });
        wrong.assert_status(400).assert_json(expected);
    }
}
