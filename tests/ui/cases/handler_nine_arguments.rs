//! One argument more than a handler may have.

use stockade::extract::Headers;
use stockade::prelude::*;

async fn show(
    _: Headers,
    _: Headers,
    _: Headers,
    _: Headers,
    _: Headers,
    _: Headers,
    _: Headers,
    _: Headers,
    _: Headers,
) -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
