//! The argument of `error_handling`: a synchronous function of one argument or two.

use stockade::prelude::*;
use stockade::{ErrorReply, middleware::with_error_handling};

async fn later(_: &mut ErrorReply) {}

fn main() {
    let _ = RouterOptions::new().error_handling(async |error: &mut ErrorReply| error.set_json("x"));
    let _ = with_error_handling(|error: &mut ErrorReply, _: &Request| error.set_json("x"));
    let mut router = Router::new();
    router.error_handling(later);
    let _ = routes! {
        error_handling: |error: ApiError| error,
        GET: { async || "x", error_handling: "x" },
    };
}
