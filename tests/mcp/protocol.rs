//! The responses to valid and to bad input, byte for byte, in the order of the
//! specification.

use std::time::Duration;

use stockade::mcp::Mcp;
use stockade::prelude::*;
use stockade::testing::{TestAgent, TestClient, TestResponse};

use crate::{block_on, client, program};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

/// The headers of a modern request with this method.
fn modern(method: &str) -> Vec<(&str, &str)> {
    vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)]
}

fn send(client: &TestClient, headers: &[(&str, &str)], body: &str) -> TestResponse {
    let mut request = client.post("/mcp").body(body.to_owned());
    if headers.iter().all(|(name, _)| *name != "content-type") {
        request = request.header("content-type", "application/json");
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    block_on(request.send())
}

/// Checks the status and the bytes of a response.
#[track_caller]
fn check(headers: &[(&str, &str)], body: &str, status: u16, expected: &str) {
    let response = send(&client(), headers, body);
    response.assert_status(status).assert_text(expected);
    if expected.starts_with(r#"{"jsonrpc""#) {
        response.assert_header("content-type", "application/json");
    }
}

/// Returns a modern message with these parameters.
fn message(method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{comma}{META}}}}}"#)
}

/// Returns a message of the earlier versions.
fn legacy(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}}}}}"#)
}

#[test]
fn other_methods_of_http_are_not_allowed() {
    for method in [Method::GET, Method::DELETE] {
        let response = block_on(client().request(method, "/mcp").send());
        response.assert_status(405).assert_header("allow", "POST, OPTIONS");
    }
}

#[test]
fn a_foreign_origin_precedes_everything_else() {
    let headers = [("origin", "https://evil.test"), ("authorization", "Bearer wrong")];
    let response = send(&client(), &headers, "{");
    response.assert_status(403).assert_error("A page of another origin sent the request");
}

#[test]
fn required_credentials_precede_the_message() {
    let signed_in = with_auth(Auth::bearer(|token: String| (token == "t").then_some("ada")));
    let api = routes! {
        "mcp": { middleware: [signed_in], ..Mcp::new("Shop", "1.0.0").routes() },
        "time": { GET: { handler: async || "12:30", name: "time", tool: "Returns the time." } },
    };
    let client = TestClient::new(create_router(api, RouterOptions::new()));
    for body in ["{", &message("tools/list", ""), &legacy("tools/list", "")] {
        let missing = send(&client, &[("content-type", "text/plain")], body);
        missing.assert_status(401).assert_header("www-authenticate", "Bearer");
        let headers = [("authorization", "Bearer wrong"), ("content-type", "text/plain")];
        let invalid = send(&client, &headers, body);
        let challenge = "Bearer error=\"invalid_token\"";
        invalid.assert_status(401).assert_header("www-authenticate", challenge);
        let headers = [("authorization", "Bearer t"), ("content-type", "text/plain")];
        send(&client, &headers, body).assert_status(415);
    }
}

#[test]
fn the_body_is_json() {
    for content_type in ["text/plain", "application/x-www-form-urlencoded", "application/jsonp"] {
        let response = send(&client(), &[("content-type", content_type)], "{}");
        response.assert_status(415).assert_error("Unsupported Media Type");
        response.assert_header("accept", "application/json");
    }
    let bare = block_on(client().post("/mcp").body("{}").send());
    bare.assert_status(415);
    let charset = [("content-type", "Application/JSON; charset=utf-8")];
    send(&client(), &charset, &legacy("ping", "")).assert_status(200);
}

#[test]
fn invalid_json_gets_an_error_without_an_id() {
    let expected = r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#;
    check(&[], "{", 400, expected);
    check(&modern("tools/list"), r#"{"id":1"#, 400, expected);
    check(&[], "", 400, expected);
}

#[test]
fn an_invalid_message_gets_an_error_without_an_id() {
    let expected = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"Invalid Request"}}"#;
    let batch = format!("[{}]", legacy("ping", ""));
    for body in [
        batch.as_str(),
        "[]",
        "7",
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
    ] {
        check(&[], body, 400, expected);
        check(&modern("ping"), body, 400, expected);
    }
}

