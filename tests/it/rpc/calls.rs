//! Single calls: parameters, results, errors, ids, notifications and HTTP.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use serde::Deserialize;
use stockade::bytes::Bytes;
use stockade::http::StatusCode;
use stockade::prelude::*;
use stockade::rpc::{Rpc, RpcError};

use super::{call, client, send};

#[derive(Deserialize, Schema)]
struct Note {
    #[schema(min_length = 1)]
    title: String,
    stars: Option<u8>,
}

#[derive(Deserialize, Schema)]
struct Search {
    text: Option<String>,
}

fn rpc() -> Rpc {
    Rpc::new()
        .method("note", async |Body(it): Body<Note>| Json((it.title, it.stars)))
        .method("search", async |Body(it): Body<Search>| Json(it.text))
        .method("perhaps", async |Body(it): Body<Option<Search>>| Json(it.is_some()))
        .method("pair", async |Body(it): Body<(u8, String)>| Json(it))
        .method("double", async |Body(it): Body<i64>| Json(it * 2))
        .method("raw", async |it: Bytes| String::from_utf8(it.to_vec()).unwrap())
        .method("any", async |Body(it): Body<Value>| Json(it))
        .method("nothing", async || ())
        .method("created", async || (StatusCode::CREATED, Json(7)))
        .method("missing", async || Err::<(), _>(ApiError::not_found()))
        .method("teapot", async || (StatusCode::IM_A_TEAPOT, Json(json!({ "a": 1 }))))
        .method("broken", async || Err::<(), _>(ApiError::new(500, "postgres://root@db")))
        .method("panics", async || -> () { panic!("postgres://root@db") })
}

#[tokio::test]
async fn parameters_are_the_body_of_a_handler() {
    let client = client(&rpc());
    let result = async |method, params| call(&client, method, params).await;
    assert_eq!(result("note", json!({ "title": "a", "stars": 3 })).await, json!(["a", 3]));
    assert_eq!(result("note", json!(["a", 3])).await, json!(["a", 3]));
    assert_eq!(result("note", json!(["a"])).await, json!(["a", null]));
    assert_eq!(result("search", json!(null)).await, json!(null));
    assert_eq!(result("perhaps", json!(null)).await, json!(false));
    assert_eq!(result("perhaps", json!([])).await, json!(true));
    assert_eq!(result("pair", json!([1, "x"])).await, json!([1, "x"]));
    assert_eq!(result("double", json!([21])).await, json!(42));
    assert_eq!(result("raw", json!([1, 2])).await, json!("[1,2]"));
    assert_eq!(result("any", json!([[], {}])).await, json!([[], {}]));
    assert_eq!(result("nothing", json!({ "ignored": 1 })).await, json!(null));
    assert_eq!(result("created", json!(null)).await, json!(7));
}

#[tokio::test]
async fn reports_mismatching_parameters() {
    let client = client(&rpc());
    let check = async |method: &str, params: Value, expected: &[(&str, &str)]| {
        let error = call(&client, method, params).await;
        assert_eq!((&error["code"], &error["message"]), (&json!(-32602), &json!("Invalid params")));
        let errors = error["data"]["errors"].as_array().unwrap();
        let found: Vec<(&str, &str)> = errors
            .iter()
            .map(|error| (error["field"].as_str().unwrap(), error["rule"].as_str().unwrap()))
            .collect();
        assert_eq!(found, expected, "{method} {error}");
    };
    check("note", json!({ "title": "" }), &[("title", "minLength")]).await;
    check("note", json!({ "stars": 999 }), &[("title", "required"), ("stars", "maximum")]).await;
    check("note", json!(null), &[("title", "required")]).await;
    check("note", json!(["a", 1, 2]), &[("", "maxItems")]).await;
    check("double", json!(null), &[("", "required")]).await;
    check("double", json!([1, 2]), &[("", "maxItems")]).await;
    check("any", json!(null), &[("", "required")]).await;
}

#[tokio::test]
async fn errors_have_codes_and_hide_internal_details() {
    let client = client(&rpc());
    let error = async |method| call(&client, method, json!([])).await;
    assert_eq!(
        error("missing").await,
        json!({ "code": -32004, "message": "Resource not found", "data": { "status": 404 } })
    );
    assert_eq!(
        error("teapot").await,
        json!({ "code": -32018, "message": "I'm a teapot",
                "data": { "status": 418, "details": { "a": 1 } } })
    );
    let internal =
        json!({ "code": -32603, "message": "Internal error", "data": { "status": 500 } });
    assert_eq!(error("broken").await, internal);
    assert_eq!(error("panics").await, internal);
    assert_eq!(error("unknown").await, json!({ "code": -32601, "message": "Method not found" }));
}

