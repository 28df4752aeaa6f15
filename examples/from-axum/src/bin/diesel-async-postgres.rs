//! Users in PostgreSQL with async diesel. An extractor gets a connection from
//! the pool.

use from_axum::stand_ins::diesel::{Migrations, Table};
use from_axum::stand_ins::diesel_async::{self, Pool, PooledConnection, RunQueryDsl as _};
use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::{FromRequest, RouteDescription};

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

/// A pool connection for one request.
struct Connection(PooledConnection);

impl FromRequest for Connection {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let pool = State::<Pool>::from_request(req).await?;
        Ok(Self(pool.get().await.map_err(ApiError::internal)?))
    }

    fn describe(doc: &mut RouteDescription) {
        State::<Pool>::describe(doc);
    }
}

async fn create(pool: State<Pool>, Body(user): Body<NewUser>) -> Result<Row, BoxError> {
    let mut connection = pool.get().await?;
    Ok(USERS.insert(user).run(&mut connection).await?)
}

async fn list(Connection(mut connection): Connection) -> Result<Json<Vec<Row>>, BoxError> {
    Ok(Json(USERS.select().run(&mut connection).await?))
}

fn app(pool: Pool) -> Result<App, ConfigError> {
    let api = routes! { "user": { "list": { GET: list }, "create": { POST: create } } };
    create_router(api, RouterOptions::new()).state(pool).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let pool = diesel_async::build("postgres://localhost/your_db");
    pool.get().await?.run_pending_migrations(MIGRATIONS).await?;
    app(pool)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn users_are_created_and_listed() {
        let pool = diesel_async::build("");
        pool.get().await.unwrap().run_pending_migrations(MIGRATIONS).await.unwrap();
        let client = TestClient::new(app(pool).unwrap());
        let user = json!({ "name": "Ada", "hair_color": "black" });
        client.post("/user/create").json(user).await.assert_status(200);
        let ada = json!([{ "id": 1, "name": "Ada", "hair_color": "black" }]);
        client.get("/user/list").await.assert_status(200).assert_json(ada);
    }

    #[tokio::test]
    async fn each_request_returns_its_connection() {
        let pool = diesel_async::build("");
        pool.get().await.unwrap().run_pending_migrations(MIGRATIONS).await.unwrap();
        let client = TestClient::new(app(pool).unwrap());
        for _ in 0..20 {
            client.get("/user/list").await.assert_status(200);
        }
    }
}
