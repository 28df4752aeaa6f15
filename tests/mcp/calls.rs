//! Calls: the request that a route receives, and the result that an agent
//! receives.

use stockade::auth::{TokenVerifier, generate_jwt};
use stockade::extract::Headers;
use stockade::mcp::{Mcp, Tool};
use stockade::prelude::*;
use stockade::testing::TestClient;
use stockade::{HostOptions, HttpBody};

use crate::block_on;
use crate::support::{public_mcp, user_by_token};

/// Returns the request that the route received.
async fn echo(mut req: Request) -> Result<Json<Value>, ApiError> {
    let body = req.bytes().await?;
    let headers: Vec<String> = req
        .headers()
        .iter()
        .map(|(name, value)| format!("{name}: {}", value.to_str().unwrap()))
        .collect();
    Ok(Json(json!({
        "target": req.uri().to_string(),
        "method": req.method().as_str(),
        "headers": headers,
        "body": String::from_utf8_lossy(&body),
        "client": req.client_ip().map(|ip| ip.to_string()),
        "id": req.id(),
    })))
}

#[derive(serde::Deserialize, Schema)]
struct Search {
    text: Option<String>,
    tag: Option<Vec<String>>,
    exact: Option<bool>,
    #[schema(separator = ",")]
    ids: Option<Vec<u32>>,
}

#[derive(serde::Deserialize, Schema)]
struct NewOrder {
    #[schema(min_length = 2)]
    city: String,
    #[serde(rename = "zip-code")]
    zip: Option<String>,
}

#[derive(serde::Deserialize, Schema)]
struct City {
    city: String,
}

fn client(api: RouteTree) -> TestClient {
    TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)))
}

#[test]
fn arguments_become_the_parts_of_a_request() {
    let save = async |Query(search): Query<Search>, Body(order): Body<NewOrder>, head: Headers| {
        let Search { text, tag, exact, ids } = search;
        let header = head.get("x-note").map(|it| it.to_str().unwrap().to_owned());
        format!("{text:?} {tag:?} {exact:?} {ids:?} {} {:?} {header:?}", order.city, order.zip)
    };
    let agent = client(routes! {
        "mcp": { ..public_mcp() },
        "orders": { POST: {
            save, name: "save",
            tool: Tool::new("Saves.").rename("zip-code", "zip").header("X-Note"),
        } },
    })
    .mcp("/mcp");
    let check = |arguments: Value, expected: &str| {
        block_on(async {
            agent.call("save", &arguments).await.assert_text(expected);
        });
    };
    check(
        json!({
            "text": "a&b=c", "tag": ["x,y", "z"], "exact": true, "ids": [1, 2],
            "city": "Köln", "zip": "1", "x_note": "hi",
        }),
        r#"Some("a&b=c") Some(["x,y", "z"]) Some(true) Some([1, 2]) Köln Some("1") Some("hi")"#,
    );
    check(json!({ "city": "Ulm" }), "None None None None Ulm None None");
    check(
        json!({ "text": null, "tag": [], "city": "Ulm", "zip": null }),
        "None None None None Ulm None None",
    );
    check(
        json!({ "exact": "true", "ids": ["3"], "city": "Ulm" }),
        "None None Some(true) Some([3]) Ulm None None",
    );
    let failed = |arguments: Value, expected: &str| {
        block_on(async {
            agent.call("save", &arguments).await.assert_failed(expected);
        });
    };
    failed(json!({ "city": "U" }), "HTTP 400: ");
    failed(json!({}), "HTTP 400: ");
    failed(json!({ "city": 7 }), "city");
    failed(json!({ "city": "Ulm", "zip-code": "1" }), "Unknown argument \"zip-code\"");
    failed(json!({ "city": "Ulm", "text": { "a": 1 } }), "Invalid argument \"text\"");
    failed(json!({ "city": "Ulm", "x_note": "a\r\nb: c" }), "Invalid argument \"x_note\"");
}

#[derive(serde::Deserialize, Schema)]
struct Deep {
    #[schema(style = "deepObject")]
    filter: Option<Range>,
}

#[derive(serde::Deserialize, Schema)]
struct Range {
    from: u32,
    to: Option<u32>,
}

#[test]
fn an_object_in_the_query_has_a_pair_for_each_property() {
    let list = async |Query(deep): Query<Deep>| {
        deep.filter.map_or_else(String::new, |range| format!("{}..{:?}", range.from, range.to))
    };
    let agent = client(routes! {
        "mcp": { ..public_mcp() },
        "orders": { GET: { list, name: "list", tool: "Lists." } },
    })
    .mcp("/mcp");
    block_on(async {
        let result = agent.call("list", json!({ "filter": { "from": 1, "to": 2 } })).await;
        result.assert_text("1..Some(2)");
        agent.call("list", json!({ "filter": { "from": 1 } })).await.assert_text("1..None");
    });
}

