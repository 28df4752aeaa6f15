//! A handler that does not exist, and a tree that does.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { GET: show, POST: create },
    };
}
