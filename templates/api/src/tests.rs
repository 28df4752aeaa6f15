//! Tests of the whole API. They send requests in process, without a port.
{%- if database == "postgres" %}
//!
//! Some need a PostgreSQL server; each of them creates a schema:
//!
//! ```text
//! TEST_DATABASE_URL=postgres://postgres@localhost/postgres cargo test -- --include-ignored
//! ```
{%- endif %}

{% if auth == "jwt" -%}
use stockade::auth::{TokenIssuer, UnixClock};
{% endif -%}
{% if database == "postgres" -%}
use stockade::sql::Postgres;
{% endif -%}
{% if auth == "none" -%}
use stockade::testing::{TestClient, assert_hardened, assert_policy, assert_routes_lock};
{%- elsif auth == "jwt" -%}
use stockade::testing::{Hardening, TestClient, TestClock, assert_policy, assert_routes_lock};
{%- else -%}
use stockade::testing::{
    TestClient, TestClock, assert_hardened, assert_policy, assert_routes_lock,
};
{%- endif %}
{%- if database == "sqlite" %}
use tempfile::TempDir;
{%- endif %}

use super::*;
{%- if auth != "none" %}

const SECRET: &str = "a secret of tests only, 32 bytes";
{%- endif %}

/// Reads a configuration from these variables.
fn config(variables: &[(&str, &str)]) -> Result<Config, BoxError> {
    Config::from_variables(|name| {
        let found = variables.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}
{%- if database == "none" %}

/// The API of a test, with its own data.
fn new_router() -> Router {
{%- if auth == "none" %}
    router()
{%- else %}
    router(&config(&[("SECRET", SECRET)]).unwrap())
{%- endif %}
}
{%- elsif database == "sqlite" %}

/// The API of a test. The folder is deleted at the end of the test.
fn new_router(folder: &TempDir) -> Router {
    let path = folder.path().join("test.db");
{%- if auth == "none" %}
    let variables = [("DATABASE_PATH", path.to_str().unwrap())];
{%- else %}
    let variables = [("DATABASE_PATH", path.to_str().unwrap()), ("SECRET", SECRET)];
{%- endif %}
    router(&config(&variables).unwrap())
}
{%- else %}

/// The API of a test, with an empty schema for the test.
async fn new_router(schema: &str) -> Router {
    let address = env::var("TEST_DATABASE_URL").expect("TEST_DATABASE_URL must be set");
    let db = Postgres::connect(&address).await.unwrap();
    let sql = format!("DROP SCHEMA IF EXISTS {schema} CASCADE; CREATE SCHEMA {schema}");
    db.execute(&sql).await.unwrap();
    closed_router(&format!("{address}?options=-csearch_path%3D{schema}"))
}

/// The API with a database that is not open yet.
fn closed_router(address: &str) -> Router {
{%- if auth == "none" %}
    let variables = [("DATABASE_URL", address)];
{%- else %}
    let variables = [("DATABASE_URL", address), ("SECRET", SECRET)];
{%- endif %}
    router(&config(&variables).unwrap())
}
{%- endif %}
{%- if auth != "none" %}

/// Registers a user, and returns a client that is logged in.
async fn log_in(app: &App, name: &str) -> TestClient {
{%- if auth == "jwt" %}
    let client = TestClient::new(app).with_contract();
{%- else %}
    let client = TestClient::new(app).with_contract().with_cookies();
{%- endif %}
    let user = json!({ "name": name, "password": "correct horse" });
    client.post("/users").json(&user).await.assert_status(201);
    let response = client.post("/login").json(&user).await;
{%- if auth == "jwt" %}
    let session: Value = response.assert_status(200).json();
    client.with_bearer(session["token"].as_str().unwrap())
{%- else %}
    response.assert_status(200);
    client
{%- endif %}
}
{%- endif %}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
{%- if auth == "none" %}
async fn a_note_is_created_listed_and_deleted() {
{%- else %}
async fn users_see_only_their_own_notes() {
{%- endif %}
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let app = new_router(&folder).build().unwrap();
{%- elsif database == "postgres" %}
    let app = new_router("test_notes").await.build().unwrap();
{%- else %}
    let app = new_router().build().unwrap();
{%- endif %}
    let new = json!({ "title": "Shopping", "text": "Tea" });
    let note = json!({ "id": 1, "title": "Shopping", "text": "Tea" });
{%- if auth == "none" %}
    let client = TestClient::new(&app).with_contract();

    let created = client.post("/notes").json(&new).await;
    created.assert_status(201).assert_json(&note);
    client.post("/notes").json(&new).await.assert_status(409);
    let list = client.get("/notes").await;
    list.assert_status(200).assert_json(json!({ "items": [note] }));
    let rest = client.get("/notes?after=1").await;
    rest.assert_status(200).assert_json(json!({ "items": [] }));
    client.get("/notes/1").await.assert_status(200);
    client.delete("/notes/1").await.assert_status(204);
    client.get("/notes/1").await.assert_status(404);
    client.delete("/notes/1").await.assert_status(404);
{%- else %}
    let (ada, grace) = (log_in(&app, "ada").await, log_in(&app, "grace").await);

    let created = ada.post("/notes").json(&new).await;
    created.assert_status(201).assert_json(&note);
    ada.post("/notes").json(&new).await.assert_status(409);
    let list = ada.get("/notes").await;
    list.assert_status(200).assert_json(json!({ "items": [note] }));
    let rest = ada.get("/notes?after=1").await;
    rest.assert_status(200).assert_json(json!({ "items": [] }));

    let list = grace.get("/notes").await;
    list.assert_status(200).assert_json(json!({ "items": [] }));
    grace.get("/notes/1").await.assert_status(404);
    grace.delete("/notes/1").await.assert_status(404);
    ada.get("/notes/1").await.assert_status(200);
    ada.delete("/notes/1").await.assert_status(204);
    ada.delete("/notes/1").await.assert_status(404);
{%- endif %}
}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
async fn rejects_invalid_notes() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let app = new_router(&folder).build().unwrap();
{%- elsif database == "postgres" %}
    let app = new_router("test_invalid_notes").await.build().unwrap();
{%- else %}
    let app = new_router().build().unwrap();
{%- endif %}
{%- if auth == "none" %}
    let client = TestClient::new(&app).with_contract();
{%- else %}
    let client = log_in(&app, "ada").await;
{%- endif %}
    let response = client.post("/notes").json(json!({ "title": " " })).await;
    response.assert_field_error("title", "required").assert_field_error("text", "required");
}
{%- if auth == "sessions" %}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
async fn a_logout_ends_the_session() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let app = new_router(&folder).build().unwrap();
{%- elsif database == "postgres" %}
    let app = new_router("test_logout").await.build().unwrap();
{%- else %}
    let app = new_router().build().unwrap();
{%- endif %}
    let ada = log_in(&app, "ada").await;
    let cookie = ada.cookie("__Host-session").unwrap();
    ada.post("/logout").await.assert_status(204);
    ada.get("/notes").await.assert_status(401);
    let stolen = ada.get("/notes").cookie("__Host-session", cookie).await;
    stolen.assert_status(401);
}
{%- elsif auth == "jwt" %}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
async fn rejects_expired_tokens() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let client = TestClient::new(new_router(&folder)).with_contract();
{%- elsif database == "postgres" %}
    let client = TestClient::new(new_router("test_expired").await).with_contract();
{%- else %}
    let client = TestClient::new(new_router()).with_contract();
{%- endif %}
    let past = TokenIssuer::new().clock(UnixClock::at(1_000_000_000));
    let secret = Secret::new(SECRET).unwrap();
    let expired = past.issue(json!({ "sub": "ada" }), "1h", &secret).unwrap();
    client.get("/notes").bearer(expired).await.assert_status(401);
}
{%- endif %}
{%- if auth != "none" %}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
async fn a_client_has_ten_attempts_a_minute() {
    let clock = TestClock::new();
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let client = TestClient::with_clock(new_router(&folder), &clock).with_contract();
{%- elsif database == "postgres" %}
    let router = new_router("test_attempts").await;
    let client = TestClient::with_clock(router, &clock).with_contract();
{%- else %}
    let client = TestClient::with_clock(new_router(), &clock).with_contract();
{%- endif %}
    let wrong = json!({ "name": "ada", "password": "wrong horse" });
    for _ in 0..10 {
        client.post("/login").json(&wrong).await.assert_status(401);
    }
    client.post("/login").json(&wrong).await.assert_status(429);
    clock.advance(Duration::from_secs(60));
    client.post("/login").json(&wrong).await.assert_status(401);
}
{%- endif %}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
async fn withstands_attacks() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let router = new_router(&folder);
{%- elsif database == "postgres" %}
    let router = new_router("test_attacks").await;
{%- else %}
    let router = new_router();
{%- endif %}
{%- if auth == "jwt" %}
    let secret = Secret::new(SECRET).unwrap();
    let attacks = Hardening::new(router).tokens(secret, json!({ "sub": "ada" }));
    attacks.run().await.assert();
{%- else %}
    assert_hardened(router).await;
{%- endif %}
}

