//! Parts of several tests of tools.

use stockade::mcp::Mcp;
use stockade::prelude::*;

/// Returns an endpoint for all callers.
pub(crate) fn public_mcp() -> RouteTree {
    routes! { public: "a test", ..Mcp::new("Test", "1.0.0").routes() }
}

/// Returns an authentication by tokens. The token is the role of the user.
pub(crate) fn user_by_token() -> Auth {
    Auth::bearer(|token: String| match token.as_str() {
        "invalid" => None,
        role => Some(json!({ "name": "ada", "role": role })),
    })
}

/// Returns the configuration errors of a tree, each with its route.
pub(crate) fn create_issues(api: RouteTree) -> Vec<String> {
    let options = RouterOptions::new().enable_web_sockets(true);
    let built = create_router(api, options).build();
    let Err(error) = built else { return Vec::new() };
    let issues = error.issues().iter().map(|issue| {
        let route = issue.route().map_or_else(String::new, |route| format!("{route}: "));
        let file = issue.location().map(|it| it.file()).unwrap_or_default();
        assert!(["tests/mcp/tools.rs", file!()].contains(&file), "{issue}");
        format!("{route}{}", issue.message())
    });
    issues.collect()
}
