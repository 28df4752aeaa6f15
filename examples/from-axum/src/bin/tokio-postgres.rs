//! PostgreSQL with tokio-postgres and a bb8 pool: one handler uses the pool,
//! another gets a connection from an extractor.

use from_axum::stand_ins::tokio_postgres::{self, Pool, PooledConnection};
use stockade::prelude::*;
use stockade::{FromRequest, RouteDescription};

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

async fn by_pool(pool: State<Pool>) -> Result<String, BoxError> {
    let row = pool.get().await?.query_one("select 1 + 1").await?;
    Ok(row.try_get(0)?.to_string())
}

async fn by_connection(Connection(connection): Connection) -> Result<String, BoxError> {
    let row = connection.query_one("select 1 + 2").await?;
    Ok(row.try_get(0)?.to_string())
}

fn app(pool: Pool) -> Result<App, ConfigError> {
    let api = routes! { GET: by_pool, POST: by_connection };
    create_router(api, RouterOptions::new()).state(pool).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    let pool = tokio_postgres::build("host=localhost user=postgres").await?;
    app(pool)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn both_ways_query_the_database() {
        let pool = tokio_postgres::build("host=localhost").await.unwrap();
        let client = TestClient::new(app(pool).unwrap());
        client.get("/").await.assert_status(200).assert_text("2");
        client.post("/").await.assert_status(200).assert_text("3");
    }
}
