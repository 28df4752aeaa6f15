//! An HTTP API for notes. Start with [`router`].

mod config;
mod health_check;
{%- if database == "none" %}
mod memory;
{%- endif %}
mod notes;
{%- if database == "postgres" %}
mod postgres;
{%- elsif database == "sqlite" %}
mod sqlite;
{%- endif %}
#[cfg(test)]
mod tests;
{%- if auth != "none" %}
mod users;
{%- endif %}

use std::env;
use std::time::Duration;

use env_logger::Env;
{%- if auth == "sessions" %}
use stockade::auth::KeyRing;
{%- endif %}
use stockade::middleware::health::Readiness;
{%- if auth == "sessions" %}
use stockade::middleware::{
    SecurityHeaders, SessionCookie, with_cross_origin_protection, with_request_id,
};
{%- else %}
use stockade::middleware::{SecurityHeaders, with_request_id};
{%- endif %}
use stockade::openapi::OpenApiOptions;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::server::ServerOptions;

use config::Config;
{%- if database == "none" %}
use memory::Store;
{%- elsif database == "postgres" %}
use postgres::Store;
{%- else %}
use sqlite::Store;
{%- endif %}

/// Builds the whole API. The store opens when the server starts.
{%- if database == "none" and auth == "none" %}
fn router() -> Router {
{%- else %}
fn router(config: &Config) -> Router {
{%- endif %}
{%- if auth == "jwt" %}
    let user = Auth::secret(config.secret.clone());
{%- elsif auth == "sessions" %}
    let cookie = SessionCookie::new(KeyRing::new(config.secret.clone()));
    let user = Auth::session(cookie.clone(), users::find);
    // The lock and the policy contain these times, too.
    let user = user.session_times(users::IDLE, users::LIFETIME);
{%- endif %}
    let api = routes! {
{%- if auth == "none" %}
        public: "this API does not have users",
{%- else %}
        auth: &user,
{%- endif %}
        "notes": {
            GET: { notes::list, docs: "List {% if auth == "none" %}the{% else %}your{% endif %} notes" },
            POST: { notes::create, docs: "Create a note" },
            ":id": {
                GET: { notes::show, docs: "Show a note" },
                DELETE: { notes::delete, docs: "Delete a note" },
            },
        },
{%- if auth == "sessions" %}
        "logout": { POST: { users::log_out, docs: "Log out" } },
        ..routes! {
            public: "new users do not have a session yet",
            middleware: with_cross_origin_protection(),
            rate_limit: 10 / MINUTE,
            "users": { POST: { users::register, docs: "Register" } },
            "login": { POST: { users::log_in, docs: "Log in" } },
        },
{%- elsif auth == "jwt" %}
        ..routes! {
            public: "new users do not have a token yet",
            rate_limit: 10 / MINUTE,
            "users": { POST: { users::register, docs: "Register" } },
            "login": { POST: { users::log_in, docs: "Log in" } },
        },
{%- endif %}
        ..health_routes(),
    };
{%- if database != "none" %}
    let database = config.database.clone();
{%- endif %}
    create_router(api, options())
        .open_api(
            OpenApiOptions::new("{{project-name}}", env!("CARGO_PKG_VERSION"))
                .public("everybody may write a client"),
        )
        .policy(policy())
        .state(Readiness::new())
{%- if database == "none" %}
        .state(Store::default())
{%- else %}
        .state_at_start(async move |_| Store::open(&database).await)
{%- endif %}
{%- if auth == "jwt" %}
        .state(config.secret.clone())
{%- elsif auth == "sessions" and database == "none" %}
        .state(users::sessions(cookie))
{%- elsif auth == "sessions" %}
        .state_at_start(async move |app| users::sessions(&app, cookie).await)
{%- endif %}
}

/// The options for all routes.
fn options() -> RouterOptions {
    RouterOptions::new()
        .accepts(["application/json"])
        .max_body_size(64 * 1024)
        .security_headers(SecurityHeaders::new().no_store())
        .rate_limit(300 / MINUTE)
        .timeout(Duration::from_secs(10))
        .request_id(with_request_id())
        .access_log(true)
}

/// The rules for all routes. The program does not start if a route breaks one.
fn policy() -> Policy {
    Policy::recommended().rule("small-bodies", "no route needs more than 64 KiB", |route| {
        route.limits.max_body <= 64 * 1024
    })
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    let config = Config::from_env()?;
    if env::args().nth(1).as_deref() == Some("health") {
        return health_check::run(&config.listen);
    }
    let app = router({% if database != "none" or auth != "none" %}&config{% endif %}).build()?;
    // `routes`, `explain`, `audit`, `openapi` and other commands.
    if app.run_command(env::args()).await? {
        return Ok(());
    }
    let options = ServerOptions::new()
        .trust_proxy(config.proxies)
        // Longer than the idle timeout of most proxies, which is 60 s.
        .idle_timeout(Duration::from_secs(90))
        .shutdown_delay(Duration::from_secs(5));
    app.create_server_with(options)?.listen(config.listen.as_str()).await?;
    Ok(())
}
