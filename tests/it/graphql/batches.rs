//! Batches: their order, their limits, and the charge for each operation.

use stockade::graphql::GraphQl;
use stockade::middleware::RateLimit;
use stockade::middleware::rate_limit::MINUTE;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestClock};

use super::{client, refused, schema, send};

fn batch(query: &str, number: usize) -> Value {
    json!(vec![json!({ "query": query }); number])
}

#[tokio::test]
async fn responses_are_in_the_order_of_the_operations() {
    let client = client(GraphQl::new(schema()).batch(3));
    let body = json!([
        { "query": "mutation { put(value: 7) }" },
        { "query": "{" },
        { "query": "{ add(a: 1, b: 1) }" },
    ]);
    let response = send(&client, &body).await;
    response.assert_status(200);
    let answers: Value = response.json();
    assert_eq!(answers[0], json!({ "data": { "put": 7 } }));
    assert!(answers[1]["errors"].is_array() && answers[1].get("data").is_none(), "{answers}");
    assert_eq!(answers[2], json!({ "data": { "add": 2 } }));
    let subscription = send(&client, &batch("subscription { a }", 1)).await;
    let answers: Value = subscription.json();
    assert!(answers[0]["errors"][0]["message"].is_string(), "{answers}");
}

#[tokio::test]
async fn rejects_a_too_large_batch() {
    let client = client(GraphQl::new(schema()).batch(3));
    let message = refused(&client, &batch("{ __typename }", 4)).await;
    assert!(message.contains("at most 3 operations"), "{message}");
    send(&client, &batch("{ __typename }", 3)).await.assert_status(200);
}

/// Returns the number of operations in a batch that ran.
fn ran(answers: &Value) -> usize {
    answers.as_array().unwrap().iter().filter(|answer| answer.get("data").is_some()).count()
}

#[tokio::test]
async fn complexity_is_summed() {
    let query = "{ node { children(first: 298) { name } } }";
    let builder = client(GraphQl::new(schema()).batch(5));
    let answers: Value = send(&builder, &batch(query, 5)).await.json();
    assert_eq!(ran(&answers), 3, "{answers}");
    assert_eq!(answers[3]["errors"][0]["message"], "The batch is too complex");
    // A finished schema does not reveal complexity, so fields are counted
    // instead.
    let finished = client(GraphQl::finished(schema().finish()).batch(5));
    let answers: Value = send(&finished, &batch(query, 5)).await.json();
    assert_eq!(ran(&answers), 5);
    let wide = format!("{{ {} }}", "node { ...F } ".repeat(15))
        + " fragment F on Node { a: name b: name c: name "
        + &"name ".repeat(20)
        + "}";
    let answers: Value = send(&finished, &batch(&wide, 5)).await.json();
    assert_eq!(ran(&answers), 2, "{answers}");
}

#[tokio::test]
async fn each_operation_is_charged() {
    let clock = TestClock::new();
    let graphql = GraphQl::new(schema()).batch(10);
    let api = routes! { "graphql": { ..graphql.routes() } };
    let options = RouterOptions::new().rate_limit(RateLimit::from(10 / MINUTE));
    let client = TestClient::with_clock(create_router(api, options), &clock);
    let answers: Value = send(&client, &batch("{ __typename }", 8)).await.json();
    assert_eq!(ran(&answers), 8);
    let response = send(&client, &batch("{ __typename }", 8)).await;
    response.assert_status(200);
    let answers: Value = response.json();
    assert_eq!(ran(&answers), 2, "{answers}");
    assert_eq!(answers[7]["errors"][0]["extensions"]["status"], 429, "{answers}");
    send(&client, &batch("{ __typename }", 1)).await.assert_status(429);
}