#[tokio::test]
{%- if database == "postgres" %}
#[ignore = "needs PostgreSQL"]
{%- endif %}
async fn serves_health_checks_and_documents() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    let client = TestClient::new(new_router(&folder));
{%- elsif database == "postgres" %}
    let client = TestClient::new(new_router("test_documents").await);
{%- else %}
    let client = TestClient::new(new_router());
{%- endif %}
    client.get("/health/live").await.assert_status(200);
    client.get("/health/ready").await.assert_status(200);
    let document: Value = client.get("/openapi.json").await.assert_status(200).json();
    assert_eq!(document["paths"]["/notes/{id}"]["get"]["summary"], "Show a note");
    let page = client.get("/docs").await;
    page.assert_status(200).assert_text_contains("Create a note");
}

/// Fails if a change breaks clients or weakens the protection. To accept a
/// change, run `STOCKADE_LOCK=write cargo test`.
#[test]
fn the_routes_match_the_lock() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    assert_routes_lock(new_router(&folder), "routes.lock");
{%- elsif database == "postgres" %}
    assert_routes_lock(closed_router("postgres://localhost/unused"), "routes.lock");
{%- else %}
    assert_routes_lock(new_router(), "routes.lock");
{%- endif %}
}

#[test]
fn the_routes_follow_the_policy() {
{%- if database == "sqlite" %}
    let folder = tempfile::tempdir().unwrap();
    assert_policy(new_router(&folder), &policy());
{%- elsif database == "postgres" %}
    assert_policy(closed_router("postgres://localhost/unused"), &policy());
{%- else %}
    assert_policy(new_router(), &policy());
{%- endif %}
}

#[test]
fn reads_the_configuration() {
{%- if database == "postgres" and auth == "none" %}
    let needed = [("DATABASE_URL", "postgres://localhost/notes")];
{%- elsif database == "postgres" %}
    let needed = [("DATABASE_URL", "postgres://localhost/notes"), ("SECRET", SECRET)];
{%- elsif auth == "none" %}
    let needed = [];
{%- else %}
    let needed = [("SECRET", SECRET)];
{%- endif %}
    let read = |name, value| config(&[&needed[..], &[(name, value)]].concat());
    assert_eq!(read("TRUSTED_PROXIES", "1").unwrap().proxies, 1);
    assert_eq!(read("LISTEN", "0.0.0.0:80").unwrap().listen, "0.0.0.0:80");
    assert!(read("TRUSTED_PROXIES", "one").is_err());
{%- if auth != "none" %}
    assert!(config(&[("SECRET", "short"), needed[0]]).is_err());
{%- endif %}
}
