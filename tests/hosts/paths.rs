//! Trailing slashes and non-ASCII text, in every host.

use stockade::TrailingSlash;
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::serve::{actix, axum};

fn router(slash: TrailingSlash) -> Router {
    let api = routes! {
        "users": { GET: async || "users", ":id": { GET: async |Path(id): Path<u64>| id.to_string() } },
        "docs/": { GET: async || "docs" },
        "caf\u{e9}": { GET: async || "menu" },
        r"jobs\:run": { POST: async || "run" },
    };
    create_router(api, RouterOptions::new().rate_limit(false).trailing_slash(slash))
}

async fn compare(addresses: [(TrailingSlash, String, &str); 2]) {
    for (slash, address, place) in addresses {
        let client = TestClient::live(&address);
        client.get("/users?a=1").await.assert_text("users");
        client.get("/caf%C3%A9").await.assert_text("menu");
        client.post("/jobs:run").await.assert_text("run");
        for (path, text, declared) in [
            ("/users/?a=1", "users", "/users?a=1"),
            ("/users/7/", "7", "/users/7"),
            ("/docs", "docs", "/docs/"),
            ("/caf%C3%A9/", "menu", "/caf%C3%A9"),
        ] {
            let response = client.get(path).await;
            if slash == TrailingSlash::Ignore {
                response.assert_text(text);
            } else {
                let location = format!("{place}{declared}");
                response.assert_status(308).assert_header("location", &location);
            }
        }
    }
}

const BOTH: [TrailingSlash; 2] = [TrailingSlash::Redirect, TrailingSlash::Ignore];

#[tokio::test]
async fn paths_are_the_same_in_axum() {
    for place in ["", "/v1"] {
        let [one, two] = BOTH;
        compare([
            (one, axum::whole(router(one), place).await, place),
            (two, axum::whole(router(two), place).await, place),
        ])
        .await;
        compare([
            (one, axum::routes(router(one), place).await, place),
            (two, axum::routes(router(two), place).await, place),
        ])
        .await;
    }
}

#[actix_web::test]
async fn paths_are_the_same_in_actix() {
    for place in ["", "/v1"] {
        let [one, two] = BOTH;
        compare([
            (one, actix::whole(router(one), place), place),
            (two, actix::whole(router(two), place), place),
        ])
        .await;
        compare([
            (one, actix::routes(router(one), place), place),
            (two, actix::routes(router(two), place), place),
        ])
        .await;
    }
}
