//! Error responses: sent messages, hidden messages and log lines.
// Spec: Errors.

use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use stockade::HostOptions;
use stockade::prelude::*;
use stockade::reply::{ResponseWriter, Streamed};
use stockade::routing::HostRoutes;

use crate::support::log;
use crate::support::{app, app_of, block_on, check, header_of, request, show};

async fn plain() -> Result<(), BoxError> {
    Err("db-7.internal refused the password".into())
}

async fn detailed() -> Result<(), ApiError> {
    Err(ApiError::new(422, "no").with_details(json!({ "why": 1 })).with_header("x-why", "1"))
}

fn api() -> RouteTree {
    routes! {
        "plain": { GET: plain },
        "panic": { GET: async || -> () { panic!("at the db-7 disco") } },
        "unavailable": { GET: async || Err::<(), _>(ApiError::new(503, "db-7 is down")) },
        "detailed": { GET: detailed },
        "classes": {
            "401": { GET: async || Err::<(), _>(ApiError::authentication()) },
            "403": { GET: async || Err::<(), _>(ApiError::authorization()) },
            "404": { GET: async || Err::<(), _>(ApiError::not_found()) },
            "409": { GET: async || Err::<(), _>(ApiError::conflict()) },
        },
    }
}

#[test]
fn messages_of_4xx_are_sent_with_their_details() {
    let app = app_of(api());
    check(&app, "GET /detailed", r#"422 {"error":"no","details":{"why":1}}"#);
    assert_eq!(header_of(&app, "GET /detailed", "x-why"), "1");
    check(&app, "GET /classes/401", r#"401 {"error":"Authentication required"}"#);
    check(&app, "GET /classes/403", r#"403 {"error":"Access denied"}"#);
    check(&app, "GET /classes/404", r#"404 {"error":"Resource not found"}"#);
    check(&app, "GET /classes/409", r#"409 {"error":"Resource conflict"}"#);
}

#[test]
fn messages_of_5xx_are_hidden_unless_exposed() {
    let hidden = app_of(api());
    check(&hidden, "GET /plain", r#"500 {"error":"Internal Server Error"}"#);
    check(&hidden, "GET /panic", r#"500 {"error":"Internal Server Error"}"#);
    check(&hidden, "GET /unavailable", r#"503 {"error":"Service Unavailable"}"#);

    let exposed = app(create_router(api(), RouterOptions::new().expose_errors(true)));
    check(&exposed, "GET /plain", r#"500 {"error":"db-7.internal refused the password"}"#);
    check(&exposed, "GET /panic", r#"500 {"error":"panicked: at the db-7 disco"}"#);
    check(&exposed, "GET /unavailable", r#"503 {"error":"db-7 is down"}"#);

    // Host options override router options.
    let hidden = exposed.with_options(HostOptions::new().expose_errors(false)).unwrap();
    check(&hidden, "GET /plain", r#"500 {"error":"Internal Server Error"}"#);
}

#[test]
fn each_5xx_is_logged_once_with_its_route_and_causes() {
    log::watch();
    #[derive(Debug, ApiError)]
    enum Failure {
        #[status(500, "cannot read the unique-marker-1 table")]
        Read { source: std::io::Error },
    }
    async fn fails() -> Result<(), Failure> {
        Err(Failure::Read { source: std::io::Error::other("disk on fire") })
    }
    let app = app_of(routes! { "logged/:id": { GET: fails } });
    check(&app, "GET /logged/7?token=secret", r#"500 {"error":"Internal Server Error"}"#);
    let lines = log::lines_with("unique-marker-1");
    let expected = "ERROR GET /logged/:id (/logged/7): 500 cannot read the unique-marker-1 table: disk on fire";
    assert_eq!(lines, [expected]);
}

#[test]
fn a_nan_float_is_a_logged_500() {
    log::watch();
    let app = app_of(routes! {
        "nan": { GET: async || Json(f32::NAN) },
        "infinite": { GET: async || Json(Some(vec![1.0, f64::INFINITY])) },
    });
    for path in ["nan", "infinite"] {
        // The schema promises a number, so `null` would be wrong.
        check(&app, &format!("GET /{path}"), HIDDEN);
        let lines = log::lines_with(&format!("ERROR GET /{path}"));
        assert!(lines[0].contains("which JSON cannot represent"), "{lines:?}");
        assert_eq!(lines.len(), 1);
    }
}

#[test]
fn aborted_responses_are_logged_with_their_route() {
    log::watch();
    async fn stream() -> Streamed {
        Streamed::new(futures_util::stream::iter([Ok("a"), Err(BoxError::from("marker-2"))]))
    }
    async fn panics(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.write("begun").await?;
        panic!("marker-3")
    }
    async fn client_error(mut res: ResponseWriter) -> Result<(), ApiError> {
        res.write("begun").await?;
        Err(ApiError::new(400, "marker-4"))
    }
    let app = app_of(routes! {
        "late/:id": { GET: stream, POST: panics, PUT: client_error },
    });
    check(&app, "GET /late/7", "200 a<error>");
    check(&app, "POST /late/7", "200 begun<error>");
    check(&app, "PUT /late/7", "200 begun<error>");
    let expected = ["ERROR GET /late/:id (/late/7): response aborted: marker-2"];
    assert_eq!(log::lines_with("marker-2"), expected);
    let expected = ["ERROR POST /late/:id (/late/7): response aborted: panicked: marker-3"];
    assert_eq!(log::lines_with("marker-3"), expected);
    let expected = ["ERROR PUT /late/:id (/late/7): response aborted: marker-4"];
    assert_eq!(log::lines_with("marker-4"), expected);
}

#[test]
fn problem_details_are_an_option() {
    let options = RouterOptions::new().problem_details(true).expose_errors(false);
    let app = app(create_router(api(), options));
    let not_found = r#"404 {"type":"about:blank","title":"Not Found","status":404}"#;
    check(&app, "GET /nowhere", not_found);
    assert_eq!(header_of(&app, "GET /nowhere", "content-type"), "application/problem+json");
    let detailed = r#"422 {"type":"about:blank","title":"Unprocessable Content","status":422,"detail":"no","details":{"why":1}}"#;
    check(&app, "GET /detailed", detailed);
    let hidden = r#"500 {"type":"about:blank","title":"Internal Server Error","status":500}"#;
    check(&app, "GET /plain", hidden);
}

#[test]
fn not_found_errors_follow_the_settings_of_each_router() {
    for problem_details in [false, true, false, true] {
        let options = RouterOptions::new().problem_details(problem_details);
        let expected = if problem_details {
            r#"404 {"type":"about:blank","title":"Not Found","status":404}"#
        } else {
            r#"404 {"error":"Not Found"}"#
        };
        let app = app(create_router(api(), options));
        check(&app, "GET /nowhere", expected);
        check(&app, "GET /nowhere", expected);
    }
}

#[test]
fn the_process_survives_a_panic() {
    let app = app_of(api());
    for _ in 0..3 {
        check(&app, "GET /panic", r#"500 {"error":"Internal Server Error"}"#);
    }
    check(&app, "GET /detailed", r#"422 {"error":"no","details":{"why":1}}"#);
}

#[test]
fn node_env_exposes_messages_while_the_router_is_built() {
    // The environment is shared by the whole process, so this test runs itself
    // in a new process.
    if let Some(expected) = std::env::var_os("EXPECTED_BODY") {
        let router = |options| app(create_router(api(), options));
        check(&router(RouterOptions::new()), "GET /plain", expected.to_str().unwrap());
        // The option overrides the environment variable.
        let hidden = router(RouterOptions::new().expose_errors(false));
        check(&hidden, "GET /plain", HIDDEN);
        return;
    }
    let exposed = r#"500 {"error":"db-7.internal refused the password"}"#;
    for (node_env, expected) in [("development", exposed), ("Development", HIDDEN), ("", HIDDEN)] {
        let name = "errors::responses::node_env_exposes_messages_while_the_router_is_built";
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact"])
            .env("NODE_ENV", node_env)
            .env("EXPECTED_BODY", expected)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{node_env:?}: {text}");
        assert!(text.contains("1 passed"), "{text}");
    }
}

const HIDDEN: &str = r#"500 {"error":"Internal Server Error"}"#;

/// Polls a completed response future again. The second poll must return a 500
/// and log `line`.
#[track_caller]
fn check_again(mut answering: impl Future<Output = Response> + Unpin, first: &str, line: &str) {
    let mut poll = || {
        let mut cx = Context::from_waker(Waker::noop());
        match Pin::new(&mut answering).poll(&mut cx) {
            Poll::Ready(response) => block_on(show(response)),
            Poll::Pending => "pending".to_owned(),
        }
    };
    assert_eq!(poll(), first);
    let before = log::lines_with(line).len();
    assert_eq!(poll(), r#"500 {"error":"Internal Server Error"}"#);
    assert_eq!(log::lines_with(line).len(), before + 1, "{line}");
}

#[test]
fn an_internal_error_is_a_logged_500() {
    log::watch();
    let tree = routes! {
        "again": {
            "known": { GET: {
                middleware: [|_: &mut Request| "known"],
                handler: async || "handled",
            } },
            "handled": { GET: async || "handled" },
        },
    };
    let app = app_of(tree);
    let bug = "this is a bug in stockade: a finished response was polled again";
    let given = format!("ERROR {bug}");
    let of = |text| app.handle(request(text));
    check_again(of("GET /none"), r#"404 {"error":"Not Found"}"#, &given);
    check_again(of("POST /again/known"), r#"405 {"error":"Method Not Allowed"}"#, &given);
    check_again(of("OPTIONS /again/known"), "204", &given);
    let preflight = "OPTIONS /none\norigin: https://a.example\naccess-control-request-method: GET";
    check_again(of(preflight), "204", &given);
    // Middleware has responded, so the route is known.
    let known = format!("ERROR GET /again/known (/again/known): 500 {bug}");
    check_again(of("GET /again/known"), "200 known", &known);
    // The handler's own future panics.
    let handled = "ERROR GET /again/handled (/again/handled): 500 panicked";
    check_again(of("GET /again/handled"), "200 handled", handled);
    let routes = HostRoutes::new(&app);
    let not_found = r#"404 {"error":"Not Found"}"#;
    check_again(routes.handle(request("GET /none")), not_found, &given);
}
