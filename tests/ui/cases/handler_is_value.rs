//! A value instead of a handler.

use stockade::prelude::*;

fn main() {
    let _ = routes! {
        "health": { GET: json!({ "ok": true }) },
    };
}
