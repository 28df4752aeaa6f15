//! Tests handlers that decide before the response to the handshake.

use http::StatusCode;

use super::*;

/// Returns the response to a handshake that requests these subprotocols.
async fn decide(
    handler: Handler,
    options: WebSocketOptions,
    protocols: &str,
) -> (Response, Arc<Connections>) {
    let connections = Connections::new(10, 10);
    let mut request = handshake();
    if !protocols.is_empty() {
        let protocols = protocols.parse().unwrap();
        request.headers_mut().insert("sec-websocket-protocol", protocols);
    }
    let response = answer(handler, options, &connections, request).await;
    (response, connections)
}

#[tokio::test]
async fn a_handler_can_respond_before_the_upgrade() {
    async fn refuses(_: WebSocketUpgrade) -> (StatusCode, &'static str) {
        (StatusCode::FORBIDDEN, "not today")
    }
    let (response, connections) =
        decide(web_socket_handler(refuses), WebSocketOptions::new(), "").await;
    assert_eq!(response.status(), 403);
    assert_eq!(response.body().as_bytes(), Some(&b"not today"[..]));
    assert!(!response.headers().contains_key("sec-websocket-accept"));
    assert_eq!(connections.count(), 0, "its place is free again");

    async fn fails(_: WebSocketUpgrade) -> Result<Response, ApiError> {
        Err(ApiError::not_found())
    }
    let (response, connections) =
        decide(web_socket_handler(fails), WebSocketOptions::new(), "").await;
    assert_eq!((response.status().as_u16(), connections.count()), (404, 0));
}

#[tokio::test]
async fn a_handler_can_upgrade_after_waiting() {
    async fn greets(upgrade: WebSocketUpgrade) -> Response {
        tokio::task::yield_now().await;
        let greeting = "hello".to_owned();
        let mut response = upgrade.on_upgrade(async move |socket: WebSocket| {
            socket.send(greeting).await?;
            echo(socket).await
        });
        response.headers_mut().insert("x-room", "7".parse().unwrap());
        response
    }
    let connection = connect(web_socket_handler(greets), WebSocketOptions::new()).await;
    let connections = Arc::clone(&connection.connections);
    assert_eq!(connections.count(), 1);
    let (mut client, served) = connection.client().await;
    assert_eq!(next(&mut client).await, Theirs::text("hello"));
    client.send(Theirs::text("a")).await.unwrap();
    assert_eq!(next(&mut client).await, Theirs::text("a"));
    client.close(Some(CloseFrame { code: 4_000.into(), reason: "".into() })).await.unwrap();
    assert_eq!(closed(next(&mut client).await).0, 4_000);
    drop(client);
    served.await.unwrap();
    assert_eq!(connections.count(), 0);
}

#[tokio::test]
async fn the_result_of_the_connection_ends_it() {
    let fails = web_socket_handler(async |upgrade: WebSocketUpgrade| {
        upgrade.on_upgrade(async |_: WebSocket| Err::<(), _>(ApiError::conflict()))
    });
    let (mut client, _) = connect(fails, WebSocketOptions::new()).await.client().await;
    assert_eq!(closed(next(&mut client).await).0, 1_011);
    let panics = web_socket_handler(async |upgrade: WebSocketUpgrade| {
        upgrade.on_upgrade(async |_: WebSocket| -> () { panic!("on the connection") })
    });
    let (mut client, _) = connect(panics, WebSocketOptions::new()).await.client().await;
    assert_eq!(closed(next(&mut client).await).0, 1_011);
}

#[tokio::test]
async fn selects_a_subprotocol_that_the_client_offers() {
    async fn negotiates(upgrade: WebSocketUpgrade) -> Response {
        let requested: Vec<String> = upgrade.requested_protocols().map(str::to_owned).collect();
        let of_the_route = upgrade.protocol().unwrap_or("-").to_owned();
        let upgrade = upgrade.protocols(["v3", "v2", "v1"]);
        let selected = upgrade.protocol().unwrap_or("-").to_owned();
        let mut response = upgrade.on_upgrade(async |socket: WebSocket| drop(socket));
        let seen = format!("{} {of_the_route} {selected}", requested.join("+"));
        response.headers_mut().insert("x-seen", seen.parse().unwrap());
        response
    }
    let cases = [
        ("", " - -", None),
        ("v1, v2", "v1+v2 v1 v2", Some("v2")),
        ("v1,other", "v1+other v1 v1", Some("v1")),
        ("other", "other - -", None),
        // Names are case-sensitive.
        ("V1", "V1 - -", None),
    ];
    for (named, seen, selected) in cases {
        let options = WebSocketOptions::new().protocols(["v1"]);
        let (response, _) = decide(web_socket_handler(negotiates), options, named).await;
        assert_eq!(response.status(), 101);
        assert_eq!(response.headers()["x-seen"], seen, "{named:?}");
        let header = response.headers().get("sec-websocket-protocol");
        assert_eq!(header.map(|value| value.to_str().unwrap()), selected, "{named:?}");
    }
}

#[tokio::test]
async fn the_socket_has_the_selected_protocol() {
    let handler = web_socket_handler(async |upgrade: WebSocketUpgrade| {
        upgrade.protocols(["b"]).on_upgrade(async |socket: WebSocket| {
            let protocol = socket.protocol().unwrap_or("-").to_owned();
            socket.send(format!("{protocol} {}", socket.route())).await
        })
    });
    let (mut response, _connections) = decide(handler, WebSocketOptions::new(), "a, b").await;
    let (client, server) = tokio::io::duplex(65_536);
    let switch = Switch::take(&mut response).unwrap();
    tokio::spawn(switch.run(Upgraded::new(server)));
    let mut client = WebSocketStream::from_raw_socket(client, Role::Client, None).await;
    assert_eq!(next(&mut client).await, Theirs::text("b /chat/:room"));
}

#[tokio::test]
async fn an_unsent_response_starts_no_handler() {
    let handler = web_socket_handler(async |upgrade: WebSocketUpgrade| {
        drop(upgrade.on_upgrade(async |_: WebSocket| -> () { panic!("must not run") }));
        StatusCode::IM_A_TEAPOT
    });
    let (mut response, connections) = decide(handler, WebSocketOptions::new(), "").await;
    assert_eq!((response.status().as_u16(), connections.count()), (418, 0));
    assert!(Switch::take(&mut response).is_none());
}
