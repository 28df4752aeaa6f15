//! The backend of Conduit, a blog with followers, favorites and comments: the
//! whole API of RealWorld on an embedded SQLite.
//!
//! `cargo run` serves it below `http://127.0.0.1:3000/api`, from the file
//! `conduit.db`. `PORT` and `CONDUIT_DB` choose others; `CONDUIT_SECRET` signs
//! the tokens, else each start has a secret of its own.
//!
//! Read it from [`router`], the whole interface as one tree; [`db`] has the pool
//! and the transactions, [`errors`] the form of all errors.

mod articles;
mod comments;
mod db;
mod errors;
mod profiles;
#[cfg(test)]
mod tests;
mod users;

use std::env;
use std::path::Path;
use std::time::Duration;

use stockade::auth::generate_token;
use stockade::prelude::*;

use self::db::Db;
use self::errors::conduit_form;
use self::users::TokenKey;

fn router(db: Db, secret: Secret) -> Router {
    let token = Auth::secret(secret.clone()).scheme("Token");
    let signed_in = with_auth(token.clone());
    let anybody = with_auth(token.required(false));
    let api = routes! {
        "api": {
            "users": {
                // A password costs much more than any other request.
                POST: { users::register, rate_limit: 60 / MINUTE },
                "login": { POST: { users::log_in, rate_limit: 60 / MINUTE } },
            },
            "user": {
                middleware: [signed_in.clone()],
                GET: users::show_current,
                PUT: users::update_current,
            },
            "profiles/:username": {
                GET: { profiles::show, middleware: [anybody.clone()] },
                "follow": {
                    middleware: [signed_in.clone()],
                    POST: profiles::follow,
                    DELETE: profiles::unfollow,
                },
            },
            "articles": {
                GET: { articles::list, middleware: [anybody.clone()] },
                POST: { articles::create, middleware: [signed_in.clone()] },
                "feed": { GET: { articles::feed, middleware: [signed_in.clone()] } },
                ":slug": {
                    GET: { articles::show, middleware: [anybody.clone()] },
                    PUT: { articles::update, middleware: [signed_in.clone()] },
                    DELETE: { articles::delete, middleware: [signed_in.clone()] },
                    "favorite": {
                        middleware: [signed_in.clone()],
                        POST: articles::favorite,
                        DELETE: articles::unfavorite,
                    },
                    "comments": {
                        GET: { comments::list, middleware: [anybody] },
                        POST: { comments::create, middleware: [signed_in.clone()] },
                        ":id": { DELETE: { comments::delete, middleware: [signed_in] } },
                    },
                },
            },
            "tags": { GET: articles::tags },
        },
    };
    let options = RouterOptions::new()
        .error_handling(conduit_form)
        .validation_status(422)
        // Pages of every origin: users are known by a header, and not by a cookie.
        .cors_origin("*")
        .rate_limit(600 / MINUTE)
        .access_log(true)
        .state(db)
        .state(TokenKey(secret));
    create_router(api, options)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let path = env::var("CONDUIT_DB").unwrap_or_else(|_| "conduit.db".to_owned());
    let secret = match env::var("CONDUIT_SECRET") {
        Ok(secret) => secret,
        Err(_) => generate_token(32)?,
    };
    // One writer at a time, and some readers beside it.
    let db = Db::open(Path::new(&path), 8, Duration::from_secs(2))?;
    router(db, Secret::new(secret)?).create_server()?.listen(port).await?;
    Ok(())
}
