//! Router stages: their responses and headers, and the error formats.

use stockade::middleware::{
    ErrorHandlerOptions, ErrorReply, RateLimit, RequestIds, with_error_handling, with_request_id,
};
use stockade::prelude::*;
use stockade::routing::map::BodyDoc;

use super::{Row, quiet, row};

async fn text() -> &'static str {
    "text"
}

async fn broken() -> Result<&'static str, ApiError> {
    Err(ApiError::conflict())
}

async fn number(Path(_): Path<u64>) -> &'static str {
    "number"
}

async fn body(Body(text): Body<String>) -> String {
    text
}

/// Sends the request two times and checks the second response against the
/// document.
#[track_caller]
fn check(row: &Row, status: u16, headers: &[&str]) {
    row.send();
    let response = row.send();
    assert_eq!(response.status().as_u16(), status, "{}", row.request);
    for name in headers {
        assert!(response.header(name).is_some(), "{}: {name}", row.request);
    }
    row.check_document(&response);
}

#[test]
fn the_rate_limit_of_the_router_is_described() {
    let limited = |limit: RateLimit| quiet().rate_limit(limit);
    let names = ["ratelimit", "ratelimit-policy"];
    let refused = ["ratelimit", "ratelimit-policy", "retry-after"];
    let legacy = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];
    let (few, many) = (|| RateLimit::from(1 / MINUTE), || RateLimit::from(9 / MINUTE));
    check(&row!(limited(few()), [], text, "GET /x/7"), 429, &refused);
    check(&row!(limited(few().legacy_headers(true)), [], text, "GET /x/7"), 429, &legacy);
    check(&row!(limited(many()), [], text, "GET /x/7"), 200, &names);
    check(&row!(limited(many().legacy_headers(true)), [], text, "GET /x/7"), 200, &legacy);
    check(&row!(limited(many()), [], broken, "GET /x/7"), 409, &names);
    check(&row!(limited(many()), [], number, "GET /x/seven"), 400, &names);
    let large = format!("POST /x/7\n\n{}", "a".repeat(200));
    check(&row!(limited(many()), [], body, large), 413, &names);
    check(&row!(limited(many()), [], body, "POST /x/7\ncontent-type: a/b\n\nx"), 415, &names);
}

#[test]
fn cors_is_described_by_its_rules() {
    let origin = "GET /x/7\norigin: https://app.example";
    let all = || quiet().cors_origin("*");
    let names = ["access-control-allow-origin", "access-control-expose-headers"];
    check(&row!(all(), [], text, origin), 200, &names);
    check(&row!(all(), [], broken, "GET /x/7"), 409, &names);
    let listed = || quiet().cors_origin(["https://app.example", "https://b.example"]);
    let names = ["access-control-allow-origin", "access-control-allow-credentials", "vary"];
    check(&row!(listed(), [], text, origin), 200, &names);
    check(&row!(listed(), [], text, "GET /x/7\norigin: https://evil.example"), 200, &["vary"]);
    check(&row!(listed(), [], broken, "GET /x/7"), 409, &["vary"]);
}

#[test]
fn ids_of_requests_are_described() {
    let ids = |ids: RequestIds| quiet().request_id(ids);
    check(&row!(ids(with_request_id()), [], text, "GET /x/7"), 200, &["x-request-id"]);
    check(&row!(ids(with_request_id()), [], number, "GET /x/seven"), 400, &["x-request-id"]);
    let traced = ["x-request-id", "traceparent"];
    check(&row!(ids(with_request_id().begin_traces(true)), [], broken, "GET /x/7"), 409, &traced);
}

#[derive(serde::Serialize, Schema)]
struct Failed {
    reason: String,
}

fn reason(error: &mut ErrorReply) {
    let reason = error.message().to_owned();
    error.set_json(Failed { reason });
}

fn described() -> ErrorHandlerOptions {
    ErrorHandlerOptions::new().reply(reason).form::<Failed>()
}

/// Returns rows for the errors of all parts of a route.
fn errors(options: &dyn Fn() -> RouterOptions) -> Vec<(Row, u16)> {
    let few = || options().rate_limit(RateLimit::from(1 / MINUTE));
    let user = with_auth(|_: String| None::<String>);
    vec![
        (row!(options(), [], broken, "GET /x/7"), 409),
        (row!(options(), [], number, "GET /x/seven"), 400),
        (row!(options(), [], body, format!("POST /x/7\n\n{}", "a".repeat(200))), 413),
        (row!(options(), [], body, "POST /x/7\ncontent-type: a/b\n\nx"), 415),
        (row!(options(), [user], text, "GET /x/7"), 401),
        (row!(options(), [], async || -> &'static str { panic!("x") }, "GET /x/7"), 500),
        (row!(few(), [], text, "GET /x/7"), 429),
    ]
}

#[test]
fn a_custom_error_format_is_not_described_as_built_in() {
    let described = || quiet().error_handling(described());
    let unknown = || quiet().error_handling(reason);
    let changed = || {
        let options = ErrorHandlerOptions::new().transform(|_, _| json!(["broken"]));
        quiet().error_handling(options)
    };
    let problems = || quiet().problem_details(true);
    let own_problems = || described().problem_details(true);
    let all: [&dyn Fn() -> RouterOptions; 5] =
        [&described, &unknown, &changed, &problems, &own_problems];
    for options in all {
        for (row, status) in errors(options) {
            check(&row, status, &[]);
        }
    }
}

#[test]
fn the_innermost_error_format_counts() {
    let inner = with_error_handling(described());
    let user = || with_auth(|_: String| None::<String>);
    let behind = row!([inner.clone(), user()], text, "GET /x/7");
    let before = row!([user(), inner], text, "GET /x/7");
    let form = |row: &Row| {
        let map = row.app.route_map();
        let mut answers = map.routes[0].answers.iter();
        answers.find(|answer| answer.status == "401").unwrap().body.clone()
    };
    assert!(matches!(form(&behind), BodyDoc::Content(_)));
    assert_eq!(form(&before), BodyDoc::Error);
    check(&behind, 401, &["www-authenticate"]);
    check(&before, 401, &["www-authenticate"]);
}

#[test]
fn the_error_format_of_an_entry_applies_to_its_stages() {
    let mut router = Router::with_options(quiet().rate_limit(RateLimit::from(1 / MINUTE)));
    router.get("/x/:id", text).error_handling(described());
    let row = Row { app: router.build().unwrap(), request: "GET /x/7".to_owned(), bytes: None };
    check(&row, 429, &["retry-after"]);
    let map = row.app.route_map();
    assert!(map.schemas.contains_key("Failed"));
}

#[test]
fn nodes_and_groups_can_have_separate_error_formats() {
    let api = routes! {
        "x": { error_handling: described(), ":id": { GET: broken } },
        "y": { GET: broken },
    };
    let app = create_router(api, quiet()).build().unwrap();
    let row = Row { app, request: "GET /x/7".to_owned(), bytes: None };
    check(&row, 409, &[]);
    let map = row.app.route_map();
    let y = map.routes.iter().find(|route| route.path == "/y").unwrap();
    assert!(
        y.answers
            .iter()
            .all(|answer| !matches!(answer.body, BodyDoc::Content(_)) || answer.status == "200")
    );

    let mut router = Router::with_options(quiet());
    router.group("/x", (), |group| {
        group.error_handling(reason);
        group.get("/:id", broken);
    });
    let row = Row { app: router.build().unwrap(), request: "GET /x/7".to_owned(), bytes: None };
    check(&row, 409, &[]);
}
