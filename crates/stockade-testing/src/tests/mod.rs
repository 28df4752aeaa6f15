//! Tests of the client, in process and over a port.

mod failures;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, stream};
use http::{HeaderValue, Method};
use serde_json::{Value, json};
use stockade_auth::{Secret, TokenIssuer, TokenVerifier};
use stockade_core::extract::{Body, ClientIp, Multipart, Path};
use stockade_core::reply::{Event, Sse, Streamed};
use stockade_core::{ApiError, Middleware, Next, Request};
use stockade_middleware::{Auth, SetCookie, with_auth};
use stockade_routing::{App, HostOptions, Router, RouterOptions};
use stockade_server::CreateServer as _;
use stockade_stages::rate_limit::MINUTE;
use stockade_stages::{RateLimit, with_rate_limit};
use stockade_validation::Unchecked;
use stockade_websockets::{WebSocket, WebSocketOptions};

use crate::*;

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        match text? {
            text if text == "json?" => socket.send(json!({ "n": 1 }).to_string()).await?,
            text => socket.send(text).await?,
        }
    }
    Ok(())
}

async fn upload(mut form: Multipart) -> Result<String, ApiError> {
    let mut seen = String::new();
    while let Some(part) = form.next().await? {
        let head = format!("{:?} {:?} {:?}", part.name(), part.file_name(), part.content_type());
        seen += &format!("{head} {}\n", part.bytes().await?.len());
    }
    Ok(seen)
}

fn only_friends(req: &mut Request) -> Result<(), ApiError> {
    match req.headers().get("authorization") {
        Some(value) if value == "Bearer friend" => Ok(()),
        _ => Err(ApiError::authentication()),
    }
}

fn router() -> Router {
    let options = RouterOptions::new().rate_limit(false).enable_web_sockets(true);
    let mut router = Router::with_options(options.expose_errors(false));
    router.get("/users/:id", async |Path(id): Path<u64>| json!({ "id": id, "name": "Ada" }));
    router.route(Method::PUT, "/json", async |Body(it): Body<Unchecked<Value>>| it.0);
    router.post("/json", async |Body(it): Body<Unchecked<Value>>| it.0);
    router.post("/upload", upload);
    router.get("/seen", async |mut req: Request| {
        let headers: Vec<String> = ["accept", "authorization", "cookie", "host"]
            .iter()
            .filter_map(|name| {
                Some(format!("{name}: {}", req.headers().get(*name)?.to_str().ok()?))
            })
            .collect();
        let _ = req.bytes().await;
        json!({ "headers": headers, "target": req.uri().to_string() })
    });
    router.get("/ip", async |ClientIp(ip): ClientIp| ip.to_string());
    router.post("/length", async |mut req: Request| {
        let length = req.headers().get("content-length").map(|it| it.to_str().unwrap().to_owned());
        let read = req.bytes().await?.len();
        Ok::<_, ApiError>(json!([length, read]))
    });
    router.post("/login", async || (SetCookie::from_static("id", "7").path("/"), "in"));
    router.post("/logout", async || (SetCookie::removal("id").path("/"), "out"));
    router.get("/pieces", async || {
        Streamed::new(stream::iter(["one", "two"].map(Ok::<_, ApiError>)))
    });
    router.get("/broken", async || {
        let pieces = [Ok("one"), Err(ApiError::internal("it broke"))];
        Streamed::new(stream::iter(pieces))
    });
    router.get("/events", async || {
        let events = [Event::data("a\nb").name("first").id("1"), Event::data("{\"n\":2}")];
        let events = stream::iter(events.map(Ok::<_, ApiError>)).chain_forever();
        Sse::new(events)
    });
    router.get("/never", async || std::future::pending::<()>().await);
    router.get("/binary", async || vec![0xff_u8, 0xfe]);
    router.group("/friends", Middleware::new(only_friends), |friends| {
        friends.get("/", async || "hello");
        friends.add_web_socket_route("/chat", echo, WebSocketOptions::new().protocols(["chat.v1"]));
    });
    router.add_web_socket_route("/echo", echo, WebSocketOptions::new());
    router
}

/// A stream that is pending forever after its last item.
trait ChainForever: futures_core::Stream + Sized {
    fn chain_forever(self) -> stream::Chain<Self, stream::Pending<Self::Item>> {
        futures_util::StreamExt::chain(self, stream::pending())
    }
}

