//! Unusual requests. Each was first sent to an application by hand.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use stockade::graphql::{GraphQl, PersistedQueries, async_graphql as gql, list_complexity};
use stockade::prelude::*;
use stockade::testing::TestClient;

use super::{ask, client, refused, send};

/// A node with a list that has a signed length argument.
struct Node;

#[gql::Object(crate = "gql", name = "StrangeNode")]
impl Node {
    async fn name(&self) -> &str {
        "node"
    }

    #[graphql(complexity = "list_complexity(first, child_complexity)")]
    async fn nodes(&self, first: i32) -> Vec<Self> {
        (0..first).map(|_| Self).collect()
    }
}

struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn node(&self) -> Node {
        Node
    }

    async fn hello(&self) -> &str {
        "hello"
    }
}

fn panics() -> i32 {
    panic!("postgres://root:hunter2@db")
}

#[derive(Default)]
struct Mutation {
    runs: Arc<AtomicI32>,
}

#[gql::Object(crate = "gql")]
impl Mutation {
    /// Counts its runs.
    async fn run(&self) -> i32 {
        self.runs.fetch_add(1, Ordering::SeqCst) + 1
    }

    async fn panics(&self) -> i32 {
        panics()
    }
}

fn schema() -> gql::SchemaBuilder<Query, Mutation, gql::EmptySubscription> {
    gql::Schema::build(Query, Mutation::default(), gql::EmptySubscription)
}

#[tokio::test]
async fn the_complexity_of_lists_does_not_wrap() {
    let client = client(GraphQl::new(schema()).batch(3));
    // 65,536 to the fourth power is 2^64, which would wrap to zero. Half of
    // that length is also too large.
    for first in [65_536, 32_768, i32::MAX] {
        let lists = format!("nodes(first: {first}) {{ ").repeat(4);
        let query = format!("{{ node {{ {lists} name {} }} }}", "}".repeat(4));
        assert_eq!(refused(&client, &json!({ "query": query })).await, "Query is too complex.");
        let lists = "nodes(first: $first) { ".repeat(4);
        let query = format!("query($first: Int!) {{ node {{ {lists} name {} }} }}", "}".repeat(4));
        let request = json!({ "query": query, "variables": { "first": first } });
        assert_eq!(refused(&client, &request).await, "Query is too complex.");
    }
    // A negative length does not reduce another field's cost.
    let negative =
        "{ a: node { nodes(first: -5000) { name } } b: node { nodes(first: 5500) { name } } }";
    assert_eq!(refused(&client, &json!({ "query": negative })).await, "Query is too complex.");
    let part = |first: i32| json!({ "query": format!("{{ node {{ nodes(first: {first}) {{ name }} }} }}") });
    let batch = send(&client, &json!([part(-5_000), part(900), part(900)])).await;
    let answers: Value = batch.json();
    assert!(answers[1].get("data").is_some() && answers[2].get("data").is_none(), "{answers}");
}

#[tokio::test]
async fn an_object_without_fields_is_empty() {
    let client = client(GraphQl::new(schema()));
    let expected = json!({ "data": {} });
    for query in [
        "{ hello @skip(if: true) }",
        "{ hello @include(if: false) node @skip(if: true) { name } }",
        "{ ...F @skip(if: true) } fragment F on Query { hello }",
        "mutation { run @skip(if: true) }",
    ] {
        assert_eq!(ask(&client, query).await, expected, "{query}");
    }
    assert_eq!(ask(&client, "mutation { run }").await, json!({ "data": { "run": 1 } }));
}

#[tokio::test]
async fn a_panic_in_a_batch_fails_only_its_operation() {
    let client = client(GraphQl::new(schema()).batch(3));
    let run = json!({ "query": "mutation { run }" });
    let panics = json!({ "query": "mutation { panics }" });
    let response = send(&client, &json!([run, panics, run])).await;
    response.assert_status(200);
    let failure = json!({
        "message": "Internal Server Error",
        "extensions": { "code": "INTERNAL_SERVER_ERROR", "status": 500 },
    });
    response.assert_json(json!([
        { "data": { "run": 1 } },
        { "errors": [failure] },
        { "data": { "run": 2 } },
    ]));
}

#[tokio::test]
async fn a_member_of_another_type_is_named() {
    let client = client(GraphQl::new(schema()).batch(2));
    for (body, name) in [
        (json!({ "query": 7 }), "`query`"),
        (json!({ "query": "{ hello }", "operationName": [] }), "`operationName`"),
        (json!({ "query": "{ hello }", "variables": [] }), "`variables`"),
        (json!({ "query": "{ hello }", "variables": "{}" }), "`variables`"),
        (json!({ "query": "{ hello }", "extensions": 1 }), "`extensions`"),
        (json!([{ "query": "{ hello }" }, { "documentId": {} }]), "`documentId`"),
    ] {
        let message = refused(&client, &body).await;
        assert!(message.contains(name) && message.contains("at line 1 column"), "{message}");
        assert_eq!(message.matches("at line").count(), 1, "{message}");
    }
}

#[tokio::test]
async fn a_mutation_does_not_run_by_get() {
    let client = client(GraphQl::new(schema()).persisted(PersistedQueries::cache(10)));
    let two = "query A { hello } mutation B { run }";
    let get = async |params: &[(&str, &str)]| {
        client.get("/graphql").query(params.to_vec()).await.status().as_u16()
    };
    assert_eq!(get(&[("query", two), ("operationName", "A")]).await, 200);
    assert_eq!(get(&[("query", two), ("operationName", "B")]).await, 405);
    // A POST has stored the document under its hash.
    let hash = "9299649be2188133e40d5c9a73af6d3d7679a1ba47d997ea70d853aa7232bd30";
    let extensions = json!({ "persistedQuery": { "version": 1, "sha256Hash": hash } });
    let by_hash = extensions.to_string();
    let learn = json!({ "query": "mutation { run }", "extensions": extensions });
    send(&client, &learn).await.assert_json(json!({ "data": { "run": 1 } }));
    assert_eq!(get(&[("extensions", &by_hash)]).await, 405);
    assert_eq!(get(&[("documentId", hash)]).await, 405);
    assert_eq!(ask(&client, "mutation { run }").await, json!({ "data": { "run": 2 } }));
}

#[tokio::test]
async fn accepts_only_json_content_types() {
    let client = TestClient::new(super::router(GraphQl::new(schema())));
    let post = async |content_type: &str| {
        let sent = client.post("/graphql").header("content-type", content_type);
        sent.body(r#"{"query":"mutation { run }"}"#).await.status().as_u16()
    };
    for simple in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=a",
        "text/plain, application/json",
        "application/json, text/plain",
        "application/jsonx",
        "application/graphql",
        "application/json; charset=utf-16",
        "application/json;charset=\"latin1\"",
        "*/*",
        "",
    ] {
        assert_eq!(post(simple).await, 415, "{simple}");
    }
    for json in ["APPLICATION/JSON", "application/json; charset=\"UTF-8\"", "application/json;"] {
        assert_eq!(post(json).await, 200, "{json}");
    }
    assert_eq!(ask(&client, "mutation { run }").await, json!({ "data": { "run": 4 } }));
}

#[tokio::test]
async fn accepts_names_of_javascript_prototypes() {
    let client = client(GraphQl::new(schema()));
    let query = "{ __proto__: hello constructor: hello toString: hello }";
    let data = json!({ "__proto__": "hello", "constructor": "hello", "toString": "hello" });
    assert_eq!(ask(&client, query).await, json!({ "data": data }));
    refused(&client, &json!({ "query": "{ __proto__ }" })).await;
}
