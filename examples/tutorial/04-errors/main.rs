//! Chapter 4 of the tutorial: errors as responses.

use env_logger::Env;
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

/// The errors of the request handlers.
#[derive(ApiError, Debug)]
enum NoteError {
    #[status(404, "there is no note {0}")]
    Unknown(u64),
    #[status(409, "note {id} has this title", type = "title-taken")]
    TitleTaken {
        #[member("noteId")]
        id: u64,
    },
    #[status(500, "cannot write the backup")]
    Backup(#[from] std::io::Error),
}

/// All notes, in the memory of the process.
type Notes = State<Mutex<Vec<Note>>>;

async fn list(notes: Notes, Query(filter): Query<Filter>) -> NoteList {
    let notes = notes.lock().await;
    let matches = |note: &&Note| filter.pinned.is_none_or(|pinned| note.pinned == pinned);
    NoteList { items: notes.iter().filter(matches).take(filter.limit).cloned().collect() }
}

/// Fails if a note other than `id` has this title.
fn check_title(notes: &[Note], title: &str, id: u64) -> Result<(), NoteError> {
    match notes.iter().find(|note| note.title == title && note.id != id) {
        Some(note) => Err(NoteError::TitleTaken { id: note.id }),
        None => Ok(()),
    }
}

async fn create(notes: Notes, Body(new): Body<NewNote>) -> Result<Created<Note>, NoteError> {
    let mut notes = notes.lock().await;
    let id = notes.last().map_or(1, |last| last.id + 1);
    check_title(&notes, &new.title, id)?;
    let note = new.with_id(id);
    notes.push(note.clone());
    Ok(Created::new(note))
}

async fn show(notes: Notes, Path(id): Path<u64>) -> Result<Note, NoteError> {
    let notes = notes.lock().await;
    notes.iter().find(|note| note.id == id).cloned().ok_or(NoteError::Unknown(id))
}

async fn replace(
    notes: Notes,
    Path(id): Path<u64>,
    Body(new): Body<NewNote>,
) -> Result<Note, NoteError> {
    let mut notes = notes.lock().await;
    check_title(&notes, &new.title, id)?;
    let note = notes.iter_mut().find(|note| note.id == id).ok_or(NoteError::Unknown(id))?;
    *note = new.with_id(id);
    Ok(note.clone())
}

async fn delete(notes: Notes, Path(id): Path<u64>) -> Result<(), NoteError> {
    let mut notes = notes.lock().await;
    let index = notes.iter().position(|note| note.id == id).ok_or(NoteError::Unknown(id))?;
    notes.remove(index);
    Ok(())
}

async fn back_up(notes: Notes) -> Result<(), NoteError> {
    let notes = json!(*notes.lock().await);
    Ok(tokio::fs::write("backup/notes.json", notes.to_string()).await?)
}

fn router() -> Router {
    let api = routes! {
        "notes": {
            GET: list,
            POST: create,
            ":id": { GET: show, PUT: replace, DELETE: delete },
        },
        "backup": { POST: back_up },
    };
    let options = RouterOptions::new()
        .accepts(["application/json"])
        .max_body_size(64 * 1024)
        .problem_details("https://notes.example/problems/");
    create_router(api, options).state(Mutex::new(Vec::<Note>::new()))
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    router().listen(3000).await
}

#[cfg(test)]
mod tests;
