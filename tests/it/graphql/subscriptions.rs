//! Operations over a WebSocket, from the handshake to the end of their streams.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};
use stockade::graphql::{GraphQl, RequestContext, async_graphql as gql};
use stockade::middleware::rate_limit::MINUTE;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestWebSocket};
use stockade::websockets::WebSocketOptions;

/// The number of live streams, and the number of items read from them.
#[derive(Clone, Default)]
pub(super) struct Streams {
    live: Arc<AtomicUsize>,
    taken: Arc<AtomicUsize>,
}

impl Streams {
    pub(super) fn live(&self) -> usize {
        self.live.load(Ordering::SeqCst)
    }

    fn taken(&self) -> usize {
        self.taken.load(Ordering::SeqCst)
    }

    /// Counts a stream until it is dropped.
    fn counted<T: 'static>(&self, stream: impl Stream<Item = T> + Send + 'static) -> Counted<T> {
        self.live.fetch_add(1, Ordering::SeqCst);
        Counted { stream: stream.boxed(), streams: self.clone() }
    }
}

struct Counted<T> {
    stream: BoxStream<'static, T>,
    streams: Streams,
}

impl<T> Stream for Counted<T> {
    type Item = T;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let polled = self.stream.as_mut().poll_next(cx);
        if let Poll::Ready(Some(_)) = &polled {
            self.streams.taken.fetch_add(1, Ordering::SeqCst);
        }
        polled
    }
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        self.streams.live.fetch_sub(1, Ordering::SeqCst);
    }
}

pub(super) struct Query;

#[gql::Object(crate = "gql")]
impl Query {
    async fn me(&self, ctx: &gql::Context<'_>) -> gql::Result<Option<String>> {
        Ok(ctx.data::<RequestContext>()?.user().map(ToString::to_string))
    }
}

pub(super) struct Live;

#[gql::Subscription(crate = "gql")]
impl Live {
    async fn count(&self, ctx: &gql::Context<'_>, to: i32) -> impl Stream<Item = i32> + use<> {
        ctx.data_unchecked::<Streams>().counted(stream::iter(1..=to))
    }

    /// Sends one number, then stays open.
    async fn wait(&self, ctx: &gql::Context<'_>) -> impl Stream<Item = i32> + use<> {
        let first = stream::once(async { 0 });
        ctx.data_unchecked::<Streams>().counted(first.chain(stream::pending()))
    }

    /// Sends texts as fast as they are read.
    async fn flood(&self, ctx: &gql::Context<'_>) -> impl Stream<Item = String> + use<> {
        ctx.data_unchecked::<Streams>().counted(stream::repeat_with(|| "x".repeat(1_000)))
    }

    async fn panics(&self) -> impl Stream<Item = i32> + use<> {
        stream::once(async { panic!("postgres://admin:secret@db") })
    }

    async fn refuses(&self) -> Result<stream::Empty<i32>, ApiError> {
        Err(ApiError::new(403, "Not for you"))
    }
}

pub(super) fn schema(streams: &Streams) -> gql::SchemaBuilder<Query, gql::EmptyMutation, Live> {
    gql::Schema::build(Query, gql::EmptyMutation, Live).data(streams.clone())
}

pub(super) fn client(graphql: GraphQl, options: RouterOptions) -> TestClient {
    TestClient::new(router(graphql, options))
}

fn router(graphql: GraphQl, options: RouterOptions) -> Router {
    let token = Auth::bearer(async |token: String| Some(json!({ "name": token })));
    let signed_in = with_auth(token.required(false));
    let api = routes! { "graphql": { middleware: [signed_in], ..graphql.routes() } };
    let options = options.enable_web_sockets(true).expose_errors(false);
    create_router(api, options)
}

/// Connects without a rate limit, and without `connection_init`.
async fn open(graphql: GraphQl) -> TestWebSocket {
    let client = client(graphql.web_socket(true), RouterOptions::new().rate_limit(false));
    client.websocket("/graphql").protocol("graphql-transport-ws").connect().await
}

async fn connect(graphql: GraphQl) -> TestWebSocket {
    let mut socket = open(graphql).await;
    init(&mut socket).await;
    socket
}

