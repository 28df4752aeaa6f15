//! Middleware with a future that is not `Send`.

use std::rc::Rc;

use stockade::prelude::*;

async fn show() -> &'static str {
    "all users"
}

async fn before(_: &mut Request) {
    let name = Rc::new("all users");
    show().await;
    drop(name);
}

async fn around(req: Request, next: Next) -> Response {
    let name = Rc::new("all users");
    let response = next.run(req).await;
    drop(name);
    response
}

fn main() {
    let _ = routes! {
        middleware: [before, around],
        GET: show,
    };
}
