//! Entries with missing parts.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        GET: {},
        POST: { name: "create" },
        PUT: { show, max_body: "1 MiB", validation: true },
        PATCH: { show, name },
    };
}
