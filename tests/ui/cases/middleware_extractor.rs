//! Middleware with an argument that no request has.

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

async fn around(_id: u64, req: Request, next: Next) -> Response {
    next.run(req).await
}

async fn before(_id: u64, _: &mut Request) {}

fn main() {
    let _ = routes! {
        GET: { show, middleware: around },
        POST: { show, middleware: before },
    };
}
