//! JSON-RPC 2.0: single calls and batches over HTTP, and calls with
//! notifications over a WebSocket.
//!
//! ```text
//! cargo run -p stockade-examples --bin rpc
//! curl localhost:3000/rpc -H 'content-type: application/json' \
//!   -d '{"jsonrpc":"2.0","method":"subtract","params":[42,23],"id":1}'
//! ```
//!
//! `cargo xtask rpc` tests it with independent clients.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use stockade::middleware::rate_limit::MINUTE;
use stockade::middleware::with_role;
use stockade::prelude::*;
use stockade::rpc::{Notifier, Rpc, RpcError, RpcMethod};

#[derive(Deserialize, Schema)]
struct Subtract {
    minuend: i64,
    subtrahend: i64,
}

#[derive(Deserialize, Schema)]
struct NewTask {
    #[schema(trim, min_length = 1, max_length = 100)]
    title: String,
}

#[derive(Clone, Deserialize, Schema, Serialize)]
struct Task {
    id: u64,
    title: String,
}

async fn subtract(Body(it): Body<Subtract>) -> Result<Json<i64>, ApiError> {
    let difference = it.minuend.checked_sub(it.subtrahend);
    difference.map(Json).ok_or_else(|| ApiError::new(422, "The difference is too large"))
}

/// Accepts any number of parameters.
async fn sum(Body(numbers): Body<Vec<i64>>) -> Json<i64> {
    Json(numbers.iter().fold(0, |sum, number| sum.wrapping_add(*number)))
}

async fn add_task(Body(it): Body<NewTask>) -> Json<Task> {
    Json(Task { id: 1, title: it.title })
}

/// Clears the tasks of the program. Requires an admin.
async fn clear_tasks(user: User<Value>) -> Json<Value> {
    Json(json!({ "cleared_by": user.0["name"] }))
}

#[derive(Deserialize, Schema)]
struct Order {
    sku: String,
}

/// Fails with an application-defined code.
async fn order(Body(Order { sku }): Body<Order>) -> Result<(), RpcError> {
    Err(RpcError::new(OUT_OF_STOCK, "Out of stock").data(json!({ "sku": sku })))
}

const OUT_OF_STOCK: i32 = -32050;

/// Sends the time to a WebSocket client three times.
async fn tick(client: Notifier) -> &'static str {
    tokio::spawn(async move {
        for tick in 1..=3 {
            tokio::time::sleep(Duration::from_millis(20)).await;
            if client.notify("tick", json!({ "tick": tick })).await.is_err() {
                return;
            }
        }
    });
    "begun"
}

fn methods() -> Rpc {
    Rpc::new()
        .method("subtract", RpcMethod::new(subtract).docs("Subtracts one number from another"))
        .method("sum", RpcMethod::new(sum).docs("Adds numbers"))
        .method(
            "tasks.add",
            RpcMethod::new(add_task).docs("Adds a task").rate_limit(1_000 / MINUTE),
        )
        .method("tasks.clear", RpcMethod::new(clear_tasks).middleware([with_role("admin")]))
        .method("order", RpcMethod::new(order).may_fail(OUT_OF_STOCK, "Out of stock"))
        .method("tick", tick)
        .method("get_data", async || Json(("hello", 5)))
        .method("fails", async || Err::<(), _>(ApiError::new(500, "only the log says why")))
        .discover(true)
        .rest(true)
        .web_socket(true)
}

fn router() -> Router {
    // In a real program: `Auth::secret`, a session, or an API key.
    let token = Auth::bearer(async |token: String| match token.as_str() {
        "token-of-ada" => Some(json!({ "name": "Ada", "role": "admin" })),
        _ => None,
    });
    let api = routes! { "rpc": { auth: token.optional(), ..methods().routes() } };
    let options = RouterOptions::new().enable_web_sockets(true).rate_limit(10_000 / MINUTE);
    create_router(api, options)
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000_u16);
    let server = router().create_server()?.bind(port).await?;
    println!("listening on http://{} ; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
