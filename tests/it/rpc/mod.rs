//! JSON-RPC methods: messages, responses and batches. Everything that applies
//! to a route also applies to a method.

mod batches;
mod calls;
mod documents;
mod guards;
mod hostile;
mod marks;
mod methods;
mod specification;
mod web_sockets;

use stockade::prelude::*;
use stockade::rpc::Rpc;
use stockade::testing::TestClient;

/// Returns a client for the methods at `/rpc`, without a rate limit and with
/// 5xx messages hidden.
#[track_caller]
fn client(rpc: &Rpc) -> TestClient {
    let api = routes! { "rpc": { ..rpc.routes() } };
    let options = RouterOptions::new().expose_errors(false).rate_limit(false);
    TestClient::new(create_router(api, options)).with_contract()
}

/// Sends a message and returns the response as text, empty for a 204.
async fn send(client: &TestClient, message: &str) -> String {
    let sent = client.post("/rpc").header("content-type", "application/json");
    let response = sent.body(message.to_owned()).await;
    match response.status().as_u16() {
        200 => {
            response.assert_header("content-type", "application/json");
            response.text().to_owned()
        }
        204 => String::new(),
        status => panic!("{status} {}", response.text()),
    }
}

/// Calls a method with id 1 and returns the result or the error.
async fn call(client: &TestClient, method: &str, params: Value) -> Value {
    let message = json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": 1 });
    let answer = send(client, &message.to_string()).await;
    let mut answer: Value = stockade::serde_json::from_str(&answer).unwrap();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(1)));
    match answer.get_mut("result") {
        Some(result) => result.take(),
        None => answer["error"].take(),
    }
}
