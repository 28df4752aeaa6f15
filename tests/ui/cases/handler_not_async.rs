//! A function without `async`.

use stockade::prelude::*;

fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