#[tokio::test]
async fn methods_send_their_own_error_codes() {
    async fn order(Body(sku): Body<String>) -> Result<(), RpcError> {
        Err(RpcError::new(-32050, "Out of stock").data(json!({ "sku": sku })))
    }
    async fn as_api_error(Body(code): Body<i32>) -> Result<(), ApiError> {
        Err(RpcError::new(code, "No").status(503).data(json!([1])))?
    }
    async fn as_box(Body(code): Body<i32>) -> Result<(), BoxError> {
        Err(RpcError::new(code, "No"))?
    }
    let rpc = Rpc::new()
        .method("order", order)
        .method("api", as_api_error)
        .method("box", as_box)
        .rest(true);
    let client = client(&rpc);
    let out = json!({ "code": -32050, "message": "Out of stock", "data": { "sku": "tea" } });
    assert_eq!(call(&client, "order", json!(["tea"])).await, out);
    let internal =
        json!({ "code": -32603, "message": "Internal error", "data": { "status": 500 } });
    for code in [-32099, -32000, -32769, -1, 0, 7, i32::MAX, i32::MIN] {
        let expected = json!({ "code": code, "message": "No", "data": [1] });
        assert_eq!(call(&client, "api", json!([code])).await, expected);
        let expected = json!({ "code": code, "message": "No" });
        assert_eq!(call(&client, "box", json!([code])).await, expected);
    }
    for reserved in [-32768, -32700, -32603, -32602, -32601, -32600, -32100] {
        assert_eq!(call(&client, "api", json!([reserved])).await, internal);
        assert_eq!(call(&client, "box", json!([reserved])).await, internal);
    }

    let batch = r#"[{"jsonrpc":"2.0","method":"order","params":["tea"],"id":1},
        {"jsonrpc":"2.0","method":"order","params":["tea"]},
        {"jsonrpc":"2.0","method":"box","params":[5],"id":2}]"#;
    let answers: Value = stockade::serde_json::from_str(&send(&client, batch).await).unwrap();
    assert_eq!(answers[0]["error"], out);
    assert_eq!(
        answers[1],
        json!({ "jsonrpc": "2.0", "error": { "code": 5, "message": "No" }, "id": 2 })
    );

    // As separate routes, they return HTTP errors.
    let sent = client.post("/rpc/order").json(json!("tea")).await;
    let expected = json!({ "error": "Out of stock", "details": { "sku": "tea" } });
    sent.assert_status(400).assert_json(expected);
    let sent = client.post("/rpc/api").json(json!(7)).await;
    sent.assert_status(503).assert_json(json!({ "error": "Service Unavailable" }));
    client.post("/rpc/api").json(json!(-32603)).await.assert_status(500);
}

#[tokio::test]
async fn an_id_is_returned_byte_for_byte() {
    let client = client(&rpc());
    for id in ["9223372036854775808", "1.0", "-0", "null", r#""\u00e9\n""#, r#""""#] {
        let call = format!(r#"{{"jsonrpc":"2.0","method":"nothing","id":{id}}}"#);
        let expected = format!(r#"{{"jsonrpc":"2.0","result":null,"id":{id}}}"#);
        assert_eq!(send(&client, &call).await, expected);
    }
}

#[tokio::test]
async fn a_notification_runs_without_a_response() {
    let count = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&count);
    let add = move || {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(ApiError::conflict())
        }
    };
    let client = client(&Rpc::new().method("add", add));
    assert_eq!(send(&client, r#"{"jsonrpc":"2.0","method":"add"}"#).await, "");
    assert_eq!(send(&client, r#"{"jsonrpc":"2.0","method":"unknown"}"#).await, "");
    assert_eq!(count.load(Ordering::Relaxed), 1);
}

#[tokio::test]
async fn only_a_post_of_json_is_a_message() {
    let client = client(&rpc());
    let message = r#"{"jsonrpc":"2.0","method":"nothing","id":1}"#;
    client.get("/rpc").await.assert_status(405).assert_header("allow", "POST, OPTIONS");
    // A page from another origin can send this without a preflight.
    let text = client.post("/rpc").header("content-type", "text/plain").body(message);
    text.await.assert_status(415);
    client.post("/rpc").body(message).await.assert_status(415);
    let large = format!("{}{message}", " ".repeat(1_048_576));
    let json = client.post("/rpc").header("content-type", "application/json");
    json.body(large).await.assert_status(413);
    let call = r#"{"jsonrpc":"2.0","method":"double","params":[2],"id":1}"#;
    for content_type in
        ["application/json; charset=utf-8", "application/json-rpc", "Application/jsonrequest"]
    {
        let sent = client.post("/rpc").header("content-type", content_type).body(call);
        sent.await.assert_json(json!({ "jsonrpc": "2.0", "result": 4, "id": 1 }));
    }
}

#[tokio::test]
async fn keeps_headers_of_a_method_except_content_headers() {
    let reply = async || {
        let response = stockade::http::Response::builder()
            .header("content-type", "text/plain")
            .header("etag", "\"1\"")
            .header("x-kept", "yes")
            .header("set-cookie", "a=1")
            .body(stockade::HttpBody::from("text"));
        response.unwrap()
    };
    let client = client(&Rpc::new().method("reply", reply));
    let sent = client.post("/rpc").json(json!({ "jsonrpc": "2.0", "method": "reply", "id": 1 }));
    let response = sent.await;
    response.assert_json(json!({ "jsonrpc": "2.0", "result": "text", "id": 1 }));
    response.assert_header("x-kept", "yes").assert_header("set-cookie", "a=1");
    response.assert_header("content-type", "application/json").assert_no_header("etag");
}

#[tokio::test]
async fn the_old_form_is_accepted_if_enabled() {
    let old = r#"{"method":"double","params":[4]}"#;
    assert_eq!(send(&client(&rpc().plain(true)), old).await, r#"{"result":8,"id":null}"#);
    let refused = send(&client(&rpc()), old).await;
    assert!(refused.contains("-32600"), "{refused}");
}
