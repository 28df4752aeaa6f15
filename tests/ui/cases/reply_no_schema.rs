//! Types without a schema as replies, directly and in `Json`.

use stockade::prelude::*;

#[derive(serde::Serialize)]
struct User {
    name: String,
}

#[derive(serde::Serialize)]
struct Order {
    id: u64,
}

async fn show() -> Json<Order> {
    Json(Order { id: 1 })
}

async fn user() -> User {
    User { name: String::new() }
}

fn main() {
    let _ = routes! { GET: show, POST: user };
}
