//! Chapter 9 of the tutorial: configuration, health checks and shutdown.

mod config;
mod db;
mod notes;
#[cfg(test)]
mod tests;
mod users;

use std::env;
use std::time::Duration;

use env_logger::Env;
use stockade::middleware::health::Readiness;
use stockade::middleware::{SecurityHeaders, with_request_id};
use stockade::openapi::OpenApiOptions;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::server::ServerOptions;

use self::config::Config;

/// The whole API. The caller adds the database.
fn router(secret: Secret) -> Router {
    let token = Auth::secret(secret.clone());
    let api = routes! {
        auth: &token,
        "notes": {
            GET: { notes::list, docs: "List your notes" },
            POST: { notes::create, docs: "Create a note" },
            ":id": {
                GET: { notes::show, docs: "Show a note" },
                PUT: { notes::replace, docs: "Replace a note" },
                DELETE: { notes::delete, docs: "Delete a note" },
            },
        },
        ..routes! {
            public: "new users do not have a token yet",
            rate_limit: 10 / MINUTE,
            tag: "users",
            "users": { POST: { users::register, docs: "Register" } },
            "login": { POST: { users::log_in, docs: "Log in" } },
        },
        ..health_routes(),
    };
    let options = RouterOptions::new()
        .accepts(["application/json"])
        .max_body_size(64 * 1024)
        .problem_details("https://notes.example/problems/")
        .security_headers(SecurityHeaders::new().no_store())
        .rate_limit(300 / MINUTE)
        .timeout(Duration::from_secs(10))
        .request_id(with_request_id())
        .access_log(true);
    create_router(api, options)
        .open_api(document_options())
        .policy(policy())
        .state(secret)
        .state(Readiness::new())
}

/// The texts of the OpenAPI document.
fn document_options() -> OpenApiOptions {
    OpenApiOptions::new("Notes", "1.0.0")
        .description("Stores the notes of its users.")
        .tag("notes", "The notes of the authenticated user")
        .tag("users", "Registration and login")
        .public("everybody may write a client")
}

/// The rules for all routes. The router is not built if a route breaks one.
fn policy() -> Policy {
    Policy::recommended().rule("small-bodies", "no route needs more than 64 KiB", |route| {
        route.limits.max_body <= 64 * 1024
    })
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    let Config { address, database, secret, proxies } = Config::from_env()?;
    let app = router(secret).state_at_start(async move |_| db::open(&database).await).build()?;
    if app.run_command(env::args()).await? {
        return Ok(());
    }
    let options = ServerOptions::new()
        .trust_proxy(proxies)
        .idle_timeout(Duration::from_secs(90))
        .shutdown_delay(Duration::from_secs(5));
    app.create_server_with(options)?.listen(address.as_str()).await?;
    Ok(())
}
