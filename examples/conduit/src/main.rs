//! The backend of Conduit, a blog with followers, favorites and comments: the whole API of
//! RealWorld on an embedded SQLite.
//!
//! `cargo run` serves it below `http://127.0.0.1:3000/api`, from the file `conduit.db`.
//! `PORT` and `CONDUIT_DB` change these. `CONDUIT_SECRET` signs the tokens; without it, each
//! start has a new secret. `CONDUIT_PROXIES` is the number of proxies in front, which report
//! the address of the client. `-- openapi`, `-- routes` and `-- explain POST /api/users`
//! print facts about the routes and exit.
//!
//! # Limits of its protection
//!
//! An attacker will find the following. Each has a reason:
//!
//! - Registration shows that an email address or a name is taken: the API requires the
//!   error, and the program sends no mail. A limit of 60 requests a minute slows down lists.
//! - A new password or email address requires a token and not the old password: the API has
//!   no field for it. A new password ends all other tokens.
//! - A hundred wrong passwords lock an email address for an hour, whoever sends them.
//!   Otherwise, many clients could guess the password of one account forever.
//! - `password` is a valid password: a list of common passwords has megabytes. The limit of
//!   100 guesses an hour compensates for some of it.
//! - A name or a slug that is given up is free for others, so old links lead to its new
//!   owner. A program that people trust reserves both forever.
//! - Descriptions, bodies, comments and biographies may contain any characters: they are
//!   texts with lines, and pages escape them. Images are loaded from any host, so that host
//!   sees the readers.
//! - Routes without a required login ignore an expired token. They reject the tokens
//!   of an ended session.
//! - A session that ends while an article or a comment is uploaded does not stop the upload.
//!   Such a request lasts ten seconds at most. Changes of the account check the session again.
//! - A feed counts the articles of all followed users: 0.3 s for 100,000 articles, after
//!   somebody has followed their authors at ten a second.
//! - Accounts are free, and so are favorites and followers.
//!
//! Start reading at [`router`], the whole API as one tree. [`db`] opens the database, and
//! [`errors`] has the format of all errors.

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
use stockade::description::SecurityScheme;
use stockade::mcp::{Mcp, Tool};
use stockade::middleware::SecurityHeaders;
use stockade::openapi::OpenApiOptions;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::server::ServerOptions;
use stockade::sql::SqliteOptions;

use self::errors::conduit_form;

/// The whole API. The caller adds the database as state.
fn router(secret: Secret) -> Router {
    let token = Auth::bearer(users::authenticate).documented_as(SecurityScheme::jwt());
    without_policy(&token.scheme("Token"), options(), secret)
        .policy(policy_from(Policy::recommended()))
}

/// The same router with other users and options, for the tests.
fn without_policy(token: &Auth, options: RouterOptions, secret: Secret) -> Router {
    // `/openapi.json`, and `/docs` for people.
    create_router(api(token), options).open_api(document_options()).state(secret)
}

