//! The examples of the JSON-RPC specification, section 7.

use serde::Deserialize;
use stockade::prelude::*;
use stockade::rpc::Rpc;
use stockade::serde_json;

use super::{client, send};

#[derive(Deserialize, Schema)]
struct Subtract {
    minuend: i64,
    subtrahend: i64,
}

#[derive(Deserialize)]
struct Exchange {
    name: String,
    request: String,
    expect_js: String,
}

/// Parses an expected response in the specification's short JavaScript
/// notation.
fn expected(text: &str) -> Value {
    let mut json = text.replace('\'', "\"");
    for name in ["jsonrpc", "result", "code", "id"] {
        json = json.replace(&format!("{name}:"), &format!("{name:?}:"));
    }
    serde_json::from_str(&json).unwrap()
}

/// Reduces the errors in a response to their code and id, as the examples do.
fn shortened(answer: Value) -> Value {
    match answer {
        Value::Array(answers) => answers.into_iter().map(shortened).collect(),
        answer if answer.get("error").is_some() => {
            assert_eq!(answer["jsonrpc"], "2.0");
            assert!(answer["error"]["message"].is_string() && answer.get("result").is_none());
            json!({ "code": answer["error"]["code"], "id": answer["id"] })
        }
        answer => answer,
    }
}

#[tokio::test]
async fn all_exchanges_are_as_specified() {
    let sum = async |Body(numbers): Body<Vec<i64>>| Json(numbers.iter().sum::<i64>());
    let subtract = async |Body(it): Body<Subtract>| Json(it.minuend - it.subtrahend);
    let rpc = Rpc::new()
        .method("subtract", subtract)
        .method("sum", sum)
        .method("update", async |Body(_): Body<Vec<i64>>| ())
        .method("notify_hello", async |Body(_): Body<Vec<i64>>| ())
        .method("notify_sum", sum)
        .method("get_data", async || Json(("hello", 5)));
    let client = client(&rpc);
    let text = include_str!("../../vectors/jsonrpc/spec_examples.json");
    let file: Value = serde_json::from_str(text).unwrap();
    let exchanges: Vec<Exchange> = serde_json::from_value(file["cases"].clone()).unwrap();
    assert_eq!(exchanges.len(), 15);
    for Exchange { name, request, expect_js } in exchanges {
        let answer = send(&client, &request).await;
        let answer = match answer.as_str() {
            "" => Value::Null,
            answer => shortened(serde_json::from_str(answer).unwrap()),
        };
        assert_eq!(answer, expected(&expect_js), "{name}: {request}");
    }
}
