//! Values of the wrong shape.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": show,
        "teams",
        7: show,
        GET: { "deeper": { GET: show } },
        PUT: { show, name: "x" },
        POST: ,
        /// Deletes all.
        DELETE: show
        PATCH: show show,
    };
}
