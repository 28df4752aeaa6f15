//! A handler that returns a type without `Serialize`.

use stockade::prelude::*;

#[derive(Schema)]
struct User {
    name: String,
}

async fn show() -> User {
    User { name: String::new() }
}

fn main() {
    let _ = routes! { GET: show };
}
