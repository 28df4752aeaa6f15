//! Duplicate paths, methods and options.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        GET: show,
        get: show,
        "users": {
            ":id": { GET: { show, name: "show" } },
            ":name": { PUT: show },
            POST: { show, name: "show", name: "create" },
        },
        "users": { DELETE: show },
        "users/:key": { GET: show },
        "teams": { PUT: { show, path: "/users/:other" } },
    };
}
