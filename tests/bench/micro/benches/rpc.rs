//! JSON-RPC methods compared with the same handler as a route: the processor
//! time of one call. A batch of fifty calls is compared with single calls. Both
//! results are ratios within each round.
//!
//! `cargo bench -p bench-micro --bench rpc`

mod beside;

use serde::Deserialize;
use stockade::prelude::*;
use stockade::rpc::Rpc;

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
    let rpc = Rpc::new().method("subtract", subtract);
    let routes = routes! { "rpc": { ..rpc.routes() }, "subtract": { POST: subtract } };
    create_router(routes, RouterOptions::new().rate_limit(false)).build().expect("routes")
}

fn side(target: &'static str, body: String) -> Side {
    Side { app: app(), target, body: Some(body) }
}

const PARAMS: &str = r#"{"minuend":42,"subtrahend":23}"#;

fn call(id: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"subtract","params":{PARAMS},"id":{id}}}"#)
}

fn main() {
    let route = side("/subtract", PARAMS.to_owned());
    let single = side("/rpc", call(1));
    let calls: Vec<String> = (1..=50).map(call).collect();
    let batch = side("/rpc", format!("[{}]", calls.join(",")));
    show("call, in process", 1.08, &in_process([&single, &route], 61, 3_000));
    show("batch of 50, in process", 20.0, &in_process([&batch, &single], 61, 300));
    show("call, over HTTP", 1.08, &over_http([&single, &route], 101, 1_600));
    show("batch of 50, over HTTP", 20.0, &over_http([&batch, &single], 101, 160));
}
