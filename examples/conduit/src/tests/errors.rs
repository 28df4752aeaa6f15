//! Errors outside of single request handlers, in the format of the API.

use stockade::prelude::*;
use stockade::sql::SqlError;
use stockade::sql::rusqlite::{self, ffi};

use super::{Conduit, ConduitErrors, registration};
use crate::errors::ConduitError;

#[tokio::test]
async fn routes_for_users_require_a_token() {
    let conduit = Conduit::new().await;
    let routes = [
        (Method::GET, "/user"),
        (Method::PUT, "/user"),
        (Method::POST, "/profiles/ada/follow"),
        (Method::DELETE, "/profiles/ada/follow"),
        (Method::POST, "/articles"),
        (Method::GET, "/articles/feed"),
        (Method::PUT, "/articles/one"),
        (Method::DELETE, "/articles/one"),
        (Method::POST, "/articles/one/favorite"),
        (Method::DELETE, "/articles/one/favorite"),
        (Method::POST, "/articles/one/comments"),
        (Method::DELETE, "/articles/one/comments/1"),
    ];
    for (method, path) in routes {
        let none = conduit.request(method.clone(), path, "").json(json!({})).await;
        none.assert_header("www-authenticate", "Token");
        none.assert_errors(401, json!({ "token": ["is missing"] }));
        let wrong = conduit.request(method, path, "a.b.c").json(json!({})).await;
        wrong.assert_header("www-authenticate", "Token error=\"invalid_token\"");
        wrong.assert_errors(401, json!({ "token": ["is invalid"] }));
    }
    let bearer = conduit.client.get("/api/user").bearer(conduit.forge(1)).await;
    bearer.assert_errors(401, json!({ "token": ["is missing"] }));
}

#[tokio::test]
async fn rejects_the_token_of_a_deleted_user() {
    let conduit = Conduit::new().await;
    let ada = conduit.register("ada").await;
    let slug = conduit.publish(&ada, "One", &[]).await;
    let gone = conduit.forge(99);
    let article = json!({ "article": { "title": "t", "description": "d", "body": "b" } });
    let comment = json!({ "comment": { "body": "b" } });
    let refused = [
        conduit.get("/user", &gone).await,
        conduit.put("/user", &gone, json!({ "user": {} })).await,
        conduit.post("/articles", &gone, article).await,
        conduit.post(&format!("/articles/{slug}/comments"), &gone, comment).await,
        conduit.request(Method::POST, &format!("/articles/{slug}/favorite"), &gone).await,
        conduit.request(Method::POST, "/profiles/ada/follow", &gone).await,
    ];
    for response in refused {
        response.assert_errors(401, json!({ "token": ["is invalid"] }));
    }
}

#[tokio::test]
async fn errors_of_the_router_have_the_format_of_the_api() {
    let conduit = Conduit::new().await;
    let body = |text: &str| json!({ "body": [text] });
    conduit.get("/nowhere", "").await.assert_errors(404, body("Not Found"));
    let method = conduit.delete("/tags", "").await;
    method
        .assert_header("allow", "GET, HEAD, OPTIONS")
        .assert_errors(405, body("Method Not Allowed"));
    let users = conduit.client.post("/api/users").header("content-type", "application/json");
    users.body("{").await.assert_errors(400, body("Invalid JSON body"));
    let users = conduit.client.post("/api/users").header("content-type", "application/json");
    users.body("[]").await.assert_errors(422, body("Expected object, got array"));
    let large = conduit.post("/users", "", json!({ "user": "x".repeat(2 << 20) })).await;
    large.assert_errors(413, body("Request body too large"));
}

#[tokio::test]
async fn logins_have_a_rate_limit() {
    let conduit = Conduit::new().await;
    let login = || conduit.post("/users/login", "", json!({ "user": {} }));
    for _ in 0..60 {
        login().await.assert_status(422);
    }
    login().await.assert_errors(429, json!({ "body": ["Too Many Requests"] }));
    conduit.post("/users", "", registration("ada")).await.assert_status(201);
}

#[test]
fn errors_of_sqlite_become_errors_of_the_api() {
    let check = |code: i32, text: &str, expected: fn(&ConduitError) -> bool| {
        let cause = rusqlite::Error::SqliteFailure(ffi::Error::new(code), Some(text.to_owned()));
        let error = ConduitError::from(cause);
        assert!(expected(&error), "{error:?}");
    };
    let is_busy: fn(&ConduitError) -> bool =
        |it| matches!(it, ConduitError::Database(SqlError::Unavailable { .. }));
    let taken = "UNIQUE constraint failed: users.email";
    check(ffi::SQLITE_CONSTRAINT_UNIQUE, taken, |it| matches!(it, ConduitError::Taken("email")));
    let gone = "FOREIGN KEY constraint failed";
    check(ffi::SQLITE_CONSTRAINT_FOREIGNKEY, gone, |it| matches!(it, ConduitError::Ended("token")));
    check(ffi::SQLITE_CONSTRAINT_TRIGGER, "no such tag", |it| {
        matches!(it, ConduitError::Database(SqlError::Invalid { .. }))
    });
    check(ffi::SQLITE_BUSY, "", is_busy);
    check(ffi::SQLITE_BUSY_SNAPSHOT, "", is_busy);
    check(ffi::SQLITE_INTERRUPT, "", is_busy);
    check(ffi::SQLITE_FULL, "", is_busy);
    check(ffi::SQLITE_CORRUPT, "", |it| matches!(it, ConduitError::Database(SqlError::Failed(_))));
}
