//! Notes: their types, their errors and their request handlers.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
{%- if database != "none" %}
use stockade::sql::SqlError;
{%- endif %}

use crate::Store;
{%- if auth != "none" %}
use crate::users::Member;
{%- endif %}

/// One note.
#[derive({% if database == "none" %}Clone, {% endif %}Serialize, Schema)]
pub struct Note {
    pub id: i64,
    pub title: String,
    pub text: String,
}

/// The response to `GET /notes`.
#[derive(Serialize, Schema)]
pub struct NoteList {
    items: Vec<Note>,
}

/// The query of `GET /notes`.
#[derive(Deserialize, Schema)]
pub struct Page {
    /// The id of the last note that the client has.
    #[schema(minimum = 0, default = 0)]
    after: i64,
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: u32,
}

/// The body of a request that creates a note.
#[derive(Deserialize, Schema)]
pub struct NewNote {
    #[schema(required, trim, max_length = 100)]
    pub title: String,
    #[schema(max_length = 10_000)]
    pub text: String,
}

/// The errors of the request handlers.
#[derive(ApiError, Debug)]
pub enum NoteError {
    #[status(404, "there is no note {0}")]
    Unknown(i64),
    #[status(409, "another note has this title")]
    TitleTaken,
{%- if database != "none" %}
    #[status(transparent)]
    Database(SqlError),
{%- endif %}
}
{%- if database != "none" %}

impl From<SqlError> for NoteError {
    fn from(error: SqlError) -> Self {
        match error {
            SqlError::Taken { .. } => Self::TitleTaken,
            error => Self::Database(error),
        }
    }
}
{%- endif %}

{% if auth == "none" -%}
pub async fn list(store: State<Store>, Query(page): Query<Page>) -> Result<NoteList, NoteError> {
    let items = store.notes(page.after, page.limit).await?;
    Ok(NoteList { items })
}

pub async fn create(
    store: State<Store>,
    Body(new): Body<NewNote>,
) -> Result<Created<Note>, NoteError> {
    Ok(Created::new(store.add_note(new).await?))
}

pub async fn show(store: State<Store>, Path(id): Path<i64>) -> Result<Note, NoteError> {
    store.note(id).await
}

pub async fn delete(store: State<Store>, Path(id): Path<i64>) -> Result<(), NoteError> {
    store.delete_note(id).await
}
{%- else -%}
pub async fn list(
    store: State<Store>,
    User(me): User<Member>,
    Query(page): Query<Page>,
) -> Result<NoteList, NoteError> {
    let items = store.notes(me.name, page.after, page.limit).await?;
    Ok(NoteList { items })
}

pub async fn create(
    store: State<Store>,
    User(me): User<Member>,
    Body(new): Body<NewNote>,
) -> Result<Created<Note>, NoteError> {
    Ok(Created::new(store.add_note(me.name, new).await?))
}

pub async fn show(
    store: State<Store>,
    User(me): User<Member>,
    Path(id): Path<i64>,
) -> Result<Note, NoteError> {
    store.note(me.name, id).await
}

pub async fn delete(
    store: State<Store>,
    User(me): User<Member>,
    Path(id): Path<i64>,
) -> Result<(), NoteError> {
    store.delete_note(me.name, id).await
}
{%- endif %}
