//! Chapter 7 of the tutorial: the program of chapter 6 with its tests.

mod db;
mod notes;
#[cfg(test)]
mod tests;
mod users;

use std::env;

use env_logger::Env;
use stockade::auth::generate_token;
use stockade::prelude::*;

/// The whole API. The caller adds the database.
fn router(secret: Secret) -> Router {
    let token = Auth::secret(secret.clone());
    let api = routes! {
        auth: &token,
        "notes": {
            GET: notes::list,
            POST: notes::create,
            ":id": { GET: notes::show, PUT: notes::replace, DELETE: notes::delete },
        },
        ..routes! {
            public: "new users do not have a token yet",
            rate_limit: 10 / MINUTE,
            "users": { POST: users::register },
            "login": { POST: users::log_in },
        },
    };
    let options = RouterOptions::new()
        .accepts(["application/json"])
        .max_body_size(64 * 1024)
        .problem_details("https://notes.example/problems/");
    create_router(api, options).state(secret)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    let path = env::var("NOTES_DB").unwrap_or_else(|_| "notes.db".to_owned());
    let secret = match env::var("NOTES_SECRET") {
        Ok(secret) => secret,
        Err(_) => generate_token(32)?,
    };
    let db = db::open(&path).await?;
    router(Secret::new(secret)?).state(db).listen(3000).await?;
    Ok(())
}
