//! The tools that a caller sees, decided without running a handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use stockade::mcp::Mcp;
use stockade::middleware::{with_permission, with_role};
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::block_on;
use crate::support::user_by_token;

/// A program with tools for several kinds of callers. It counts the requests to
/// its tools.
fn client(calls: &Arc<AtomicU32>) -> TestClient {
    let counted = Arc::clone(calls);
    let count = Middleware::new(move |req: &mut Request| {
        if req.path() != "/mcp" {
            counted.fetch_add(1, Ordering::Relaxed);
        }
        Ok::<(), ApiError>(())
    });
    let signed_in = with_auth(user_by_token());
    let maybe = with_auth(user_by_token().required(false));
    let vip = with_permission(|user: &Value, _: &Request| user["role"] == "vip");
    let api = routes! {
        "mcp": { public: "some tools are public", middleware: [maybe], ..Mcp::new("Shop", "1.0.0").routes() },
        "time": { GET: { async || "12:30", name: "time", tool: "Returns the time." } },
        "me": { GET: { async || "me", middleware: [signed_in.clone()], name: "me", tool: "Shows the user." } },
        "lounge": { GET: {
            async || "lounge", middleware: [signed_in.clone(), vip], name: "lounge", tool: "Opens the lounge.",
        } },
        "admin": {
            middleware: [signed_in],
            GET: { async || "log", middleware: [with_role("admin")], name: "log", tool: "Shows the log." },
            POST: {
                async || "done", middleware: [with_role(["admin", "operator"])], name: "restart",
                tool: "Restarts the service.",
            },
        },
    };
    let options = RouterOptions::new().rate_limit(false).middleware([count]);
    TestClient::new(create_router(api, options))
}

#[test]
fn a_caller_sees_only_the_tools_that_it_may_call() {
    let calls = Arc::default();
    let agent = client(&calls).mcp("/mcp");
    let check = |token: Option<&str>, expected: &[&str]| {
        let agent = token.map_or_else(|| agent.clone(), |token| agent.clone().bearer(token));
        block_on(async {
            agent.tools().await.assert_names(expected);
        });
    };
    check(None, &["time"]);
    check(Some("customer"), &["lounge", "me", "time"]);
    check(Some("operator"), &["lounge", "me", "restart", "time"]);
    check(Some("admin"), &["log", "lounge", "me", "restart", "time"]);
    check(Some("Admin"), &["lounge", "me", "time"]);
    check(Some("invalid"), &["time"]);
    assert_eq!(calls.load(Ordering::Relaxed), 0);
}

#[test]
fn a_hidden_tool_does_not_exist_for_the_caller() {
    let calls = Arc::default();
    let agent = client(&calls).mcp("/mcp");
    let customer = agent.clone().bearer("customer");
    block_on(async {
        customer.call("log", json!({})).await.assert_error(-32602, "Unknown tool: log");
        customer.call("nothing", json!({})).await.assert_error(-32602, "Unknown tool: nothing");
        agent.call("nothing", json!({})).await.assert_error(-32602, "Unknown tool: nothing");
        agent.call("me", json!({})).await.assert_login_required();
        agent.call("log", json!({})).await.assert_login_required();
        assert_eq!(calls.load(Ordering::Relaxed), 0);
        customer.call("me", json!({})).await.assert_text("me");
        agent.call("time", json!({})).await.assert_text("12:30");
        agent.clone().bearer("operator").call("restart", json!({})).await.assert_text("done");
        assert_eq!(calls.load(Ordering::Relaxed), 3);
    });
}

#[test]
fn a_permission_is_checked_at_the_call() {
    let agent = client(&Arc::default()).mcp("/mcp");
    block_on(async {
        agent.clone().bearer("vip").call("lounge", json!({})).await.assert_text("lounge");
        let refused = agent.clone().bearer("customer").call("lounge", json!({})).await;
        refused.assert_failed("HTTP 403");
        assert_eq!(refused.route_status(), Some(403));
    });
}

#[test]
fn equal_callers_get_identical_lists() {
    let agent = client(&Arc::default()).mcp("/mcp").bearer("admin");
    let (first, second) = block_on(async { (agent.tools().await, agent.tools().await) });
    assert_eq!(first.response().bytes(), second.response().bytes());
}
