//! The smallest API: one route with a parameter.
//!
//! `cargo run -p stockade-examples --example hello`, then
//! `curl localhost:3000/hello/you`.

use stockade::prelude::*;

async fn hello(Path(name): Path<String>) -> Value {
    json!({ "hello": name })
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let api = routes! { "hello": { ":name": { GET: hello } } };
    let router = create_router(api, RouterOptions::new());
    router.create_server()?.listen(3000).await?;
    Ok(())
}
