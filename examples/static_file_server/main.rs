//! Static files in seven ways, each on a separate port.
//!
//! ```text
//! cargo run -p stockade-examples --bin static_file_server
//! curl localhost:3001/assets/index.html
//! ```
//!
//! It needs the features `fs` and `set-status` of tower-http, and `util` of
//! tower.

use stockade::middleware::SecurityHeaders;
use stockade::middleware::files::FileRequest;
use stockade::prelude::*;
use tower::{ServiceExt as _, service_fn};
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_status::SetStatus;

const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/static_file_server/assets");
const INDEX: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/static_file_server/assets/index.html");

/// The files below `/assets`.
fn folder() -> RouteTree {
    routes! { "assets": { mount: ServeDir::new(ASSETS) } }
}

/// The same files, and a page for all other paths, as single-page applications
/// need. Its status is 404.
fn folder_with_page_for_the_rest() -> RouteTree {
    let page = SetStatus::new(ServeFile::new(INDEX), StatusCode::NOT_FOUND);
    routes! {
        "foo": { GET: async || "Hi from /foo" },
        "assets": { mount: ServeDir::new(ASSETS).not_found_service(page.clone()) },
        mount: page,
    }
}

/// The files at the root, for paths without a route.
fn folder_at_the_root() -> RouteTree {
    routes! {
        "foo": { GET: async || "Hi from /foo" },
        mount: ServeDir::new(ASSETS).not_found_service(ServeFile::new(INDEX)),
    }
}

/// The same files, with a handler for missing ones. The handler is an app,
/// which is a service.
fn folder_with_handler() -> Result<RouteTree, ConfigError> {
    let mut missing = Router::new();
    missing.fallback(async || (StatusCode::NOT_FOUND, "Not found"));
    Ok(routes! {
        "foo": { GET: async || "Hi from /foo" },
        mount: ServeDir::new(ASSETS).not_found_service(missing.build()?),
    })
}

/// Two folders at two paths.
fn two_folders() -> RouteTree {
    let sources = ServeDir::new(concat!(env!("CARGO_MANIFEST_DIR"), "/static_file_server"));
    routes! { "assets": { mount: ServeDir::new(ASSETS) }, "src": { mount: sources } }
}

/// A folder service that a function calls.
fn folder_by_a_function() -> RouteTree {
    routes! { "foo": { mount: service_fn(|request| ServeDir::new(ASSETS).oneshot(request)) } }
}

/// One file at one path.
fn one_file() -> RouteTree {
    routes! { "foo": { GET: async |file: FileRequest| file.open(INDEX).await } }
}

fn app(tree: RouteTree) -> Result<App, ConfigError> {
    // The default policy does not allow scripts.
    let headers = SecurityHeaders::new().set("content-security-policy", "default-src 'self'")?;
    create_router(tree, RouterOptions::new().access_log(true).security_headers(headers)).build()
}

async fn serve(tree: RouteTree, port: u16) -> Result<(), BoxError> {
    Ok(app(tree)?.listen(port).await?)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    tokio::try_join!(
        serve(folder(), 3001),
        serve(folder_with_page_for_the_rest(), 3002),
        serve(folder_at_the_root(), 3003),
        serve(folder_with_handler()?, 3004),
        serve(two_folders(), 3005),
        serve(folder_by_a_function(), 3006),
        serve(one_file(), 3007),
    )?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use stockade::testing::TestClient;

    use super::*;

    const PAGE: &str = include_str!("assets/index.html");
    const SCRIPT: &str = include_str!("assets/script.js");

    async fn check(tree: RouteTree, path: &str, status: u16, text: &str) {
        let response = TestClient::new(app(tree).unwrap()).get(path).await;
        response.assert_status(status).assert_text_contains(text);
    }

    #[tokio::test]
    async fn files_are_below_their_path() {
        check(folder(), "/assets/script.js", 200, SCRIPT).await;
        check(folder(), "/assets/", 200, PAGE).await;
        check(folder(), "/assets/nothing", 404, "").await;
        check(folder(), "/assets/../Cargo.toml", 400, "").await;
        check(folder(), "/script.js", 404, "Not Found").await;
    }

    #[tokio::test]
    async fn one_page_serves_every_other_path() {
        check(folder_with_page_for_the_rest(), "/foo", 200, "Hi from /foo").await;
        check(folder_with_page_for_the_rest(), "/assets/script.js", 200, SCRIPT).await;
        check(folder_with_page_for_the_rest(), "/assets/nothing", 404, PAGE).await;
        check(folder_with_page_for_the_rest(), "/script.js", 404, PAGE).await;
        check(folder_with_page_for_the_rest(), "/", 404, PAGE).await;
    }

    #[tokio::test]
    async fn files_can_be_at_the_root() {
        check(folder_at_the_root(), "/foo", 200, "Hi from /foo").await;
        check(folder_at_the_root(), "/script.js", 200, SCRIPT).await;
        check(folder_at_the_root(), "/nothing", 404, PAGE).await;
        check(folder_with_handler().unwrap(), "/script.js", 200, SCRIPT).await;
        check(folder_with_handler().unwrap(), "/a/b", 404, "Not found").await;
    }

    #[tokio::test]
    async fn folders_functions_and_files_are_services() {
        check(two_folders(), "/assets/script.js", 200, SCRIPT).await;
        check(two_folders(), "/src/main.rs", 200, "folders_functions_and_files").await;
        check(folder_by_a_function(), "/foo/script.js", 200, SCRIPT).await;
        check(one_file(), "/foo", 200, PAGE).await;
        check(one_file(), "/foo/bar", 404, "Not Found").await;
    }
}