#[test]
fn a_notification_gets_an_empty_response() {
    let body = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    check(&[], body, 202, "");
    check(&[("mcp-protocol-version", "2025-11-25")], body, 202, "");
    // Even with an unknown version.
    check(&[("mcp-protocol-version", "1")], body, 202, "");
    check(&modern("notifications/cancelled"), body, 202, "");
}

#[test]
fn an_unknown_version_lists_the_supported_version() {
    let expected = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"2024-11-05"}}}"#;
    let headers = [("mcp-protocol-version", "2024-11-05")];
    check(&headers, &legacy("tools/list", ""), 400, expected);
    check(&headers, &message("tools/list", ""), 400, expected);
}

#[test]
fn a_modern_request_needs_meta() {
    let headers = modern("tools/list");
    let version = r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"Invalid params: `_meta` lacks the protocol version"}}"#;
    let without = r#"{"jsonrpc":"2.0","id":"a","method":"tools/list"}"#;
    check(&headers, without, 400, version);
    let capabilities = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: `_meta` lacks the capabilities of the client"}}"#;
    let partly = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    check(&headers, &legacy("tools/list", partly), 400, capabilities);
}

#[test]
fn headers_equal_the_message() {
    #[track_caller]
    fn fails(headers: &[(&str, &str)], body: &str, reason: &str) {
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"error":{{"code":-32020,"message":"Header mismatch: {reason}"}}}}"#
        );
        check(headers, body, 400, &expected);
    }
    let version = ("mcp-protocol-version", "2026-07-28");
    let call = message("tools/call", r#""name":"time","arguments":{}"#);
    fails(&[], &call, "`MCP-Protocol-Version` is missing");
    fails(
        &[("mcp-protocol-version", "2025-11-25")],
        &call,
        "`MCP-Protocol-Version` differs from the message",
    );
    fails(&[version], &call, "`Mcp-Method` is missing");
    fails(&[version, ("mcp-method", "tools/list")], &call, "`Mcp-Method` differs from the message");
    fails(&[version, ("mcp-method", "Tools/Call")], &call, "`Mcp-Method` differs from the message");
    let method = ("mcp-method", "tools/call");
    fails(&[version, method], &call, "`Mcp-Name` is missing");
    fails(&[version, method, ("mcp-name", "me")], &call, "`Mcp-Name` differs from the message");
    fails(
        &[version, method, ("mcp-name", "=?base64?dGltZ?=")],
        &call,
        "`Mcp-Name` differs from the message",
    );
    let twice = [version, method, ("mcp-name", "time"), ("mcp-name", "time")];
    fails(&twice, &call, "`Mcp-Name` appears several times");
    for name in ["time", "  time  ", "=?base64?dGltZQ==?="] {
        send(&client(), &[version, method, ("mcp-name", name)], &call).assert_status(200);
    }
}

#[test]
fn an_unknown_method_is_404_only_for_modern_clients() {
    let expected =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}"#;
    for method in
        ["initialize", "ping", "logging/setLevel", "resources/list", "x", "subscriptions/listen"]
    {
        check(&modern(method), &message(method, ""), 404, expected);
    }
    for method in ["server/discover", "resources/list", "prompts/list", "x"] {
        check(&[], &legacy(method, ""), 200, expected);
    }
}

#[test]
fn an_unknown_tool_is_an_error_of_the_protocol() {
    let expected =
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: nothing"}}"#;
    let params = r#""name":"nothing""#;
    let mut headers = modern("tools/call");
    headers.push(("mcp-name", "nothing"));
    check(&headers, &message("tools/call", params), 200, expected);
    check(&[], &legacy("tools/call", params), 200, expected);
    let nameless = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown tool: "}}"#;
    check(&[], &legacy("tools/call", ""), 200, nameless);
}

