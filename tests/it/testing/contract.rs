//! Checks of responses against the map, with correct handlers and with handlers
//! that violate their description.

use std::time::Duration;

use stockade::description::{HeaderDoc, ResponseDoc, StatusDoc};
use stockade::http::{self, HeaderValue, header};
use stockade::middleware::health::Readiness;
use stockade::prelude::*;
use stockade::reply::{Event, Sse};
use stockade::routing::health_routes;
use stockade::testing::{Contract, TestClient};
use stockade::{HttpBody, RouteDescription, RouteDocs};

use crate::support::{block_on, panic_of};

#[derive(Clone, serde::Serialize, Schema)]
struct Tea {
    #[schema(max_length = 10)]
    name: String,
    grams: u32,
    leaf: Option<Box<Leaf>>,
}

#[derive(Clone, serde::Serialize, Schema)]
struct Leaf {
    #[schema(format = "date")]
    picked: String,
}

/// A reply that promises a [`Tea`] but sends something else.
struct Lie(Response);

impl Reply for Lie {
    fn into_response(self) -> Result<Response, ApiError> {
        Ok(self.0)
    }

    fn describe(doc: &mut RouteDescription) {
        let batch = HeaderDoc::new("X-Batch", "The batch");
        doc.responds(ResponseDoc::json::<Tea>(200).header(batch));
        doc.responds(ResponseDoc::new(204).meaning("There is none"));
        doc.may_respond(409, "It is sold out");
    }
}

fn lie(status: u16, media_type: &'static str, body: &str) -> Response {
    let mut response = Response::new(body.to_owned().into());
    *response.status_mut() = StatusCode::from_u16(status).unwrap();
    response.headers_mut().insert("x-batch", HeaderValue::from_static("7"));
    if !media_type.is_empty() {
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    }
    response
}

/// Returns the text of the contract violation that this response causes, or an
/// empty string.
fn breach(status: u16, media_type: &'static str, body: &'static str) -> String {
    breach_of(move || Lie(lie(status, media_type, body)))
}

fn breach_of<R: Reply + 'static>(answer: impl Fn() -> R + Copy + Send + Sync + 'static) -> String {
    let mut router = Router::new();
    router.get("/teas/:id", move || async move { answer() });
    let client = TestClient::new(router).with_contract();
    let outcome = block_on(client.get("/teas/7").try_send());
    outcome.map_or_else(|error| error.to_string(), |_| String::new())
}

#[track_caller]
fn assert_breaks(status: u16, media_type: &'static str, body: &'static str, expected: &str) {
    let text = breach(status, media_type, body);
    assert!(text.contains(expected), "{text}");
    assert!(
        text.contains("the contract of GET /teas/:id (tests/it/testing/contract.rs:"),
        "{text}"
    );
    assert!(text.contains("> GET /teas/7") && text.contains("200: application/json"), "{text}");
}

const JSON: &str = "application/json";

