//! An issue tracker for several companies: no company reaches the objects of
//! another, and the tests prove it.
//!
//! `README.md` shows requests to try. Start reading at `api.rs`, the whole public
//! API as one tree, and continue with `tests/mod.rs`, its guards.
//!
//! | variable | meaning |
//! |---|---|
//! | `TRACKER_DB` | the database file; `tracker.db` by default |
//! | `TRACKER_CONFIG` | a configuration file such as `production.json` |
//! | `TRACKER_SECRET` | signs the session cookies |
//! | `TRACKER_PAYMENTS_SECRET` | verifies the requests of the payment provider |
//! | `TRACKER_OPERATOR_PASSWORD` | the password of `operator` for the internal API |
//!
//! A missing secret is generated, and the password is printed.

mod accounts;
mod admin;
mod api;
mod billing;
mod db;
mod errors;
mod files;
mod hooks;
mod http_client;
mod issues;
mod members;
mod projects;
#[cfg(test)]
mod tests;

use std::{env, fs};

use env_logger::Env;
use serde::Deserialize;
use stockade::auth::webhooks::WebhookKeys;
use stockade::auth::{PasswordHasher, generate_token};
use stockade::outgoing::OutgoingGuard;
use stockade::prelude::*;
use stockade::serde_json;
use stockade::server::ServerOptions;

use self::accounts::Passwords;
use self::api::Parts;

/// The configuration file.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Config {
    router: RouterOptions,
    server: ServerOptions,
}

/// Returns a secret from the environment, or a new one.
fn secret(variable: &str) -> Result<String, BoxError> {
    match env::var(variable) {
        Ok(secret) => Ok(secret),
        Err(_) => Ok(generate_token(32)?),
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(Env::default().default_filter_or("info")).init();
    let path = env::var("TRACKER_DB").unwrap_or_else(|_| "tracker.db".to_owned());
    let config = match env::var("TRACKER_CONFIG") {
        Ok(file) => serde_json::from_str(&fs::read_to_string(file)?)?,
        Err(_) => Config::default(),
    };
    let parts = Parts::new(
        Secret::new(secret("TRACKER_SECRET")?)?,
        Passwords::new(PasswordHasher::recommended())?,
        WebhookKeys::new(secret("TRACKER_PAYMENTS_SECRET")?)?,
    );
    let password = secret("TRACKER_OPERATOR_PASSWORD")?;

    let file = path.clone();
    let public = api::router(&parts, config.router).state_at_start(async move |_| {
        let db = db::open(&file).await?;
        tokio::spawn(hooks::deliver_forever(db.clone(), OutgoingGuard::new()));
        Ok::<_, BoxError>(db)
    });
    let admin = admin::router(&parts, password.clone(), RouterOptions::new());
    let admin = admin.state_at_start(async move |_| db::open(&path).await);
    let (public, admin) = (public.build()?, admin.build()?);

    // `tenants audit` is about the public API, and `tenants admin audit` about
    // the internal one.
    let mut args: Vec<String> = env::args().collect();
    let is_admin = args.get(1).is_some_and(|arg| arg == "admin");
    if is_admin {
        args.remove(1);
    }
    let app = if is_admin { &admin } else { &public };
    if app.run_command(args).await? {
        return Ok(());
    }
    if env::var("TRACKER_OPERATOR_PASSWORD").is_err() {
        println!("the password of operator: {password}");
    }
    let public = public.create_server_with(config.server)?;
    let admin = admin.create_server()?;
    tokio::try_join!(public.listen(3000), admin.listen(3001))?;
    Ok(())
}
