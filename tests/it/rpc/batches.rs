//! Batches: order, limits and rate limiting of each call.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use stockade::middleware::rate_limit::MINUTE;
use stockade::middleware::{RateLimit, with_rate_limit};
use stockade::prelude::*;
use stockade::rpc::{Rpc, RpcMethod};
use stockade::serde_json;
use stockade::testing::{TestClient, TestClock};

use super::{client, send};

fn message(id: usize, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params, "id": id })
}

fn batch(calls: usize, method: &str) -> String {
    let calls = (0..calls).map(|id| message(id, method, json!([id])));
    Value::Array(calls.collect()).to_string()
}

/// Returns the error codes, with 0 for each result.
fn codes(answer: &str) -> Vec<i64> {
    let answers: Vec<Value> = serde_json::from_str(answer).unwrap();
    answers.iter().map(|answer| answer["error"]["code"].as_i64().unwrap_or(0)).collect()
}

#[tokio::test(start_paused = true)]
async fn responses_are_in_call_order_and_concurrency_is_bounded() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let wait = move |Body(id): Body<u64>| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            most.fetch_max(now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            tokio::time::sleep(Duration::from_millis(100 - id)).await;
            now.fetch_sub(1, Ordering::Relaxed);
            Json(id)
        }
    };
    let client = client(&Rpc::new().method("wait", wait));
    let answer = send(&client, &batch(20, "wait")).await;
    let answers: Vec<Value> = serde_json::from_str(&answer).unwrap();
    let expected: Vec<Value> =
        (0..20).map(|id| json!({ "jsonrpc": "2.0", "result": id, "id": id })).collect();
    assert_eq!(answers, expected);
    assert_eq!(seen.load(Ordering::Relaxed), 8);
}

#[tokio::test]
async fn rejects_a_too_large_batch() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let add = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        async {}
    };
    let rpc = Rpc::new().method("add", add);
    let answer = send(&client(&rpc), &batch(51, "add")).await;
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600,"#), "{answer}");
    assert_eq!(count.load(Ordering::Relaxed), 0);
    assert_eq!(codes(&send(&client(&rpc), &batch(50, "add")).await), [0; 50]);
    assert_eq!(count.load(Ordering::Relaxed), 50);
    let wide = rpc.max_batch(200);
    assert_eq!(codes(&send(&client(&wide), &batch(200, "add")).await), [0; 200]);
}

#[tokio::test]
async fn responses_are_bounded() {
    let rpc = Rpc::new().method("text", async || "x".repeat(1_000)).max_answer(2_500).parallel(1);
    let answer = send(&client(&rpc), &batch(5, "text")).await;
    assert_eq!(codes(&answer), [0, 0, -32603, -32603, -32603]);
    assert!(answer.contains("the response is too large"));
    let one = Rpc::new().method("text", async || "x".repeat(1_000)).max_answer(900);
    assert_eq!(
        codes(&format!(
            "[{}]",
            send(&client(&one), &message(1, "text", json!([])).to_string()).await
        )),
        [-32603]
    );
}

#[tokio::test]
async fn each_call_is_charged() {
    let api = routes! { "rpc": { ..Rpc::new().method("add", async || Json(1)).routes() } };
    let router = create_router(api, RouterOptions::new().rate_limit(100 / MINUTE));
    let clock = TestClock::new();
    let client = TestClient::with_clock(router, &clock);
    let passed = async || {
        codes(&send(&client, &batch(40, "add")).await).iter().filter(|it| **it == 0).count()
    };
    assert_eq!((passed().await, passed().await), (40, 40));
    let sent = client.post("/rpc").header("content-type", "application/json");
    let third = sent.body(batch(40, "add")).await;
    third.assert_header("ratelimit", "\"default\";r=0;t=60").assert_no_header("retry-after");
    let third = third.text();
    assert_eq!(codes(third)[..20], [0; 20]);
    assert_eq!(codes(third)[20..], [-32029; 20]);
    assert!(third.contains(r#""retry_after":60"#), "{third}");
    // The quota is used up.
    let sent = client.post("/rpc").json(message(1, "add", json!([])));
    sent.await.assert_status(429).assert_header("retry-after", "60");
    clock.advance(Duration::from_secs(60));
    assert_eq!(passed().await, 40);
}

#[tokio::test]
async fn limits_of_the_route_and_of_the_method_count_each_call() {
    let limited =
        RpcMethod::new(async || Json(1)).rate_limit(RateLimit::from(3 / MINUTE).name("own"));
    let rpc = Rpc::new().method("free", async || Json(1)).method("limited", limited);
    let limit = with_rate_limit(RateLimit::from(10 / MINUTE).name("all"));
    let api = routes! { "rpc": { middleware: [limit], ..rpc.routes() } };
    let options = RouterOptions::new().rate_limit(false);
    let client = TestClient::new(create_router(api, options));
    let first = codes(&send(&client, &batch(5, "limited")).await);
    assert_eq!(first, [0, 0, 0, -32029, -32029]);
    let second = codes(&send(&client, &batch(7, "free")).await);
    assert_eq!(second, [0, 0, 0, 0, 0, -32029, -32029]);
}

#[tokio::test]
async fn cookies_of_all_calls_are_set() {
    let cookie = |value: &'static str| {
        async move || {
            let response = stockade::http::Response::builder().header("set-cookie", value);
            response.body(stockade::HttpBody::empty()).unwrap()
        }
    };
    let rpc = Rpc::new().method("a", cookie("a=1")).method("b", cookie("b=2"));
    let both = json!([message(1, "a", json!([])), message(2, "b", json!([]))]);
    let response = client(&rpc).post("/rpc").json(both).await;
    let cookies: Vec<_> = response.headers().get_all("set-cookie").iter().collect();
    assert_eq!(cookies, ["a=1", "b=2"]);
}

#[derive(serde::Deserialize)]
struct Org {
    org: String,
}

/// A limit of the route applies before its methods, even if the methods
/// authenticate themselves.
#[tokio::test]
async fn limits_by_the_request_count_each_call() {
    let token = || with_auth(|org: String| Some(json!({ "org": org })));
    let by_org = |requests: u32| {
        RateLimit::by(move |req| Some((req.user_as::<Org>()?.org, requests / MINUTE)))
    };
    let costly = RpcMethod::new(async || Json(1)).rate_limit(by_org(3).name("own"));
    let rpc = Rpc::new().method("cheap", async || Json(1)).method("costly", costly);
    let api = routes! {
        rate_limit: by_org(10).name("all"),
        "rpc": { middleware: token(), ..rpc.routes() },
    };
    let client = TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)));
    let send = async |calls: usize, method: &str, org: &str| {
        let body = batch(calls, method);
        let request = client.post("/rpc").bearer(org).header("content-type", "application/json");
        codes(request.body(body).await.text())
    };
    assert_eq!(send(5, "costly", "a").await, [0, 0, 0, -32029, -32029]);
    assert_eq!(send(2, "costly", "b").await, [0, 0]);
    // This organization has already made five calls.
    assert_eq!(send(6, "cheap", "a").await, [0, 0, 0, 0, 0, -32029]);

    let guarded = RpcMethod::new(async || Json(1)).middleware(token());
    let api = routes! {
        "rpc": { rate_limit: by_org(1), ..Rpc::new().method("guarded", guarded).routes() },
    };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err().to_string();
    assert!(error.contains("put `with_auth` first"), "{error}");
}
