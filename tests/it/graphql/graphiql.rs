//! The GraphiQL page at the GraphQL path.

use std::io::Read as _;

use flate2::read::GzDecoder;
use stockade::graphql::GraphQl;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestRequest};

use super::subscriptions::{Streams, schema};

fn client(is_served: bool) -> TestClient {
    let graphql = GraphQl::new(schema(&Streams::default())).graphiql(is_served);
    let api = routes! { "graphql": { ..graphql.routes() } };
    TestClient::new(create_router(api, RouterOptions::new()))
}

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

fn open(client: &TestClient) -> TestRequest {
    client.get("/graphql").header("accept", BROWSER).header("accept-encoding", "gzip, br")
}

#[tokio::test]
async fn a_browser_gets_a_page_that_loads_nothing_else() {
    let client = client(true);
    let answer = open(&client).await;
    answer.assert_status(200).assert_header("content-type", "text/html; charset=utf-8");
    answer.assert_header("content-encoding", "gzip").assert_header("cache-control", "no-cache");
    let policy = answer.headers()["content-security-policy"].to_str().unwrap();
    assert!(policy.starts_with("default-src 'none'; script-src 'sha256-"), "{policy}");
    assert!(policy.contains("; connect-src 'self'; ") && !policy.contains("unsafe"), "{policy}");
    let mut page = String::new();
    GzDecoder::new(answer.bytes().as_ref()).read_to_string(&mut page).unwrap();
    assert!(page.starts_with("<!doctype html>"), "{}", &page[..100]);
    // No script, style or image is loaded from a URL.
    assert!(!page.contains(" src=") && !page.contains("stylesheet"));

    let tag = answer.headers()["etag"].to_str().unwrap().to_owned();
    let known = open(&client).header("if-none-match", tag).await;
    known.assert_status(304);
    assert!(known.bytes().is_empty());
    let plain = client.get("/graphql").header("accept", BROWSER);
    plain.header("accept-encoding", "identity").await.assert_status(406);
}

#[tokio::test]
async fn the_page_and_operations_share_an_address() {
    let served = client(true);
    let query = served.get("/graphql?query=%7Bme%7D").header("accept", BROWSER).await;
    query.assert_json(json!({ "data": { "me": null } }));
    let no_browser = served.get("/graphql").header("accept", "*/*").await;
    no_browser.assert_status(400);
    // Without the option, a browser gets the same response as other clients.
    open(&client(false)).await.assert_status(400);
}
