//! Resolver errors, as the client and the log see them.

use std::fmt;

use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::middleware::RequestIds;
use stockade::prelude::*;
use stockade::testing::TestClient;

use super::ask;
use crate::support::log;

/// Part of a database address that hidden errors must not reveal.
const SECRET: &str = "postgres://root:hunter2@db";

/// A database driver's error.
#[derive(Debug)]
struct DriverError;

impl fmt::Display for DriverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cannot connect to {SECRET}")
    }
}

impl std::error::Error for DriverError {}

/// Returns an error for the client with a driver error as its source.
fn with_source() -> ApiError {
    ApiError::new(503, "try later").with_source(DriverError)
}

struct Query;

fn panics() -> i32 {
    panic!("{SECRET}")
}

#[gql::Object(crate = "gql")]
impl Query {
    async fn driver(&self) -> gql::Result<i32> {
        Err(DriverError)?
    }

    async fn boxed(&self) -> gql::Result<i32> {
        Err(BoxError::from(DriverError))?
    }

    async fn text(&self) -> gql::Result<i32> {
        Err(format!("cannot connect to {SECRET}"))?
    }

    async fn source(&self) -> gql::Result<i32> {
        Err(gql::Error::new_with_source(DriverError))
    }

    async fn typed(&self) -> Result<i32, DriverError> {
        Err(DriverError)
    }

    async fn internal(&self) -> gql::Result<i32> {
        Err(ApiError::new(500, format!("cannot connect to {SECRET}")))?
    }

    async fn busy(&self) -> gql::Result<i32> {
        Err(with_source())?
    }

    async fn list(&self) -> Vec<Item> {
        (0..100).map(|_| Item).collect()
    }

    async fn data(&self, ctx: &gql::Context<'_>) -> gql::Result<String> {
        Ok(ctx.data::<String>()?.clone())
    }

    async fn missing(&self) -> gql::Result<i32> {
        Err(ApiError::new(404, "There is no such tea").with_details(json!({ "id": 7 })))?
    }

    async fn boxed_missing(&self) -> gql::Result<i32> {
        Err(BoxError::from(ApiError::not_found()))?
    }

    async fn direct(&self) -> Result<i32, ApiError> {
        Err(ApiError::new(429, "Slow down").with_header("Retry-After", "7"))
    }

    async fn said(&self) -> gql::Result<i32> {
        Err(gql::Error::new("The tea is sold out"))
    }

    async fn panics(&self) -> i32 {
        panics()
    }

    async fn optional(&self) -> gql::Result<Option<i32>> {
        Err(DriverError)?
    }
}

struct Item;

#[gql::Object(crate = "gql")]
impl Item {
    async fn fails(&self) -> gql::Result<Option<i32>> {
        Err("each item of the list fails")?
    }
}

fn client(expose: bool) -> TestClient {
    let schema = gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    let api = routes! { "graphql": { ..GraphQl::new(schema).batch(5).routes() } };
    let options = RouterOptions::new()
        .expose_errors(expose)
        .rate_limit(false)
        .request_id(RequestIds::default());
    TestClient::new(create_router(api, options))
}

/// The fields with resolvers that fail with a driver error.
const FAILING: [&str; 5] = ["driver", "boxed", "text", "source", "typed"];

