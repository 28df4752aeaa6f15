//! PostgreSQL with sqlx: one handler uses the pool, another gets a connection
//! from an extractor.

use std::time::Duration;

use from_axum::stand_ins::sqlx::{self, PgPool, PgPoolOptions, PoolConnection};
use stockade::prelude::*;
use stockade::{FromRequest, RouteDescription};

/// A pool connection for one request.
struct Connection(PoolConnection);

impl FromRequest for Connection {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let pool = State::<PgPool>::from_request(req).await?;
        Ok(Self(pool.acquire().await.map_err(ApiError::internal)?))
    }

    fn describe(doc: &mut RouteDescription) {
        State::<PgPool>::describe(doc);
    }
}

async fn by_pool(State(pool): State<PgPool>) -> Result<String, BoxError> {
    Ok(sqlx::query_scalar("select 'hello from the pool'").fetch_one(&*pool).await?)
}

async fn by_connection(Connection(mut connection): Connection) -> Result<String, BoxError> {
    Ok(sqlx::query_scalar("select 'hello from a connection'").fetch_one(&mut *connection).await?)
}

fn app(pool: PgPool) -> Result<App, ConfigError> {
    let api = routes! { GET: by_pool, POST: by_connection };
    create_router(api, RouterOptions::new()).state(pool).build()
}

fn pool() -> PgPoolOptions {
    PgPoolOptions::new().max_connections(5).acquire_timeout(Duration::from_secs(3))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let url = std::env::var("DATABASE_URL");
    let url = url.as_deref().unwrap_or("postgres://postgres:password@localhost");
    app(pool().connect(url).await?)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn both_ways_query_the_database() {
        let pool = pool().connect("postgres://test").await.unwrap();
        let client = TestClient::new(app(pool).unwrap());
        client.get("/").await.assert_status(200).assert_text("hello from the pool");
        client.post("/").await.assert_status(200).assert_text("hello from a connection");
    }

    #[tokio::test]
    async fn an_exhausted_pool_is_a_500() {
        let pool = pool().max_connections(0).acquire_timeout(Duration::ZERO);
        let pool = pool.connect("postgres://test").await.unwrap();
        let client = TestClient::new(app(pool).unwrap());
        client.post("/").await.assert_status(500).assert_error("Internal Server Error");
    }
}
