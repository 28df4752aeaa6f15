//! Middleware that captures a value that cannot be cloned for each request.

use std::sync::Mutex;

use stockade::prelude::*;

fn main() {
    let visitors = Mutex::new(Vec::<String>::new());
    let counts = async move |req: Request, next: Next| {
        visitors.lock().unwrap().push(req.path().to_owned());
        next.run(req).await
    };
    let _ = routes! {
        middleware: counts,
        GET: async || "users",
    };
}
