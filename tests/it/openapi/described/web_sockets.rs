//! WebSockets: responses to handshakes, and messages.

use futures_util::{SinkExt as _, StreamExt as _};
use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::upgrade::{Switch, Upgrade, Upgraded};
use stockade::validation::schema;
use stockade::websockets::{SocketError, TypedWebSocket, WebSocketOptions};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::Message as Theirs;
use tokio_tungstenite::tungstenite::protocol::Role;

use super::quiet;
use crate::support::{block_on, request};

#[derive(serde::Deserialize, Schema)]
struct Question {
    #[schema(min_length = 2)]
    text: String,
}

#[derive(serde::Serialize, Schema)]
struct Tally {
    length: usize,
}

async fn count(mut socket: TypedWebSocket<Question, Tally>) -> Result<(), ApiError> {
    while let Some(question) = socket.recv().await {
        let length = match question {
            Ok(question) => question.text.len(),
            Err(SocketError::Invalid(_)) => 0,
            Err(error) => return Err(error.into()),
        };
        socket.send(&Tally { length }).await?;
    }
    Ok(())
}

async fn listen(_socket: WebSocket) {}

fn chat() -> WebSocketOptions {
    let options = WebSocketOptions::new().allowed_origins(["https://app.example"]);
    options.protocols(["chat.v1"]).max_payload(1_000).max_rate(Some(5))
}

fn app() -> App {
    app_with(quiet())
}

fn app_with(options: RouterOptions) -> App {
    let api = routes! {
        "count": { WS: { handler: count, options: chat() } },
        "strict": {
            WS: {
                handler: count,
                validation: schema!({ "text": { "type": "string", "maxLength": 1 } }),
            },
        },
        "listen": { WS: listen },
    };
    create_router(api, options.enable_web_sockets(true)).build().unwrap()
}

/// The implementations that this file tests.
pub(super) const IMPLEMENTATIONS: [&str; 4] = [
    "FromRequest for WebSocket",
    "FromRequest for WebSocketUpgrade",
    "FromRequest for TypedWebSocket<In, Out>",
    "IntoError for SocketError",
];

const VALID: &str = "connection: upgrade\nupgrade: websocket\nsec-websocket-version: 13\n\
                     sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";

fn handshake(path: &str, lines: &str) -> Request {
    let mut request = request(&format!("GET {path}\nhost: example.com\n{lines}"));
    request.extensions_mut().insert(Upgrade::http1());
    request
}

async fn connect(app: &App, path: &str) -> WebSocketStream<tokio::io::DuplexStream> {
    let mut response = app.handle(handshake(path, VALID)).await;
    assert_eq!(response.status(), 101);
    let (client, server) = tokio::io::duplex(65_536);
    tokio::spawn(Switch::take(&mut response).unwrap().run(Upgraded::new(server)));
    WebSocketStream::from_raw_socket(client, Role::Client, None).await
}

async fn ask(client: &mut WebSocketStream<tokio::io::DuplexStream>, text: &str) -> String {
    client.send(Theirs::text(text)).await.unwrap();
    client.next().await.unwrap().unwrap().into_text().unwrap().to_string()
}

#[test]
fn typed_messages_match_their_descriptions() {
    let app = app();
    block_on(async {
        let mut client = connect(&app, "/count").await;
        assert_eq!(ask(&mut client, r#"{"text":"abc"}"#).await, r#"{"length":3}"#);
        // The text is too short, but the connection stays open.
        assert_eq!(ask(&mut client, r#"{"text":"a"}"#).await, r#"{"length":0}"#);
        assert_eq!(ask(&mut client, r#"{"text":"ab"}"#).await, r#"{"length":2}"#);
        // The validation of the route replaces the validation of the type.
        let mut client = connect(&app, "/strict").await;
        assert_eq!(ask(&mut client, r#"{"text":"a"}"#).await, r#"{"length":1}"#);
        assert_eq!(ask(&mut client, r#"{"text":"ab"}"#).await, r#"{"length":0}"#);
    });
}

#[test]
fn a_document_has_the_messages_of_a_web_socket() {
    let document = open_api(&app(), &OpenApiOptions::new("Count", "1")).unwrap();
    let operation = |path: &str| &document["paths"][path]["get"];
    let schema = |name: &str| json!({ "$ref": format!("#/components/schemas/{name}") });
    assert_eq!(
        operation("/count")["x-websocket"],
        json!({
            "subprotocols": ["chat.v1"],
            "maxPayload": 1_000,
            "maxRate": 5,
            "receives": schema("Question"),
            "sends": schema("Tally"),
        })
    );
    let question = &document["components"]["schemas"]["Question"];
    assert_eq!(question["properties"]["text"]["minLength"], 2);
    assert_eq!(document["components"]["schemas"]["Tally"]["required"], json!(["length"]));
    let strict = &operation("/strict")["x-websocket"]["receives"];
    assert_eq!(strict["properties"]["text"]["maxLength"], 1);
    let listen = &operation("/listen")["x-websocket"];
    assert_eq!(*listen, json!({ "subprotocols": [], "maxPayload": 1_048_576 }));
}

/// Checks the status of a handshake with these lines, and a response header.
async fn check(app: &App, lines: &str, status: u16, header: Option<&str>) {
    let response = app.handle(handshake("/count", lines)).await;
    assert_eq!(response.status(), status, "{lines}");
    let map = app.route_map();
    let route = map.routes.iter().find(|route| route.path == "/count").unwrap();
    let told = route.answers.iter().find(|answer| answer.status == status).unwrap();
    if let Some(name) = header {
        assert!(response.headers().contains_key(name), "{lines}: {name}");
        let mut headers = told.headers.iter();
        assert!(headers.any(|header| header.name.eq_ignore_ascii_case(name)), "{told:?}");
    }
    let document = open_api(app, &OpenApiOptions::new("Count", "1")).unwrap();
    let responses = &document["paths"]["/count"]["get"]["responses"];
    assert!(responses[status.to_string()].is_object(), "{responses}");
}

#[test]
fn describes_the_responses_to_a_handshake() {
    let app = app();
    block_on(async {
        check(&app, VALID, 101, Some("sec-websocket-accept")).await;
        let protocol = format!("{VALID}\nsec-websocket-protocol: chat.v1");
        check(&app, &protocol, 101, Some("sec-websocket-protocol")).await;
        let no_key = "connection: upgrade\nupgrade: websocket\nsec-websocket-version: 13";
        check(&app, no_key, 400, None).await;
        check(&app, &format!("{VALID}\norigin: https://evil.example"), 403, None).await;
        let old = VALID.replace("13", "8");
        check(&app, &old, 426, Some("sec-websocket-version")).await;
        check(&app, "accept: */*", 426, Some("upgrade")).await;
        for (options, status) in
            [(quiet().ws_max_connections_per_client(1), 429), (quiet().ws_max_connections(1), 503)]
        {
            let app = app_with(options);
            let _open = connect(&app, "/listen").await;
            check(&app, VALID, status, Some("retry-after")).await;
        }
    });
}
