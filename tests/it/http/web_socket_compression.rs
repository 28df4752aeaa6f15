//! WebSocket message compression: its settings, the negotiation and the
//! generated documents.

use std::pin::pin;

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::testing::TestClient;
use stockade::upgrade::{Switch, Upgrade, Upgraded};
use stockade::websockets::{Deflate, WebSocketOptions};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::support::{block_on, request};

async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
    while let Some(text) = socket.recv_text().await {
        socket.send(text?).await?;
    }
    Ok(())
}

fn app(options: RouterOptions) -> App {
    let with = |options: WebSocketOptions| options.max_payload(1_000);
    let api = routes! {
        "inherits": { ws: echo },
        "off": { ws: { echo, options: with(WebSocketOptions::new().compression(false)) } },
        "on": { ws: { echo, options: with(WebSocketOptions::new().compression(true)) } },
        "small": {
            ws: {
                echo,
                options: WebSocketOptions::new().compression(Deflate::new().window_bits(10)),
            },
        },
    };
    create_router(api, options.enable_web_sockets(true)).build().unwrap()
}

async fn handshake(app: &App, path: &str) -> Response {
    let mut request = request(&format!(
        "GET {path}\nhost: example.com\nconnection: upgrade\nupgrade: websocket\n\
         sec-websocket-version: 13\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\n\
         sec-websocket-extensions: permessage-deflate; client_max_window_bits"
    ));
    request.extensions_mut().insert(Upgrade::http1());
    app.handle(request).await
}

/// Returns the response's extension parameters after the two for context
/// takeover.
fn parameters(app: &App, path: &str) -> Option<String> {
    let response = block_on(handshake(app, path));
    assert_eq!(response.status(), 101);
    let value = response.headers().get("sec-websocket-extensions")?;
    let common = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
    Some(value.to_str().unwrap().strip_prefix(common).unwrap().to_owned())
}

fn from_file(json: Value) -> RouterOptions {
    stockade::serde_json::from_value(json).unwrap()
}

#[test]
fn the_innermost_setting_counts() {
    #[track_caller]
    fn check(options: RouterOptions, expected: [Option<&str>; 4]) {
        let app = app(options);
        let found = ["/inherits", "/off", "/on", "/small"].map(|path| parameters(&app, path));
        assert_eq!(found.each_ref().map(Option::as_deref), expected);
    }
    let small = Some("; server_max_window_bits=10; client_max_window_bits=10");
    let twelve = Some("; server_max_window_bits=12; client_max_window_bits=12");
    let bits = |bits| Deflate::new().window_bits(bits);
    check(RouterOptions::new(), [None, None, Some(""), small]);
    check(RouterOptions::new().ws_compression(false), [None, None, Some(""), small]);
    check(RouterOptions::new().ws_compression(true), [Some(""), None, Some(""), small]);
    check(RouterOptions::new().ws_compression(bits(12)), [twelve, None, Some(""), small]);
    check(from_file(json!({ "wsCompression": true })), [Some(""), None, Some(""), small]);
    check(from_file(json!({ "wsCompression": false })), [None, None, Some(""), small]);
    let file = json!({ "ws_compression": { "windowBits": 12, "contextTakeover": false } });
    check(from_file(file), [twelve, None, Some(""), small]);
}

#[test]
fn wrong_options_are_errors() {
    for file in [
        json!({ "wsCompression": 12 }),
        json!({ "wsCompression": "yes" }),
        json!({ "wsCompression": { "bits": 12 } }),
        json!({ "wsCompression": { "windowBits": "12" } }),
        json!({ "wsCompression": { "windowBits": 256 } }),
    ] {
        let options = stockade::serde_json::from_value::<RouterOptions>(file.clone());
        assert!(options.is_err(), "{file}");
    }
    for bits in [0, 8, 16] {
        let mut router = Router::with_options(from_file(
            json!({ "enableWebSockets": true, "wsCompression": { "windowBits": bits } }),
        ));
        router.add_web_socket_route("/", echo, WebSocketOptions::new());
        let error = router.build().unwrap_err().to_string();
        assert!(error.contains(&format!("`window_bits` is {bits}; expected 9 to 15")), "{error}");
    }
}

#[test]
fn compressed_messages_reach_the_handler() {
    let app = app(RouterOptions::new());
    block_on(async {
        let mut response = handshake(&app, "/on").await;
        let (mut client, server) = tokio::io::duplex(65_536);
        tokio::spawn(Switch::take(&mut response).unwrap().run(Upgraded::new(server)));
        // A message of 100 letters `a`, and its echo.
        let message = [0xc1, 0x86, 0, 0, 0, 0, 0x4a, 0x4c, 0xa4, 0x3d, 0, 0];
        client.write_all(&message).await.unwrap();
        let mut echo = [0; 8];
        client.read_exact(&mut echo).await.unwrap();
        assert_eq!(echo, [0xc1, 6, 0x4a, 0x4c, 0xa4, 0x3d, 0, 0]);
        // A few bytes that decompress to 1,001 letters, which exceeds
        // `max_payload`.
        let bomb =
            [0xc1, 0x8b, 0, 0, 0, 0, 0x4a, 0x4c, 0x1c, 0x05, 0xa3, 0x60, 0x14, 0x0c, 0x7b, 0, 0];
        client.write_all(&bomb).await.unwrap();
        let mut close = [0; 4];
        client.read_exact(&mut close).await.unwrap();
        assert_eq!((close[0], &close[2..]), (0x88, &1_009_u16.to_be_bytes()[..]));
    });
}

#[tokio::test]
async fn the_test_client_works_without_compression() {
    let client = TestClient::new(app(RouterOptions::new().ws_compression(true)));
    for path in ["/inherits", "/on", "/small"] {
        let mut socket = client.websocket(path).connect().await;
        let text = "a".repeat(500);
        socket.send_text(text.as_str()).await;
        assert_eq!(socket.receive_text().await, text);
    }
    // The test client panics if a test offers an extension itself.
    let offered = client.websocket("/on").header("sec-websocket-extensions", "permessage-deflate");
    let outcome = tokio::spawn(async move { drop(pin!(offered.connect()).await) }).await;
    let panic = outcome.unwrap_err().into_panic();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("does not support the extension"), "{message}");
}

#[test]
fn documents_have_the_headers_of_the_negotiation() {
    let app = app(RouterOptions::new());
    let document = open_api(&app, &OpenApiOptions::new("Test", "1")).unwrap();
    for (path, expected) in [("/on", true), ("/small", true), ("/off", false), ("/inherits", false)]
    {
        let operation = &document["paths"][path]["get"];
        assert_eq!(operation["x-websocket"]["compression"] == true, expected, "{path}");
        let has_header = operation.to_string().contains("Sec-WebSocket-Extensions");
        assert_eq!(has_header, expected, "{path}");
    }
}