#[test]
fn a_tool_for_users_makes_the_client_log_in() {
    let params = r#""name":"me""#;
    let mut headers = modern("tools/call");
    headers.push(("mcp-name", "me"));
    for (headers, body) in
        [(headers.clone(), message("tools/call", params)), (vec![], legacy("tools/call", params))]
    {
        let response = send(&client(), &headers, &body);
        response.assert_status(401).assert_header("www-authenticate", "Bearer");
        let mut headers = headers;
        headers.push(("authorization", "Bearer t"));
        send(&client(), &headers, &body).assert_status(200);
    }
}

#[test]
fn the_list_has_one_page() {
    let expected = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Unknown cursor"}}"#;
    check(&modern("tools/list"), &message("tools/list", r#""cursor":"x""#), 200, expected);
    check(&[], &legacy("tools/list", r#""cursor":"""#), 200, expected);
}

#[test]
fn unknown_and_rejected_arguments_are_results() {
    let params = r#""name":"time","arguments":{"zone":"UTC"}"#;
    let mut headers = modern("tools/call");
    headers.push(("mcp-name", "time"));
    for (headers, body) in
        [(headers, message("tools/call", params)), (vec![], legacy("tools/call", params))]
    {
        let response = send(&client(), &headers, &body);
        response.assert_status(200);
        let message: Value = response.json();
        assert_eq!(message["result"]["isError"], true, "{message}");
    }
    let list = r#""name":"time","arguments":[1]"#;
    let expected = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: `arguments` is not an object"}}"#;
    check(&[], &legacy("tools/call", list), 200, expected);
}

#[test]
fn duplicate_names_are_rejected() {
    let params = r#""name":"time","name":"me""#;
    let expected = r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: duplicate member name"}}"#;
    check(&[], &legacy("tools/call", params), 400, expected);
    for arguments in [r#"{"a":1,"a":2}"#, r#"{"a":[{"b":1,"b":2}]}"#] {
        let params = format!(r#""name":"time","arguments":{arguments}"#);
        check(&[], &legacy("tools/call", &params), 400, expected);
    }
}

#[test]
fn too_many_values_are_413() {
    let values = vec!["1"; 200_000].join(",");
    let params = format!(r#""name":"time","arguments":{{"a":[{values}]}}"#);
    send(&client(), &[], &legacy("tools/call", &params)).assert_status(413);
}

#[test]
fn a_client_of_the_earlier_versions_begins_with_initialize() {
    #[track_caller]
    fn initialize(requested: &str, expected: &str) {
        let params = format!(r#""protocolVersion":"{requested}","capabilities":{{}}"#);
        let expected = format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{expected}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"Shop","version":"1.0.0"}}}}}}"#
        );
        check(&[], &legacy("initialize", &params), 200, &expected);
    }
    initialize("2025-11-25", "2025-11-25");
    initialize("2025-06-18", "2025-06-18");
    initialize("2024-11-05", "2025-11-25");
    // rmcp requests the modern version in this way.
    initialize("2026-07-28", "2025-11-25");
    check(&[], &legacy("ping", ""), 200, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let ping = [("mcp-protocol-version", "2025-06-18")];
    check(
        &ping,
        r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#,
        200,
        r#"{"jsonrpc":"2.0","id":"x","result":{}}"#,
    );
}

#[test]
fn a_modern_client_discovers_the_server() {
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Shop","version":"1.0.0"}}}}"#;
    check(&modern("server/discover"), &message("server/discover", ""), 200, expected);
}

#[test]
fn both_eras_list_the_tools() {
    let response = send(&client(), &modern("tools/list"), &message("tools/list", ""));
    let text = response.text();
    let begin = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","tools":[{"#;
    let end = r#"}],"ttlMs":60000,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Shop","version":"1.0.0"}}}}"#;
    assert!(text.starts_with(begin) && text.ends_with(end), "{text}");
    let response = send(&client(), &[], &legacy("tools/list", ""));
    let text = response.text();
    let begin = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"#;
    assert!(text.starts_with(begin) && text.ends_with("}]}}"), "{text}");
}

#[test]
fn a_list_of_public_tools_may_be_shared() {
    let api = routes! {
        "mcp": { public: "an example", ..Mcp::new("Shop", "1").routes() },
        "time": { GET: { handler: async || "12:30", name: "time", tool: "Returns the time." } },
    };
    let agent = TestClient::new(create_router(api, RouterOptions::new())).mcp("/mcp");
    let scope = |agent: &TestAgent| {
        let message: Value = block_on(agent.request("tools/list", json!({})).send()).json();
        message["result"]["cacheScope"].clone()
    };
    assert_eq!(scope(&agent), "public");
    assert_eq!(scope(&agent.bearer("t")), "private");
}

#[test]
fn both_eras_call_a_tool() {
    let params = r#""name":"time","arguments":{}"#;
    let mut headers = modern("tools/call");
    headers.push(("mcp-name", "time"));
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"12:30"}],"isError":false,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"Shop","version":"1.0.0"},"stockade/status":200}}}"#;
    check(&headers, &message("tools/call", params), 200, expected);
    let expected = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"12:30"}],"isError":false,"_meta":{"stockade/status":200}}}"#;
    check(&[], &legacy("tools/call", params), 200, expected);
}

