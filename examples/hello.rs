//! The smallest API: one route with a parameter.
//!
//! `cargo run -p stockade-examples --bin hello`, then
//! `curl localhost:3000/hello/you`.

use stockade::prelude::*;

async fn hello(Path(name): Path<String>) -> Value {
    json!({ "hello": name })
}

#[tokio::main]
async fn main() -> Result<(), ServeError> {
    Router::from(routes! { "hello": { ":name": { GET: hello } } }).listen(3000).await
}
