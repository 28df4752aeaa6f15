//! The backend of Conduit, a blog with followers, favorites and comments: the
//! whole API of RealWorld on an embedded SQLite.
//!
//! `cargo run` serves it below `http://127.0.0.1:3000/api`, from the file
//! `conduit.db`. `PORT` and `CONDUIT_DB` choose others; `CONDUIT_SECRET` signs
//! the tokens, else each start has a secret of its own. `CONDUIT_PROXIES` is the
//! number of proxies in front, which say who the client is. With `-- openapi`,
//! `-- routes` or `-- explain POST /api/users` it says what it knows about its
//! routes, and ends.
//!
//! # What it does not do
//!
//! Somebody who attacks it finds these, and each has its reason:
//!
//! - Registering tells that an email or a name is taken: the API wants the error,
//!   and no mail can be sent. 60 requests a minute are what keeps lists from it.
//! - A new password or email asks for a token, and not for the old password: the
//!   API has no field for it. Other tokens end by a new password.
//! - A hundred wrong passwords lock an address out for an hour, whoever sends them.
//!   Without that, many clients try one account without end.
//! - `password` is a password: a list of common ones has megabytes. 100 guesses an
//!   hour make up for some of it.
//! - A name or a slug that is given up is free for others: links lead to whoever has
//!   it now. A program that people trust keeps both for ever.
//! - Descriptions, bodies, comments and biographies have any signs: they are texts
//!   with lines, and pages escape them. Images are loaded from wherever they are,
//!   and so their host sees the readers.
//! - A token that is over counts as none where nobody has to be signed in, and one
//!   whose session is over is refused there.
//! - A session that ends while an article or a comment is being sent does not stop
//!   it: ten seconds later no such request is left. The account itself asks again.
//! - A feed counts the articles of everybody who is followed: 0.3 s for 100,000, which
//!   somebody has to follow first, at ten a second.
//! - Accounts cost nothing, and so do favorites and followers.
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
use stockade::middleware::{SecurityHeaders, with_timeout};
use stockade::openapi::OpenApiOptions;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::server::ServerOptions;

use self::db::Db;
use self::errors::conduit_form;
use self::users::TokenKey;

#[cfg(test)]
fn router(db: Db, secret: Secret) -> Router {
    without_db(secret).state(db)
}

