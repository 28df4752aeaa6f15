//! Rows for named parts of a route: router stages, and helpers that clients do
//! not notice.

use serde::{Deserialize, Serialize};
use stockade::RouteDocs;
use stockade::mcp::Mcp;
use stockade::middleware::{
    ErrorReply, Metrics, RateLimit, with_body_hooks, with_logging, with_metrics, with_request_id,
    with_serialization, with_tracing,
};
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Operation, Resource};
use stockade::serialization::SerializationOptions;

use super::{Row, quiet, row};

async fn text() -> &'static str {
    "text"
}

async fn broken() -> Result<&'static str, ApiError> {
    Err(ApiError::conflict())
}

const GET: &str = "GET /x/7";

/// A part, a row, and the status of the response.
type Case = (&'static str, Row, u16);

fn stages() -> Vec<Case> {
    fn teapot(error: &mut ErrorReply) {
        error.set_status(StatusCode::IM_A_TEAPOT);
    }
    let deprecated = {
        let mut router = Router::with_options(quiet());
        router.get("/x/:id", text).docs(RouteDocs::new("x").deprecated_since("2026-11-30"));
        Row { app: router.build().unwrap(), request: GET.to_owned(), bytes: None }
    };
    let limited = row!(quiet().rate_limit(RateLimit::from(1 / MINUTE)), [], text, GET);
    limited.send();
    let origin = format!("{GET}\norigin: https://app.example");
    vec![
        ("CORS", row!(quiet().cors_origin(["https://app.example"]), [], text, origin), 200),
        ("request id", row!(quiet().request_id(with_request_id()), [], text, GET), 200),
        ("rate limit", limited, 429),
        ("routing", constrained(), 404),
        ("error_handling", row!(quiet().error_handling(teapot), [], broken, GET), 418),
        ("validation", row!([], async |_: Path<u8>| "x", "GET /x/256"), 400),
        ("body", row!([], async |_: Body<String>| "x", "POST /x/7\ncontent-type: a/b\n\nx"), 415),
        ("server", row!([], async || -> &'static str { panic!("x") }, GET), 500),
        ("deprecation", deprecated, 200),
        ("user_required", members_alone(), 401),
        ("mcp_origin", endpoint_for_agents(), 403),
    ]
}

/// A resource that requires a user although its middleware does not, with an
/// unauthenticated request.
fn members_alone() -> Row {
    #[derive(Clone, Deserialize, Serialize, Schema)]
    struct Note {
        id: i64,
    }
    impl Entity for Note {
        type Id = i64;
    }
    let signed_in = with_auth(Auth::verify(|_: &Request| None::<String>).required(false));
    let notes = Resource::new("note", MemoryStore::<Note>::new());
    let notes = notes.only([Operation::Get]).read(Access::user(&signed_in));
    let api = routes! { "x": { ..notes.routes() } };
    let app = create_router(api, quiet()).build().unwrap();
    Row { app, request: GET.to_owned(), bytes: None }
}

/// The endpoint for agents, with a request from a page of another origin.
fn endpoint_for_agents() -> Row {
    let mcp = Mcp::new("x", "1").routes();
    let api = routes! { "x/:id": { public: "an example", ..mcp } };
    let app = create_router(api, quiet()).build().unwrap();
    Row { app, request: "POST /x/7\norigin: https://evil.test".to_owned(), bytes: None }
}

/// A route that accepts only numbers, with a request that contains text.
fn constrained() -> Row {
    let mut router = Router::with_options(quiet());
    router.get(r"/x/:id(\d+)", text);
    Row { app: router.build().unwrap(), request: "GET /x/seven".to_owned(), bytes: None }
}

fn unseen() -> Vec<Case> {
    vec![
        ("with_body_hooks", row!([with_body_hooks()], text, GET), 200),
        ("with_logging", row!([with_logging()], text, GET), 200),
        ("with_metrics", row!([with_metrics(Metrics::new())], text, GET), 200),
        (
            "with_serialization",
            row!([with_serialization(SerializationOptions::new())], text, GET),
            200,
        ),
        ("with_tracing", row!([with_tracing()], text, GET), 200),
    ]
}

/// Returns the parts that have rows here.
pub(super) fn names() -> Vec<String> {
    stages().into_iter().chain(unseen()).map(|(part, ..)| part.to_owned()).collect()
}

#[test]
fn each_stage_responds_as_described() {
    let known = told(&row!([], text, GET).app, 200);
    for (part, row, status) in stages() {
        let response = row.send();
        assert_eq!(response.status().as_u16(), status, "{part}");
        row.check_document(&response);
        let map = row.app.route_map();
        let is_giver = map.routes[0].answers.iter().any(|answer| answer.by == part);
        let mut added = told(&row.app, status).into_iter().filter(|name| !known.contains(name));
        let is_sent = added.any(|name| response.header(&name.to_lowercase()).is_some());
        assert!(is_giver || is_sent, "{part} gives nothing");
    }
}

/// Returns the headers that the map lists for a status.
fn told(app: &App, status: u16) -> Vec<String> {
    let map = app.route_map();
    let answers = map.routes[0].answers.iter().filter(|it| it.status == status);
    answers.flat_map(|answer| &answer.headers).map(|header| header.name.to_string()).collect()
}

/// Helpers without a description change neither the map nor the response.
#[test]
fn invisible_helpers_do_not_change_the_description() {
    let bare = row!([], text, GET);
    let (expected, answer) = (bare.app.route_map(), bare.send());
    for (part, row, status) in unseen() {
        let response = row.send();
        assert_eq!(response.status().as_u16(), status, "{part}");
        assert_eq!(response.headers(), answer.headers(), "{part}");
        row.check_document(&response);
        let map = row.app.route_map();
        assert_eq!(map.routes[0].answers, expected.routes[0].answers, "{part}");
        assert_eq!(map.routes[0].headers, expected.routes[0].headers, "{part}");
    }
}
