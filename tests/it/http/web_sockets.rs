//! WebSocket routes over an in-memory pipe, and over a real port.
// Spec: WebSocket routes; Router construction and members › addWebSocketRoute.

use std::net::SocketAddr;

use futures_util::{SinkExt as _, StreamExt as _};
use stockade::middleware::RateLimit;
use stockade::prelude::*;
use stockade::reply::ResponseWriter;
use stockade::upgrade::{Switch, Upgrade, Upgraded};
use stockade::validation::ValidationOptions;
use stockade::websockets::WebSocketOptions;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Theirs;
use tokio_tungstenite::tungstenite::protocol::Role;

use crate::support::{app, block_on, check, header_of, map_with, request, show, socket_of};

async fn echo(mut socket: WebSocket, Path(room): Path<String>) -> Result<(), ApiError> {
    socket.send(room).await?;
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn only_with_token(req: &mut Request) -> Result<(), ApiError> {
    match req.headers().contains_key("authorization") {
        true => Ok(()),
        false => Err(ApiError::authentication()),
    }
}

fn options() -> RouterOptions {
    RouterOptions::new().enable_web_sockets(true).prefix("/api")
}

/// Creates the same routes from a tree and with method calls.
fn routers() -> [Router; 2] {
    let tree = routes! {
        "rooms": {
            middleware: only_with_token,
            ":room": {
                GET: async || "a page",
                ws: { handler: echo, name: "room" },
            },
            ":room/open": {
                ws: { handler: echo, allowed_origins: ["https://app.example.com"] },
            },
        },
    };
    let mut calls = Router::with_options(options());
    calls.group("/rooms", only_with_token, |rooms| {
        rooms.get("/:room", async || "a page");
        rooms.add_web_socket_route("/:room", echo, WebSocketOptions::new()).name("room");
        let open = WebSocketOptions::new().allowed_origins(["https://app.example.com"]);
        rooms.add_web_socket_route("/:room/open", echo, open);
    });
    [create_router(tree, options()), calls]
}

/// Creates a handshake with additional lines.
fn handshake(target: &str, more: &str) -> Request {
    let mut request = request(&format!(
        "GET {target}\nhost: example.com\nconnection: upgrade\nupgrade: websocket\n\
         sec-websocket-version: 13\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=={more}"
    ));
    request.extensions_mut().insert(Upgrade::http1());
    request
}

/// Returns the response to a handshake as `status body`.
async fn answer(app: &App, target: &str, more: &str) -> String {
    show(app.handle(handshake(target, more)).await).await
}

async fn connect(app: &App, target: &str, more: &str) -> WebSocketStream<DuplexStream> {
    let mut response = app.handle(handshake(target, more)).await;
    assert_eq!(response.status(), 101);
    let (client, server) = tokio::io::duplex(65_536);
    tokio::spawn(Switch::take(&mut response).unwrap().run(Upgraded::new(server)));
    WebSocketStream::from_raw_socket(client, Role::Client, None).await
}

const TOKEN: &str = "\nauthorization: Bearer x";

#[test]
fn a_web_socket_runs_in_process() {
    for router in routers() {
        let app = app(router);
        block_on(async {
            let mut client = connect(&app, "/api/rooms/a%20b", TOKEN).await;
            assert_eq!(client.next().await.unwrap().unwrap(), Theirs::text("a b"));
            client.send(Theirs::text("hi")).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), Theirs::text("hi"));
        });
        assert_eq!(app.generate_url("room", [("room", "a b")]).unwrap(), "/api/rooms/a%20b");
    }
}