#[test]
fn the_options_appear_in_the_responses() {
    let mcp =
        Mcp::new("A \"shop\"", "2").instructions("Ask first.").list_ttl(Duration::from_secs(5));
    let client = TestClient::new(program(&mcp));
    let response = send(&client, &modern("server/discover"), &message("server/discover", ""));
    let result: Value = response.json();
    assert_eq!(result["result"]["instructions"], "Ask first.");
    assert_eq!(result["result"]["ttlMs"], 5_000);
    let server = &result["result"]["_meta"]["io.modelcontextprotocol/serverInfo"];
    assert_eq!(server["name"], "A \"shop\"");
}

#[test]
fn earlier_versions_can_be_off() {
    let client = TestClient::new(program(&Mcp::new("Shop", "1").legacy(false)));
    let response = send(&client, &[("mcp-protocol-version", "2025-11-25")], &legacy("ping", ""));
    let message: Value = response.assert_status(400).json();
    assert_eq!(message["error"]["code"], -32022);
    let response = send(&client, &[], &legacy("initialize", r#""protocolVersion":"2025-11-25""#));
    let message: Value = response.assert_status(400).json();
    assert_eq!(message["error"]["code"], -32022);
    assert_eq!(message["error"]["data"]["requested"], "2025-11-25");
    let response = send(&client, &[], &legacy("tools/list", ""));
    let message: Value = response.assert_status(400).json();
    assert_eq!(message["error"]["code"], -32602);
    block_on(client.mcp("/mcp").tools()).assert_names(["time"]);
}

#[test]
fn invalid_options_are_configuration_errors() {
    #[track_caller]
    fn fails(mcp: &Mcp, expected: &str) {
        let error = program(mcp).build().unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains(file!()), "{error}");
    }
    fails(&Mcp::new("", "1"), "the name of the MCP server is empty");
    fails(&Mcp::new("a", "1").max_tools(0), "`max_tools` must be at least 1");
    fails(&Mcp::new("a", "1").max_result(0), "`max_result` must be at least 1");
    fails(&Mcp::new("a", "1").allowed_origins(["*"]), "allowed_origins: \"*\" is not an origin");
    fails(&Mcp::new("a", "1").url("http://a.test/mcp"), "url: \"http://a.test/mcp\" is not a URL");
    let unnamed = Mcp::new("a", "1").authorization_server("https://login.test");
    fails(&unnamed, "`authorization_server` is set, but `url` is missing");
}
