//! Middleware that takes the whole request without `next`.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

async fn count(_: Request) -> Response {
    Response::default()
}

fn main() {
    let _ = routes! {
        middleware: count,
        GET: show,
    };
}