#[test]
fn rejections_are_ordered_and_have_a_json_body() {
    for router in routers() {
        let app = app(router);
        block_on(async {
            let unknown = answer(&app, "/api/nowhere", "").await;
            assert_eq!(unknown, r#"404 {"error":"Not Found"}"#);
            // The origin is checked before the middleware runs.
            let evil = answer(&app, "/api/rooms/a", "\norigin: https://evil.com").await;
            assert_eq!(evil, r#"403 {"error":"this origin is not allowed to connect"}"#);
            let nobody = answer(&app, "/api/rooms/a", "\norigin: https://example.com").await;
            assert!(nobody.starts_with("401 "), "{nobody}");
            // A list of origins replaces the same-origin rule.
            let same = format!("{TOKEN}\norigin: https://example.com");
            assert!(answer(&app, "/api/rooms/a/open", &same).await.starts_with("403 "));
            let listed = format!("{TOKEN}\norigin: https://app.example.com");
            assert_eq!(answer(&app, "/api/rooms/a/open", &listed).await, "101");
        });
    }
}

#[test]
fn a_page_can_share_the_path() {
    for router in routers() {
        let app = app(router);
        check(&app, "GET /api/rooms/a\nauthorization: x", "200 a page");
        check(
            &app,
            "GET /api/rooms/a/open\nauthorization: x",
            r#"426 {"error":"only WebSocket requests are supported here"}"#,
        );
        assert_eq!(header_of(&app, "GET /api/rooms/a/open", "upgrade"), "websocket");
        check(&app, "POST /api/rooms/a/open", r#"405 {"error":"Method Not Allowed"}"#);
        assert_eq!(header_of(&app, "POST /api/rooms/a/open", "allow"), "GET, HEAD, OPTIONS");
        check(&app, "CONNECT /api/rooms/a", r#"405 {"error":"Method Not Allowed"}"#);
    }
}

// HEAD matches the GET route, and the response used to be a 101.
#[test]
fn head_opens_no_connection() {
    for router in routers() {
        let app = app(router);
        let mut head = request(&format!(
            "HEAD /api/rooms/a/open\nhost: example.com\nconnection: upgrade\nupgrade: websocket\n\
             sec-websocket-version: 13\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ=={TOKEN}"
        ));
        head.extensions_mut().insert(Upgrade::http1());
        assert_eq!(block_on(app.handle(head)).status(), 400);
    }
}

/// Returns the messages of all configuration errors.
fn mistakes(router: Router) -> Vec<String> {
    let error = router.build().unwrap_err();
    error.issues().iter().map(|mistake| mistake.message().to_owned()).collect()
}

#[test]
fn the_build_reports_configuration_errors() {
    async fn no_socket() {}
    async fn two(_first: WebSocket, _second: WebSocket) {}
    let options = || RouterOptions::new().enable_web_sockets(true);

    let mut router = Router::new();
    router.add_web_socket_route("/a", |_: WebSocket| async {}, WebSocketOptions::new());
    assert_eq!(mistakes(router), ["WebSocket routing is disabled"]);

    let mut router = Router::with_options(options());
    router.add_web_socket_route("/a", no_socket, WebSocketOptions::new());
    router.add_web_socket_route("/b", two, WebSocketOptions::new());
    router.get("/c", |_: WebSocket| async {});
    let found = mistakes(router);
    assert!(found[0].contains("does not have a `WebSocket` argument"), "{found:?}");
    assert!(found[1].contains("two `WebSocket` arguments"), "{found:?}");
    assert!(found[2].contains("add_web_socket_route"), "{found:?}");

    let mut router = Router::with_options(options());
    let wrong = WebSocketOptions::new().allowed_origins(["example.com"]);
    router.add_web_socket_route("/:a", |_: WebSocket| async {}, wrong);
    router.add_web_socket_route("/:b", |_: WebSocket| async {}, WebSocketOptions::new());
    let found = mistakes(router);
    assert!(found[0].contains("is not an origin"), "{found:?}");
    assert!(found[1].contains("same method and path"), "{found:?}");
}

#[test]
fn rejects_a_response_writer_and_names_its_location() {
    async fn writes(_socket: WebSocket, _response: ResponseWriter) {}
    let message = "WebSocket /api/a: the handler has a `ResponseWriter` argument, but the \
                   server writes the response to a handshake";
    let mut calls = Router::with_options(options());
    let line = line!() + 1;
    calls.add_web_socket_route("/a", writes, WebSocketOptions::new());
    let error = calls.build().unwrap_err().to_string();
    assert!(error.contains(message), "{error}");
    assert!(error.contains(&format!("{}:{line}", file!())), "{error}");

    let tree = create_router(routes! { "a": { ws: writes } }, options());
    let error = tree.build().unwrap_err().to_string();
    assert!(error.contains(message) && error.contains(file!()), "{error}");
}

#[test]
fn a_host_without_upgrades_responds_with_400() {
    for router in routers() {
        let app = app(router);
        let mut request = handshake("/api/rooms/a", TOKEN);
        request.extensions_mut().remove::<Upgrade>();
        let answer = block_on(async { show(app.handle(request).await).await });
        // With a 5xx, any client could write lines at error level.
        assert_eq!(answer, r#"400 {"error":"this host does not support upgrades"}"#);
    }
}

#[test]
fn the_options_have_the_names_of_the_specification() {
    let options: RouterOptions = stockade::serde_json::from_value(json!({
        "enableWebSockets": true, "wsAllowedOrigins": ["https://a.example"], "wsMaxPayload": 10,
    }))
    .unwrap();
    let map = map_with(options);
    let socket = socket_of(&map);
    assert!(map.router.web_sockets);
    assert_eq!(
        (&*socket.allowed_origins, socket.max_payload),
        (&["https://a.example".to_owned()][..], 10)
    );
    assert!(!app(Router::new()).route_map().router.web_sockets);
    let map = map_with(RouterOptions::new().enable_web_sockets(true));
    let socket = socket_of(&map);
    assert!(socket.allowed_origins.is_empty() && socket.same_origin, "{socket:?}");
    assert_eq!(socket.max_payload, 1_048_576);
}

/// Returns the WebSocket's allowed origins, and whether the same origin is
/// allowed.
fn origins(options: RouterOptions, of_route: WebSocketOptions) -> (Vec<String>, bool) {
    let mut router = Router::with_options(options.enable_web_sockets(true));
    router.add_web_socket_route("/x", async |_: WebSocket| {}, of_route);
    let map = app(router).route_map();
    let socket = socket_of(&map);
    (socket.allowed_origins.clone(), socket.same_origin)
}

#[test]
fn a_list_of_origins_is_removed_for_a_route_and_for_a_router() {
    let list = || RouterOptions::new().ws_allowed_origins(["https://a.example"]);
    let inherited = (vec!["https://a.example".to_owned()], false);
    let same_origin = (Vec::new(), true);
    let of_route = WebSocketOptions::new;
    assert_eq!(origins(list(), of_route()), inherited);
    for is_on in [false, true] {
        assert_eq!(origins(list(), of_route().allowed_origins(is_on)), same_origin);
        assert_eq!(origins(list().ws_allowed_origins(is_on), of_route()), same_origin);
        let file = json!({ "wsAllowedOrigins": is_on });
        let file = stockade::serde_json::from_value(file).unwrap();
        assert_eq!(origins(file, of_route()), same_origin);
    }

    let tree = routes! { "chat/:room": { ws: { echo, allowed_origins: false } } };
    let app = app(create_router(tree, list().enable_web_sockets(true)));
    let from = |origin: &str| {
        let request = handshake("/chat/7", &format!("\norigin: {origin}"));
        block_on(app.handle(request)).status().as_u16()
    };
    assert_eq!(from("http://example.com"), 101);
    assert_eq!(from("https://a.example"), 403);
    assert_eq!(from("null"), 403);
}

/// Returns the sorted names of the response's headers.
fn names_of(response: &Response) -> Vec<&str> {
    let mut names: Vec<&str> = response.headers().keys().map(|name| name.as_str()).collect();
    names.sort_unstable();
    names
}

#[test]
fn stages_apply_to_the_handshake_but_not_to_the_101() {
    let limit = RateLimit::new().max_requests(2);
    let mut router = Router::with_options(
        RouterOptions::new().enable_web_sockets(true).cors_origin("*").rate_limit(limit),
    );
    router.add_web_socket_route("/:room", echo, WebSocketOptions::new());
    let app = app(router);
    block_on(async {
        let open = app.handle(handshake("/a", "")).await;
        assert_eq!(open.status(), 101);
        assert_eq!(names_of(&open), ["connection", "sec-websocket-accept", "upgrade"]);

        // On HTTP/2, the response that switches protocols is a 200.
        let mut connect = request("CONNECT /a\nhost: example.com\nsec-websocket-version: 13");
        connect.extensions_mut().insert(Upgrade::extended_connect());
        let open = app.handle(connect).await;
        assert_eq!(open.status(), 200);
        assert_eq!(names_of(&open), Vec::<&str>::new());

        let refused = app.handle(handshake("/a", "\norigin: https://evil.com")).await;
        assert_eq!(refused.status(), 429, "the rate limit comes before the origin");
        for name in ["x-content-type-options", "access-control-allow-origin", "retry-after"] {
            assert!(refused.headers().contains_key(name), "{name}: {refused:?}");
        }
    });
}

#[test]
fn rejections_have_the_headers_of_every_response() {
    for router in routers() {
        let app = app(router);
        let refused = block_on(app.handle(handshake("/api/rooms/a", "\norigin: https://evil.com")));
        assert_eq!(refused.status(), 403);
        for name in ["x-content-type-options", "access-control-allow-origin"] {
            assert!(refused.headers().contains_key(name), "{name}: {refused:?}");
        }
    }
}

#[test]
fn schemas_of_an_entry_check_messages_and_the_handshake() {
    async fn double(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(message) = socket.recv_json::<Value>().await {
            match message {
                Ok(value) => socket.send(Json(value)).await?,
                Err(error) if error.is_end() => break,
                Err(error) => socket.send(error.to_string()).await?,
            }
        }
        Ok(())
    }
    let message = || schema!({ "n": { "type": "number", "required": true } });
    let query = || schema!({ "page": { "type": "number" } });
    let coerced = || ValidationOptions::new().coerce_types(true);
    let tree = routes! {
        "checked": {
            ws: {
                handler: double,
                validation: message(),
                query: query(),
                validation_options: coerced(),
            },
        },
    };
    let mut calls = Router::with_options(options());
    calls
        .add_web_socket_route("/checked", double, WebSocketOptions::new())
        .validation(message())
        .query(query())
        .validation_options(coerced());
    for router in [create_router(tree, options()), calls] {
        let app = app(router);
        block_on(async {
            let refused = answer(&app, "/api/checked?page=x", "").await;
            assert!(refused.starts_with("400 "), "{refused}");
            let mut client = connect(&app, "/api/checked?page=1", "").await;
            for (sent, expected) in [
                (r#"{"n":1}"#, r#"{"n":1}"#),
                (r#"{"n":"2"}"#, r#"{"n":2}"#),
                ("{}", "a message has 1 invalid fields"),
            ] {
                client.send(Theirs::text(sent)).await.unwrap();
                assert_eq!(client.next().await.unwrap().unwrap(), Theirs::text(expected));
            }
        });
    }
}

/// Connects over TCP and completes the handshake.
async fn dial(address: SocketAddr, target: &str) -> WebSocketStream<TcpStream> {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!(
        "GET {target} HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut answer = Vec::new();
    while !answer.ends_with(b"\r\n\r\n") {
        answer.push(stream.read_u8().await.unwrap());
    }
    assert!(answer.starts_with(b"HTTP/1.1 101 "), "{}", String::from_utf8_lossy(&answer));
    WebSocketStream::from_raw_socket(stream, Role::Client, None).await
}

#[test]
fn a_web_socket_runs_over_a_port_until_the_shutdown() {
    block_on(async {
        let mut router = Router::with_options(options());
        router.add_web_socket_route("/rooms/:room", echo, WebSocketOptions::new());
        let server = router.create_server().unwrap().bind(0).await.unwrap();
        let (address, handle) = (server.local_addr(), server.handle());
        let served = tokio::spawn(server.serve());
        let mut client = dial(address, "/api/rooms/a").await;
        assert_eq!(client.next().await.unwrap().unwrap(), Theirs::text("a"));
        for text in ["hi", "", "x".repeat(100_000).as_str()] {
            client.send(Theirs::text(text)).await.unwrap();
            assert_eq!(client.next().await.unwrap().unwrap(), Theirs::text(text));
        }
        handle.shutdown();
        let Theirs::Close(Some(close)) = client.next().await.unwrap().unwrap() else {
            panic!("no close frame");
        };
        assert_eq!(u16::from(close.code), 1001);
        // The client sends its close frame while it waits for the end.
        assert!(client.next().await.is_none());
        served.await.unwrap().unwrap();
    });
}

#[test]
fn a_handler_can_decide_before_the_upgrade() {
    use stockade::websockets::WebSocketUpgrade;

    struct Rooms(&'static [&'static str]);

    async fn join(
        State(rooms): State<Rooms>,
        Path(room): Path<String>,
        upgrade: WebSocketUpgrade,
    ) -> Result<Response, ApiError> {
        if !rooms.0.contains(&room.as_str()) {
            return Err(ApiError::not_found());
        }
        let upgrade = upgrade.protocols(["chat.v2", "chat.v1"]);
        Ok(upgrade.on_upgrade(async move |socket: WebSocket| {
            let protocol = socket.protocol().unwrap_or("-").to_owned();
            socket.send(format!("{room} {protocol}")).await
        }))
    }
    let tree = || routes! { "rooms": { ":room": { ws: join } } };
    let app = app(create_router(tree(), options()).state(Rooms(&["lobby"])));
    block_on(async {
        let refused = answer(&app, "/api/rooms/attic", "").await;
        assert_eq!(refused, r#"404 {"error":"Resource not found"}"#);
        let more = "\nsec-websocket-protocol: chat.v1";
        let mut client = connect(&app, "/api/rooms/lobby", more).await;
        assert_eq!(client.next().await.unwrap().unwrap(), Theirs::text("lobby chat.v1"));
    });

    async fn both(_: WebSocket, upgrade: WebSocketUpgrade) -> Response {
        upgrade.on_upgrade(async |_: WebSocket| ())
    }
    async fn elsewhere(_: WebSocketUpgrade) {}
    let tree = routes! { "a": { ws: both }, "b": { GET: elsewhere } };
    let found = mistakes(create_router(tree, options()));
    let expected = [
        "the handler has two `WebSocket` arguments: remove one of them",
        "the handler has a `WebSocket` argument",
    ];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}");
    }
}
