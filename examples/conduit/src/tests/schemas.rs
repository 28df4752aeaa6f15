//! Requests generated from the schemas, the strict policy, and the committed routes.

use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::testing::{Credentials, assert_routes_lock, check_schemas};

use super::{Conduit, ConduitErrors, registration};

/// Fails if the routes differ from `routes.lock`. `STOCKADE_LOCK=write cargo test
/// routes_match_the_lock` writes the file.
#[tokio::test]
async fn routes_match_the_lock() {
    let conduit = Conduit::new().await;
    assert_routes_lock(conduit.router(), "routes.lock");
}

#[tokio::test]
async fn strict_rules_hold_with_these_exceptions() {
    let conduit = Conduit::new().await;
    let app = conduit.router().build().unwrap();
    let short = "a path has few kilobytes, and the text is compared and not stored";
    let message = "the body is bounded, and each tool checks its arguments";
    let adds = "it adds data of the user and overwrites nothing";
    let policy = crate::policy_from(Policy::strict())
        .allow("strings-bounded", "POST /mcp", message)
        .allow("numbers-bounded", "POST /mcp", message)
        .allow("response-schema", "POST /mcp", "the protocol defines the results")
        .allow("tool-hints-loosened", "POST /api/articles", adds)
        .allow("tool-hints-loosened", "POST /api/articles/:slug/favorite", adds)
        .allow("tool-hints-loosened", "POST /api/articles/:slug/comments", adds)
        .without("operation-named", "the API of RealWorld gives its operations no names")
        .without("errors-typed", "an error of the framework passes through `ConduitError`")
        .allow_below("strings-bounded", "/api/profiles/:username", short)
        .allow_below("strings-bounded", "/api/articles/:slug", short)
        .allow_below("strings-bounded", "/docs", short)
        .allow_below("time-bounded", "/docs", "the pages are made when the program starts")
        .allow("time-bounded", "GET /openapi.json", "it is made when the program starts")
        .allow_below("response-schema", "/docs", "pages for people")
        .allow("response-schema", "GET /openapi.json", "OpenAPI is its schema");
    assert_eq!(policy.check(&app.route_map()), []);
}

#[tokio::test]
async fn generated_requests_get_documented_responses() {
    let conduit = Conduit::new().await;
    let token = conduit.register("ada").await;
    // A new password would end the token of all other requests.
    let keep = "CREATE TRIGGER keep AFTER UPDATE OF session ON users
                BEGIN UPDATE users SET session = old.session WHERE id = old.id; END";
    conduit.connection().execute_batch(keep).unwrap();
    let router = conduit.router();
    let report = check_schemas(router)
        .users(move |_| Some(Credentials::header("authorization", format!("Token {token}"))))
        // A password hash is expensive.
        .cases_of("POST /api/users", 4)
        .cases_of("POST /api/users/login", 4)
        .cases_of("PUT /api/user", 16)
        .run()
        .await;
    // Calls of tools are not generated.
    let mut checked = report.routes.iter().filter(|route| route.path != "/mcp");
    assert!(checked.all(|route| route.valid > 0), "{report}");
}

#[tokio::test]
async fn images_are_http_urls() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    for image in [
        "javascript:alert(1)",
        "data:text/html,x",
        "ada.png",
        "https://a b",
        "https://a/\" onerror=\"alert(1)",
        "https://a/'><script>",
        "https://good.example@evil.example/",
        "https://\u{202E}gnp",
    ] {
        let change = json!({ "user": { "image": image } });
        let invalid = json!({ "image": ["Invalid format"] });
        conduit.put("/user", &ada, change).await.assert_errors(422, invalid);
    }
}

#[tokio::test]
async fn long_transliterated_titles_have_a_slug() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let title = "\u{FDFA}".repeat(200);
    let slug = conduit.publish(&ada, &title, &[]).await;
    let again = conduit.publish(&ada, &title, &[]).await;
    assert!(slug.len() <= 200 && again.len() < 250 && slug != again, "{slug} {again}");
    conduit.get(&format!("/articles/{again}"), "").await.assert_status(200);
}

#[tokio::test]
async fn password_changes_have_a_rate_limit() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let change = || conduit.put("/user", &ada, json!({ "user": {} }));
    for _ in 0..60 {
        change().await.assert_status(200);
    }
    change().await.assert_status(429);
    let long = json!({ "user": { "email": "x".repeat(255), "password": "password1" } });
    conduit.post("/users/login", "", long).await.assert_status(422);
    conduit.post("/users", "", registration("eve")).await.assert_status(201);
}
