//! Users in PostgreSQL with diesel. A pool runs the blocking queries on
//! separate threads, and migrations run at startup.

use from_axum::stand_ins::deadpool_diesel::{self, Pool};
use from_axum::stand_ins::diesel::{Migrations, Query as _, Table};
use serde::{Deserialize, Serialize};
use stockade::prelude::*;

const MIGRATIONS: Migrations =
    Migrations(&["CREATE TABLE users (id SERIAL, name TEXT NOT NULL, hair_color TEXT)"]);

const USERS: Table<Row> = Table::new("users");

#[derive(Serialize, Deserialize, Schema)]
struct Row {
    id: i32,
    name: String,
    hair_color: Option<String>,
}

#[derive(Serialize, Deserialize, Schema)]
struct NewUser {
    name: String,
    hair_color: Option<String>,
}

async fn create(pool: State<Pool>, Body(user): Body<NewUser>) -> Result<Row, BoxError> {
    let connection = pool.get().await?;
    Ok(connection.interact(|connection| USERS.insert(user).get_result(connection)).await??)
}

async fn list(pool: State<Pool>) -> Result<Json<Vec<Row>>, BoxError> {
    let connection = pool.get().await?;
    let rows = connection.interact(|connection| USERS.select().get_result(connection)).await??;
    Ok(Json(rows))
}

fn app(pool: Pool) -> Result<App, ConfigError> {
    let api = routes! { "user": { "list": { GET: list }, "create": { POST: create } } };
    create_router(api, RouterOptions::new()).state(pool).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let pool = deadpool_diesel::build("postgres://localhost/your_db");
    let connection = pool.get().await?;
    connection.interact(|connection| connection.run_pending_migrations(MIGRATIONS)).await??;
    drop(connection);
    app(pool)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn users_are_created_and_listed() {
        let pool = deadpool_diesel::build("");
        pool.get().await.unwrap().run_pending_migrations(MIGRATIONS).unwrap();
        let client = TestClient::new(app(pool).unwrap());
        client.get("/user/list").await.assert_status(200).assert_json(json!([]));
        let created = client.post("/user/create").json(json!({ "name": "Ada" })).await;
        let ada = json!({ "id": 1, "name": "Ada", "hair_color": null });
        created.assert_status(200).assert_json(&ada);
        client.get("/user/list").await.assert_json([&ada]);
        client.post("/user/create").json(json!({})).await.assert_status(400);
    }

    #[tokio::test]
    async fn a_database_error_appears_only_in_the_log() {
        let client = TestClient::new(app(deadpool_diesel::build("")).unwrap());
        let response = client.get("/user/list").await;
        response.assert_status(500).assert_error("Internal Server Error");
    }
}
