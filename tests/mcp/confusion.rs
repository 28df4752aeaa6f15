//! Path confusion: a value of an argument never leads to another route.

use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::block_on;
use crate::support::public_mcp;

/// A program with routes next to the routes of its tools.
fn client() -> TestClient {
    let echo = async |Path(id): Path<String>| format!("user {id}");
    let rest = async |Path(path): Path<String>| format!("file {path}");
    let api = routes! {
        "mcp": { ..public_mcp() },
        "users": {
            GET: async || "all users",
            "me": { GET: async || "my secrets" },
            ":id": {
                GET: { echo, name: "show", tool: "Shows a user." },
                "keys": { GET: async || "keys" },
            },
        },
        "files": {
            "secret": { GET: async || "a secret file" },
            "**": { GET: { rest, name: "read", tool: "Reads a file." } },
        },
        "pages": {
            ":name": { "edit": { GET: async || "editor" } },
            ":name?": { GET: {
                async |req: Request| format!("page {:?}", req.param("name")),
                name: "page", tool: "Shows a page.",
            } },
        },
    };
    TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)))
}

#[test]
fn a_value_stays_in_its_segment() {
    let agent = client().mcp("/mcp");
    let check = |id: Value, expected: &str| {
        block_on(async {
            agent.call("show", json!({ "id": id })).await.assert_text(expected);
        });
    };
    check(json!("7"), "user 7");
    check(json!(7), "user 7");
    check(json!("a b"), "user a b");
    check(json!("a?x=1"), "user a?x=1");
    check(json!("?x"), "user ?x");
    check(json!("a#b"), "user a#b");
    check(json!("%2e%2e"), "user %2e%2e");
    check(json!("%2F"), "user %2F");
    check(json!("..."), "user ...");
    check(json!("é"), "user é");
    check(json!("a/keys"), "user a/keys");
    check(json!("me;x"), "user me;x");
}

#[test]
fn a_value_that_belongs_to_another_route_fails() {
    let agent = client().mcp("/mcp");
    let check = |name: &str, arguments: Value, expected: &str| {
        let result = block_on(agent.call(name, &arguments));
        result.assert_failed(expected);
        assert_eq!(result.route_status(), None, "{arguments}");
    };
    let other_route = "the path does not belong to this tool";
    let segment = "it must not be empty, `.` or `..`";
    check("show", json!({ "id": "me" }), other_route);
    check("show", json!({ "id": "" }), segment);
    check("show", json!({ "id": "." }), segment);
    check("show", json!({ "id": ".." }), segment);
    check("show", json!({ "id": "../files/secret" }), segment);
    check("show", json!({ "id": "..\\me" }), segment);
    check("show", json!({ "id": "me/" }), segment);
    check("show", json!({ "id": "a\u{0}b" }), "Invalid argument \"id\"");
    check("show", json!({ "id": "a\nb" }), "Invalid argument \"id\"");
    check("show", json!({ "id": ["me"] }), "expected a text or a number");
    check("show", json!({ "id": { "a": 1 } }), "expected a text or a number");
    check("show", json!({ "id": null }), "Missing argument \"id\"");
    check("show", json!({}), "Missing argument \"id\"");
    check("read", json!({ "splat": "secret" }), other_route);
    check("read", json!({ "splat": "a/../secret" }), segment);
    check("read", json!({ "splat": "a//b" }), segment);
    check("read", json!({ "splat": "/secret" }), segment);
    check("page", json!({ "name": "" }), segment);
    check("show", json!({ "id": "7", "x": 1 }), "Unknown argument \"x\": expected id");
}

#[test]
fn encoded_and_spelled_forms_of_another_route_fail() {
    let agent = client().mcp("/mcp");
    // The route would get the text, but its path equals `/users/me` once decoded.
    for id in ["m%65", "%6de", "%6D%65"] {
        let result = block_on(agent.call("show", json!({ "id": id })));
        let text = result.text();
        assert!(text == format!("user {id}") || result.is_error(), "{id}: {text}");
        assert!(!text.contains("secrets"), "{id}: {text}");
    }
    block_on(agent.call("page", json!({}))).assert_text("page None");
    block_on(agent.call("page", json!({ "name": "a" }))).assert_text("page Some(\"a\")");
    block_on(agent.call("read", json!({ "splat": "a/b c" }))).assert_text("file a/b c");
}
