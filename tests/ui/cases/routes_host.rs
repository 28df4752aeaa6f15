//! Hosts that cannot be read, in an entry, and in another host.

use stockade::prelude::*;

async fn show() -> &'static str {
    "a site"
}

fn main() {
    let _ = routes! {
        host: "https://a.example",
        GET: { show, host: "b.example" },
        "c": { host: "c.example", GET: show },
    };
}
