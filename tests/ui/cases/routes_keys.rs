//! Keys that a tree and an entry do not have.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        PSOT: show,
        TRACE: show,
        users: { GET: show },
        handler: show,
        "users": {
            GTE: show,
            POST: { show, midleware: [] },
            PUT: { show, doc: "x" },
            DELETE: { show, POST: show },
            PATCH: { show, error_handing: (), publik: "x" },
        },
    };
}
