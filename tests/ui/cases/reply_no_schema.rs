//! `Reply` and `Json` of types whose schema is not known.

use stockade::prelude::*;

#[derive(serde::Serialize, Reply)]
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

fn main() {
    let _ = User { name: String::new() };
    let _ = routes! { GET: show };
}
