//! Calls over a WebSocket: responses in order of completion, notifications to
//! the client, and rate limiting.

use std::sync::Arc;
use std::time::Duration;

use stockade::middleware::rate_limit::MINUTE;
use stockade::prelude::*;
use stockade::rpc::{Notifier, Rpc};
use stockade::testing::{TestClient, TestWebSocket};
use tokio::sync::Notify;

fn call(id: u32, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id })
}

fn client(rpc: &Rpc, options: RouterOptions) -> TestClient {
    let token = Auth::bearer(async |token: String| Some(json!({ "name": token })));
    let signed_in = with_auth(token.required(false));
    let api = routes! { "rpc": { middleware: [signed_in], ..rpc.routes() } };
    let options = options.enable_web_sockets(true).expose_errors(false);
    TestClient::new(create_router(api, options))
}

async fn connect(rpc: Rpc) -> TestWebSocket {
    let client = client(&rpc.web_socket(true), RouterOptions::new().rate_limit(false));
    client.websocket("/rpc").bearer("ada").connect().await
}

#[tokio::test]
async fn responses_are_sent_when_calls_end() {
    let gate = Arc::new(Notify::new());
    let opened = Arc::clone(&gate);
    let slow = move || {
        let gate = Arc::clone(&gate);
        async move {
            gate.notified().await;
            "slow"
        }
    };
    let rpc = Rpc::new()
        .method("slow", slow)
        .method("name", async |user: User<Value>| user.0["name"].to_string())
        .method("sum", async |Body(numbers): Body<Vec<i64>>| Json(numbers.iter().sum::<i64>()));
    let mut socket = connect(rpc).await;
    socket.send_json(call(1, "slow", json!([]))).await;
    socket.send_json(call(2, "name", json!([]))).await;
    assert_eq!(socket.receive_text().await, r#"{"jsonrpc":"2.0","result":"\"ada\"","id":2}"#);
    opened.notify_one();
    assert_eq!(socket.receive_text().await, r#"{"jsonrpc":"2.0","result":"slow","id":1}"#);

    socket.send_json(json!([call(3, "sum", json!([1, 2])), call(4, "sum", json!([]))])).await;
    let batch: Value = socket.receive_json().await;
    assert_eq!((&batch[0]["result"], &batch[1]["result"]), (&json!(3), &json!(0)));
    socket.send_json(json!({ "jsonrpc": "2.0", "method": "sum", "params": [1] })).await;
    socket.send_text("{").await;
    let broken: Value = socket.receive_json().await;
    assert_eq!((&broken["error"]["code"], &broken["id"]), (&json!(-32700), &Value::Null));
    socket.close().await;
}

#[tokio::test]
async fn http_rejects_a_notifying_method_as_documented() {
    let api = routes! { "news": { POST: async |_: Notifier| "x" } };
    let app = create_router(api, RouterOptions::new()).build().unwrap();
    let answers = &app.route_map().routes[0].answers;
    assert!(answers.iter().any(|answer| answer.status == "400"), "{answers:?}");
    let response = TestClient::new(app).with_contract().post("/news").await;
    response.assert_status(400).assert_error("The method can only be called over a WebSocket");
}

#[tokio::test(start_paused = true)]
async fn a_method_can_notify_its_client_after_its_end() {
    let subscribe = async |news: Notifier| {
        tokio::spawn(async move {
            for number in 1..=2 {
                tokio::time::sleep(Duration::from_secs(1)).await;
                news.notify("news", json!({ "number": number })).await.unwrap();
            }
        });
        "subscribed"
    };
    let perhaps = async |news: Option<Notifier>| Json(news.is_some());
    let rpc = Rpc::new().method("subscribe", subscribe).method("perhaps", perhaps);
    let mut socket = connect(rpc.clone()).await;
    socket.send_json(call(1, "perhaps", json!([]))).await;
    assert_eq!(socket.receive_json::<Value>().await["result"], true);
    socket.send_json(call(2, "subscribe", json!([]))).await;
    assert_eq!(socket.receive_json::<Value>().await["result"], "subscribed");
    for number in 1..=2 {
        let expected =
            json!({ "jsonrpc": "2.0", "method": "news", "params": { "number": number } });
        assert_eq!(socket.receive_json::<Value>().await, expected);
    }

    let by_http = super::client(&rpc);
    assert_eq!(super::call(&by_http, "perhaps", json!([])).await, json!(false));
    let error = super::call(&by_http, "subscribe", json!([])).await;
    assert_eq!(error["code"], -32000);
}

#[tokio::test]
async fn each_call_is_charged() {
    let rpc = Rpc::new().method("one", async || Json(1)).web_socket(true);
    let client = client(&rpc, RouterOptions::new().rate_limit(4 / MINUTE));
    let mut socket = client.websocket("/rpc").connect().await;
    let mut codes = Vec::new();
    for id in 0..2 {
        socket.send_json(call(id, "one", json!([]))).await;
        codes.push(socket.receive_json::<Value>().await["error"]["code"].as_i64());
    }
    socket.send_json(json!([call(3, "one", json!([])), call(4, "one", json!([]))])).await;
    let batch: Vec<Value> = socket.receive_json().await;
    codes.extend(batch.iter().map(|answer| answer["error"]["code"].as_i64()));
    // The handshake counts as the first of four requests.
    assert_eq!(codes, [None, None, None, Some(-32029)]);
}

#[tokio::test]
async fn a_malformed_message_is_charged() {
    let rpc = Rpc::new().method("one", async || Json(1)).web_socket(true).max_batch(1);
    let client = client(&rpc, RouterOptions::new().rate_limit(3 / MINUTE));
    let mut socket = client.websocket("/rpc").connect().await;
    let mut codes = Vec::new();
    for message in ["{", "[1, 2]", "{", "[1, 2]"] {
        socket.send_text(message).await;
        codes.push(socket.receive_json::<Value>().await["error"]["code"].as_i64());
    }
    // The handshake counts as the first of three requests.
    assert_eq!(codes, [-32700, -32600, -32029, -32029].map(Some));
}

#[tokio::test]
async fn a_binary_message_is_read_like_text() {
    let mut socket = connect(Rpc::new().method("one", async || Json(1))).await;
    socket.send_binary(call(7, "one", json!([])).to_string()).await;
    assert_eq!(socket.receive_text().await, r#"{"jsonrpc":"2.0","result":1,"id":7}"#);
}

#[tokio::test]
async fn running_calls_end_with_the_connection() {
    struct Ended(tokio::sync::mpsc::UnboundedSender<()>);
    impl Drop for Ended {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let (sender, mut ended) = tokio::sync::mpsc::unbounded_channel();
    let wait = move || {
        let guard = Ended(sender.clone());
        async move {
            let _guard = guard;
            std::future::pending::<()>().await;
        }
    };
    let mut socket = connect(Rpc::new().method("wait", wait).method("now", async || "now")).await;
    for id in 0..16 {
        socket.send_json(call(id, "wait", json!([]))).await;
    }
    // There is no room for another call.
    socket.send_json(call(17, "now", json!([]))).await;
    drop(socket);
    for _ in 0..16 {
        ended.recv().await.unwrap();
    }
}
