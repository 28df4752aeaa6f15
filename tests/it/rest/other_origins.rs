//! CORS: the headers that other origins may send to a resource.

use stockade::http::Method;
use stockade::middleware::with_cors;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Resource};
use stockade::routing::HostRoutes;
use stockade::testing::TestClient;

use crate::support::{block_on, request};

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Note {
    id: i64,
    text: String,
}

impl Entity for Note {
    type Id = i64;
}

fn notes() -> RouteTree {
    let open = || Access::public("a test");
    let notes = Resource::new("note", MemoryStore::<Note>::new());
    notes.require_if_match(true).read(open()).write(open()).routes()
}

const PAGE: &str = "http://localhost:3000";
const USUAL: &str = "Content-Type, Authorization";
const READ: &str = "Content-Type, Authorization, If-None-Match, If-Match";
const WRITE: &str = "Content-Type, Authorization, If-Match, If-None-Match, Prefer";
const CREATE: &str = "Content-Type, Authorization, Prefer";

/// Cross-origin requests, and the headers that they may contain.
const ASKED: [(&str, &str, &str); 6] = [
    ("PATCH", "/notes/1", WRITE),
    ("GET", "/notes/1", READ),
    ("POST", "/notes", CREATE),
    ("POST", "/other", USUAL),
    ("POST", "/notes/1", USUAL),
    ("PUT", "/nowhere", USUAL),
];

fn preflight(method: &str, place: &str, origin: &str) -> Request {
    request(&format!("OPTIONS {place}\norigin: {origin}\naccess-control-request-method: {method}"))
}

/// Returns the allowed headers from the response to a preflight.
async fn allowed(client: &TestClient, method: &str, place: &str, origin: &str) -> String {
    let request = client.request(Method::OPTIONS, place).header("origin", origin);
    let answer = request.header("access-control-request-method", method).await;
    answer.header("access-control-allow-headers").unwrap_or_default()
}

#[test]
fn listed_origins_may_send_conditions() {
    let api = routes! { "notes": { ..notes() }, "other": { POST: async || "" } };
    let client = TestClient::new(create_router(api, RouterOptions::new()));
    block_on(async {
        for (method, place, expected) in ASKED {
            assert_eq!(allowed(&client, method, place, PAGE).await, expected, "{method} {place}");
        }
    });
}

#[test]
fn an_unlisted_origin_gets_no_headers() {
    let options = RouterOptions::new().cors_origin(["https://a.example"]);
    let client = TestClient::new(create_router(routes! { "notes": { ..notes() } }, options));
    block_on(async {
        assert_eq!(allowed(&client, "PUT", "/notes/1", "https://evil.example").await, "");
        assert_eq!(allowed(&client, "PUT", "/notes/1", "https://a.example").await, WRITE);
    });
}

/// A router with a resource that has its own CORS rules.
fn with_own_rules(is_enabled: bool) -> Router {
    let api = routes! {
        "notes": { middleware: [with_cors([PAGE])], ..notes() },
        "other": { middleware: [with_cors([PAGE])], POST: async || "" },
        "bare": { ..notes() },
    };
    create_router(api, RouterOptions::new().cors(is_enabled))
}

#[test]
fn cors_rules_of_the_route_allow_conditions() {
    for is_enabled in [true, false] {
        let client = TestClient::new(with_own_rules(is_enabled));
        block_on(async {
            assert_eq!(allowed(&client, "PATCH", "/notes/1", PAGE).await, WRITE, "{is_enabled}");
            assert_eq!(allowed(&client, "POST", "/other", PAGE).await, USUAL, "{is_enabled}");
            let evil = allowed(&client, "PATCH", "/notes/1", "https://evil.example").await;
            assert_eq!(evil, "", "{is_enabled}");
        });
    }
}

#[test]
fn a_host_with_the_routes_responds_the_same() {
    let routes = HostRoutes::build(with_own_rules(true)).unwrap();
    let allowed = async |method: &str, place: &str, origin: &str| {
        let answer = routes.handle(preflight(method, place, origin)).await;
        let headers = answer.headers().get("access-control-allow-headers");
        headers.map(|names| names.to_str().unwrap().to_owned()).unwrap_or_default()
    };
    block_on(async {
        for (method, place, expected) in
            ASKED.into_iter().filter(|(_, place, _)| *place != "/nowhere")
        {
            let expected = if place == "/notes/1" && method == "POST" { "" } else { expected };
            assert_eq!(allowed(method, place, PAGE).await, expected, "{method} {place}");
        }
        // The host's rules apply to routes without their own rules.
        assert_eq!(allowed("PATCH", "/bare/1", PAGE).await, "");
        assert_eq!(allowed("PATCH", "/notes/1", "https://evil.example").await, "");
    });
}
