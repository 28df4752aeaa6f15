//! Messages on standard input and output.

use std::env;
use std::io::Write as _;
use std::process::{Command, Stdio};

use stockade::mcp::Mcp;
use stockade::prelude::*;

use crate::{block_on, program};

/// Set in the process that serves the lines.
const CHILD: &str = "STOCKADE_TEST_MCP_CHILD";

/// Runs this test in another process, writes lines to its standard input, and
/// returns the messages on its standard output.
fn answers(lines: &[String], arguments: &str) -> Vec<Value> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["stdio::serves_lines", "--exact", "--nocapture", "--test-threads=2"])
        .env(CHILD, arguments)
        .env("MCP_TOKEN", "Bearer t")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    input.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    // The end of the input ends the program.
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    // The other lines belong to the test runner.
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with('{')).collect();
    let others = text.lines().filter(|line| !line.starts_with('{') && !line.is_empty());
    let is_of_runner = |line: &str| line.starts_with("running 1 test") || line.starts_with("test ");
    assert!(others.clone().all(is_of_runner), "{text}");
    lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn modern(id: u64, method: &str, params: Value) -> String {
    let mut params = params;
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

fn by_id(mut messages: Vec<Value>) -> Vec<Value> {
    messages.sort_by_key(|message| message["id"].as_u64());
    messages
}

#[test]
fn serves_lines() {
    if let Ok(arguments) = env::var(CHILD) {
        let app = program(&Mcp::new("Shop", "1")).build().unwrap();
        let words = ["program", "mcp"].into_iter().chain(arguments.split(' '));
        let words: Vec<String> = words.map(str::to_owned).collect();
        assert!(block_on(app.run_command(words)).unwrap());
        return;
    }
    let lines = [
        json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": "2025-06-18" } }).to_string(),
        json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string(),
        String::new(),
        json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "time" } }).to_string(),
        modern(3, "tools/call", json!({ "name": "time", "arguments": {} })),
        modern(4, "server/discover", json!({})),
        modern(5, "ping", json!({})),
        modern(6, "tools/call", json!({ "name": "me" })),
        "{".to_owned(),
    ];
    let messages = by_id(answers(&lines, "--stdio"));
    assert_eq!(messages.len(), 7, "{messages:#?}");
    assert_eq!(messages[0]["error"]["code"], -32700);
    assert_eq!(messages[1]["result"]["protocolVersion"], "2025-06-18");
    assert_eq!(messages[2]["result"]["content"][0]["text"], "12:30");
    assert_eq!(messages[3]["result"]["resultType"], "complete");
    assert_eq!(messages[4]["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(messages[5]["error"]["code"], -32601);
    let login = messages[6]["error"]["message"].as_str().unwrap();
    assert!(login.starts_with("HTTP 401: "), "{login}");
}

#[test]
fn credentials_come_from_a_variable() {
    let lines = [modern(1, "tools/call", json!({ "name": "me" }))];
    let messages = answers(&lines, "--stdio --authorization-from MCP_TOKEN");
    assert_eq!(messages[0]["result"]["content"][0]["text"], "ada", "{messages:#?}");
}

#[test]
fn other_arguments_are_rejected() {
    let app = program(&Mcp::new("Shop", "1")).build().unwrap();
    let output = |words: &[&str]| {
        let words = ["program", "mcp"].iter().chain(words).map(|&word| word.to_owned());
        block_on(app.command_output(words)).unwrap().unwrap_err().to_string()
    };
    assert!(output(&[]).contains("mcp --stdio [--authorization-from VARIABLE]"));
    assert!(output(&["--stdio", "x"]).contains("invalid command"));
    let unset = output(&["--stdio", "--authorization-from", "STOCKADE_TEST_UNSET"]);
    assert!(unset.contains("STOCKADE_TEST_UNSET"), "{unset}");
}

#[test]
fn a_program_without_an_endpoint_does_not_have_the_command() {
    let app = create_router(routes! {}, RouterOptions::new()).build().unwrap();
    let words = ["program", "mcp", "--stdio"].map(str::to_owned);
    assert!(block_on(app.command_output(words)).is_none());
}