impl<S: futures_core::Stream> ChainForever for S {}

/// Returns clients for the same routes, in process and over a port.
async fn clients() -> [TestClient; 2] {
    let server = router().create_server().unwrap().bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", server.local_addr());
    tokio::spawn(server.serve());
    [TestClient::new(router()), TestClient::live(&address)]
}

/// Returns the panic message of a call.
fn message<T>(call: impl FnOnce() -> T) -> String {
    let Err(panic) = catch_unwind(AssertUnwindSafe(call)) else { panic!("it did not fail") };
    *panic.downcast::<String>().unwrap()
}

/// Returns the panic message of an asynchronous call.
async fn async_message<T>(call: impl Future<Output = T>) -> String {
    let Err(panic) = AssertUnwindSafe(call).catch_unwind().await else { panic!("it did not fail") };
    *panic.downcast::<String>().unwrap()
}

#[tokio::test]
async fn requests_and_responses() {
    for client in clients().await {
        let user = client.get("/users/7").await;
        user.assert_status(200)
            .assert_status(http::StatusCode::OK)
            .assert_header("content-type", "application/json")
            .assert_no_header("x-other")
            .assert_json(json!({ "name": "Ada", "id": 7 }))
            .assert_json_contains(json!({ "id": 7 }))
            .assert_text(r#"{"id":7,"name":"Ada"}"#)
            .assert_text_contains("Ada");
        assert_eq!(user.json::<Value>()["id"], 7);
        assert_eq!(user.bytes().len(), 21);
        client.head("/users/7").await.assert_status(200).assert_empty();
        client.get("/users/x").await.assert_status(400).assert_field_error("id", "type");
        client.delete("/users/7").await.assert_status(405).assert_error("Method Not Allowed");
        client
            .options("/json")
            .await
            .assert_status(204)
            .assert_header("allow", "POST, PUT, OPTIONS");
        client.put("/json").json(json!([1])).await.assert_json([1]);
        let json =
            |content_type| client.post("/json").json([1]).header("content-type", content_type);
        json("application/problem+json").await.assert_json([1]);
        json("image/png").await.assert_status(415);
        client.patch("/json").await.assert_status(405);
        client.post("/json").form([("a", "1 2"), ("b", "&")]).await.assert_json(json!({
            "a": "1 2", "b": "&"
        }));
        client.request(Method::GET, "/nowhere").await.assert_status(404);
        client.post("/length").body("four").await.assert_json(json!(["4", 4]));
        let pieces = stream::iter([Ok::<_, ApiError>("four"), Ok("more")]);
        client.post("/length").body_stream(pieces).await.assert_json(json!([null, 8]));
        let seen =
            client.get("/seen?a=1").query([("b", "2 3")]).query(json!({ "c": [4, 5] })).await;
        assert!(
            seen.json::<Value>()["target"].as_str().unwrap().ends_with("/seen?a=1&b=2+3&c=4&c=5")
        );
    }
}

#[tokio::test]
async fn forms_with_files_arrive() {
    for client in clients().await {
        let form =
            MultipartForm::new().text("title", "Tea").file("image", "t.png", "image/png", "123");
        client.post("/upload").multipart(form).await.assert_text(
            "Some(\"title\") None None 3\nSome(\"image\") Some(\"t.png\") Some(\"image/png\") 3\n",
        );
    }
}

#[tokio::test]
async fn client_headers_are_defaults_for_requests() {
    for client in clients().await {
        let client = client.with_header("accept", "text/plain").with_bearer("friend");
        client.get("/friends").await.assert_status(200);
        client.get("/friends").bearer("stranger").await.assert_status(401);
        let headers = |value: Value| value["headers"].clone();
        let seen = headers(client.get("/seen").header("accept", "*/*").await.json());
        assert_eq!(seen[0], "accept: */*");
        assert_eq!(seen[1], "authorization: Bearer friend");
    }
}

#[tokio::test]
async fn cookies_are_stored_and_removed() {
    for client in clients().await {
        let cookies = |value: Value| value["headers"][0].clone();
        let client = client.with_cookies();
        let login = client.post("/login").await;
        assert_eq!(login.cookie("id"), Some("7"));
        assert_eq!(client.cookie("id").as_deref(), Some("7"));
        let seen = client.get("/seen").cookie("other", "1").await.json();
        assert_eq!(cookies(seen), "cookie: id=7; other=1");
        let seen = client.get("/seen").cookie("id", "8").await.json();
        assert_eq!(cookies(seen), "cookie: id=8");
        client.post("/logout").await.assert_status(200);
        assert_eq!(client.cookie("id"), None);
    }
}

#[tokio::test]
async fn the_test_sets_the_peer() {
    let client = TestClient::new(router());
    client.get("/ip").await.assert_text("127.0.0.1");
    client.get("/ip").peer("203.0.113.7").await.assert_text("203.0.113.7");
    let client = client.with_peer("[2001:db8::1]:4711");
    client.get("/ip").await.assert_text("2001:db8::1");
    let live = TestClient::live("http://127.0.0.1:1");
    let said = message(|| live.get("/ip").peer("203.0.113.7"));
    assert!(said.contains("the real address"), "{said}");
}

#[tokio::test]
async fn bodies_arrive_piece_by_piece() {
    for client in clients().await {
        let mut pieces = client.get("/pieces").stream().await;
        pieces.assert_status(200);
        let mut text = Vec::new();
        while let Some(piece) = pieces.chunk().await {
            text.extend_from_slice(&piece);
        }
        assert_eq!(text, b"onetwo");
        client.get("/pieces").stream().await.into_response().await.assert_text("onetwo");

        let mut broken = client.get("/broken").stream().await;
        assert_eq!(broken.chunk().await.unwrap(), "one");
        let said = broken.try_chunk().await.unwrap_err().to_string();
        assert!(said.starts_with("the body ended early: "), "{said}");
        assert!(client.get("/broken").try_send().await.is_err());
    }
}

#[tokio::test]
async fn events_arrive_one_by_one() {
    for client in clients().await {
        let mut events = client.get("/events").stream().await;
        events.assert_header("content-type", "text/event-stream");
        let first = events.next_event().await.unwrap();
        assert_eq!((first.name.as_str(), first.data.as_str()), ("first", "a\nb"));
        assert_eq!(first.id.as_deref(), Some("1"));
        let second = events.next_event().await.unwrap();
        assert_eq!((second.name.as_str(), second.id.as_deref()), ("message", None));
        assert_eq!(second.json::<Value>(), json!({ "n": 2 }));
    }
}

#[tokio::test]
async fn web_sockets_are_opened_and_closed() {
    for client in clients().await {
        let mut socket = client.websocket("/echo").connect().await;
        socket.send_text("hello").await;
        assert_eq!(socket.receive_text().await, "hello");
        socket.send_json(json!({ "a": 1 })).await;
        assert_eq!(socket.receive_json::<Value>().await, json!({ "a": 1 }));
        // Binary messages are ignored.
        socket.send_binary("x").await;
        socket.send_text("json?").await;
        assert_eq!(socket.receive().await, TestMessage::Text("{\"n\":1}".to_owned()));
        socket.close().await;

        let chat = client.websocket("/friends/chat").bearer("friend").protocol("chat.v1");
        let socket = chat.connect().await;
        assert_eq!(socket.protocol().as_deref(), Some("chat.v1"));
        assert_eq!(socket.close_with(4000, "bye").await.0, 4000);
    }
}

#[tokio::test]
async fn fails_if_a_browser_would_reject_the_handshake() {
    for (name, value, expected) in [
        ("upgrade", None, "without the header `Upgrade: websocket`"),
        ("upgrade", Some("h2c"), "without the header `Upgrade: websocket`"),
        ("connection", None, "without the header `Connection: Upgrade`"),
        ("sec-websocket-extensions", Some("permessage-deflate"), "with an extension"),
        ("sec-websocket-protocol", Some("chat.v2"), "with a subprotocol that was not offered"),
        ("sec-websocket-protocol", Some("chat.v1, chat.v2"), "with a subprotocol"),
    ] {
        let mut router = Router::with_options(RouterOptions::new().enable_web_sockets(true));
        router.use_(move |req: Request, next: Next| async move {
            let mut response = next.run(req).await;
            response.headers_mut().remove(name);
            if let Some(value) = value {
                response.headers_mut().insert(name, HeaderValue::from_static(value));
            }
            response
        });
        router.add_web_socket_route("/echo", echo, WebSocketOptions::new());
        let client = TestClient::new(router);
        let said = async_message(client.websocket("/echo").protocol("chat.v1").connect()).await;
        let expected = format!("the handshake was accepted {expected}");
        assert!(said.starts_with(&expected), "{name}: {said}");
    }
}

/// snapview/tungstenite-rs#502: tungstenite does not support 1014.
#[tokio::test]
async fn receives_every_close_code_except_1014() {
    let mut router =
        Router::with_options(RouterOptions::new().rate_limit(false).enable_web_sockets(true));
    let close = async |socket: WebSocket, Path(code): Path<u16>| socket.close(code, "bye").await;
    router.add_web_socket_route("/close/:code", close, WebSocketOptions::new());
    let client = TestClient::new(router);
    for code in [1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 3000, 4999] {
        let mut socket = client.websocket(format!("/close/{code}")).connect().await;
        assert_eq!(socket.receive_close().await, (code, "bye".to_owned()));
    }
    let mut socket = client.websocket("/close/1014").connect().await;
    assert_eq!(socket.receive_close().await.0, 1002);
}

#[tokio::test]
async fn rejected_web_sockets_return_the_response() {
    for client in clients().await {
        let refused = client.websocket("/friends/chat").refused().await;
        refused.assert_status(401).assert_error("Authentication required");
        let evil = client.websocket("/echo").origin("https://evil.example").refused().await;
        evil.assert_status(403).assert_error("this origin is not allowed to connect");
        client.websocket("/nowhere").refused().await.assert_status(404);

        let said = async_message(client.websocket("/nowhere").connect()).await;
        assert!(said.starts_with("the WebSocket handshake was rejected\n"), "{said}");
        let said = async_message(client.websocket("/echo").refused()).await;
        assert!(said.starts_with("the WebSocket handshake was not rejected\n"), "{said}");
    }
}

#[tokio::test]
async fn the_clock_moves_limits_and_tokens() {
    let clock = TestClock::new();
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let mut router =
        Router::with_options(RouterOptions::new().rate_limit(RateLimit::from(3 / MINUTE)));
    router.get("/", async || "hello");
    let limit = with_rate_limit(RateLimit::from(1 / MINUTE)).clock(clock.for_route_limits());
    router.group("/limited", limit, |limited| {
        limited.get("/", async || "hello");
    });
    let verifier = TokenVerifier::new().clock(clock.for_tokens());
    router.group("/own", with_auth(Auth::tokens(secret.clone(), verifier)), |own| {
        own.get("/", async || "hello");
    });
    let client = TestClient::with_clock(router, &clock);
    client.get("/limited").await.assert_status(200);
    client.get("/limited").await.assert_status(429).assert_header("retry-after", "60");
    client.get("/").await.assert_status(200);
    client.get("/").await.assert_status(429).assert_error("Too Many Requests");
    client.get("/").peer("203.0.113.7").await.assert_status(200);
    clock.advance(Duration::from_secs(60));
    client.get("/limited").await.assert_status(200);

    let issuer = TokenIssuer::new().clock(clock.for_tokens());
    let token = issuer.issue(json!({ "sub": "ada" }), "1h", &secret).unwrap();
    client.get("/own").bearer(&token).await.assert_status(200);
    clock.advance(Duration::from_secs(3_601));
    client.get("/own").bearer(&token).await.assert_status(401).assert_error("Unauthorized");
}

#[tokio::test]
async fn host_options_apply_to_an_app() {
    let app: App = router().build().unwrap();
    let client = TestClient::new(&app).with_host_options(HostOptions::new().max_body_size(3));
    client.post("/length").body("four").await.assert_status(413);
    TestClient::new(app).post("/length").body("four").await.assert_status(200);
}

#[tokio::test]
async fn the_path_of_the_address_prefixes_each_path() {
    let server = router().create_server().unwrap().bind("127.0.0.1:0").await.unwrap();
    let address = server.local_addr();
    tokio::spawn(server.serve());
    let client = TestClient::live(&format!("http://{address}/users/"));
    client.get("/7").await.assert_status(200);
}

#[test]
fn requests_can_be_sent_from_any_task() {
    fn is_send<T: Send>(_: T) {}
    let client = TestClient::new(router());
    is_send(client.get("/").send());
    is_send(client.get("/").stream());
    is_send(client.websocket("/").connect());
    is_send(Arc::new(client));
}