#[test]
fn a_listed_response_satisfies_the_contract() {
    let tea = r#"{"name":"Assam","grams":50,"leaf":{"picked":"2026-05-01"}}"#;
    assert_eq!(breach(200, JSON, tea), "");
    assert_eq!(breach(200, "Application/JSON; charset=utf-8", tea), "");
    assert_eq!(breach(409, JSON, r#"{"error":"sold out"}"#), "");
    assert_eq!(breach(204, "", ""), "");
}

#[test]
fn an_unlisted_response_violates_the_contract() {
    let tea = r#"{"name":"Assam","grams":50,"leaf":null}"#;
    assert_breaks(201, JSON, tea, "the status 201 is not listed");
    let html = "expected the media type application/json, found text/html";
    assert_breaks(200, "text/html", tea, html);
    assert_breaks(200, "", tea, "the Content-Type is missing, expected application/json");
    assert_breaks(409, "text/plain", "sold out", "found text/plain");
    assert_breaks(409, JSON, r#"{"message":"sold out"}"#, "\"error\" is a required property");
}

#[test]
fn a_body_that_mismatches_its_schema_violates_the_contract() {
    let missing = r#"{"name":"Assam","leaf":null}"#;
    assert_breaks(200, JSON, missing, "the body: \"grams\" is a required property");
    let long = r#"{"name":"Darjeeling","grams":50,"leaf":null}"#;
    assert_eq!(breach(200, JSON, long), "");
    let longer = r#"{"name":"Darjeelings","grams":50,"leaf":null}"#;
    assert_breaks(200, JSON, longer, "`/name`: the value is longer than 10 characters");
    let negative = r#"{"name":"Assam","grams":-1,"leaf":null}"#;
    assert_breaks(200, JSON, negative, "`/grams`: the value is less than the minimum of 0");
    let in_reference = r#"{"name":"Assam","grams":50,"leaf":{"picked":"in May"}}"#;
    assert_breaks(200, JSON, in_reference, "`/leaf`");
    assert_breaks(200, JSON, "{", "the body is not JSON");
    assert_breaks(200, JSON, "", "the body is not JSON");
}

#[test]
fn a_required_header_must_be_present() {
    let text = breach_of(|| {
        let mut response = lie(200, JSON, r#"{"name":"Assam","grams":50,"leaf":null}"#);
        response.headers_mut().remove("x-batch");
        Lie(response)
    });
    assert!(
        text.contains("the header X-Batch is missing, but the map lists it as always present"),
        "{text}"
    );
    assert!(
        text.contains("200: application/json, with X-Batch, Access-Control-Allow-Origin"),
        "{text}"
    );
}

#[test]
fn a_status_class_and_the_default_list_statuses() {
    struct Any(u16);
    impl Reply for Any {
        fn into_response(self) -> Result<Response, ApiError> {
            Ok(lie(self.0, "text/plain", "x"))
        }

        fn describe(doc: &mut RouteDescription) {
            doc.responds(ResponseDoc::text(StatusDoc::Class(2), "text/plain"));
            doc.responds(ResponseDoc::unknown(StatusDoc::Default));
        }
    }
    assert_eq!(breach_of(|| Any(203)), "");
    assert_eq!(breach_of(|| Any(404)), "");
    // The exact status has priority: the server's own error is JSON.
    assert!(breach_of(|| Any(500)).contains("found text/plain"));
}

/// A failure with a dynamic status is an error if the status is 400 or higher,
/// and a reply otherwise.
#[test]
fn an_error_with_a_dynamic_status_satisfies_the_contract() {
    type Outcome<E> = Result<&'static str, E>;
    let status = |code: u16| StatusCode::from_u16(code).unwrap();
    for code in [202, 302, 304, 404, 503] {
        assert_eq!(breach_of(move || Outcome::Err((status(code), "why"))), "", "{code}");
        assert_eq!(breach_of(move || Outcome::Err((status(code), "why".to_owned()))), "");
        assert_eq!(breach_of(move || Outcome::Err(status(code))), "", "{code}");
    }
}

#[test]
fn docs_determine_the_success_status() {
    let with_docs = |docs: RouteDocs, status: StatusCode| {
        let mut router = Router::new();
        router.get("/", async move || (status, Json(7))).docs(docs);
        let client = TestClient::new(router).with_contract();
        block_on(client.get("/").try_send()).is_ok()
    };
    let created = || RouteDocs::new("New").response(201, "It is there");
    assert!(with_docs(RouteDocs::default(), StatusCode::OK));
    assert!(with_docs(created(), StatusCode::CREATED));
    assert!(!with_docs(created(), StatusCode::OK));
}

#[test]
fn responses_without_a_route_are_not_checked() {
    let mut router = Router::with_options(RouterOptions::new().cors_origin("https://a.example"));
    router.get("/", async || "x");
    router.fallback(async || (StatusCode::IM_A_TEAPOT, "x"));
    let client = TestClient::new(router).with_contract();
    block_on(async {
        client.get("/nowhere").await.assert_status(418);
        client.post("/").await.assert_status(405);
        let preflight = client.options("/").header("origin", "https://a.example");
        preflight.header("access-control-request-method", "GET").await.assert_status(204);
        client.get("/").body(vec![0; 2_000_000]).await.assert_status(413);
        client.head("/").await.assert_status(200).assert_empty();
    });
}

#[test]
fn an_unread_stream_is_checked_only_by_its_head() {
    let mut router = Router::new();
    router.get("/lies", async || {
        let pieces = futures_util::stream::iter([Ok::<_, BoxError>("{")]);
        let mut response = lie(200, JSON, "");
        *response.body_mut() = HttpBody::stream(pieces);
        Lie(response)
    });
    router.get("/events", async || {
        Sse::new(futures_util::stream::pending::<Result<Event, BoxError>>())
    });
    router.get("/wrong", async || Lie(lie(202, JSON, "{}")));
    let client = TestClient::new(router).with_contract().with_timeout(Duration::from_secs(5));
    block_on(async {
        let stream = client.get("/lies").stream().await;
        stream.assert_status(200);
        client.get("/events").stream().await.assert_header("content-type", "text/event-stream");
        let lies = client.get("/lies").try_send().await.unwrap_err();
        assert!(lies.to_string().contains("the body is not JSON"), "{lies}");
        let task = tokio::spawn(async move { client.get("/wrong").stream().await.status() });
        assert!(task.await.unwrap_err().is_panic());
    });
}

#[test]
fn a_secret_is_not_printed() {
    let text = breach_of(|| {
        Lie(lie(200, JSON, r#"{"name":"Assam","grams":"s3cret-value","token":"s3cret-too"}"#))
    });
    assert!(text.contains("`/grams`: the value is not of type \"integer\""), "{text}");
    assert!(!text.contains("s3cret-too"), "{text}");
}

#[tokio::test]
async fn an_application_is_called_through_its_contract() {
    let mut router = Router::new();
    router.get("/right", async || Json(7));
    router.get("/wrong", async || Lie(lie(202, JSON, "{}")));
    let contract = Contract::of(&router.build().unwrap());
    let request = |path: &str| http::Request::get(path).body(()).unwrap();
    let response = contract.handle(request("/right")).await;
    assert_eq!(response.body().as_bytes(), Some(&b"7"[..]));

    let (head, ()) = request("/wrong").into_parts();
    let (answer, ()) = http::Response::builder().status(418).body(()).unwrap().into_parts();
    let error = contract.check_head(&head, &answer).unwrap_err();
    assert_eq!(error.route(), "GET /wrong");
    assert!(error.location().file.ends_with("contract.rs"));
    assert!(error.faults().iter().any(|fault| fault == "the status 418 is not listed"));
    // The response does not have any of the router's headers.
    assert!(error.faults().len() > 1, "{error}");

    let wrong = tokio::spawn(contract.handle(request("/wrong")));
    let panic = wrong.await.unwrap_err().into_panic();
    let text = panic.downcast_ref::<String>().unwrap();
    assert!(text.contains("the status 202 is not listed"), "{text}");
    assert!(
        text.contains("> GET /wrong") && text.contains("sent at tests/it/testing/contract.rs:"),
        "{text}"
    );
}

#[test]
fn undescribed_middleware_can_send_unlisted_responses() {
    fn paid(req: &mut Request) -> Result<(), ApiError> {
        match req.query()?.get("status").and_then(Value::as_str) {
            Some("402") => Err(ApiError::new(402, "there is no credit")),
            _ => Ok(()),
        }
    }
    let mut router = Router::new();
    router.get("/", async || Lie(lie(200, JSON, "{}"))).middleware(paid);
    let client = TestClient::new(router).with_contract();
    block_on(async {
        client.get("/?status=402").await.assert_status(402);
        let lies = client.get("/").try_send().await.unwrap_err().to_string();
        assert!(
            lies.contains("middleware without a description") && lies.contains("paid"),
            "{lies}"
        );
    });
}

#[tokio::test]
async fn the_contract_covers_web_socket_handshakes() {
    let api = routes! { "chat": { WS: async |_: WebSocket| {} } };
    let client = TestClient::new(create_router(api, RouterOptions::new().enable_web_sockets(true)))
        .with_contract();
    client.websocket("/chat").connect().await;
    let refused = client.websocket("/chat").origin("https://evil.example").refused().await;
    refused.assert_status(403);
    client.get("/chat").await.assert_status(426);
}

#[test]
fn a_live_server_has_no_contract() {
    let message = panic_of(|| drop(TestClient::live("http://127.0.0.1:9").with_contract()));
    assert!(message.contains("cannot create a contract for a live server"), "{message}");
}

#[test]
fn other_options_make_another_contract() {
    let mut router = Router::new();
    router.get("/", async || Err::<(), _>(ApiError::new(400, "no")));
    let options = stockade::HostOptions::new().expose_errors(true);
    let client = TestClient::new(router).with_contract().with_host_options(options);
    block_on(client.get("/").send()).assert_error("no");
}

#[tokio::test]
async fn a_degraded_health_response_satisfies_the_contract() {
    let away = || Some(Duration::from_secs(1));
    let readiness = Readiness::new().details(true).watching("redis", away);
    let api = RouteTree::new().spread(health_routes());
    let router = create_router(api, RouterOptions::new()).state(readiness.clone());
    let client = TestClient::new(router).with_contract();
    let answer = client.get("/health/ready").await;
    answer.assert_status(200).assert_json(json!({ "status": "ok", "degraded": ["redis"] }));
    readiness.set(false);
    let answer = client.get("/health/ready").await;
    answer
        .assert_status(503)
        .assert_json(json!({ "status": "unavailable", "degraded": ["redis"] }));
}
