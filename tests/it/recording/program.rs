//! The program of the recording in the book, as it compiles.

use stockade::prelude::*;

#[derive(serde::Deserialize, Schema)]
struct NewNote {
    #[schema(max_length = 500)]
    text: String,
}

async fn list() -> &'static str {
    "all notes"
}

async fn create(Body(note): Body<NewNote>) -> (StatusCode, String) {
    (StatusCode::CREATED, note.text)
}

pub fn api(secret: Secret) -> RouteTree {
    routes! {
        auth: Auth::secret(secret),
        "notes": {
            GET: list,
            POST: { create, rate_limit: 10 / MINUTE },
        },
    }
}

fn main() {
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let _ = create_router(api(secret), RouterOptions::new());
}
