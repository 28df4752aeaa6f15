//! Document limits, each tested at its maximum and one above it.

use stockade::graphql::GraphQl;
use stockade::prelude::*;
use stockade::testing::TestClient;

use super::{client, refused, schema, send};

/// Checks that `runs` succeeds and that `too_much` is rejected with this
/// message.
async fn check(client: &TestClient, runs: &str, too_much: &str, message: &str) {
    let answer: Value = send(client, &json!({ "query": runs })).await.json();
    assert!(answer.get("errors").is_none(), "{runs}: {answer}");
    let refusal = refused(client, &json!({ "query": too_much })).await;
    assert!(refusal.contains(message), "{too_much}: {refusal}");
}

fn nested(depth: usize) -> String {
    let inner = depth - 2;
    format!("{{ node {{ {} name {} }} }}", "child { ".repeat(inner), "}".repeat(inner))
}

fn aliases(number: usize) -> String {
    let fields: String = (0..number).map(|index| format!("a{index}: name ")).collect();
    format!("{{ node {{ {fields} }} }}")
}

fn roots(number: usize) -> String {
    let fields: String = (0..number).map(|index| format!("a{index}: __typename ")).collect();
    format!("{{ {fields} }}")
}

fn directives(number: usize) -> String {
    format!("{{ node {} {{ name }} }}", "@include(if: true) ".repeat(number))
}

fn children(number: usize) -> String {
    format!("{{ node {{ children(first: {number}) {{ name }} }} }}")
}

#[tokio::test]
async fn each_limit_has_a_default() {
    let client = client(GraphQl::new(schema()));
    check(&client, &nested(12), &nested(13), "nested deeper than 12").await;
    check(&client, &aliases(50), &aliases(51), "50 aliases").await;
    check(&client, &roots(20), &roots(21), "20 fields at the root").await;
    check(&client, &children(998), &children(999), "too complex").await;
    // The GraphQL library rejects repeated directives, so a document within the
    // limit fails too.
    let refusal = refused(&client, &json!({ "query": directives(6) })).await;
    assert!(refusal.contains("5 directives"), "{refusal}");
    let refusal = refused(&client, &json!({ "query": directives(5) })).await;
    assert!(!refusal.contains("5 directives"), "{refusal}");

    let document = |bytes: usize| format!("{{__typename #{}}}", "-".repeat(bytes - 15) + "\n");
    check(&client, &document(65_536), &document(65_537), "65536 bytes").await;
    let tokens = |tokens: usize| format!("{{ node {{ {} }} }}", "name ".repeat(tokens - 5));
    check(&client, &tokens(1_000), &tokens(4_001), "4000 tokens").await;
    let brackets = |nesting: usize| {
        format!("{{ count(ids: {}{}) }}", "[".repeat(nesting - 2), "]".repeat(nesting - 2))
    };
    let refusal = refused(&client, &json!({ "query": brackets(65) })).await;
    assert!(refusal.contains("nested deeper than 64"), "{refusal}");
    let refusal = refused(&client, &json!({ "query": brackets(64) })).await;
    assert!(!refusal.contains("nested deeper"), "{refusal}");
}

#[tokio::test]
async fn each_limit_can_be_set() {
    let graphql = GraphQl::new(schema())
        .max_depth(3)
        .max_aliases(1)
        .max_root_fields(1)
        .max_complexity(10)
        .max_directives(1)
        .max_document(100)
        .max_tokens(30)
        .max_nesting(5);
    let client = client(graphql);
    check(&client, &nested(3), &nested(4), "nested deeper than 3").await;
    check(&client, &aliases(1), &aliases(2), "1 aliases").await;
    check(&client, &roots(1), "{ __typename node { name } }", "1 fields at the root").await;
    check(&client, &children(8), &children(9), "too complex").await;
    check(&client, &directives(1), &directives(2), "1 directives").await;
    check(&client, "{ __typename }", &"#".repeat(101), "100 bytes").await;
    check(&client, "{ __typename }", &"{ a }".repeat(11), "30 tokens").await;
    check(&client, "{ __typename }", "{{{{{{", "nested deeper than 5").await;
}

#[tokio::test]
async fn each_spread_of_a_fragment_counts() {
    let client = client(GraphQl::new(schema()));
    let document = |aliases: usize, spreads: usize| {
        let fields: String = (0..aliases).map(|index| format!("a{index}: name ")).collect();
        let spreads = "child { ...F } ".repeat(spreads);
        format!("{{ node {{ {spreads} }} }} fragment F on Node {{ {fields} }}")
    };
    check(&client, &document(10, 5), &document(10, 6), "50 aliases").await;
    let deep = |depth: usize| {
        let inner = depth - 3;
        let fields = format!("{} name {}", "child { ".repeat(inner), "}".repeat(inner));
        format!("{{ node {{ child {{ ...F }} }} }} fragment F on Node {{ {fields} }}")
    };
    check(&client, &deep(12), &deep(13), "nested deeper than 12").await;
    let roots = |number: usize| {
        let fields: String = (0..number).map(|index| format!("a{index}: __typename ")).collect();
        format!("{{ ...F }} fragment F on Query {{ {fields} }}")
    };
    check(&client, &roots(20), &roots(21), "20 fields at the root").await;
}

#[tokio::test]
async fn a_finished_schema_keeps_its_own_limits_and_gets_the_others() {
    let finished = || GraphQl::finished(schema().finish());
    let client = client(finished());
    check(&client, &nested(13), &roots(21), "20 fields at the root").await;
    check(&client, &children(2_000), &aliases(51), "50 aliases").await;

    let graphql = finished().max_depth(3).max_complexity(10).max_directives(1);
    let error = TestClient::try_new(super::router(graphql)).unwrap_err();
    for name in ["max_depth", "max_complexity", "max_directives"] {
        let message = format!("`{name}` has no effect on a finished schema");
        assert!(error.to_string().contains(&message), "{error}");
    }
}

#[tokio::test]
async fn each_use_of_a_variable_counts() {
    let client = client(GraphQl::new(schema()));
    let document = |places: usize| {
        let fields: String =
            (0..places).map(|index| format!("a{index}: count(ids: $ids) ")).collect();
        format!("query($ids: [Int!]!) {{ {fields} }}")
    };
    let ids = vec![1; 60_000];
    let request = |places: usize| json!({ "query": document(places), "variables": { "ids": ids } });
    send(&client, &request(1)).await.assert_json(json!({ "data": { "a0": 60_000 } }));
    let refusal = refused(&client, &request(17)).await;
    assert!(refusal.contains("variables are too large"), "{refusal}");
}
