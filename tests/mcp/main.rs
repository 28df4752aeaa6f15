//! Tools for AI agents (MCP): the protocol, the tools, and their calls.

mod calls;
mod confusion;
mod metadata;
mod origins;
mod progress;
mod protocol;
mod schemas;
mod shop;
mod stdio;
mod support;
mod tools;
mod visibility;

use stockade::mcp::Mcp;
use stockade::prelude::*;
use stockade::testing::TestClient;

/// Runs a future to completion.
fn block_on<F: Future>(future: F) -> F::Output {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.unwrap().block_on(future)
}

/// A program with a public tool and a tool for users. The token `t` belongs to
/// a user.
fn program(mcp: &Mcp) -> Router {
    let auth = Auth::bearer(|token: String| (token == "t").then_some("ada"));
    let maybe = with_auth(auth.clone().required(false));
    let signed_in = with_auth(auth);
    let api = routes! {
        "mcp": { middleware: [maybe], public: "some tools are public", ..mcp.routes() },
        "time": { GET: { handler: async || "12:30", name: "time", tool: "Returns the time." } },
        "me": {
            GET: {
                handler: async |User(name): User<String>| name,
                middleware: [signed_in],
                name: "me",
                tool: "Returns the name of the user.",
            },
        },
    };
    create_router(api, RouterOptions::new().rate_limit(false))
}

/// Returns a client for [`program`] with the default options.
fn client() -> TestClient {
    TestClient::new(program(&Mcp::new("Shop", "1.0.0")))
}
