//! Hostile messages.

use stockade::prelude::*;
use stockade::rpc::Rpc;
use stockade::serde_json;
use stockade::testing::TestClient;
use stockade_errors::random::Random;

use super::send;

/// A message with every part that a message can have.
const MESSAGE: &str = r#"[{"jsonrpc":"2.0","method":"any","params":{"a":[1,"\u00e9",null]},"id":"x"},
    {"jsonrpc":"2.0","method":"any","params":[-1.5e3,true,{}],"id":9}, {"jsonrpc":"2.0","method":"any"}]"#;

fn any() -> TestClient {
    let rpc = Rpc::new().method("any", async |Body(it): Body<Value>| Json(it));
    let api = routes! { "rpc": { ..rpc.routes() } };
    TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)))
}

/// Sends arbitrary bytes and returns the response, which is always JSON-RPC.
async fn answer(client: &TestClient, bytes: Vec<u8>) -> Option<Value> {
    let shown = String::from_utf8_lossy(&bytes).chars().take(300).collect::<String>();
    let sent = client.post("/rpc").header("content-type", "application/json").body(bytes);
    let response = sent.await;
    if response.status() == 204 {
        return None;
    }
    assert_eq!(response.status(), 200, "{shown}");
    let answer: Value = serde_json::from_slice(response.bytes()).unwrap();
    let answers = answer.as_array().cloned().unwrap_or_else(|| vec![answer.clone()]);
    for answer in &answers {
        assert_eq!(answer["jsonrpc"], "2.0", "{shown}");
        let has = |member: &str| answer.get(member).is_some();
        assert!(has("id") && (has("result") != has("error")), "{shown}: {answer}");
        assert_ne!(answer["error"]["code"], -32603, "{shown}: {answer}");
    }
    Some(answer)
}

#[tokio::test]
async fn mutated_messages_get_a_response() {
    let client = any();
    let mut random = Random::new(1);
    let mut next = move |below: usize| random.index(below);
    for _ in 0..4_000 {
        let mut bytes = MESSAGE.as_bytes().to_vec();
        for _ in 0..=next(3) {
            let at = next(bytes.len().max(1)).min(bytes.len() - 1);
            match next(4) {
                0 => bytes[at] = u8::try_from(next(256)).unwrap(),
                1 if bytes.len() > 1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, b"{}[]\",:\\0n"[next(10)]),
                _ => bytes.truncate(at.max(1)),
            }
        }
        answer(&client, bytes).await;
    }
}

#[tokio::test]
async fn large_and_deep_messages_get_a_response() {
    let client = any();
    let code = async |text: String| {
        let answer = answer(&client, text.into_bytes()).await.unwrap();
        answer["error"]["code"].as_i64()
    };
    let call = |params: &str, id: &str| {
        format!(r#"{{"jsonrpc":"2.0","method":"any","params":{params},"id":{id}}}"#)
    };
    assert_eq!(code("[".repeat(1_000_000)).await, Some(-32600));
    assert_eq!(code("{\"a\":".repeat(200_000)).await, Some(-32600));
    assert_eq!(code("1,".repeat(500_000)).await, Some(-32700));
    let digits = "7".repeat(900_000);
    let answer = send(&client, &call("[]", &digits)).await;
    assert_eq!(answer, format!(r#"{{"jsonrpc":"2.0","result":[],"id":{digits}}}"#));
    assert_eq!(code(call("[]", &format!("{:?}", "x".repeat(900_000)))).await, None);
    let deep = format!("{}{}", "[".repeat(126), "]".repeat(126));
    assert_eq!(code(call(&deep, "1")).await, None);
    let many = format!("[{}1]", "1,".repeat(400_000));
    // The message has more values than a handler accepts.
    assert_eq!(code(call(&many, "1")).await, Some(-32013));
    assert_eq!(code(call("[\"\\ud800\"]", "1")).await, Some(-32602));
    assert_eq!(code(call("{\"a\":1e400}", "1")).await, Some(-32602));
    assert_eq!(code(format!("[{}1]", "1,".repeat(400_000))).await, Some(-32600));
}

#[tokio::test]
async fn a_batch_of_notifications_has_no_response() {
    let client = any();
    let one = r#"{"jsonrpc":"2.0","method":"any","params":[1]}"#;
    assert_eq!(send(&client, &format!("[{}]", vec![one; 50].join(","))).await, "");
    let answer = send(&client, &format!("[{}]", vec![one; 51].join(","))).await;
    assert!(answer.contains("-32600"), "{answer}");
}
