//! Requests to a store on a PostgreSQL server.

use sqlx::postgres::PgConnectOptions;
use stockade::sql::SqlError;
use stockade::testing::TestClient;

use super::*;

/// Returns a pool for the server that `cargo xtask sqlx-postgres` starts.
async fn pool() -> PgPool {
    let folder = std::env::var("PGHOST").unwrap();
    let address = PgConnectOptions::new().socket(folder).username("postgres");
    options().connect_with(address).await.unwrap()
}

#[tokio::test]
#[ignore = "needs PostgreSQL: cargo xtask sqlx-postgres"]
async fn the_sqlx_pool_stores_notes() {
    let pool = pool().await;
    let client = TestClient::new(router(open(&pool).await.unwrap(), pool.clone()));
    client.get("/notes").await.assert_status(200).assert_json(json!([]));
    let note = json!({ "id": 1, "text": "'; DROP TABLE notes; --" });
    client.post("/notes").json(json!({ "text": note["text"] })).await.assert_json(note.clone());
    client.post("/notes").json(json!({ "text": note["text"] })).await.assert_status(409);
    client.get("/notes").await.assert_status(200).assert_json(json!([note]));
    client.get("/notes/count").await.assert_status(200).assert_json(json!({ "count": 1 }));

    // A pool without connections: the client gets a 503 with a retry time.
    pool.close().await;
    let response = client.get("/notes/count").await;
    response.assert_status(503).assert_header("retry-after", "1");
}

#[test]
fn errors_have_their_classes() {
    assert!(matches!(classify(sqlx::Error::PoolTimedOut), SqlError::Unavailable { .. }));
    assert!(matches!(classify(sqlx::Error::RowNotFound), SqlError::Failed(_)));
}
