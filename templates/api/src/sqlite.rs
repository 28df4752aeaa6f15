//! The store: a SQLite file, and the migrations that create its tables.

use stockade::sql::rusqlite::{self, OptionalExtension as _, Row, params};
use stockade::sql::{SqlError, Sqlite};

use crate::notes::{NewNote, Note, NoteError};
{%- if auth != "none" %}
use crate::users::UserError;
{%- endif %}

/// The migrations, oldest first. Append new ones, and never change a released
/// one.
const MIGRATIONS: &[&str] = &[include_str!("../migrations/1_tables.sql")];

/// The data of the program.
pub struct Store(Sqlite);

impl Store {
    /// Opens or creates the file, and runs the migrations that it does not
    /// have.
    pub async fn open(path: &str) -> Result<Self, SqlError> {
        let db = Sqlite::open(path)?;
        db.write(|tx| {
            let done: u32 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
            let is_newer = || SqlError::failed("the database is newer than this program");
            for step in MIGRATIONS.get(done as usize..).ok_or_else(is_newer)? {
                tx.execute_batch(step)?;
            }
{%- if auth == "sessions" %}
            // The tables of the sessions, if they do not exist.
            tx.execute_batch(stockade::sql::MIGRATIONS)?;
{%- endif %}
            Ok::<_, SqlError>(tx.pragma_update(None, "user_version", MIGRATIONS.len() as u32)?)
        })
        .await?;
        Ok(Self(db))
    }
{%- if auth == "sessions" %}

    /// The database, for the sessions.
    pub fn database(&self) -> &Sqlite {
        &self.0
    }
{%- endif %}
{%- if auth == "none" %}

    pub async fn notes(&self, after: i64, limit: u32) -> Result<Vec<Note>, NoteError> {
        self.0
            .read(move |tx| {
                let sql = "SELECT * FROM notes WHERE id > ? ORDER BY id LIMIT ?";
                let mut statement = tx.prepare_cached(sql)?;
                let rows = statement.query_map(params![after, limit], note)?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await
    }

    pub async fn add_note(&self, new: NewNote) -> Result<Note, NoteError> {
        self.0
            .write(move |tx| {
                let sql = "INSERT INTO notes (title, text) VALUES (?, ?) RETURNING *";
                Ok(tx.query_row(sql, params![new.title, new.text], note)?)
            })
            .await
    }

    pub async fn note(&self, id: i64) -> Result<Note, NoteError> {
        self.0
            .read(move |tx| {
                let sql = "SELECT * FROM notes WHERE id = ?";
                let found = tx.query_row(sql, [id], note).optional()?;
                found.ok_or(NoteError::Unknown(id))
            })
            .await
    }

    pub async fn delete_note(&self, id: i64) -> Result<(), NoteError> {
        self.0
            .write(move |tx| {
                let sql = "DELETE FROM notes WHERE id = ?";
                match tx.execute(sql, [id])? {
                    0 => Err(NoteError::Unknown(id)),
                    _ => Ok(()),
                }
            })
            .await
    }
{%- else %}

    pub async fn notes(
        &self,
        owner: String,
        after: i64,
        limit: u32,
    ) -> Result<Vec<Note>, NoteError> {
        self.0
            .read(move |tx| {
                let sql = "SELECT * FROM notes WHERE owner = ? AND id > ? ORDER BY id LIMIT ?";
                let mut statement = tx.prepare_cached(sql)?;
                let rows = statement.query_map(params![owner, after, limit], note)?;
                Ok(rows.collect::<Result<_, _>>()?)
            })
            .await
    }

    pub async fn add_note(&self, owner: String, new: NewNote) -> Result<Note, NoteError> {
        self.0
            .write(move |tx| {
                let sql = "INSERT INTO notes (owner, title, text) VALUES (?, ?, ?) RETURNING *";
                Ok(tx.query_row(sql, params![owner, new.title, new.text], note)?)
            })
            .await
    }

    pub async fn note(&self, owner: String, id: i64) -> Result<Note, NoteError> {
        self.0
            .read(move |tx| {
                let sql = "SELECT * FROM notes WHERE owner = ? AND id = ?";
                let found = tx.query_row(sql, params![owner, id], note).optional()?;
                found.ok_or(NoteError::Unknown(id))
            })
            .await
    }

    pub async fn delete_note(&self, owner: String, id: i64) -> Result<(), NoteError> {
        self.0
            .write(move |tx| {
                let sql = "DELETE FROM notes WHERE owner = ? AND id = ?";
                match tx.execute(sql, params![owner, id])? {
                    0 => Err(NoteError::Unknown(id)),
                    _ => Ok(()),
                }
            })
            .await
    }

    pub async fn add_user(&self, name: String, password_hash: String) -> Result<(), UserError> {
        self.0
            .write(move |tx| {
                let sql = "INSERT INTO users (name, password_hash) VALUES (?, ?)";
                tx.execute(sql, [name, password_hash]).map_err(SqlError::from)?;
                Ok(())
            })
            .await
    }

    pub async fn password_hash(&self, name: String) -> Result<Option<String>, UserError> {
        self.0
            .read(move |tx| {
                let sql = "SELECT password_hash FROM users WHERE name = ?";
                let found = tx.query_row(sql, [name], |row| row.get(0)).optional();
                Ok(found.map_err(SqlError::from)?)
            })
            .await
    }
{%- endif %}
}

fn note(row: &Row<'_>) -> rusqlite::Result<Note> {
    Ok(Note { id: row.get("id")?, title: row.get("title")?, text: row.get("text")? })
}

impl From<rusqlite::Error> for NoteError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError::from(error).into()
    }
}
