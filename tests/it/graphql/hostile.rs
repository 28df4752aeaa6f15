//! Hostile requests. Every one is rejected without a 5xx, and the application
//! still responds afterwards.

use stockade::graphql::{GraphQl, UploadOptions};
use stockade::prelude::*;
use stockade::testing::TestClient;
use stockade_errors::random::Random;

use super::{ask, client, refused, schema, send};

/// Returns a document with fragments that each spread the next one twice. The
/// last level has 2^20 fields.
fn bomb() -> String {
    let mut document = "{ node { ...F0 } }".to_owned();
    for level in 0..20 {
        let next = level + 1;
        document += &format!(" fragment F{level} on Node {{ ...F{next} ...F{next} }}");
    }
    document + " fragment F20 on Node { name }"
}

async fn is_alive(client: &TestClient) {
    assert_eq!(ask(client, "{ add(a: 1, b: 1) }").await, json!({ "data": { "add": 2 } }));
}

#[tokio::test]
async fn rejects_twelve_attacks() {
    let client = client(GraphQl::new(schema()));
    let deep_variable = format!(
        "{}{}",
        r#"{"text":"a","or":"#.repeat(1_000),
        "null".to_owned() + &"}".repeat(1_000)
    );
    let documents = [
        ("depth", format!("{{ node {{ {} name {} }} }}", "child {".repeat(50), "}".repeat(50))),
        (
            "aliases",
            format!(
                "{{ {} }}",
                (0..1_000).map(|i| format!("a{i}: __typename ")).collect::<String>()
            ),
        ),
        ("directives", format!("{{ node {} {{ name }} }}", "@skip(if: false) ".repeat(500))),
        ("fragment bomb", bomb()),
        (
            "fragment cycle",
            "{ node { ...A } } fragment A on Node { ...B } fragment B on Node { ...A }".to_owned(),
        ),
        ("braces", "{".repeat(64 * 1_024)),
        ("huge list", format!("{{ count(ids: [{}]) }}", "1 ".repeat(30_000))),
        ("introspection", "{ __schema { types { name } } }".to_owned()),
        ("type", "{ __type(name: \"Query\") { name } }".to_owned()),
        ("suggestions", "{ nod { name } }".to_owned()),
    ];
    for (name, document) in documents {
        let message = refused(&client, &json!({ "query": document })).await;
        assert!(!message.contains("Did you mean"), "{name}: {message}");
    }
    let batch: Vec<Value> = vec![json!({ "query": "{ __typename }" }); 10_000];
    assert_eq!(refused(&client, &json!(batch)).await, "Batches are not supported");

    let form = client.post("/graphql").header("sec-fetch-site", "cross-site");
    let form = form.form([("query", "mutation { put(value: 1) }")]).await;
    form.assert_status(415);
    let get = client.get("/graphql").query([("query", "mutation { put(value: 1) }")]).await;
    get.assert_status(405);
    let deep = client.post("/graphql").header("content-type", "application/json").body(format!(
        r#"{{"query":"query($f: Filter!) {{ search(filter: $f) }}","variables":{{"f":{deep_variable}}}}}"#
    ));
    deep.await.assert_status(400);
    is_alive(&client).await;
}

#[tokio::test]
async fn fragment_depth_is_bounded() {
    let client = client(GraphQl::new(schema()));
    let chain = |length: usize| {
        let mut document = "{ node { ...F0 } }".to_owned();
        for level in 0..length {
            document += &format!(" fragment F{level} on Node {{ ...F{} }}", level + 1);
        }
        format!("{document} fragment F{length} on Node {{ name }}")
    };
    let message = refused(&client, &json!({ "query": chain(400) })).await;
    assert_eq!(message, "Fragments are spread deeper than 32");
    // The GraphQL library follows the fragments even if no operation spreads
    // them.
    let message =
        refused(&client, &json!({ "query": bomb().replace("...F0 } }", "name } }") })).await;
    assert!(message.starts_with("More than 10000 fields"), "{message}");
    for cycle in [
        "{ node { ...A } } fragment A on Node { ...A }",
        "{ ...A } fragment A on Query { node { child { ...B } } } fragment B on Node { child { ...B } }",
    ] {
        let message = refused(&client, &json!({ "query": cycle })).await;
        assert!(message.contains("spreads itself"), "{message}");
    }
    is_alive(&client).await;
}

#[tokio::test]
async fn validation_errors_do_not_repeat_the_document() {
    let client = client(GraphQl::new(schema()));
    let fields: String = (0..900).map(|index| format!("{}{index} ", "x".repeat(20))).collect();
    let message = refused(&client, &json!({ "query": format!("{{ node {{ {fields} }} }}") })).await;
    assert!(message.starts_with("Unknown field"), "{message}");
    let long = refused(&client, &json!({ "query": format!("{{ {} }}", "x".repeat(5_000)) })).await;
    assert!(long.ends_with('…'), "{long}");
    let one_line = format!("{{ {} @ }}", "x".repeat(5_000));
    let syntax = refused(&client, &json!({ "query": one_line })).await;
    assert!(syntax.starts_with("The document is malformed: expected"), "{syntax}");
}

