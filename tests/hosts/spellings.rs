//! Compares individual routes in a host with the model of encoded paths.

#[path = "../it/routing/spellings/model.rs"]
mod model;

use stockade::http::Method;
use stockade::prelude::*;
use stockade::testing::TestClient;
use stockade_errors::random::Random;

use self::model::{Route, expected, spelled};
use crate::serve::{actix, axum};

/// The number of paths for each host.
const CASES: usize = 2_500;

const ROUTES: [Route; 6] = [
    ("/files", true),
    ("/files/admin/**", false),
    ("/files/deep/vault", true),
    ("/users/:id", false),
    ("/users/me", false),
    ("/users/:id/posts", false),
];

const PATHS: [&str; 8] = [
    "/files/admin/x",
    "/files/deep/vault/x",
    "/files/open/x",
    "/files/open",
    "/users/me",
    "/users/7",
    "/users/7/posts",
    "/files",
];

/// Returns routes in groups with their prefixes. Each handler responds with its
/// path.
fn router() -> Router {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.group("/files", (), |files| {
        files.mount("/", service("/files"));
        files.group("/admin", (), |admin| {
            admin.get("/**", async || "/files/admin/**");
        });
        files.mount("/deep/vault", service("/files/deep/vault"));
    });
    router.group("/users", (), |users| {
        users.get("/:id", async || "/users/:id");
        users.get("/me", async || "/users/me");
        users.get("/:id/posts", async || "/users/:id/posts");
    });
    router
}

/// An application that responds to each request with a text.
fn service(text: &'static str) -> App {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.get("/**", async move || text);
    router.build().unwrap()
}

/// Sends spellings of the paths to a host and compares the responses with the model.
async fn compare(address: &str, seed: u64) {
    let client = TestClient::live(address);
    let mut random = Random::new(seed);
    let (mut found, mut rejected) = (0, 0);
    for _ in 0..CASES {
        // Most other spellings of the first segment do not match a route.
        let path = random.pick(&PATHS);
        let path = match path[1..].find('/').filter(|_| random.index(2) == 0) {
            Some(end) => path[..=end].to_owned() + &spelled(&path[end + 1..], &mut random),
            None => spelled(path, &mut random),
        };
        let response = client.request(Method::GET, &path).await;
        let actual = match response.status().as_u16() {
            200 => format!("200 {}", response.text()),
            status => status.to_string(),
        };
        assert_eq!(actual, expected(&ROUTES, &path), "{path}");
        found += usize::from(actual.starts_with("200"));
        rejected += usize::from(actual == "400");
    }
    assert!(found > CASES / 10 && rejected > CASES / 20, "{found} found, {rejected} rejected");
}

#[tokio::test]
async fn groups_in_axum_agree_with_the_model() {
    for place in ["", "/api"] {
        compare(&axum::routes(router(), place).await, 1).await;
    }
}

#[tokio::test]
async fn a_whole_application_in_axum_agrees_with_the_model() {
    compare(&axum::whole(router(), "/api").await, 2).await;
}

#[actix_web::test]
async fn groups_in_actix_agree_with_the_model() {
    for place in ["", "/api"] {
        compare(&actix::routes(router(), place), 3).await;
    }
}
