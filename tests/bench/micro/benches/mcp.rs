//! Calls of tools compared with the same request to their route, and the list
//! of tools compared with a static response: the processor time of one request.
//! Both results are ratios within each round.
//!
//! `cargo bench -p bench-micro --bench mcp`

mod beside;

use serde::Deserialize;
use stockade::mcp::Mcp;
use stockade::prelude::*;

use crate::beside::{Side, in_process, over_http, show};

#[derive(Deserialize, Schema)]
struct Subtract {
    minuend: i64,
    subtrahend: i64,
}

async fn subtract(Body(it): Body<Subtract>) -> Json<i64> {
    Json(it.minuend - it.subtrahend)
}

fn app() -> App {
    let routes = routes! {
        "mcp": { public: "a benchmark", ..Mcp::new("Bench", "1.0.0").routes() },
        "subtract": { POST: { subtract, name: "subtract", tool: "Subtracts two numbers." } },
        "static": { GET: async || "a static response" },
    };
    create_router(routes, RouterOptions::new().rate_limit(false)).build().expect("routes")
}

fn side(target: &'static str, body: String) -> Side {
    Side { app: app(), target, body: Some(body) }
}

const ARGUMENTS: &str = r#"{"minuend":42,"subtrahend":23}"#;

fn main() {
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"subtract","arguments":{ARGUMENTS}}}}}"#
    );
    let route = side("/subtract", ARGUMENTS.to_owned());
    let call = side("/mcp", call);
    let list = side("/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#.to_owned());
    let fixed = Side::get(app(), "/static");
    show("call, in process", 2.2, &in_process([&call, &route], 61, 3_000));
    show("call, over HTTP", 1.4, &over_http([&call, &route], 101, 1_600));
    show("list, over HTTP", 1.1, &over_http([&list, &fixed], 101, 1_600));
}
