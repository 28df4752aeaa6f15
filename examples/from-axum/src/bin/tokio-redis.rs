//! Redis with a bb8 pool: one handler uses the pool, another gets a connection
//! from an extractor.

use from_axum::stand_ins::redis::{self, Pool, PooledConnection};
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
    Ok(pool.get().await?.get("foo").await?)
}

async fn by_connection(Connection(mut connection): Connection) -> Result<String, BoxError> {
    Ok(connection.get("foo").await?)
}

/// Creates a pool, and tests it before the server starts.
async fn connect() -> Result<Pool, BoxError> {
    let pool = redis::build("redis://localhost").await?;
    let mut connection = pool.get().await?;
    connection.set("foo", "bar").await?;
    if connection.get("foo").await? != "bar" {
        return Err("Redis has lost a value".into());
    }
    tracing::debug!("connected to Redis");
    Ok(pool)
}

fn app(pool: Pool) -> Result<App, ConfigError> {
    let api = routes! { GET: by_pool, POST: by_connection };
    create_router(api, RouterOptions::new()).state(pool).build()
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    tracing_subscriber::fmt::init();
    app(connect().await?)?.listen(3000).await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    #[tokio::test]
    async fn both_ways_query_redis() {
        let client = TestClient::new(app(connect().await.unwrap()).unwrap());
        client.get("/").await.assert_status(200).assert_text("bar");
        client.post("/").await.assert_status(200).assert_text("bar");
    }
}
