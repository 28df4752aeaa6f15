//! Progress by server-sent events, and calls that end with their client.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use stockade::RouteEntry;
use stockade::auth::{Revocations, generate_jwt};
use stockade::mcp::{Mcp, Progress};
use stockade::prelude::*;
use stockade::testing::TestClient;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use crate::block_on;

/// Sends a message when it is dropped.
struct SendOnDrop(UnboundedSender<&'static str>);

impl Drop for SendOnDrop {
    fn drop(&mut self) {
        let _ = self.0.send("dropped");
    }
}

/// Creates a client for a program with one tool.
fn api(entry: RouteEntry) -> TestClient {
    let work = RouteTree::new().method(Method::POST, entry.name("work").tool("Works."));
    let mcp = Mcp::new("Shop", "1").routes();
    let mcp = RouteTree::new().spread(mcp).public("an example");
    let tree = RouteTree::new().segment("mcp", mcp).segment("work", work);
    TestClient::new(create_router(tree, RouterOptions::new()))
}

async fn three_steps(progress: Progress) -> &'static str {
    for done in 1..=3 {
        progress.report_text(done, 3, "step");
        tokio::task::yield_now().await;
    }
    "done"
}

#[test]
fn reports_precede_the_result() {
    let client = api(RouteEntry::new(three_steps));
    for agent in [client.mcp("/mcp"), client.mcp("/mcp").legacy()] {
        let result = block_on(agent.call("work", json!({})));
        result.assert_text("done");
        let report =
            |done| json!({ "progressToken": 1, "progress": done, "total": 3, "message": "step" });
        assert_eq!(result.reports(), [report(1), report(2), report(3)]);
        let response = result.response();
        response.assert_status(200).assert_header("content-type", "text/event-stream");
        response
            .assert_header("x-accel-buffering", "no")
            .assert_header("cache-control", "no-cache");
        assert!(!response.text().contains("id: "), "{}", response.text());
    }
}

/// A handler that never waits reports all its steps before the first poll ends.
#[test]
fn reports_of_a_handler_that_never_waits_are_sent() {
    let steps = async |progress: Progress| {
        progress.report(0, 100);
        progress.report(50, 100);
        progress.report(100, 100);
        "done"
    };
    let result = block_on(api(RouteEntry::new(steps)).mcp("/mcp").call("work", json!({})));
    let done: Vec<u64> = result.reports().iter().filter_map(|it| it["progress"].as_u64()).collect();
    assert_eq!(done, [0, 50, 100]);
    result.assert_text("done");
}

#[test]
fn a_tool_without_reports_responds_with_json() {
    let silent = async |_: Progress| "done";
    let result = block_on(api(RouteEntry::new(silent)).mcp("/mcp").call("work", json!({})));
    result.assert_text("done").response().assert_header("content-type", "application/json");
}

#[test]
fn reports_need_a_token_and_a_client_that_accepts_events() {
    let client = api(RouteEntry::new(async |progress: Progress| {
        progress.report(1, None);
        progress.is_requested().to_string()
    }));
    let agent = client.mcp("/mcp");
    block_on(agent.call("work", json!({}))).assert_text("true");
    let json_only = agent.call_request("work", json!({}));
    let response = block_on(client.post("/work").send());
    response.assert_text("false");
    let stream = block_on(json_only.header("accept", "application/json").send());
    // The agent accepts events in another line of the same header.
    stream.assert_header("content-type", "text/event-stream");
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = json!({ "name": "work", "arguments": {}, "_meta": meta });
    let request = agent.request("tools/call", params).header("mcp-name", "work");
    let message: Value = block_on(request.send()).json();
    assert_eq!(message["result"]["content"][0]["text"], "false");
}

#[test]
fn a_failure_after_a_report_is_the_last_event() {
    let fails = async |progress: Progress| -> Result<(), ApiError> {
        progress.report(1, None);
        tokio::task::yield_now().await;
        Err(ApiError::conflict())
    };
    let result = block_on(api(RouteEntry::new(fails)).mcp("/mcp").call("work", json!({})));
    assert_eq!(result.reports().len(), 1);
    result.assert_failed("HTTP 409");
}

/// The program sees a disconnected client as a dropped handler.
#[test]
fn a_disconnect_cancels_the_call() {
    block_on(async {
        let (sender, mut messages) = unbounded_channel();
        let work = async move |progress: Progress| {
            let _guard = SendOnDrop(sender);
            progress.report(1, None);
            std::future::pending::<()>().await;
        };
        let client = api(RouteEntry::new(work));
        let agent = client.mcp("/mcp");
        let mut stream = agent.call_request("work", json!({})).stream().await;
        let report: Value = stream.next_event().await.unwrap().json();
        assert_eq!(report["params"]["progress"], 1);
        assert!(messages.try_recv().is_err());
        drop(stream);
        assert_eq!(messages.recv().await, Some("dropped"));
    });
}

/// Time passes only if nothing else happens.
#[tokio::test(start_paused = true)]
async fn a_call_ends_with_the_login_of_its_user() {
    let secret = || Secret::new("a secret of at least thirty-two bytes").unwrap();
    let revocations = Revocations::in_memory();
    let auth = Auth::secret(secret()).revocations(revocations.clone());
    let (sender, mut messages) = unbounded_channel();
    let work = async move |progress: Progress| {
        let _guard = SendOnDrop(sender);
        progress.report(1, None);
        std::future::pending::<()>().await;
    };
    let api = routes! {
        "mcp": { middleware: [with_auth(auth)], ..Mcp::new("Shop", "1").routes() },
        "work": { POST: { handler: work, name: "work", tool: "Works." } },
    };
    let hour = Duration::from_secs(3_600);
    let token = generate_jwt(json!({ "sub": "ada", "jti": "1" }), hour, &secret()).unwrap();
    let client = TestClient::new(create_router(api, RouterOptions::new()));
    let agent = client.mcp("/mcp").bearer(token);
    let mut stream = agent.call_request("work", json!({})).stream().await;
    assert!(stream.next_event().await.unwrap().data.contains("notifications/progress"));
    revocations.revoke_id(None, "1", SystemTime::now() + hour).await.unwrap();
    assert!(stream.next_event().await.is_none());
    assert_eq!(messages.recv().await, Some("dropped"));
}

/// Reports of another task wake the stream.
#[test]
fn reports_may_come_from_another_task() {
    block_on(async {
        let steps = Arc::new(Semaphore::new(0));
        let allowed = Arc::clone(&steps);
        let work = move |progress: Progress| {
            let allowed = Arc::clone(&allowed);
            async move {
                let reporting = tokio::spawn(async move {
                    for done in 1..=2 {
                        allowed.acquire().await.unwrap().forget();
                        progress.report(done, 2);
                    }
                });
                reporting.await.unwrap();
                "done"
            }
        };
        let client = api(RouteEntry::new(work));
        let agent = client.mcp("/mcp");
        steps.add_permits(1);
        let mut stream = agent.call_request("work", json!({})).stream().await;
        assert!(stream.next_event().await.unwrap().data.contains("\"progress\":1"));
        steps.add_permits(1);
        assert!(stream.next_event().await.unwrap().data.contains("\"progress\":2"));
        assert!(stream.next_event().await.unwrap().data.contains("\"result\""));
        assert!(stream.next_event().await.is_none());
    });
}
