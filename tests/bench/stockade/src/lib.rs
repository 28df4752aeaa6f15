//! stockade, with all stages off, with its defaults, or with everything.

use bench_common::{Mode, header, mode, route, token, workload};
use serde::{Deserialize, Serialize};
use stockade::http::Method;
use stockade::middleware::RateLimit;
use stockade::prelude::*;
use stockade::reply::JsonText;
use stockade::server::{BoundServer, ServerOptions};

/// Binds a server to a free local port.
///
/// # Errors
/// Returns an error if the routes are invalid or no port is free.
pub async fn bind(mode: Mode) -> Result<BoundServer, BoxError> {
    // All connections come from one address.
    let options = ServerOptions::new()
        .max_connections(mode::MAX_CONNECTIONS)
        .max_connections_per_client(mode::MAX_CONNECTIONS)
        .backlog(mode::BACKLOG);
    Ok(router(mode)?.create_server_with(options)?.bind("127.0.0.1:0").await?)
}

fn router(mode: Mode) -> Result<Router, BoxError> {
    let mut router = Router::with_options(options(mode));
    for (method, path) in route::github() {
        router.route(Method::from_bytes(method.as_bytes())?, path, message);
    }
    router.get(route::JSON, message);
    router.post(route::PEOPLE, echo);
    if mode == Mode::Full {
        let secret = Secret::new(token::SECRET)?;
        router.use_(with_auth(Auth::secret(secret)));
    }
    router.get(route::PARAM, post);
    Ok(router)
}

fn options(mode: Mode) -> RouterOptions {
    let limit = RateLimit::new().max_requests(mode::MAX_REQUESTS);
    match mode {
        Mode::Bare => {
            RouterOptions::new().cors(false).enable_security_headers(false).rate_limit(false)
        }
        Mode::Defaults => RouterOptions::new().rate_limit(limit),
        Mode::Full => RouterOptions::new()
            .cors_origin(header::ORIGINS)
            .max_body_size(mode::MAX_BODY)
            .rate_limit(limit),
    }
}

async fn message() -> JsonText<&'static str> {
    JsonText(workload::MESSAGE)
}

async fn post(Path((user, post)): Path<(u32, u32)>) -> Json<Post> {
    Json(Post { user, post })
}

async fn echo(Body(user): Body<User>) -> Json<User> {
    Json(user)
}

#[derive(Schema, Serialize)]
struct Post {
    user: u32,
    post: u32,
}

#[derive(Deserialize, Schema, Serialize)]
struct User {
    #[schema(format = "uuid")]
    id: String,
    #[schema(min_length = 2, max_length = 80)]
    name: String,
    #[schema(format = "email")]
    email: String,
    #[schema(format = "uri")]
    site: Option<String>,
    #[schema(max_length = 1000)]
    bio: Option<String>,
    #[schema(minimum = 0, maximum = 150)]
    age: u32,
    #[schema(minimum = 0, exclusive_maximum = 1000)]
    score: Option<f64>,
    role: Role,
    #[schema(max_items = 10, items(min_length = 1, max_length = 20))]
    tags: Option<Vec<String>>,
    address: Address,
    active: Option<bool>,
    #[schema(format = "date")]
    born: Option<String>,
}

#[derive(Deserialize, Schema, Serialize)]
struct Address {
    #[schema(min_length = 1, max_length = 100)]
    street: String,
    #[schema(min_length = 1, max_length = 60)]
    city: String,
    #[schema(min_length = 4, max_length = 10)]
    zip: Option<String>,
    #[schema(min_length = 2, max_length = 2)]
    country: Option<String>,
}

#[derive(Deserialize, Schema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    Admin,
    Editor,
    Reader,
}
