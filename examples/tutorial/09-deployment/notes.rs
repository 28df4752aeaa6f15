//! Notes: their types, their errors and their request handlers.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::sql::rusqlite::{self, Connection, OptionalExtension as _, Row, params};
use stockade::sql::{SqlError, Sqlite};

use crate::users::Member;

/// One note.
#[derive(Serialize, Schema)]
pub struct Note {
    id: i64,
    title: String,
    text: String,
    pinned: bool,
}

impl Note {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get("id")?,
            title: row.get("title")?,
            text: row.get("text")?,
            pinned: row.get("pinned")?,
        })
    }

    fn find(tx: &Connection, owner: &str, id: i64) -> Result<Self, NoteError> {
        let sql = "SELECT * FROM notes WHERE owner = ? AND id = ?";
        let note = tx.query_row(sql, params![owner, id], Self::from_row).optional()?;
        note.ok_or(NoteError::Unknown(id))
    }
}

/// The response to `GET /notes`.
#[derive(Serialize, Schema)]
pub struct NoteList {
    items: Vec<Note>,
}

/// The query of `GET /notes`.
#[derive(Deserialize, Schema)]
pub struct Filter {
    pinned: Option<bool>,
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
}

/// The body of a request that creates or replaces a note.
#[derive(Deserialize, Schema)]
pub struct NewNote {
    #[schema(required, trim, max_length = 100)]
    title: String,
    #[schema(max_length = 10_000)]
    text: String,
    #[schema(default = false)]
    pinned: bool,
}

/// The errors of the request handlers.
#[derive(ApiError, Debug)]
pub enum NoteError {
    #[status(404, "there is no note {0}")]
    Unknown(i64),
    #[status(409, "another note of yours has this title", type = "title-taken")]
    TitleTaken,
    #[status(transparent)]
    Database(SqlError),
}

impl From<SqlError> for NoteError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Taken { .. } => Self::TitleTaken,
            error => Self::Database(error),
        }
    }
}

impl From<rusqlite::Error> for NoteError {
    fn from(error: rusqlite::Error) -> Self {
        SqlError::from(error).into()
    }
}

pub async fn list(
    db: State<Sqlite>,
    User(me): User<Member>,
    Query(filter): Query<Filter>,
) -> Result<NoteList, NoteError> {
    db.read(move |tx| {
        let mut statement = tx.prepare_cached(
            "SELECT * FROM notes WHERE owner = ?1 AND (?2 IS NULL OR pinned = ?2)
             ORDER BY id LIMIT ?3",
        )?;
        let params = params![me.name, filter.pinned, filter.limit];
        let rows = statement.query_map(params, Note::from_row)?;
        Ok(NoteList { items: rows.collect::<Result<_, _>>()? })
    })
    .await
}

pub async fn create(
    db: State<Sqlite>,
    User(me): User<Member>,
    Body(new): Body<NewNote>,
) -> Result<Created<Note>, NoteError> {
    db.write(move |tx| {
        let sql = "INSERT INTO notes (owner, title, text, pinned) VALUES (?, ?, ?, ?)";
        tx.execute(sql, params![me.name, new.title, new.text, new.pinned])?;
        Ok(Created::new(Note::find(tx, &me.name, tx.last_insert_rowid())?))
    })
    .await
}

pub async fn show(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(id): Path<i64>,
) -> Result<Note, NoteError> {
    db.read(move |tx| Note::find(tx, &me.name, id)).await
}

pub async fn replace(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(id): Path<i64>,
    Body(new): Body<NewNote>,
) -> Result<Note, NoteError> {
    db.write(move |tx| {
        let sql = "UPDATE notes SET title = ?, text = ?, pinned = ? WHERE owner = ? AND id = ?";
        tx.execute(sql, params![new.title, new.text, new.pinned, me.name, id])?;
        Note::find(tx, &me.name, id)
    })
    .await
}

pub async fn delete(
    db: State<Sqlite>,
    User(me): User<Member>,
    Path(id): Path<i64>,
) -> Result<(), NoteError> {
    db.write(move |tx| {
        let sql = "DELETE FROM notes WHERE owner = ? AND id = ?";
        match tx.execute(sql, params![me.name, id])? {
            0 => Err(NoteError::Unknown(id)),
            _ => Ok(()),
        }
    })
    .await
}
