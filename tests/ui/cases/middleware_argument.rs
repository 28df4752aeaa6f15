//! Middleware with an argument of a handler.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

fn fine(_: &mut Request) {}

async fn count(Path(id): Path<u64>) {
    let _ = id;
}

fn main() {
    let _ = routes! {
        GET: { show, middleware: [fine, count] },
    };
}
