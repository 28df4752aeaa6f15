//! A driver for stores that uses the sqlx pool.

use sqlx::types::{Json, JsonRawValue};
use sqlx::{AssertSqlSafe, PgPool};
use stockade::sql::{Dialect, Driver, Row, SqlError, Statement};
use stockade::{BoxFuture, serde_json};

/// An sqlx pool. Stores and handlers use the same database.
#[derive(Clone, Debug)]
pub struct SqlxPostgres(pub PgPool);

impl Driver for SqlxPostgres {
    fn dialect(&self) -> Dialect {
        Dialect::Postgres
    }

    fn run(&self, statement: Statement) -> BoxFuture<'_, Result<Vec<Row>, SqlError>> {
        Box::pin(async move {
            let parameter: &JsonRawValue =
                serde_json::from_str(&statement.parameter).map_err(SqlError::failed)?;
            // Safe: the text of a statement never contains values from clients.
            let query = sqlx::query_as(AssertSqlSafe(statement.sql.to_string()));
            let rows: Vec<(String, i64)> =
                query.bind(Json(parameter)).fetch_all(&self.0).await.map_err(classify)?;
            Ok(rows.into_iter().map(|(json, number)| Row::new(json, number)).collect())
        })
    }
}

/// Classifies an error by how to handle it.
pub fn classify(error: sqlx::Error) -> SqlError {
    match &error {
        sqlx::Error::Database(cause) => {
            let code = cause.code().unwrap_or_default().into_owned();
            let constraint = cause.constraint().map(str::to_owned);
            SqlError::of_sqlstate(&code, constraint.as_deref(), None, error)
        }
        sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut | sqlx::Error::PoolClosed => {
            SqlError::unavailable(error)
        }
        _ => SqlError::failed(error),
    }
}
