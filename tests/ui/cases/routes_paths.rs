//! Paths that cannot be read, one by one or as a whole.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        ":": { GET: show },
        ":from:to": { GET: show },
        ":id([0-9)": { GET: show },
        "users:batch": { GET: show },
        "users": {
            ":id": { "posts": { ":id": { GET: show } } },
        },
        "files": { "**": { "more": { GET: show }, PUT: { show, path: "/a/**/b" } } },
    };
}
