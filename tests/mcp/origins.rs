//! Pages of other origins, and DNS rebinding.

use stockade::mcp::Mcp;
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::{block_on, program};

/// Returns the status of a request with these headers from this peer.
fn status(client: &TestClient, peer: &str, headers: &[(&str, &str)]) -> u16 {
    let agent = headers.iter().fold(client.clone().with_peer(peer).mcp("/mcp"), |agent, header| {
        agent.header(header.0, header.1)
    });
    block_on(agent.request("tools/list", json!({})).send()).status().as_u16()
}

const REMOTE: &str = "203.0.113.7";
const LOCAL: &str = "127.0.0.1";

#[test]
fn only_listed_pages_may_call_the_endpoint() {
    let mcp = Mcp::new("Shop", "1").allowed_origins(["https://app.example"]);
    let client = TestClient::new(program(&mcp));
    let of = |origin| status(&client, REMOTE, &[("origin", origin), ("host", "api.example")]);
    assert_eq!(of("https://app.example"), 200);
    assert_eq!(of("https://api.example"), 403);
    assert_eq!(of("http://localhost:3000"), 403);
    assert_eq!(of("null"), 403);
    assert_eq!(status(&client, REMOTE, &[("host", "api.example")]), 200);
}

#[test]
fn the_origins_of_cors_are_the_default() {
    let with = |origins: &[&str]| {
        let router = program(&Mcp::new("Shop", "1"));
        let origins: Vec<String> = origins.iter().map(|&it| it.to_owned()).collect();
        TestClient::new(router.map_options(|options| options.cors_origin(origins)))
    };
    let client = with(&["https://app.example", "https://b.example"]);
    assert_eq!(status(&client, REMOTE, &[("origin", "https://b.example")]), 200);
    assert_eq!(status(&client, REMOTE, &[("origin", "https://c.example")]), 403);
    // Any origin is not a list.
    assert_eq!(status(&with(&["*"]), REMOTE, &[("origin", "https://c.example")]), 403);
}

#[test]
fn a_rebound_name_is_not_local() {
    let client = TestClient::new(program(&Mcp::new("Shop", "1")));
    let of = |origin, host| status(&client, LOCAL, &[("origin", origin), ("host", host)]);
    assert_eq!(of("http://localhost:5173", "localhost:3000"), 200);
    assert_eq!(of("http://127.0.0.1:3000", "127.0.0.1:3000"), 200);
    assert_eq!(of("http://evil.test:3000", "evil.test:3000"), 403);
    assert_eq!(of("http://evil.test", "localhost"), 403);
    assert_eq!(of("http://localhost:5173", "evil.test"), 403);
    let local = [("origin", "http://localhost:5173"), ("host", "localhost")];
    assert_eq!(status(&client, REMOTE, &local), 403);
}

#[test]
fn cors_allows_the_headers_of_the_protocol() {
    let router = program(&Mcp::new("Shop", "1"));
    let origins = vec!["https://app.example".to_owned()];
    let client = TestClient::new(router.map_options(|options| options.cors_origin(origins)));
    let preflight = client
        .options("/mcp")
        .header("origin", "https://app.example")
        .header("access-control-request-method", "POST")
        .header("access-control-request-headers", "mcp-method");
    let response = block_on(preflight.send());
    let allowed = response.header("access-control-allow-headers").unwrap();
    for name in ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Authorization", "Content-Type"]
    {
        assert!(allowed.split(", ").any(|known| known == name), "{allowed}");
    }
}