#[test]
fn a_whole_body_is_one_argument() {
    let agent = client(routes! {
        "mcp": { ..public_mcp() },
        "sum": { POST: { async |Body(it): Body<Vec<u32>>| it.iter().sum::<u32>().to_string(), name: "sum", tool: "Adds." } },
    })
    .mcp("/mcp");
    block_on(async {
        agent.call("sum", json!({ "body": [1, 2, 3] })).await.assert_text("6");
        agent.call("sum", json!({ "body": "x" })).await.assert_failed("HTTP 400");
        agent.call("sum", json!({})).await.assert_failed("HTTP 400");
    });
}

#[test]
fn only_credentials_and_traces_are_forwarded() {
    let auth = Auth::api_key(|_: stockade::auth::ApiKeyHash| Some(json!({ "name": "door" })));
    let client = client(routes! {
        "mcp": { auth: auth.clone(), ..Mcp::new("Test", "1.0.0").routes() },
        "echo": { auth: auth, GET: { echo, name: "echo", tool: "Shows the request." } },
    });
    let agent = client
        .mcp("/mcp")
        .header("authorization", "Custom abc")
        .header("x-api-key", "door_key")
        .header("traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
        .header("tracestate", "a=1")
        .header("accept-language", "de")
        .header("host", "api.example")
        .header("cookie", "session=secret")
        .header("x-forwarded-for", "203.0.113.9")
        .header("x-other", "value")
        .header("if-match", "*");
    let result = block_on(agent.call("echo", json!({})));
    let request: Value = result.json();
    let mut headers: Vec<&str> =
        request["headers"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect();
    headers.sort_unstable();
    assert_eq!(
        headers,
        [
            "accept-language: de",
            "authorization: Custom abc",
            "host: api.example",
            "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
            "tracestate: a=1",
            "x-api-key: door_key",
        ]
    );
    assert_eq!((&request["method"], &request["target"]), (&json!("GET"), &json!("/echo")));
}

#[test]
fn a_call_has_the_client_and_the_id_of_its_request() {
    let api = routes! {
        "mcp": { ..public_mcp() },
        "echo": { GET: { echo, name: "echo", tool: "Shows the request." } },
    };
    let options = RouterOptions::new().rate_limit(false).trust_proxy(1);
    let agent = TestClient::new(create_router(api, options))
        .with_peer("192.0.2.1")
        .mcp("/mcp")
        .header("x-forwarded-for", "203.0.113.9");
    let result = block_on(agent.call("echo", json!({})));
    let request: Value = result.json();
    assert_eq!(request["client"], "203.0.113.9");
    let id = result.response().header("x-request-id");
    assert_eq!(request["id"].as_str().map(str::to_owned), id);
}

#[test]
fn invalid_credentials_of_the_route_are_a_401() {
    let maybe = Auth::bearer(|_: String| Some(json!({ "role": "guest" }))).required(false);
    let agent = client(routes! {
        "mcp": { middleware: [with_auth(maybe)], public: "a test", ..Mcp::new("Test", "1.0.0").routes() },
        "me": { auth: user_by_token(), GET: { async || "me", name: "me", tool: "Shows the user." } },
    })
    .mcp("/mcp");
    block_on(async {
        agent.clone().bearer("invalid").call("me", json!({})).await.assert_login_required();
        agent.clone().bearer("valid").call("me", json!({})).await.assert_text("me");
    });
}

#[test]
fn agents_have_their_own_audience() {
    let url = "https://api.example.com/mcp";
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let shop = || TokenVerifier::new().audience("shop");
    let tokens = |verifier| Auth::tokens(secret.clone(), verifier);
    let client = client(routes! {
        "mcp": { auth: tokens(TokenVerifier::new().audience(url)), ..Mcp::new("Shop", "1.0.0").url(url).routes() },
        "orders": {
            GET: { async || "orders", auth: tokens(shop().audience(url)), name: "orders", tool: "Lists." },
            DELETE: { async || "deleted", auth: tokens(shop()) },
        },
    });
    let token = |audience: &str| {
        generate_jwt(json!({ "sub": "7", "aud": audience }), "1h", &secret).unwrap()
    };
    let (agent, user) = (token(url), token("shop"));
    block_on(async {
        client.mcp("/mcp").bearer(&agent).call("orders", json!({})).await.assert_text("orders");
        client.mcp("/mcp").bearer(&user).call("orders", json!({})).await.assert_login_required();
        // The token of the agent is valid only for the routes of tools.
        client.delete("/orders").bearer(&agent).await.assert_status(401);
        client.delete("/orders").bearer(&user).await.assert_text("deleted");
    });
}

/// Creates a response with this status, media type and body.
fn response(status: u16, media_type: &'static str, body: &'static [u8]) -> Response {
    let mut response = Response::new(HttpBody::from(Bytes::from_static(body)));
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    if !media_type.is_empty() {
        response.headers_mut().insert(header::CONTENT_TYPE, media_type.parse().unwrap());
    }
    response
}

/// Returns the result of a tool with this response.
fn result_of(status: u16, media_type: &'static str, body: &'static [u8]) -> Value {
    let mcp = Mcp::new("Test", "1.0.0").max_result(100);
    let agent = client(routes! {
        "mcp": { public: "a test", ..mcp.routes() },
        "x": { GET: {
            move || async move {
                let mut response = response(status, media_type, body);
                if status == 303 {
                    response.headers_mut().insert(header::LOCATION, "/orders/7".parse().unwrap());
                }
                if status == 429 {
                    response.headers_mut().insert(header::RETRY_AFTER, "12".parse().unwrap());
                }
                response
            },
            name: "x", tool: "Tests.",
        } },
    })
    .mcp("/mcp");
    let result = block_on(agent.call("x", json!({})));
    let message = result.message()["result"].clone();
    json!([message["content"], message["isError"], message["_meta"]["stockade/status"]])
}

#[test]
fn a_response_becomes_a_result() {
    #[track_caller]
    fn check(
        status: u16,
        media_type: &'static str,
        body: &'static [u8],
        content: Value,
        is_error: bool,
    ) {
        assert_eq!(
            result_of(status, media_type, body),
            json!([content, is_error, status]),
            "{status} {media_type}"
        );
    }
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    check(200, "application/json", br#"{"a": "\n"}"#, text(r#"{"a": "\n"}"#), false);
    check(200, "application/vnd.x+json", b"[1]", text("[1]"), false);
    check(201, "text/plain; charset=utf-8", b"caf\xC3\xA9", text("café"), false);
    check(200, "text/plain", b"a\xFFb", text("a\u{FFFD}b"), false);
    check(
        200,
        "image/png",
        b"\x89PNG",
        json!([{ "type": "image", "data": "iVBORw==", "mimeType": "image/png" }]),
        false,
    );
    check(
        200,
        "audio/wav",
        b"RIFF",
        json!([{ "type": "audio", "data": "UklGRg==", "mimeType": "audio/wav" }]),
        false,
    );
    let resource = |resource: Value| json!([{ "type": "resource", "resource": resource }]);
    check(
        200,
        "application/xml",
        b"<a/>",
        resource(json!({ "uri": "tool:x", "mimeType": "application/xml", "text": "<a/>" })),
        false,
    );
    check(
        200,
        "application/pdf",
        b"\xFF",
        resource(json!({ "uri": "tool:x", "mimeType": "application/pdf", "blob": "/w==" })),
        false,
    );
    check(200, "", b"", text("Done (HTTP 200)."), false);
    check(204, "", b"", text("Done (HTTP 204)."), false);
    check(303, "", b"", text("HTTP 303, Location: /orders/7"), false);
    check(
        409,
        "application/json",
        br#"{"error":"Sold out"}"#,
        text(r#"HTTP 409: {"error":"Sold out"}"#),
        true,
    );
    check(404, "application/octet-stream", b"\xFF", text("HTTP 404: Not Found"), true);
    check(500, "text/plain", b"password=secret", text("HTTP 500: Internal Server Error"), true);
    check(
        429,
        "text/plain",
        b"Slow down",
        text("HTTP 429: Slow down\nRetry after 12 seconds."),
        true,
    );
    let large = [b'x'; 101].as_slice();
    check(
        200,
        "text/plain",
        Box::leak(large.to_vec().into_boxed_slice()),
        text("The result has 101 bytes, but at most 100 are allowed. Request less data."),
        true,
    );
    let fits = [b'x'; 100].as_slice();
    check(
        200,
        "text/plain",
        Box::leak(fits.to_vec().into_boxed_slice()),
        text(&"x".repeat(100)),
        false,
    );
}

#[test]
fn the_text_of_a_server_error_stays_hidden_in_development() {
    let api = routes! {
        "mcp": { ..public_mcp() },
        "x": { GET: { async || Err::<(), _>(ApiError::new(500, "the password is 1234")), name: "x", tool: "Fails." } },
        "panics": { GET: { async || -> &'static str { panic!("the password is 1234") }, name: "panics", tool: "Panics." } },
    };
    let options = RouterOptions::new().expose_errors(true);
    let agent = TestClient::new(create_router(api, options)).mcp("/mcp");
    for name in ["x", "panics"] {
        let result = block_on(agent.call(name, json!({})));
        assert_eq!(
            (result.text().as_str(), result.is_error()),
            ("HTTP 500: Internal Server Error", true)
        );
    }
}

#[derive(serde::Serialize, Schema)]
struct Total {
    total: u64,
}

#[test]
fn a_structured_result_is_the_object_of_the_route() {
    let agent = client(routes! {
        "mcp": { ..public_mcp() },
        "total": { ":n": { GET: {
            async |Path(n): Path<u64>| {
                (n < 10).then_some(Json(Total { total: n })).ok_or(ApiError::new(409, "Too many"))
            },
            name: "total", tool: Tool::new("Counts.").output_schema(true),
        } } },
    })
    .mcp("/mcp");
    block_on(async {
        let result = agent.call("total", json!({ "n": 7 })).await;
        result.assert_text(r#"{"total":7}"#);
        assert_eq!(result.message()["result"]["structuredContent"], json!({ "total": 7 }));
        let failed = agent.call("total", json!({ "n": 12 })).await;
        failed.assert_failed("HTTP 409");
        assert!(failed.message()["result"].get("structuredContent").is_none());
    });
}

#[test]
fn a_call_counts_once_for_the_router_and_once_for_its_route() {
    let api = routes! {
        "mcp": { ..public_mcp() },
        "a": { GET: { async || "a", name: "a", tool: "A tool.", rate_limit: 2 / MINUTE } },
        "b": { GET: { async || "b", name: "b", tool: "A tool." } },
    };
    let agent = TestClient::new(create_router(api, RouterOptions::new().rate_limit(4 / MINUTE)))
        .with_peer("192.0.2.1")
        .mcp("/mcp");
    block_on(async {
        agent.call("a", json!({})).await.assert_text("a");
        agent.call("a", json!({})).await.assert_text("a");
        let refused = agent.call("a", json!({})).await;
        refused.assert_failed("HTTP 429");
        assert!(refused.text().contains("Retry after "), "{}", refused.text());
        agent.call("b", json!({})).await.assert_text("b");
        agent.call("b", json!({})).await.response().assert_status(429);
    });
}

#[test]
fn a_body_is_limited_by_the_route() {
    let agent = client(routes! {
        "mcp": { ..public_mcp() },
        "a": { POST: {
            async |Body(order): Body<City>| order.city, name: "a", tool: "A tool.", max_body: 40_u64,
        } },
    })
    .mcp("/mcp");
    block_on(async {
        agent.call("a", json!({ "city": "Ulm" })).await.assert_text("Ulm");
        agent.call("a", json!({ "city": "x".repeat(50) })).await.assert_failed("HTTP 413");
    });
}

#[test]
fn middleware_of_the_router_runs_for_both_requests() {
    let count = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
    let counted = std::sync::Arc::clone(&count);
    let counting = Middleware::new(move |_: &mut Request| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok::<(), ApiError>(())
    });
    let api = routes! {
        "mcp": { ..public_mcp() },
        "a": { GET: { async || "a", name: "a", tool: "A tool." } },
    };
    let router = create_router(api, RouterOptions::new().middleware([counting]));
    let agent = TestClient::new(router).mcp("/mcp");
    block_on(async {
        agent.call("a", json!({})).await.assert_text("a");
    });
    assert_eq!(count.load(std::sync::atomic::Ordering::Relaxed), 2);
}

#[test]
fn the_options_of_a_host_apply_to_calls() {
    let api = routes! {
        "mcp": { ..public_mcp() },
        "a": { POST: { async |Body(order): Body<City>| order.city, name: "a", tool: "A tool." } },
    };
    let router = create_router(api, RouterOptions::new().rate_limit(false));
    let client = TestClient::new(router);
    let small = client.clone().with_host_options(HostOptions::new().max_body(1_000));
    let city = json!({ "city": "x".repeat(700) });
    block_on(async {
        client.mcp("/mcp").call("a", &city).await.assert_text(&"x".repeat(700));
        small.mcp("/mcp").call("a", json!({ "city": "Ulm" })).await.assert_text("Ulm");
        small.mcp("/mcp").call("a", &city).await.response().assert_status(413);
    });
}

#[test]
fn tools_on_a_host_are_called_on_that_host() {
    let tenant = async |Path(tenant): Path<String>| tenant;
    let client = client(routes! {
        "mcp": { ..public_mcp() },
        "name": { host: ":tenant.example.com", GET: { tenant, name: "name", tool: "Shows the tenant." } },
    });
    block_on(async {
        let agent = client.mcp("/mcp").header("host", "acme.example.com");
        agent.call("name", json!({})).await.assert_text("acme");
        let agent = client.mcp("/mcp").header("host", "other.test");
        agent.call("name", json!({})).await.assert_failed("does not belong to this tool");
    });
}
