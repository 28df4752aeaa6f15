//! Chapter 3 of the tutorial: JSON bodies and their validation.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::reply::Created;
use tokio::sync::Mutex;

/// One note.
#[derive(Clone, Serialize, Schema)]
struct Note {
    id: u64,
    title: String,
    text: String,
    pinned: bool,
}

/// The response to `GET /notes`.
#[derive(Serialize, Schema)]
struct NoteList {
    items: Vec<Note>,
}

/// The query of `GET /notes`.
#[derive(Deserialize, Schema)]
struct Filter {
    pinned: Option<bool>,
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: usize,
}

/// The body of a request that creates or replaces a note.
#[derive(Deserialize, Schema)]
struct NewNote {
    #[schema(required, trim, max_length = 100)]
    title: String,
    #[schema(max_length = 10_000)]
    text: String,
    #[schema(default = false)]
    pinned: bool,
}

impl NewNote {
    fn with_id(self, id: u64) -> Note {
        Note { id, title: self.title, text: self.text, pinned: self.pinned }
    }
}

/// All notes, in the memory of the process.
type Notes = State<Mutex<Vec<Note>>>;

async fn list(notes: Notes, Query(filter): Query<Filter>) -> NoteList {
    let notes = notes.lock().await;
    let matches = |note: &&Note| filter.pinned.is_none_or(|pinned| note.pinned == pinned);
    NoteList { items: notes.iter().filter(matches).take(filter.limit).cloned().collect() }
}

async fn create(notes: Notes, Body(new): Body<NewNote>) -> Created<Note> {
    let mut notes = notes.lock().await;
    let id = notes.last().map_or(1, |last| last.id + 1);
    let note = new.with_id(id);
    notes.push(note.clone());
    Created::new(note)
}

async fn show(notes: Notes, Path(id): Path<u64>) -> Result<Note, StatusCode> {
    let notes = notes.lock().await;
    notes.iter().find(|note| note.id == id).cloned().ok_or(StatusCode::NOT_FOUND)
}

async fn replace(
    notes: Notes,
    Path(id): Path<u64>,
    Body(new): Body<NewNote>,
) -> Result<Note, StatusCode> {
    let mut notes = notes.lock().await;
    let note = notes.iter_mut().find(|note| note.id == id).ok_or(StatusCode::NOT_FOUND)?;
    *note = new.with_id(id);
    Ok(note.clone())
}

fn router() -> Router {
    let api = routes! {
        "notes": {
            GET: list,
            POST: create,
            ":id": { GET: show, PUT: replace },
        },
    };
    let options = RouterOptions::new().accepts(["application/json"]).max_body_size(64 * 1024);
    create_router(api, options).state(Mutex::new(Vec::<Note>::new()))
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    router().listen(3000).await
}

#[cfg(test)]
mod tests;
