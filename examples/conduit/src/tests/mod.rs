//! Tests of the whole API, in process. Each test has a separate server and database, so all
//! of them run at the same time.

mod articles;
mod comments;
mod database;
mod document;
mod errors;
mod hardened;
mod lists;
mod mutations;
mod profiles;
mod schemas;
mod sessions;
mod users;

use std::path::PathBuf;

use stockade::auth::generate_jwt;
use stockade::prelude::*;
use stockade::sql::rusqlite::Connection;
use stockade::sql::{Sqlite, SqliteOptions};
use stockade::testing::{TestClient, TestRequest, TestResponse};
use tempfile::TempDir;

use crate::db;

/// A server with its own database, which is deleted at the end.
struct Conduit {
    client: TestClient,
    db: Sqlite,
    secret: Secret,
    folder: TempDir,
}

impl Conduit {
    async fn new() -> Self {
        Self::with_options(SqliteOptions::new()).await
    }

    async fn with_options(options: SqliteOptions) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let db = db::open(&folder.path().join("test.db"), options).await.unwrap();
        let secret = Secret::new("a secret of tests only, 32 bytes").unwrap();
        let router = crate::router(secret.clone()).state(db.clone());
        let client = TestClient::new(router).with_contract();
        Self { client, db, secret, folder }
    }

    /// Another router with the same database.
    fn router(&self) -> Router {
        crate::router(self.secret.clone()).state(self.db.clone())
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("test.db")
    }

    /// Another connection to the database of the server.
    fn connection(&self) -> Connection {
        Connection::open(self.path()).unwrap()
    }

    /// A request below `/api`; without a token if `token` is empty.
    fn request(&self, method: Method, path: &str, token: &str) -> TestRequest {
        let request = self.client.request(method, format!("/api{path}"));
        if token.is_empty() {
            request
        } else {
            request.header("authorization", format!("Token {token}"))
        }
    }

    async fn get(&self, path: &str, token: &str) -> TestResponse {
        self.request(Method::GET, path, token).await
    }

    async fn delete(&self, path: &str, token: &str) -> TestResponse {
        self.request(Method::DELETE, path, token).await
    }

    async fn post(&self, path: &str, token: &str, body: Value) -> TestResponse {
        self.request(Method::POST, path, token).json(body).await
    }

    async fn put(&self, path: &str, token: &str, body: Value) -> TestResponse {
        self.request(Method::PUT, path, token).json(body).await
    }

    /// Registers a user with the password `password1`, and returns a token.
    async fn register(&self, name: &str) -> String {
        let response = self.post("/users", "", registration(name)).await;
        response.assert_status(201);
        text(&response.json(), "/user/token")
    }

    /// Publishes an article, and returns its slug.
    async fn publish(&self, token: &str, title: &str, tags: &[&str]) -> String {
        let article = json!({ "title": title, "description": "d", "body": "b", "tagList": tags });
        let response = self.post("/articles", token, json!({ "article": article })).await;
        response.assert_status(201);
        text(&response.json(), "/article/slug")
    }

    /// A token with a valid signature, for any user id.
    fn forge(&self, id: i64) -> String {
        generate_jwt(json!({ "id": id, "session": "" }), "1h", &self.secret).unwrap()
    }
}

fn registration(name: &str) -> Value {
    let email = format!("{name}@example.org");
    json!({ "user": { "username": name, "email": email, "password": "password1" } })
}

/// Returns the text at a JSON pointer.
fn text(value: &Value, pointer: &str) -> String {
    value.pointer(pointer).and_then(Value::as_str).unwrap().to_owned()
}

/// Returns the titles of a list of articles, in their order.
fn titles(response: &TestResponse) -> Vec<String> {
    let articles: Value = response.assert_status(200).json();
    let titles = articles["articles"].as_array().unwrap().iter();
    titles.map(|article| text(article, "/title")).collect()
}

trait ConduitErrors {
    /// Checks the status and the body of an error response.
    fn assert_errors(&self, status: u16, errors: Value);
}

impl ConduitErrors for TestResponse {
    fn assert_errors(&self, status: u16, errors: Value) {
        self.assert_status(status).assert_json(json!({ "errors": errors }));
    }
}
