//! Requests and responses that follow the GraphQL over HTTP specification.

use stockade::graphql::GraphQl;
use stockade::middleware::{CorsOptions, RequestIds};
use stockade::prelude::*;
use stockade::testing::TestClient;

use super::{ask, client, refused, router, schema, send};

const GRAPHQL: &str = "application/graphql-response+json";

#[tokio::test]
async fn a_post_runs_an_operation() {
    let client = client(GraphQl::new(schema()));
    let expected = json!({ "data": { "add": 5 } });
    assert_eq!(ask(&client, "{ add(a: 2, b: 3) }").await, expected);
    let request = json!({
        "query": "query A { put: __typename } query B($a: Int!) { add(a: $a, b: 3) }",
        "operationName": "B",
        "variables": { "a": 2 },
        "extensions": { "any": [1] },
    });
    let response = send(&client, &request).await;
    response.assert_json(&expected).assert_header("content-type", "application/json");
    assert_eq!(ask(&client, "mutation { put(value: 7) }").await, json!({ "data": { "put": 7 } }));
}

#[tokio::test]
async fn a_finished_schema_works() {
    let client = client(GraphQl::finished(schema().finish()));
    assert_eq!(ask(&client, "{ add(a: 2, b: 3) }").await, json!({ "data": { "add": 5 } }));
}

#[tokio::test]
async fn the_media_type_determines_the_status_of_rejected_requests() {
    let client = client(GraphQl::new(schema()));
    for (query, variables) in [
        ("{", json!({})),
        ("{ unknown }", json!({})),
        ("query($a: Int!) { add(a: $a, b: 1) }", json!({})),
        ("query($a: Int!) { add(a: $a, b: 1) }", json!({ "a": null })),
        ("query($a: Int!) { add(a: $a, b: 1) }", json!({ "a": "one" })),
        ("query A { node { name } } query B { node { name } }", json!({})),
    ] {
        let request = json!({ "query": query, "variables": variables });
        for (accept, status) in [("application/json", 200), (GRAPHQL, 400)] {
            let sent = client.post("/graphql").header("accept", accept).json(&request);
            let response = sent.await;
            response.assert_status(status).assert_header("content-type", accept);
            let answer: Value = response.json();
            assert!(answer.get("data").is_none() && answer["errors"].is_array(), "{answer}");
        }
    }
    let sent = client.post("/graphql").header("accept", GRAPHQL);
    let response = sent.json(json!({ "query": "{ add(a: 1, b: 1) }" })).await;
    response.assert_status(200).assert_header("content-type", GRAPHQL);
}

#[tokio::test]
async fn invalid_parameters_are_400_in_both_media_types() {
    let client = client(GraphQl::new(schema()));
    for body in [
        "",
        "{",
        "7",
        "[]",
        "[{}]",
        "{}",
        r#"{"query":7}"#,
        r#"{"query":"{ a }","variables":[]}"#,
        r#"{"query":"{ a }","operationName":{}}"#,
        r#"{"qeury":"{ a }"}"#,
        r#"{"query":"{ a }","extensions":0}"#,
        r#"{"query":"{ a }","query":"{ b }"}"#,
    ] {
        for accept in ["application/json", GRAPHQL] {
            let sent = client.post("/graphql").header("content-type", "application/json");
            let response = sent.header("accept", accept).body(body).await;
            response.assert_status(400).assert_header("content-type", accept);
            let answer: Value = response.json();
            assert!(answer["errors"][0]["message"].is_string(), "{body}: {answer}");
        }
    }
}

#[tokio::test]
async fn rejects_other_types_before_execution() {
    let client = client(GraphQl::new(schema()));
    let body = r#"{"query":"mutation { put(value: 1) }"}"#;
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/graphql",
        "application/json; charset=utf-16",
    ] {
        let sent = client.post("/graphql").header("content-type", content_type);
        sent.body(body).await.assert_status(415);
    }
    client.post("/graphql").body(body).await.assert_status(415);
    let utf8 = client.post("/graphql").header("content-type", "application/json; charset=utf-8");
    utf8.body(body).await.assert_status(200);
    for accept in ["text/plain", "image/*", "application/json;q=0"] {
        let sent = client.post("/graphql").header("accept", accept);
        sent.json(json!({ "query": "{ add(a: 1, b: 1) }" })).await.assert_status(406);
        let sent = client.get("/graphql?query={__typename}").header("accept", accept);
        sent.await.assert_status(406);
    }
}

#[tokio::test]
async fn a_get_runs_a_query() {
    let client = client(GraphQl::new(schema()));
    let response = client
        .get("/graphql")
        .query([
            ("query", "query A($a: Int!) { add(a: $a, b: 3) }"),
            ("operationName", "A"),
            ("variables", r#"{"a":2}"#),
            ("extensions", "{}"),
        ])
        .await;
    response.assert_json(json!({ "data": { "add": 5 } }));
    let head = client.request("HEAD".parse().unwrap(), "/graphql?query={__typename}").await;
    head.assert_status(200).assert_empty();

    for query in
        ["mutation { put(value: 1) }", "query A { __typename } mutation B { put(value: 1) }"]
    {
        let pairs = [("query", query), ("operationName", if query.len() > 30 { "B" } else { "" })];
        let response = client.get("/graphql").query(pairs).await;
        response.assert_status(405).assert_header("allow", "POST");
    }
    for query in [
        "",
        "query={__typename}&query={__typename}",
        "query={__typename}&variables=7",
        "query={__typename}&variables={",
        "query={__typename}&extensions=[]",
    ] {
        client.get(format!("/graphql?{query}")).await.assert_status(400);
    }
    let empty = client.get("/graphql?query={__typename}&variables=&extensions=null").await;
    empty.assert_status(200);
}

#[tokio::test]
async fn rejects_other_sites_unless_cors_lists_them() {
    let router = router(GraphQl::new(schema()));
    let client = TestClient::new(
        router.map_options(|options| options.cors(CorsOptions::new(["https://app.example"]))),
    );
    let get = |site: &str, origin: &str| {
        let sent = client.get("/graphql?query={__typename}").header("sec-fetch-site", site);
        if origin.is_empty() { sent } else { sent.header("origin", origin) }
    };
    get("cross-site", "").await.assert_status(403);
    get("cross-site", "https://evil.example").await.assert_status(403);
    get("cross-site", "https://app.example").await.assert_status(200);
    get("same-origin", "").await.assert_status(200);
    get("none", "").await.assert_status(200);
}

#[tokio::test]
async fn resolvers_know_their_caller() {
    let router = router(GraphQl::new(schema()).public("it is open")).state("hello");
    let client =
        TestClient::new(router.map_options(|options| options.request_id(RequestIds::default())));
    let answer = client.post("/graphql").bearer("ada").json(json!({ "query": "{ me }" })).await;
    answer.assert_json(json!({ "data": { "me": "ada" } }));
    let answer = ask(&client, "{ seen }").await;
    assert_eq!(answer, json!({ "data": { "seen": "hello Some(127.0.0.1) true" } }));
    let answer = ask(&client, "{ me }").await;
    assert_eq!(answer["errors"][0]["extensions"]["code"], "UNAUTHORIZED");
    assert_eq!(answer["errors"][0]["extensions"]["status"], 401);
    assert_eq!(answer["errors"][0]["path"], json!(["me"]));
    assert_eq!(answer["data"], Value::Null);
}

#[tokio::test]
async fn a_subscription_does_not_run_as_a_query() {
    let client = client(GraphQl::new(schema()));
    let message = refused(&client, &json!({ "query": "subscription { a }" })).await;
    assert!(message.contains("subscription"), "{message}");
}
