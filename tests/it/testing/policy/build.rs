//! Policies when a router is built, in tests and as a table.

use stockade::errors::ConfigIssue;
use stockade::openapi::create_api_router;
use stockade::prelude::*;
use stockade::serde_json::Value;
use stockade::testing::{TestClient, assert_policy};

use super::*;
use crate::support::{command, panic_of};

fn open() -> RouteTree {
    routes! {
        "orders": { POST: async || "new" },
        "files": { "**": { GET: { handler: async || "", public: "a test" } } },
    }
}

fn policy() -> Policy {
    Policy::recommended().allow("wildcard-exposed", "GET /files/**", "the files\nhave any depth")
}

#[test]
fn the_build_fails_with_all_findings_at_once() {
    let policy = Policy::recommended().allow("errors-hidden", "router", "a test");
    let mut router = create_router(open(), RouterOptions::new()).policy(policy);
    router.inspect(|_| Err(ConfigIssue::new("mine").into()));
    let error = router.build().unwrap_err();
    let mistakes = error.issues();
    let routes: Vec<Option<&str>> = mistakes.iter().map(ConfigIssue::route).collect();
    let found = [None, Some("POST /orders"), Some("GET /files/**"), Some("policy")];
    assert_eq!(routes, found, "{error}");
    for mistake in &mistakes[1..] {
        assert!(mistake.location().unwrap().file().ends_with("build.rs"), "{mistake}");
    }
    let text = error.to_string();
    assert!(text.starts_with("4 configuration errors:\n  mine\n  POST /orders: [access-"));
}

#[test]
fn the_last_policy_counts() {
    let router = create_router(open(), RouterOptions::new());
    let app = router.policy(Policy::recommended()).policy(Policy::new()).build().unwrap();
    assert_eq!(app.policy().map(|policy| policy.rules().count()), Some(0));
    assert!(create_router(open(), RouterOptions::new()).build().unwrap().policy().is_none());
}

#[test]
fn a_group_cannot_replace_the_policy() {
    let mut router = Router::new();
    router.group("/a", (), |group| {
        *group = std::mem::take(group).policy(Policy::new());
    });
    let error = router.build().unwrap_err();
    assert!(error.to_string().starts_with("/a: a group cannot have a policy"), "{error}");
    assert!(error.issues()[0].location().unwrap().file().ends_with("build.rs"));
}

#[tokio::test]
async fn an_api_router_has_the_recommended_policy() {
    let router = create_api_router(("Shop", "1"), open(), RouterOptions::new());
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("POST /orders: [access-declared]"), "{error}");
    assert!(error.contains("GET /files/**: [wildcard-exposed]"), "{error}");

    let router = create_api_router(("Shop", "1"), open(), RouterOptions::new());
    let policy = policy().allow("access-declared", "POST /orders", "a test");
    let client = TestClient::new(router.policy(policy));
    client.post("/orders").await.assert_text("new");
    client.get("/files/a/b").await.assert_status(200);
}

#[test]
fn an_assertion_lists_the_findings() {
    let closed = routes! { middleware: [signed_in()], GET: async || "" };
    assert_policy(create_router(closed, RouterOptions::new()), &Policy::recommended());
    let text = panic_of(|| assert_policy(create_router(open(), RouterOptions::new()), &policy()));
    assert!(
        text.starts_with("the policy has 1 findings:\n  POST /orders: [access-declared]"),
        "{text}"
    );
}

#[test]
fn an_audit_shows_open_routes_first() {
    let router = create_router(
        routes! {
            "me": {
                middleware: [signed_in(), stockade::middleware::with_role(["clerk", "admin"])],
                GET: { handler: async || "", cors: "https://app.example" },
            },
            "orders": { POST: async || "new" },
            "files": { "**": { GET: { handler: async || "", public: "a\u{1b}[31m test\nGET /x" } } },
            "chat": { middleware: [signed_in()], ws: async |_: WebSocket| () },
        },
        RouterOptions::new()
            .rate_limit(50 / MINUTE)
            .enable_web_sockets(true)
            .cors_origin("https://a.example"),
    );
    let policy = policy().without("access-declared", "a test");
    let router = router.policy(policy.clone().without("mutating-needs-user", "a test"));
    let app = router.build().unwrap();
    let audit = policy.audit(&app.route_map());
    let routes: Vec<&str> = audit.routes.iter().map(|route| route.route.as_str()).collect();
    assert_eq!(routes, ["POST /orders", "GET /files/**", "GET /me", "WS /chat"]);
    let text = audit.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("ROUTE          WHO"), "{text}");
    let cells = |line: usize| lines[line].split("  ").filter(|it| !it.is_empty()).map(str::trim);
    let order: Vec<&str> = cells(1).collect();
    let found = "mutating-needs-user";
    assert_eq!(
        order,
        ["POST /orders", "everybody", "-", "50/60s, 1 MiB", "https://a.example", found],
        "{text}"
    );
    let me: Vec<&str> = cells(3).collect();
    let who =
        ["GET /me", "a user by bearer", "clerk|admin", "50/60s, 1 MiB", "https://app.example"];
    assert_eq!(me, [who.as_slice(), &["-"]].concat(), "{text}");
    assert!(text.contains("(wildcard-exposed)") && text.contains("the files have any depth"));
    assert!(!text.contains('\u{1b}') && !text.contains("\nGET /x"), "{text}");

    let json: Value = json!(audit);
    assert_eq!(json["routes"][0]["findings"], json!(["mutating-needs-user"]));
    assert_eq!(json["routes"][2]["roles"], json!([["clerk", "admin"]]));
    assert_eq!(json["allowed"][0]["subject"], "GET /files/**");
    assert_eq!(json["left_out"][0]["rule"], "access-declared");
    assert_eq!(json["rules"][0]["owasp"], "API5");
    let line = json["routes"][0]["location"]["line"].as_u64();
    assert!(line.is_some_and(|line| line > 0), "{json}");
}

#[test]
fn the_command_audits_by_the_policy_of_the_router() {
    let run = |app: &App, line: &str| command(app, line.split(' ')).unwrap();
    let app = create_router(open(), RouterOptions::new()).build().unwrap();
    let text = run(&app, "audit").unwrap();
    assert!(text.contains("[access-declared]"), "{text}");
    let json: Value = serde_json::from_str(&run(&app, "audit --json").unwrap()).unwrap();
    assert_eq!(json["findings"].as_array().map(Vec::len), Some(2));
    assert!(run(&app, "audit GET").is_err());

    let router = create_router(open(), RouterOptions::new());
    let router = router.policy(Policy::new().rule("mine", "mine", |_| true));
    let json = run(&router.build().unwrap(), "audit --json").unwrap();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (json["findings"].clone(), json["rules"][0]["id"].clone()),
        (json!([]), json!("mine"))
    );
}
