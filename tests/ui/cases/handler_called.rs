//! A handler that is called instead of named.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { GET: show() },
    };
}
