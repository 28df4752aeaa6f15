//! Middleware with `next` and a result that cannot become a response.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

async fn count(_: Request, _: Next) -> String {
    String::new()
}

fn main() {
    let _ = routes! {
        GET: { show, middleware: [count] },
    };
}
