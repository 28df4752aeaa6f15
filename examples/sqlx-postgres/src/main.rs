//! Notes in PostgreSQL, with the sqlx pool behind the driver trait.
//!
//! ```text
//! DATABASE_URL=postgres://localhost/notes cargo run
//! curl -i localhost:3000/notes
//! ```

mod driver;
#[cfg(test)]
mod tests;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sqlx::postgres::PgPoolOptions;
use sqlx::{AssertSqlSafe, PgPool};
use stockade::prelude::*;
use stockade::rest::{Entity, ListQuery, NewRow, Store, StoreError};
use stockade::sql::{Dialect, SqlError, SqlStore, create_table_sql};

use driver::{SqlxPostgres, classify};

#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
struct Note {
    id: i64,
    #[schema(min_length = 1, max_length = 1000)]
    text: String,
}

impl Entity for Note {
    type Id = i64;
}

type Notes = SqlStore<Note, SqlxPostgres>;

#[derive(Deserialize, Schema)]
struct NewNote {
    #[schema(min_length = 1, max_length = 1000)]
    text: String,
}

async fn list(notes: State<Notes>) -> Result<Value, BoxError> {
    let page = notes.list(&ListQuery::new("id", 20)).await?;
    Ok(json!(page.items.into_iter().map(|note| note.value).collect::<Vec<_>>()))
}

async fn create(notes: State<Notes>, Body(new): Body<NewNote>) -> Result<Value, ApiError> {
    match notes.create(NewRow::new([("text", json!(new.text))])).await {
        Ok(made) => Ok(json!(made.value)),
        Err(StoreError::Taken { .. }) => Err(ApiError::new(409, "the note already exists")),
        Err(error) => Err(ApiError::internal(error)),
    }
}

/// Runs one of the program's own statements on the same pool.
async fn count(State(pool): State<PgPool>) -> Result<Value, SqlError> {
    let count: i64 = sqlx::query_scalar("SELECT count(*) FROM notes")
        .fetch_one(&*pool)
        .await
        .map_err(classify)?;
    Ok(json!({ "count": count }))
}

/// Opens the store, and creates its table if it does not exist.
async fn open(pool: &PgPool) -> Result<Notes, BoxError> {
    let table = create_table_sql::<Note>(Dialect::Postgres, "notes")?;
    sqlx::raw_sql(AssertSqlSafe(table)).execute(pool).await?;
    let unique = "CREATE UNIQUE INDEX IF NOT EXISTS notes_text ON notes (text)";
    sqlx::raw_sql(unique).execute(pool).await?;
    Ok(SqlStore::open(SqlxPostgres(pool.clone()), "notes").await?)
}

fn router(notes: Notes, pool: PgPool) -> Router {
    let api = routes! { "notes": { GET: list, POST: create, "count": { GET: count } } };
    create_router(api, RouterOptions::new()).state(notes).state(pool)
}

fn options() -> PgPoolOptions {
    // Clients that wait longer have often disconnected.
    PgPoolOptions::new().max_connections(16).acquire_timeout(Duration::from_secs(1))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let address = std::env::var("DATABASE_URL").map_err(|_| "DATABASE_URL is not set")?;
    let pool = options().connect(&address).await?;
    router(open(&pool).await?, pool).listen(3000).await?;
    Ok(())
}
