//! The store: a PostgreSQL database, and the migrations that create its tables.

use stockade::sql::tokio_postgres::{self, Row};
use stockade::sql::{Postgres, SqlError};

use crate::notes::{NewNote, Note, NoteError};
{%- if auth != "none" %}
use crate::users::UserError;
{%- endif %}

/// The migrations, oldest first. Append new ones, and never change a released
/// one.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/1_tables.sql")];

/// The data of the program.
pub struct Store(Postgres);

impl Store {
    /// Connects, and runs the migrations that the database does not have.
    pub async fn open(address: &str) -> Result<Self, SqlError> {
        let db = Postgres::connect(address).await?;
        let mut client = db.client().await?;
        let tx = client.transaction().await?;
        // Several processes may start at once.
        tx.batch_execute(
            "SELECT pg_advisory_xact_lock(3);
            CREATE TABLE IF NOT EXISTS migrations (number bigint PRIMARY KEY)",
        )
        .await?;
        let sql = "SELECT coalesce(max(number), 0) FROM migrations";
        let done: i64 = tx.query_one(sql, &[]).await?.get(0);
        let is_newer = || SqlError::failed("the database is newer than this program");
        let done = usize::try_from(done).map_err(SqlError::failed)?;
        for (step, number) in MIGRATIONS.get(done..).ok_or_else(is_newer)?.iter().zip(done + 1..) {
            tx.batch_execute(step).await?;
            let sql = "INSERT INTO migrations (number) VALUES ($1)";
            tx.execute(sql, &[&(number as i64)]).await?;
        }
{%- if auth == "sessions" %}
        // The tables of the sessions, if they do not exist.
        tx.batch_execute(stockade::sql::MIGRATIONS).await?;
{%- endif %}
        tx.commit().await?;
        drop(client);
        Ok(Self(db))
    }
{%- if auth == "sessions" %}

    /// The database, for the sessions.
    pub fn database(&self) -> &Postgres {
        &self.0
    }
{%- endif %}
{%- if auth == "none" %}

    pub async fn notes(&self, after: i64, limit: u32) -> Result<Vec<Note>, NoteError> {
        let sql = "SELECT * FROM notes WHERE id > $1 ORDER BY id LIMIT $2";
        let client = self.0.client().await?;
        let rows = client.query(sql, &[&after, &i64::from(limit)]).await?;
        Ok(rows.iter().map(note).collect())
    }

    pub async fn add_note(&self, new: NewNote) -> Result<Note, NoteError> {
        let sql = "INSERT INTO notes (title, text) VALUES ($1, $2) RETURNING *";
        let client = self.0.client().await?;
        let row = client.query_one(sql, &[&new.title, &new.text]).await?;
        Ok(note(&row))
    }

    pub async fn note(&self, id: i64) -> Result<Note, NoteError> {
        let sql = "SELECT * FROM notes WHERE id = $1";
        let row = self.0.client().await?.query_opt(sql, &[&id]).await?;
        row.as_ref().map(note).ok_or(NoteError::Unknown(id))
    }

    pub async fn delete_note(&self, id: i64) -> Result<(), NoteError> {
        let sql = "DELETE FROM notes WHERE id = $1";
        match self.0.client().await?.execute(sql, &[&id]).await? {
            0 => Err(NoteError::Unknown(id)),
            _ => Ok(()),
        }
    }
{%- else %}

    pub async fn notes(
        &self,
        owner: String,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Note>, NoteError> {
        let sql = "SELECT * FROM notes WHERE owner = $1 AND id > $2 ORDER BY id LIMIT $3";
        let client = self.0.client().await?;
        let rows = client.query(sql, &[&owner, &after, &i64::from(limit)]).await?;
        Ok(rows.iter().map(note).collect())
    }

    pub async fn add_note(&self, owner: String, new: NewNote) -> Result<Note, NoteError> {
        let sql = "INSERT INTO notes (owner, title, text) VALUES ($1, $2, $3) RETURNING *";
        let client = self.0.client().await?;
        let row = client.query_one(sql, &[&owner, &new.title, &new.text]).await?;
        Ok(note(&row))
    }

    pub async fn note(&self, owner: String, id: i64) -> Result<Note, NoteError> {
        let sql = "SELECT * FROM notes WHERE owner = $1 AND id = $2";
        let row = self.0.client().await?.query_opt(sql, &[&owner, &id]).await?;
        row.as_ref().map(note).ok_or(NoteError::Unknown(id))
    }

    pub async fn delete_note(&self, owner: String, id: i64) -> Result<(), NoteError> {
        let sql = "DELETE FROM notes WHERE owner = $1 AND id = $2";
        match self.0.client().await?.execute(sql, &[&owner, &id]).await? {
            0 => Err(NoteError::Unknown(id)),
            _ => Ok(()),
        }
    }

    pub async fn add_user(&self, name: String, password_hash: String) -> Result<(), UserError> {
        let sql = "INSERT INTO users (name, password_hash) VALUES ($1, $2)";
        let client = self.0.client().await?;
        let done = client.execute(sql, &[&name, &password_hash]).await;
        done.map_err(SqlError::from)?;
        Ok(())
    }

    pub async fn password_hash(&self, name: String) -> Result<Option<String>, UserError> {
        let sql = "SELECT password_hash FROM users WHERE name = $1";
        let client = self.0.client().await?;
        let row = client.query_opt(sql, &[&name]).await;
        Ok(row.map_err(SqlError::from)?.map(|row| row.get(0)))
    }
{%- endif %}
}

fn note(row: &Row) -> Note {
    Note { id: row.get("id"), title: row.get("title"), text: row.get("text") }
}

impl From<tokio_postgres::Error> for NoteError {
    fn from(error: tokio_postgres::Error) -> Self {
        SqlError::from(error).into()
    }
}
