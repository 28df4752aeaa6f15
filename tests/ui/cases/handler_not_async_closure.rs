//! A closure without `async`.

use stockade::prelude::*;

fn main() {
    let _ = routes! {
        "users": { GET: || "all users" },
    };
}
