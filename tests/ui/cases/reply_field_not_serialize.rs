//! A generic reply with a parameter that does not implement `Serialize`.

use stockade::prelude::*;

#[derive(serde::Serialize, Schema)]
struct Page<T> {
    items: Vec<T>,
}

#[derive(Schema)]
struct User;

async fn list() -> Page<User> {
    Page { items: Vec::new() }
}

fn main() {
    let _ = routes! { GET: list };
}