#[tokio::test]
async fn driver_errors_are_logged_in_every_mode() {
    for expose in [false, true] {
        let client = client(expose);
        for field in FAILING.into_iter().chain(["optional"]) {
            let query = format!("{{ {field} }}");
            for accept in ["application/json", "application/graphql-response+json"] {
                let post = client.post("/graphql").header("accept", accept);
                let post = post.json(json!({ "query": query })).await;
                let get = client.get("/graphql").query([("query", &query)]);
                let get = get.header("accept", accept).await;
                let batch = client.post("/graphql").header("accept", accept);
                let batch = batch.json(json!([{ "query": query }, { "query": query }])).await;
                for response in [post, get, batch] {
                    response.assert_status(200);
                    let text = response.text();
                    assert!(!text.contains("hunter2"), "{field}: {text}");
                    assert!(text.contains(r#""message":"Internal Server Error""#), "{text}");
                    assert!(text.contains(r#""code":"INTERNAL_SERVER_ERROR""#), "{text}");
                }
            }
        }
    }
}

#[tokio::test]
async fn hidden_errors_are_logged_once_with_path_and_request() {
    log::watch();
    let client = client(false).with_header("x-request-id", "errors-of-drivers-1");
    let answer = ask(&client, "{ logged: driver }").await;
    assert_eq!(answer["errors"][0]["path"], json!(["logged"]));
    let lines = log::lines_with("logged: cannot connect");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].starts_with("ERROR POST /graphql"), "{lines:?}");
    assert!(lines[0].contains(SECRET) && lines[0].contains("request_id="), "{lines:?}");

    let answer = ask(&client, "{ everything: list { fails } }").await;
    assert_eq!(answer["errors"].as_array().map(Vec::len), Some(100));
    let lines = log::lines_with("everything.");
    assert_eq!(lines.len(), 20, "{lines:?}");
    assert!(lines[0].contains("everything.0.fails: each item"), "{lines:?}");
    assert!(!log::lines_with("80 more errors in this response").is_empty());
}

#[tokio::test]
async fn api_errors_follow_the_settings() {
    let (hidden, shown) = (client(false), client(true));
    let of = |answer: Value| answer["errors"][0].clone();
    let message = |error: &Value| error["message"].as_str().unwrap().to_owned();
    let error = of(ask(&hidden, "{ internal }").await);
    assert_eq!(message(&error), "Internal Server Error");
    let error = of(ask(&shown, "{ internal }").await);
    assert!(message(&error).contains(SECRET), "{error}");
    // The source of an error appears only in the log.
    let error = of(ask(&shown, "{ busy }").await);
    assert_eq!((&*message(&error), &error["extensions"]["status"]), ("try later", &json!(503)));
    let error = of(ask(&hidden, "{ busy }").await);
    assert_eq!(message(&error), "Service Unavailable");

    let error = of(ask(&hidden, "{ missing }").await);
    assert_eq!(
        error,
        json!({
            "message": "There is no such tea",
            "locations": [{ "line": 1, "column": 3 }],
            "path": ["missing"],
            "extensions": { "code": "NOT_FOUND", "details": { "id": 7 }, "status": 404 },
        })
    );
    let error = of(ask(&hidden, "{ boxedMissing }").await);
    assert_eq!(error["extensions"], json!({ "code": "NOT_FOUND", "status": 404 }));
    let error = of(ask(&hidden, "{ direct }").await);
    let extensions = json!({ "code": "TOO_MANY_REQUESTS", "status": 429, "retryAfter": 7 });
    assert_eq!(error["extensions"], extensions);
    let error = of(ask(&hidden, "{ said }").await);
    assert_eq!(message(&error), "The tea is sold out");
}

#[tokio::test]
async fn internal_errors_do_not_reveal_type_names() {
    for expose in [false, true] {
        let answer = ask(&client(expose), "{ data }").await;
        assert_eq!(answer["errors"][0]["message"], "Internal Server Error", "{answer}");
        assert!(!answer.to_string().contains("String"), "{answer}");
    }
}

#[tokio::test]
async fn other_fields_keep_their_values() {
    let answer = ask(&client(false), "{ optional __typename }").await;
    assert_eq!(answer["data"], json!({ "optional": null, "__typename": "Query" }));
}

#[tokio::test]
async fn a_panic_is_a_500_without_details() {
    let sent = client(false).post("/graphql").json(json!({ "query": "{ panics }" }));
    let response = sent.await;
    response.assert_status(500);
    assert!(!response.text().contains("hunter2"), "{}", response.text());
}
