//! A reply of a generic type whose parameter cannot be serialised.

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