/// The GraphQL library interprets text of this form as a file number and looks
/// it up without a check.
#[tokio::test]
async fn rejects_file_numbers_in_variables() {
    let client = client(GraphQl::new(super::uploads::schema()).uploads(UploadOptions::new()));
    for file in ["#__graphql_file__:0", "#__graphql_file__:x", "#__graphql_file__:99"] {
        let query = "mutation($file: Upload!) { upload(file: $file) }";
        let request = json!({ "query": query, "variables": { "file": file } });
        refused(&client, &request).await;
        let request =
            json!({ "query": query, "variables": { "file": null, "a": [{ "b": file }] } });
        refused(&client, &request).await;
        for literal in [
            format!("mutation {{ upload(file: \"{file}\") }}"),
            format!("mutation {{ upload(file: \"{}\") }}", file.replace('#', "\\u0023")),
            format!("mutation {{ upload(file: \"\"\"{file}\"\"\") }}"),
            format!("mutation($file: Upload! = \"{file}\") {{ upload(file: $file) }}"),
            format!("mutation {{ files(files: [\"{file}\"]) }}"),
        ] {
            refused(&client, &json!({ "query": literal })).await;
        }
    }
}

/// A request with every possible part.
const REQUEST: &str = r#"{"query":"query A($a: Int! = 1, $f: Filter) { add(a: $a, b: -2) node @include(if: true) { ...F ... on Node { n: name child { name } children(first: 2) { __typename } } } search(filter: {text: \"\\u00e9\\n\", or: $f}) count(ids: [1, 2]) } fragment F on Node { name } # end","operationName":"A","variables":{"a":3,"f":{"text":"x","or":null}},"extensions":{"b":[1.5e3,true,{}]}}"#;

#[tokio::test]
async fn mutated_requests_never_cause_a_5xx() {
    let client = client(GraphQl::new(schema()));
    let whole = client.post("/graphql").header("content-type", "application/json");
    let answer: Value = whole.body(REQUEST).await.json();
    assert!(answer.get("errors").is_none(), "{answer}");
    let mut random = Random::new(1);
    let mut next = |below: usize| random.index(below);
    let parts = [
        "{", "}", "(", ")", "[", "]", "\"", "\\", "$", "@", "...", "#", "!", ":", "fragment", "on",
        "query", "null", "1e999", "-0", "0x", "\u{feff}", "é", "\\ud800", "__schema", "\"\"\"",
    ];
    for _ in 0..1_500 {
        let mut text = REQUEST.to_owned();
        for _ in 0..=next(3) {
            let mut at = next(text.len());
            while !text.is_char_boundary(at) {
                at -= 1;
            }
            match next(3) {
                0 => text.insert_str(at, parts[next(parts.len())]),
                1 if at < text.len() => drop(text.remove(at)),
                _ => text.truncate(at.max(1)),
            }
        }
        let sent = client.post("/graphql").header("content-type", "application/json");
        let response = sent.body(text.clone()).await;
        assert!(response.status().as_u16() < 500, "{text}: {}", response.text());
        let answer: Value = response.json();
        assert!(answer.get("data").is_some() || answer["errors"].is_array(), "{text}: {answer}");
    }
    is_alive(&client).await;
}

#[tokio::test]
async fn introspection_can_be_enabled_and_rejects_cycles() {
    let client = client(GraphQl::new(schema()).introspection(true));
    let answer: Value = send(&client, &json!({ "query": INTROSPECTION })).await.json();
    assert!(answer.get("errors").is_none(), "{answer}");
    assert_eq!(answer["data"]["__schema"]["queryType"]["name"], "Query");
    let suggestion = refused(&client, &json!({ "query": "{ nod { name } }" })).await;
    assert!(suggestion.contains("Did you mean \"node\""), "{suggestion}");
    let circle = format!(
        "{{ __type(name: \"Node\") {{ {} name {} }} }}",
        "fields { type { ".repeat(4),
        "} }".repeat(4)
    );
    let message = refused(&client, &json!({ "query": circle })).await;
    assert_eq!(message, "The introspection query is cyclic");
}

#[tokio::test]
async fn introspection_is_enabled_if_errors_are_exposed() {
    let api = |graphql: GraphQl| {
        let options = RouterOptions::new().expose_errors(true).rate_limit(false);
        TestClient::new(create_router(routes! { "graphql": { ..graphql.routes() } }, options))
    };
    let shown = api(GraphQl::new(schema()));
    let answer: Value = send(&shown, &json!({ "query": INTROSPECTION })).await.json();
    assert!(answer.get("errors").is_none(), "{answer}");
    let hidden = api(GraphQl::new(schema()).introspection(false));
    assert_eq!(
        refused(&hidden, &json!({ "query": "{ __schema { types { name } } }" })).await,
        "Introspection is disabled"
    );
    // `__typename` stays available, because it reveals nothing beyond the
    // document.
    assert_eq!(ask(&hidden, "{ __typename }").await, json!({ "data": { "__typename": "Query" } }));
}

/// The introspection query that tools send.
const INTROSPECTION: &str = "
    query IntrospectionQuery {
      __schema {
        queryType { name kind } mutationType { name kind } subscriptionType { name kind }
        types { ...FullType }
        directives { name description locations args { ...InputValue } }
      }
    }
    fragment FullType on __Type {
      kind name description
      fields(includeDeprecated: true) {
        name description args { ...InputValue } type { ...TypeRef } isDeprecated deprecationReason
      }
      inputFields { ...InputValue }
      interfaces { ...TypeRef }
      enumValues(includeDeprecated: true) { name description isDeprecated deprecationReason }
      possibleTypes { ...TypeRef }
    }
    fragment InputValue on __InputValue { name description type { ...TypeRef } defaultValue }
    fragment TypeRef on __Type {
      kind name
      ofType { kind name ofType { kind name ofType { kind name ofType { kind name
        ofType { kind name ofType { kind name ofType { kind name ofType { kind name
          ofType { kind name } } } } } } } } }
    }";
