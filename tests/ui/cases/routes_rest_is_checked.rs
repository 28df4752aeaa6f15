//! A syntax error does not hide an error in a handler.

use stockade::prelude::*;

async fn show(_: u8) -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        PSOT: show,
        "users": { GET: show },
    };
}
