//! Chapter 5 of the tutorial: state and a SQLite database.

mod db;
mod notes;
#[cfg(test)]
mod tests;

use std::env;

use env_logger::Env;
use stockade::prelude::*;

/// The whole API. The caller adds the database.
fn router() -> Router {
    let api = routes! {
        "notes": {
            GET: notes::list,
            POST: notes::create,
            ":id": { GET: notes::show, PUT: notes::replace, DELETE: notes::delete },
        },
    };
    let options = RouterOptions::new()
        .accepts(["application/json"])
        .max_body_size(64 * 1024)
        .problem_details("https://notes.example/problems/");
    create_router(api, options)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    let path = env::var("NOTES_DB").unwrap_or_else(|_| "notes.db".to_owned());
    let db = db::open(&path).await?;
    router().state(db).listen(3000).await?;
    Ok(())
}