async fn init(socket: &mut TestWebSocket) {
    socket.send_json(json!({ "type": "connection_init" })).await;
    assert_eq!(socket.receive_text().await, r#"{"type":"connection_ack"}"#);
}

pub(super) fn subscribe(id: &str, query: &str) -> Value {
    json!({ "type": "subscribe", "id": id, "payload": { "query": query } })
}

/// Waits until no stream is live.
pub(super) async fn ended(streams: &Streams) {
    let end = tokio::time::Instant::now() + Duration::from_secs(30);
    while streams.live() > 0 {
        assert!(tokio::time::Instant::now() < end, "{} streams live", streams.live());
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn outcomes_arrive_in_order_until_completion() {
    let streams = Streams::default();
    let mut socket = connect(GraphQl::new(schema(&streams))).await;
    assert_eq!(socket.protocol().as_deref(), Some("graphql-transport-ws"));
    socket.send_json(subscribe("a", "subscription { count(to: 2) }")).await;
    let mut got = Vec::new();
    for _ in 0..3 {
        got.push(socket.receive_json::<Value>().await);
    }
    let next = |id: &str, n: i32| json!({ "id": id, "type": "next", "payload": { "data": { "count": n } } });
    assert_eq!(got, [next("a", 1), next("a", 2), json!({ "id": "a", "type": "complete" })]);

    // A query is an operation with one result.
    socket.send_json(subscribe("b", "{ me }")).await;
    let outcome: Value = socket.receive_json().await;
    assert_eq!(outcome["payload"], json!({ "data": { "me": null } }));
    assert_eq!(socket.receive_json::<Value>().await, json!({ "id": "b", "type": "complete" }));
    assert_eq!(streams.live(), 0);
    socket.close().await;
}

#[tokio::test]
async fn no_operation_starves_another() {
    let streams = Streams::default();
    let mut socket = connect(GraphQl::new(schema(&streams))).await;
    for id in ["a", "b", "c"] {
        socket.send_json(subscribe(id, "subscription { flood }")).await;
    }
    // Wait until all three run.
    let mut last = String::new();
    while last != "c" {
        last = socket.receive_json::<Value>().await["id"].as_str().unwrap().to_owned();
    }
    let mut counts = [0; 3];
    for _ in 0..300 {
        let id = socket.receive_json::<Value>().await["id"].as_str().unwrap().as_bytes()[0];
        counts[usize::from(id - b'a')] += 1;
    }
    assert_eq!(counts, [100; 3]);
    // The client's messages are not starved either.
    socket.send_json(json!({ "type": "complete", "id": "b" })).await;
    socket.send_json(json!({ "type": "ping" })).await;
    while socket.receive_json::<Value>().await["type"] != "pong" {}
    for _ in 0..100 {
        assert_ne!(socket.receive_json::<Value>().await["id"], "b");
    }
    drop(socket);
    ended(&streams).await;
}

#[tokio::test]
async fn a_client_that_does_not_read_stops_its_streams() {
    let streams = Streams::default();
    let queue = WebSocketOptions::new().send_queue(20_000);
    let mut socket = connect(GraphQl::new(schema(&streams)).web_socket_options(queue)).await;
    socket.send_json(subscribe("a", "subscription { flood }")).await;
    socket.receive_text().await;
    // The server reads only as many items as its buffers hold.
    let mut taken = 0;
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
        taken = streams.taken();
    }
    assert!((10..5_000).contains(&taken), "{taken} were taken");
    for _ in 0..10_000 {
        tokio::task::yield_now().await;
    }
    assert_eq!(streams.taken(), taken);
    drop(socket);
    ended(&streams).await;
}

#[tokio::test]
async fn an_operation_that_cannot_start_is_a_separate_error() {
    let mut socket = connect(GraphQl::new(schema(&Streams::default()))).await;
    for query in ["subscription { nothing }", "{", "subscription { count }"] {
        socket.send_json(subscribe("a", query)).await;
        let error: Value = socket.receive_json().await;
        assert_eq!((&error["type"], &error["id"]), (&json!("error"), &json!("a")), "{error}");
        assert!(error["payload"][0]["message"].is_string(), "{error}");
    }
    // A panic ends only its own operation and reveals nothing.
    socket.send_json(subscribe("a", "subscription { panics }")).await;
    let error = socket.receive_text().await;
    assert!(error.contains(r#""type":"error""#) && !error.contains("secret"), "{error}");
    socket.send_json(subscribe("a", "{ me }")).await;
    assert_eq!(socket.receive_json::<Value>().await["type"], "next");
}

/// The operation has started, so its resolver fails like a query's resolver.
#[tokio::test]
async fn a_rejected_subscription_is_an_outcome_and_completes() {
    let mut socket = connect(GraphQl::new(schema(&Streams::default()))).await;
    socket.send_json(subscribe("a", "subscription { refuses }")).await;
    let outcome: Value = socket.receive_json().await;
    assert_eq!(outcome["type"], "next", "{outcome}");
    let error = &outcome["payload"]["errors"][0];
    assert_eq!((&error["message"], &error["path"]), (&json!("Not for you"), &json!(["refuses"])));
    assert_eq!(error["extensions"]["status"], 403);
    assert_eq!(socket.receive_text().await, r#"{"id":"a","type":"complete"}"#);
}

#[tokio::test]
async fn requires_the_graphql_subprotocol() {
    let client =
        client(GraphQl::new(schema(&Streams::default())).web_socket(true), RouterOptions::new());
    let mut none = client.websocket("/graphql").connect().await;
    let closed = (4_406, "Subprotocol not acceptable".to_owned());
    assert_eq!(none.receive_close().await, closed);
    let mut legacy = client.websocket("/graphql").protocol("graphql-ws").connect().await;
    assert_eq!((legacy.protocol(), legacy.receive_close().await), (None, closed));
    // The origin is checked as for any WebSocket.
    let foreign = client.websocket("/graphql").origin("https://evil.example");
    foreign.protocol("graphql-transport-ws").refused().await.assert_status(403);
}

#[tokio::test]
async fn a_client_error_ends_the_connection_and_its_streams() {
    for (message, code) in [
        (json!({ "type": "what" }), 4_400),
        (json!({ "type": "subscribe", "id": "b", "payload": { "query": 7 } }), 4_400),
        (subscribe("a", "{ me }"), 4_409),
        (json!({ "type": "connection_init" }), 4_429),
    ] {
        let streams = Streams::default();
        let mut socket = connect(GraphQl::new(schema(&streams))).await;
        socket.send_json(subscribe("a", "subscription { wait }")).await;
        socket.receive_text().await;
        assert_eq!(streams.live(), 1);
        socket.send_json(message).await;
        assert_eq!(socket.receive_close().await.0, code);
        ended(&streams).await;
    }
    let mut socket = open(GraphQl::new(schema(&Streams::default()))).await;
    socket.send_json(subscribe("a", "{ me }")).await;
    assert_eq!(socket.receive_close().await.0, 4_401);
    let mut socket = connect(GraphQl::new(schema(&Streams::default()))).await;
    socket.send_binary(b"{}".to_vec()).await;
    assert_eq!(socket.receive_close().await.0, 4_400);
}

#[tokio::test(start_paused = true)]
async fn a_late_init_closes_the_connection() {
    let began = tokio::time::Instant::now();
    let mut socket = open(GraphQl::new(schema(&Streams::default()))).await;
    assert_eq!(socket.receive_close().await.0, 4_408);
    assert_eq!(began.elapsed().as_secs(), 10);

    let short = || GraphQl::new(schema(&Streams::default())).init_timeout(Duration::from_secs(2));
    let slow = async |_: Value| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Some(json!({ "name": "ada" }))
    };
    let mut socket = open(short().on_init(slow)).await;
    socket.send_json(json!({ "type": "connection_init" })).await;
    assert_eq!(socket.receive_close().await.0, 4_408);
    let mut socket = connect(short()).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    socket.send_json(json!({ "type": "ping" })).await;
    assert_eq!(socket.receive_json::<Value>().await["type"], "pong");
}

/// The state that the `on_init` function reads.
struct Tokens(&'static str);

async fn find(payload: Value, tokens: State<Tokens>) -> Result<Option<Value>, ApiError> {
    match payload["token"].as_str() {
        Some(token) if token == tokens.0.0 => Ok(Some(json!({ "name": "ada" }))),
        Some("panic") => panic!("secret"),
        Some("down") => Err(ApiError::new(503, "postgres://admin:secret@db")),
        Some("locked") => Err(ApiError::new(401, "The account is locked")),
        _ => Ok(None),
    }
}

#[tokio::test]
async fn the_first_message_can_authenticate_the_user() {
    let graphql = || GraphQl::new(schema(&Streams::default())).on_init(find);
    let options = RouterOptions::new().rate_limit(false);
    let router = router(graphql().web_socket(true), options).state(Tokens("right"));
    let client = TestClient::new(router);
    for (payload, expected) in [
        (json!({ "token": "right" }), None),
        (json!({ "token": "wrong" }), Some((4_403, "Forbidden"))),
        (json!(null), Some((4_403, "Forbidden"))),
        (json!({ "token": "locked" }), Some((4_403, "The account is locked"))),
        (json!({ "token": "down" }), Some((4_500, "Internal server error"))),
        (json!({ "token": "panic" }), Some((4_500, "Internal server error"))),
    ] {
        // `on_init` replaces the handshake's user.
        let socket = client.websocket("/graphql").protocol("graphql-transport-ws").bearer("bob");
        let mut socket = socket.connect().await;
        socket.send_json(json!({ "type": "connection_init", "payload": payload })).await;
        if let Some((code, reason)) = expected {
            assert_eq!(socket.receive_close().await, (code, reason.to_owned()), "{payload}");
            continue;
        }
        assert_eq!(socket.receive_text().await, r#"{"type":"connection_ack"}"#);
        socket.send_json(subscribe("a", "{ me }")).await;
        let me = socket.receive_json::<Value>().await["payload"]["data"]["me"].clone();
        assert_eq!(me, json!({ "name": "ada" }).to_string());
    }
    // Missing state fails the build.
    let api = routes! { "graphql": { ..graphql().web_socket(true).routes() } };
    let options = RouterOptions::new().enable_web_sockets(true);
    let error = create_router(api, options).build().unwrap_err().to_string();
    assert!(error.contains("Tokens"), "{error}");
}

#[tokio::test]
async fn the_user_of_the_handshake_is_the_default() {
    let graphql = GraphQl::new(schema(&Streams::default())).web_socket(true);
    let client = client(graphql, RouterOptions::new());
    let socket = client.websocket("/graphql").protocol("graphql-transport-ws").bearer("bob");
    let mut socket = socket.connect().await;
    init(&mut socket).await;
    socket.send_json(subscribe("a", "{ me }")).await;
    let outcome: Value = socket.receive_json().await;
    assert_eq!(outcome["payload"]["data"]["me"], json!({ "name": "bob" }).to_string());
}

#[tokio::test]
async fn each_operation_is_charged_and_counted() {
    let graphql = GraphQl::new(schema(&Streams::default())).web_socket(true).max_operations(2);
    let limited = client(graphql, RouterOptions::new().rate_limit(3 / MINUTE));
    let socket = limited.websocket("/graphql").protocol("graphql-transport-ws");
    let mut socket = socket.connect().await;
    init(&mut socket).await;
    for (id, expected) in [("a", "next"), ("b", "next"), ("c", "error")] {
        socket.send_json(subscribe(id, "subscription { wait }")).await;
        let got: Value = socket.receive_json().await;
        assert_eq!(got["type"], expected, "{got}");
    }
    socket.send_json(json!({ "type": "complete", "id": "a" })).await;
    // The handshake was the first of three allowed requests.
    socket.send_json(subscribe("d", "{ me }")).await;
    let refused: Value = socket.receive_json().await;
    assert_eq!(refused["payload"][0]["extensions"]["status"], 429, "{refused}");
}

#[test]
fn web_sockets_must_be_enabled() {
    let routes = |is_asked_for: bool, options: RouterOptions| {
        let graphql = GraphQl::new(schema(&Streams::default())).web_socket(is_asked_for);
        create_router(routes! { "graphql": { ..graphql.routes() } }, options).build()
    };
    let app = routes(false, RouterOptions::new()).unwrap();
    assert!(app.route_map().routes.iter().all(|route| route.web_socket.is_none()));
    let error = routes(true, RouterOptions::new()).unwrap_err().to_string();
    assert!(error.contains("WebSocket routing is disabled"), "{error}");
    let app = routes(true, RouterOptions::new().enable_web_sockets(true)).unwrap();
    let map = app.route_map();
    let sockets: Vec<_> = map.routes.iter().filter_map(|it| it.web_socket.as_ref()).collect();
    assert_eq!(sockets.len(), 1);
    assert_eq!(sockets[0].subprotocols, ["graphql-transport-ws"]);
}
