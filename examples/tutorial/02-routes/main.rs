//! Chapter 2 of the tutorial: routes, path parameters and query parameters.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;

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

fn sample_notes() -> Vec<Note> {
    let note = |id, title: &str, text: &str, pinned| Note {
        id,
        title: title.to_owned(),
        text: text.to_owned(),
        pinned,
    };
    vec![
        note(1, "Shopping", "Tea, milk, bread", false),
        note(2, "Door code", "Ask Grace", true),
        note(3, "Books", "The Art of Computer Programming", false),
    ]
}

async fn list(Query(filter): Query<Filter>) -> NoteList {
    let matches = |note: &Note| filter.pinned.is_none_or(|pinned| note.pinned == pinned);
    NoteList { items: sample_notes().into_iter().filter(matches).take(filter.limit).collect() }
}

async fn show(Path(id): Path<u64>) -> Result<Note, StatusCode> {
    sample_notes().into_iter().find(|note| note.id == id).ok_or(StatusCode::NOT_FOUND)
}

fn router() -> Router {
    let api = routes! {
        "notes": {
            GET: list,
            ":id": { GET: show },
        },
    };
    create_router(api, RouterOptions::new())
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    router().listen(3000).await
}

#[cfg(test)]
mod tests;