/// The routes as one tree.
fn api(token: &Auth) -> RouteTree {
    routes! {
        // The tools of agents: the routes with the key `tool`.
        "mcp": {
            auth: token.optional(),
            public: "everybody may read; all other tools require a user",
            timeout: Duration::from_secs(10),
            ..Mcp::new("Conduit", "1.0.0").routes(),
        },
        "api": {
            // More time than the database needs; password hashes wait for a processor.
            timeout: Duration::from_secs(10),
            // A password costs more than any other request, hence the lower rate limits.
            "users": {
                public: "users register and log in here",
                POST: { users::register, docs: "Register", rate_limit: 60 / MINUTE },
                "login": { POST: { users::log_in, docs: "Log in", rate_limit: 60 / MINUTE } },
            },
            "tags": {
                GET: {
                    articles::tags,
                    docs: "List tags",
                    public: "everybody may read",
                    tool: Tool::new("Lists the tags of all articles.").name("tags_list"),
                },
            },
            ..routes! {
                auth: token.clone().optional(),
                public: "everybody may read; users also see their own marks",
                "profiles/:username": {
                    GET: {
                        profiles::show,
                        docs: "Show a profile",
                        tool: Tool::new("Shows the profile of a user.").name("profiles_show"),
                    },
                },
                "articles": {
                    GET: {
                        articles::list,
                        docs: "List articles",
                        tool: Tool::new("Lists the latest articles, without their text.")
                            .name("articles_list"),
                    },
                    ":slug": {
                        GET: {
                            articles::show,
                            docs: "Show an article",
                            tool: Tool::new("Shows an article.").name("articles_show"),
                        },
                    },
                    ":slug/comments": {
                        GET: {
                            comments::list,
                            docs: "List comments",
                            tool: Tool::new("Lists the comments on an article.")
                                .name("comments_list"),
                        },
                    },
                },
            },
            ..routes! {
                auth: token,
                "user": {
                    GET: { users::show_current, docs: "Show the current user" },
                    PUT: {
                        users::update_current,
                        docs: "Change the current user",
                        rate_limit: 60 / MINUTE,
                    },
                },
                "profiles/:username/follow": {
                    POST: { profiles::follow, docs: "Follow a user" },
                    DELETE: { profiles::unfollow, docs: "Unfollow a user" },
                },
                "articles": {
                    POST: {
                        articles::create,
                        docs: "Publish an article",
                        rate_limit: 30 / MINUTE,
                        tool: Tool::new("Publishes an article.")
                            .name("articles_publish")
                            .destructive(false),
                    },
                    "feed": {
                        GET: {
                            articles::feed,
                            docs: "List articles of followed users",
                            tool: Tool::new("Lists the latest articles of followed authors.")
                                .name("articles_feed"),
                        },
                    },
                },
                "articles/:slug": {
                    PUT: { articles::update, docs: "Change an article", rate_limit: 30 / MINUTE },
                    DELETE: { articles::delete, docs: "Delete an article" },
                    "favorite": {
                        POST: {
                            articles::favorite,
                            docs: "Favorite an article",
                            tool: Tool::new("Adds an article to the favorites of the user.")
                                .name("articles_favorite")
                                .destructive(false)
                                .idempotent(true),
                        },
                        DELETE: { articles::unfavorite, docs: "Unfavorite an article" },
                    },
                    "comments": {
                        POST: {
                            comments::create,
                            docs: "Comment on an article",
                            rate_limit: 30 / MINUTE,
                            tool: Tool::new("Comments on an article.")
                                .name("comments_create")
                                .destructive(false),
                        },
                        ":id": { DELETE: { comments::delete, docs: "Delete a comment" } },
                    },
                },
            },
        },
    }
}

/// The options for all routes.
fn options() -> RouterOptions {
    RouterOptions::new()
        .error_handling(conduit_form)
        .validation_status(422)
        // Pages of every origin may send requests: a header authenticates users, not a cookie.
        .cors_origin("*")
        // Responses contain tokens, or depend on the user.
        .security_headers(SecurityHeaders::new().no_store())
        .rate_limit(600 / MINUTE)
        .access_log(true)
}

/// Returns the rules for all routes: the rules of `policy`, and one of this
/// program. The build fails if a route breaks a rule.
fn policy_from(policy: Policy) -> Policy {
    policy
        .rule("writes-need-user", "changes of articles and profiles require a user", |route| {
            // Each tool that writes requires a user.
            let is_free = route.path.starts_with("/api/users") || route.path == "/mcp";
            is_free || !route.may_change() || !route.is_open()
        })
        .allow("cors-open-with-user", "router", "a header authenticates users, not a cookie")
}

/// The texts of the document about the API.
fn document_options() -> OpenApiOptions {
    OpenApiOptions::new("Conduit", "1.0.0")
        .description("A blog with followers, favorites and comments: the API of RealWorld.")
        .license("MIT OR Apache-2.0")
        .tag("user", "The account of the authenticated user")
        .tag("users", "Accounts: registration and login")
        .tag("profiles", "Accounts as others see them")
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
    let app = router(Secret::new(secret)?)
        .state_at_start(async move |_| db::open(Path::new(&path), SqliteOptions::new()).await)
        .build()?;
    // `conduit routes`, `conduit explain POST /api/users`, `conduit openapi`: without a file.
    if app.run_command(env::args()).await? {
        return Ok(());
    }
    let options = ServerOptions::new().trust_proxy(proxies);
    app.create_server_with(options)?.listen(port).await?;
    Ok(())
}
