//! The whole application as a service: all its stages apply.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::{Request as TheirRequest, State};
use axum::middleware::Next;
use axum::routing::get;
use http::{Request, StatusCode};
use http_body::Frame;
use serde_json::json;
use stockade_axum::{AxumService, ToAxum};
use stockade_core::extract::{Body as Parsed, Path};
use stockade_core::{ApiError, Response};
use stockade_routing::{App, HostOptions, Router, RouterOptions};
use stockade_stages::rate_limit::{MINUTE, RateLimit};
use tower_service::Service;

use crate::support::{check, header_of, request_from, send, show};

fn api(options: RouterOptions) -> Router {
    let mut router = Router::with_options(options);
    router.get("/users/:id", async |Path(id): Path<u64>| json!({ "id": id }));
    router.post("/echo", async |Parsed(value): Parsed<serde_json::Value>| value);
    router.get("/broken", async || Err::<(), _>(ApiError::new(500, "the disk is full")));
    router.get("/", async || "the root of the api");
    router
}

/// Returns a host with its own page, state and middleware.
fn host(api: AxumService) -> axum::Router {
    async fn mark(request: TheirRequest, next: Next) -> axum::response::Response {
        let mut response = next.run(request).await;
        response.headers_mut().insert("x-host", "1".parse().unwrap());
        response
    }
    axum::Router::new()
        .route("/", get(async |State(name): State<&'static str>| format!("the page of {name}")))
        .nest_service("/api", api)
        .fallback(async || (StatusCode::NOT_FOUND, "no page"))
        .layer(axum::middleware::from_fn(mark))
        .with_state("somebody")
}

fn default_host() -> axum::Router {
    host(api(RouterOptions::new().expose_errors(false)).to_axum_service().unwrap())
}

#[tokio::test]
async fn service_and_host_serve_their_own_paths() {
    let host = default_host();
    check(&host, "GET /", "200 the page of somebody").await;
    check(&host, "GET /nowhere", "404 no page").await;
    check(&host, "GET /api/users/7", r#"200 {"id":7}"#).await;
    check(&host, "GET /api", "200 the root of the api").await;
    check(&host, "GET /api/", "200 the root of the api").await;
    check(&host, "GET /api/nowhere", r#"404 {"error":"Not Found"}"#).await;
    check(&host, "GET /api/users/x", r#"400 {"error":"Validation failed","details":{"errors":[{"field":"id","message":"Expected integer, got string","rule":"type"}]}}"#).await;
    check(&host, "PUT /api/users/7", r#"405 {"error":"Method Not Allowed"}"#).await;
    check(&host, "GET /api/broken", r#"500 {"error":"Internal Server Error"}"#).await;
    assert_eq!(header_of(&host, "PUT /api/users/7", "allow").await, "GET, HEAD, OPTIONS");
    let echo = "POST /api/echo\ncontent-type: application/json\n\n[1]";
    check(&host, echo, "200 [1]").await;
}

#[tokio::test]
async fn keeps_extra_slashes_below_a_prefix() {
    async fn seen(req: stockade_core::Request) -> String {
        format!("{} {}", req.path(), req.uri().query().unwrap_or_default())
    }
    let mut api = Router::with_options(RouterOptions::new());
    api.get("/**", seen);
    let whole = api.to_axum_service().unwrap();
    let host: axum::Router = axum::Router::new()
        .nest_service("/api", whole.clone())
        .nest("/deep", axum::Router::new().nest_service("/{name}/er", whole.clone()))
        .fallback_service(whole);
    for (target, expected) in [
        ("/api", "/ "),
        ("/api/", "/ "),
        ("/api/x?a=1", "/x a=1"),
        ("/api//", "// "),
        ("/api//x?a=1", "//x a=1"),
        ("/api///x/", "///x/ "),
        ("/api//api/x", "//api/x "),
        ("/deep/n/er/x", "/x "),
        ("/deep/n/er//x", "//x "),
        ("//api/x", "//api/x "),
        ("//", "// "),
        ("/", "/ "),
    ] {
        check(&host, &format!("GET {target}"), &format!("200 {expected}")).await;
    }
}

#[tokio::test]
async fn built_in_stages_apply_only_to_our_responses() {
    let host = default_host();
    for path in ["/api/users/7", "/api/nowhere", "/api/broken"] {
        let line = format!("GET {path}");
        assert_eq!(header_of(&host, &line, "x-frame-options").await, "DENY", "{path}");
        assert_ne!(header_of(&host, &line, "ratelimit").await, "-", "{path}");
        assert_eq!(header_of(&host, &line, "x-host").await, "1", "{path}");
    }
    assert_eq!(header_of(&host, "GET /", "x-frame-options").await, "-");
    assert_eq!(header_of(&host, "GET /", "x-host").await, "1");
    let preflight = "OPTIONS /api/users/7\norigin: http://localhost:3000\n\
                     access-control-request-method: GET";
    check(&host, preflight, "204").await;
}

#[tokio::test]
async fn each_client_has_its_own_limit() {
    let options = RouterOptions::new().rate_limit(RateLimit::from(1 / MINUTE));
    let host = host(api(options).to_axum_service().unwrap());
    let mut statuses = Vec::new();
    for peer in ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"] {
        let response = send(&host, request_from(peer, "GET /api")).await;
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses, [200, 429, 200]);
}

#[tokio::test]
async fn host_options_override_router_options() {
    let app = api(RouterOptions::new()).build().unwrap();
    let options = HostOptions::new().max_body_size(2);
    let host = host(AxumService::new(app).with_options(options).unwrap());
    let echo = "POST /api/echo\ncontent-type: application/json\n\n[1]";
    check(&host, echo, r#"413 {"error":"Request body too large"}"#).await;
}

#[tokio::test]
async fn response_extensions_contain_the_error() {
    let host = default_host();
    let response = send(&host, request_from("192.0.2.1:1", "GET /api/broken")).await;
    let error = response.extensions().get::<ApiError>().unwrap();
    assert_eq!((error.status(), error.message()), (500, "the disk is full"));
    assert_eq!(show(response).await, r#"500 {"error":"Internal Server Error"}"#);
}

/// A body type that does not come from a library, with chunks that are not
/// `Bytes`.
struct OwnBody(Vec<&'static [u8]>);

impl http_body::Body for OwnBody {
    type Data = std::collections::VecDeque<u8>;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let piece = self.0.pop();
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece.to_vec().into()))))
    }
}

/// The public API must not name a body type of hyper.
#[tokio::test]
async fn accepts_any_body_type() {
    async fn ask<S>(mut service: S) -> Response
    where
        S: Service<Request<OwnBody>, Response = Response, Error = std::convert::Infallible>,
    {
        let request = Request::post("/echo").header("content-type", "application/json");
        service.call(request.body(OwnBody(vec![b"]", b"[1"])).unwrap()).await.unwrap()
    }
    let app: App = api(RouterOptions::new()).build().unwrap();
    for response in [ask(app.clone()).await, ask(AxumService::new(app)).await] {
        assert_eq!(response.body().as_bytes(), Some(&b"[1]"[..]));
    }
}
