//! The document with the authorization servers, and the challenge that names
//! it.

use stockade::auth::{Secret, TokenVerifier};
use stockade::mcp::Mcp;
use stockade::prelude::*;
use stockade::testing::TestClient;

use crate::{block_on, program};

const URL: &str = "https://api.example.com/mcp";

fn mcp() -> Mcp {
    Mcp::new("Shop", "1.0.0").url(URL).authorization_server("https://login.example.com")
}

fn client() -> TestClient {
    let mcp = mcp();
    let secret = Secret::new("a secret of at least thirty-two bytes").unwrap();
    let auth = with_auth(Auth::tokens(secret, TokenVerifier::new().audience(URL)));
    let api = routes! {
        ..mcp.well_known(),
        "mcp": { middleware: [auth], ..mcp.routes() },
        "time": { GET: { handler: async || "12:30", name: "time", tool: "Returns the time." } },
    };
    TestClient::new(create_router(api, RouterOptions::new()))
}

#[test]
fn the_document_has_two_addresses() {
    let root = "/.well-known/oauth-protected-resource";
    for path in [root.to_owned(), format!("{root}/mcp")] {
        let response = block_on(client().get(path).send());
        response.assert_status(200).assert_header("content-type", "application/json").assert_text(
            r#"{"resource":"https://api.example.com/mcp","authorization_servers":["https://login.example.com"],"bearer_methods_supported":["header"]}"#,
        );
    }
}

#[test]
fn the_challenge_names_the_document() {
    let document = "https://api.example.com/.well-known/oauth-protected-resource/mcp";
    let missing = block_on(client().mcp("/mcp").request("tools/list", json!({})).send());
    let expected = format!("Bearer resource_metadata=\"{document}\"");
    missing.assert_status(401).assert_header("www-authenticate", &expected);
    let agent = client().mcp("/mcp").bearer("wrong");
    let invalid = block_on(agent.request("tools/list", json!({})).send());
    let expected = format!("Bearer error=\"invalid_token\", resource_metadata=\"{document}\"");
    invalid.assert_status(401).assert_header("www-authenticate", &expected);
}

#[test]
fn a_tool_for_users_has_the_same_challenge() {
    let agent = TestClient::new(program(&mcp())).mcp("/mcp");
    let result = block_on(agent.call("me", json!({})));
    let document = "https://api.example.com/.well-known/oauth-protected-resource/mcp";
    let expected = format!("Bearer resource_metadata=\"{document}\"");
    result.assert_login_required().response().assert_header("www-authenticate", &expected);
}

#[test]
fn the_document_needs_a_url_and_a_server() {
    #[track_caller]
    fn fails(mcp: &Mcp, expected: &str) {
        let error = create_router(mcp.well_known(), RouterOptions::new()).build().unwrap_err();
        let error = error.to_string();
        assert!(error.contains(expected) && error.contains(file!()), "{error}");
    }
    fails(&Mcp::new("a", "1"), "add `authorization_server`");
    fails(&Mcp::new("a", "1").url(URL), "add `authorization_server`");
    let unnamed = Mcp::new("a", "1").authorization_server("https://login.example.com");
    fails(&unnamed, "`url` is missing");
    fails(&mcp().url("https://a.example/:id"), "the path of");
    fails(&mcp().authorization_server("login"), "authorization_server: \"login\" is not a URL");
}
