//! The end of tokens, and the limit of guessed passwords.

use std::time::Duration;

use stockade::prelude::*;
use stockade::testing::TestResponse;

use super::{Conduit, ConduitErrors, registration, text};

fn token(response: &TestResponse) -> String {
    text(&response.json(), "/user/token")
}

fn claims(conduit: &Conduit, token: &str) -> Value {
    stockade::auth::verify_token(token, &conduit.secret).unwrap().into()
}

async fn log_in(conduit: &Conduit, name: &str, password: &str) -> TestResponse {
    let user = json!({ "email": format!("{name}@example.org"), "password": password });
    conduit.post("/users/login", "", json!({ "user": user })).await
}

#[tokio::test]
async fn a_new_password_ends_the_other_tokens() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let other = token(&log_in(&conduit, "ada", "password1").await);
    let change = json!({ "user": { "password": "bonjour1" } });
    let new = token(conduit.put("/user", &ada, change).await.assert_status(200));
    for old in [&ada, &other] {
        let invalid = json!({ "token": ["is invalid"] });
        conduit.get("/user", old).await.assert_errors(401, invalid.clone());
        conduit.get("/articles", old).await.assert_errors(401, invalid);
    }
    conduit.get("/user", &new).await.assert_status(200);
    // Other changes do not end tokens.
    conduit.put("/user", &new, json!({ "user": { "bio": "b" } })).await.assert_status(200);
    conduit.get("/user", &new).await.assert_status(200);
}

#[tokio::test]
async fn a_reused_user_id_does_not_accept_old_tokens() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    conduit.connection().execute_batch("DELETE FROM users").unwrap();
    let eve = conduit.register("eve").await;
    assert_eq!(claims(&conduit, &ada)["id"], claims(&conduit, &eve)["id"]);
    conduit.get("/user", &ada).await.assert_errors(401, json!({ "token": ["is invalid"] }));
}

#[tokio::test]
async fn a_token_cannot_be_renewed() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let session = claims(&conduit, &ada)["session"].clone();
    let old = json!({ "id": 1, "session": session });
    let old = stockade::auth::generate_jwt(old, Duration::from_secs(60), &conduit.secret).unwrap();
    let end = claims(&conduit, &old)["exp"].as_u64().unwrap();
    let shown = token(&conduit.get("/user", &old).await);
    let change = json!({ "user": { "bio": "b" } });
    let changed = token(&conduit.put("/user", &old, change).await);
    for new in [shown, changed] {
        let new = claims(&conduit, &new)["exp"].as_u64().unwrap();
        assert!(end.abs_diff(new) <= 2, "{end} {new}");
    }
}

#[tokio::test]
async fn guesses_of_an_email_address_are_limited() {
    let conduit = Conduit::new().await;
    conduit.post("/users", "", registration("ada")).await.assert_status(201);
    let tried = "INSERT INTO guesses VALUES ('ADA@example.org', 98, unixepoch()),
                 ('nobody@example.org', 100, unixepoch())";
    conduit.connection().execute_batch(tried).unwrap();
    let refused = json!({ "credentials": ["too many passwords were tried"] });
    let limited = log_in(&conduit, "nobody", "password1").await;
    limited.assert_header("retry-after", "3600").assert_errors(429, refused.clone());
    log_in(&conduit, "ada", "wrong password").await.assert_status(401);
    log_in(&conduit, "ada", "wrong password").await.assert_status(401);
    log_in(&conduit, "ada", "password1").await.assert_errors(429, refused);
    // The count ends after an hour, and after the right password.
    let later = "UPDATE guesses SET since = unixepoch() - 3600";
    conduit.connection().execute_batch(later).unwrap();
    log_in(&conduit, "ada", "wrong password").await.assert_status(401);
    log_in(&conduit, "ada", "password1").await.assert_status(200);
    let left = conduit.connection();
    let left: i64 = left.query_row("SELECT count(*) FROM guesses", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[tokio::test]
async fn a_request_does_not_outlive_its_session() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    // Both requests are authenticated before either stores its password.
    let change = |password| conduit.put("/user", &ada, json!({ "user": { "password": password } }));
    let (one, other) = tokio::join!(change("bonjour1"), change("bonjour2"));
    let mut statuses = [one.status().as_u16(), other.status().as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 401]);
    let password = if one.status().is_success() { "bonjour1" } else { "bonjour2" };
    log_in(&conduit, "ada", password).await.assert_status(200);
}

#[tokio::test]
async fn old_guesses_are_deleted_in_parts() {
    let conduit = Conduit::new().await;
    conduit.register("ada").await;
    let tried = "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 300)
                 INSERT INTO guesses SELECT 'z' || n, 100, unixepoch() - 9000 FROM n;
                 INSERT INTO guesses VALUES ('ada@example.org', 100, unixepoch() + 9000)";
    conduit.connection().execute_batch(tried).unwrap();
    // After a clock error is fixed, a time in the future does not lock anybody out.
    log_in(&conduit, "ada", "password1").await.assert_status(200);
    let left = conduit.connection();
    let left: i64 = left.query_row("SELECT count(*) FROM guesses", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 200);
}

#[tokio::test]
async fn no_response_is_cached() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    for path in ["/user", "/articles", "/articles/none", "/tags"] {
        conduit.get(path, &ada).await.assert_header("cache-control", "no-store");
    }
    log_in(&conduit, "ada", "password1").await.assert_header("cache-control", "no-store");
}