/// The whole interface, which still needs the database as state.
fn without_db(secret: Secret) -> Router {
    let token = Auth::secret(secret.clone()).scheme("Token");
    let session = Middleware::new(users::check_session).named("check_session").describing(|doc| {
        doc.may_respond(401, "The session of the token is over");
    });
    let reads = "everybody reads; users also see their own marks";
    let api = routes! {
        "api": {
            // Longer than the database may take; passwords wait for a processor.
            middleware: with_timeout(Duration::from_secs(10)),
            "users": {
                // A password costs much more than any other request.
                POST: {
                    users::register,
                    docs: "Register",
                    public: "it makes the account",
                    rate_limit: 60 / MINUTE,
                },
                "login": {
                    POST: {
                        users::log_in,
                        docs: "Log in",
                        public: "it gives the token",
                        rate_limit: 60 / MINUTE,
                    },
                },
            },
            "tags": { GET: { articles::tags, docs: "List tags", public: "everybody reads the articles" } },
            // Everything else needs a user, unless it is `public`.
            ..routes! {
                auth: &token,
                middleware: session,
                "user": {
                    GET: { users::show_current, docs: "Show the current user" },
                    PUT: {
                        users::update_current,
                        docs: "Change the current user",
                        rate_limit: 60 / MINUTE,
                    },
                },
                "profiles/:username": {
                    GET: {
                        profiles::show,
                        docs: "Show a profile",
                        auth: token.optional(),
                        public: reads,
                    },
                    "follow": {
                        POST: { profiles::follow, docs: "Follow a user" },
                        DELETE: { profiles::unfollow, docs: "Unfollow a user" },
                    },
                },
                "articles": {
                    GET: {
                        articles::list,
                        docs: "List articles",
                        auth: token.optional(),
                        public: reads,
                    },
                    POST: {
                        articles::create,
                        docs: "Publish an article",
                        rate_limit: 30 / MINUTE,
                    },
                    "feed": {
                        GET: { articles::feed, docs: "List the articles of followed users" },
                    },
                    ":slug": {
                        GET: {
                            articles::show,
                            docs: "Show an article",
                            auth: token.optional(),
                            public: reads,
                        },
                        PUT: {
                            articles::update,
                            docs: "Change an article",
                            rate_limit: 30 / MINUTE,
                        },
                        DELETE: { articles::delete, docs: "Delete an article" },
                        "favorite": {
                            POST: { articles::favorite, docs: "Favorite an article" },
                            DELETE: { articles::unfavorite, docs: "Unfavorite an article" },
                        },
                        "comments": {
                            GET: {
                                comments::list,
                                docs: "List comments",
                                auth: token.optional(),
                                public: reads,
                            },
                            POST: {
                                comments::create,
                                docs: "Comment on an article",
                                rate_limit: 30 / MINUTE,
                            },
                            ":id": { DELETE: { comments::delete, docs: "Delete a comment" } },
                        },
                    },
                },
            },
        },
    };
    let options = RouterOptions::new()
        .error_handling(conduit_form)
        .validation_status(422)
        // Pages of every origin: users are known by a header, and not by a cookie.
        .cors_origin("*")
        // Answers have tokens, or depend on who asks.
        .security_headers(SecurityHeaders::new().no_store())
        .rate_limit(600 / MINUTE)
        .access_log(true);
    // `/openapi.json`, and `/docs` for people.
    create_router(api, options)
        .open_api(document_options())
        .policy(policy_from(Policy::recommended()))
        .state(TokenKey(secret))
}

/// The rules that keep the router from being built where a route breaks one:
/// those of `policy`, and one of this program.
fn policy_from(policy: Policy) -> Policy {
    policy
        .rule("writes-need-user", "what changes articles and profiles asks for a user", |route| {
            route.path.starts_with("/api/users") || !route.may_change() || !route.is_open()
        })
        .allow("cors-open-with-user", "router", "users are known by a header, and not by a cookie")
}

/// The words of the document about the API.
fn document_options() -> OpenApiOptions {
    OpenApiOptions::new("Conduit", "1.0.0")
        .description("A blog with followers, favorites and comments: the API of RealWorld.")
        .license("MIT OR Apache-2.0")
        .tag("user", "The account of whoever asks")
        .tag("users", "Accounts: registering and logging in")
        .tag("profiles", "What others see of an account")
        .tag("articles", "Articles, their comments and favorites")
        .tag("tags", "The tags of all articles")
        .public("everybody may write a client")
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::Builder::from_env(env_logger::Env::default().default_filter_or("info")).init();
    let port: u16 = env::var("PORT").map_or(Ok(3000), |port| port.parse())?;
    let proxies: u8 = env::var("CONDUIT_PROXIES").map_or(Ok(0), |proxies| proxies.parse())?;
    let path = env::var("CONDUIT_DB").unwrap_or_else(|_| "conduit.db".to_owned());
    let secret = match env::var("CONDUIT_SECRET") {
        Ok(secret) if secret.len() < 32 => return Err("CONDUIT_SECRET needs 32 bytes".into()),
        Ok(secret) => secret,
        Err(_) => generate_token(32)?,
    };
    let app = without_db(Secret::new(secret)?)
        // One writer at a time, and some readers beside it.
        .state_at_start(async move |_| Db::open(Path::new(&path), 8, Duration::from_secs(2)))
        .build()?;
    // `conduit routes`, `conduit explain POST /api/users`, `conduit openapi`: they need no file.
    if app.run_command(env::args()).await? {
        return Ok(());
    }
    let options = ServerOptions::new().trust_proxy(proxies);
    app.create_server_with(options)?.listen(port).await?;
    Ok(())
}
