//! Middleware with a result that cannot become a response.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

async fn count(_: &mut Request) -> u32 {
    1
}

fn main() {
    let _ = routes! {
        middleware: [count],
        GET: show,
    };
}
