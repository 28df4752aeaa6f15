//! An issue tracker for several companies: each statement has the company of the
//! user in its condition, and the tests prove it.
//!
//! `cargo run -p tenants` prints a token for a user of each of two companies.
//! `TRACKER_SECRET` signs the tokens, and `TRACKER_DB` is the database file.
//! `TRACKER_CONFIG` is a configuration file such as `production.json`.

mod db;
mod files;
mod issues;
mod projects;
#[cfg(test)]
mod tests;

use std::{env, fs};

use env_logger::Env;
use serde::Deserialize;
use stockade::auth::{generate_jwt, generate_token};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::serde_json;
use stockade::server::ServerOptions;
use stockade::sql::SqlError;

/// The authenticated user of a request: the claims of the token.
#[derive(Deserialize)]
pub struct Member {
    /// The company. A token of the identity provider always has one.
    pub tenant: String,
}

/// The errors of the request handlers.
#[derive(ApiError, Debug)]
pub enum TrackerError {
    /// The object does not exist, or belongs to another company. Clients cannot
    /// see the difference.
    #[status(404, "unknown {0}")]
    Unknown(&'static str),
    #[status(transparent)]
    Database(SqlError),
}

impl From<SqlError> for TrackerError {
    fn from(error: SqlError) -> Self {
        Self::Database(error)
    }
}

impl From<stockade::sql::rusqlite::Error> for TrackerError {
    fn from(error: stockade::sql::rusqlite::Error) -> Self {
        SqlError::from(error).into()
    }
}

/// The configuration file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    router: RouterOptions,
    server: ServerOptions,
}

/// The whole API. The caller adds the database.
fn router(secret: Secret, options: RouterOptions) -> Router {
    let api = routes! {
        auth: Auth::secret(secret),
        "projects": {
            GET: { projects::list, docs: "List the projects" },
            POST: { projects::create, docs: "Create a project" },
            ":project": {
                GET: { projects::show, docs: "Show a project" },
                PUT: { projects::rename, docs: "Rename a project" },
                DELETE: { projects::delete, docs: "Delete a project with its issues" },
                "issues": {
                    POST: { issues::create, docs: "Create an issue" },
                    ":issue": {
                        GET: { issues::show, docs: "Show an issue" },
                        PATCH: { issues::change, docs: "Change an issue, or move it" },
                        DELETE: { issues::delete, docs: "Delete an issue" },
                    },
                },
                "files": { POST: { files::upload, docs: "Upload a text file" } },
            },
        },
        "issues": { GET: { issues::list, docs: "Search the issues of all projects" } },
        "files": { ":file": { GET: { files::download, docs: "Download a file" } } },
    };
    create_router(api, options).policy(Policy::recommended()).configuration("production.json")
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    let path = env::var("TRACKER_DB").unwrap_or_else(|_| "tracker.db".to_owned());
    let secret = match env::var("TRACKER_SECRET") {
        Ok(secret) => secret,
        Err(_) => generate_token(32)?,
    };
    let secret = Secret::new(secret)?;
    let config = match env::var("TRACKER_CONFIG") {
        Ok(file) => serde_json::from_str(&fs::read_to_string(file)?)?,
        Err(_) => Config::default(),
    };
    let app = router(secret.clone(), config.router)
        .state_at_start(async move |_| db::open(&path).await)
        .build()?;
    if app.run_command(env::args()).await? {
        return Ok(());
    }
    for tenant in ["acme", "globex"] {
        let token = generate_jwt(json!({ "sub": "1", "tenant": tenant }), "1h", &secret)?;
        println!("a token of {tenant}: {token}");
    }
    app.create_server_with(config.server)?.listen(3000).await?;
    Ok(())
}
