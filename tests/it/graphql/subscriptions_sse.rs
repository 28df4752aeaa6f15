//! Operations by POST with results as server-sent events.

use stockade::graphql::GraphQl;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestRequest};

use super::subscriptions::{Streams, client, ended, schema};

fn ask(client: &TestClient, accept: &str, query: &str) -> TestRequest {
    client.post("/graphql").header("accept", accept).json(json!({ "query": query }))
}

const EVENTS: &str = "text/event-stream";

fn without_limit(streams: &Streams) -> TestClient {
    client(GraphQl::new(schema(streams)), RouterOptions::new().rate_limit(false))
}

#[tokio::test]
async fn a_subscription_is_a_stream_of_events() {
    let streams = Streams::default();
    let client = without_limit(&streams);
    for accept in [EVENTS, "application/json, text/event-stream"] {
        let answer = ask(&client, accept, "subscription { count(to: 2) }").await;
        answer.assert_status(200).assert_header("content-type", EVENTS);
        assert_eq!(
            answer.text(),
            "event: next\ndata: {\"data\":{\"count\":1}}\n\n\
             event: next\ndata: {\"data\":{\"count\":2}}\n\n\
             event: complete\ndata: \n\n"
        );
    }
    assert_eq!(streams.live(), 0);
}

#[tokio::test]
async fn a_stream_ends_with_its_response() {
    let streams = Streams::default();
    let client = without_limit(&streams);
    let mut events = ask(&client, EVENTS, "subscription { wait }").stream().await;
    let event = events.next_event().await.unwrap();
    assert_eq!(event.data, r#"{"data":{"wait":0}}"#);
    assert_eq!(streams.live(), 1);
    drop(events);
    ended(&streams).await;
}

#[tokio::test]
async fn a_client_that_accepts_only_events_gets_errors_as_events() {
    let client = without_limit(&Streams::default());
    for query in ["subscription { nothing }", "{", "subscription { panics }"] {
        let answer = ask(&client, EVENTS, query).await;
        let text = answer.text();
        answer.assert_status(200).assert_header("content-type", EVENTS);
        assert!(text.starts_with("event: next\ndata: {\"errors\":[{\"message\":"), "{text}");
        assert!(text.ends_with("event: complete\ndata: \n\n"), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
    let query = ask(&client, EVENTS, "{ me }").await;
    assert!(query.text().starts_with("event: next\ndata: {\"data\":{\"me\":null}}\n\n"));
    // A malformed request gets an error status instead.
    let malformed = client.post("/graphql").header("accept", EVENTS);
    malformed.header("content-type", "application/json").body("{").await.assert_status(400);
}

#[tokio::test]
async fn other_clients_get_no_events() {
    let client = without_limit(&Streams::default());
    let refused = ask(&client, "application/json", "subscription { wait }").await;
    assert!(
        refused.text().contains("A subscription needs server-sent events"),
        "{}",
        refused.text()
    );
    let query = ask(&client, "application/json, text/event-stream", "{ me }").await;
    query.assert_json(json!({ "data": { "me": null } }));
    ask(&client, "text/plain", "{ me }").await.assert_status(406);
}
