//! A handler that wants the request by reference, as middleware does.

use stockade::prelude::*;

async fn show(req: &mut Request) -> String {
    req.path().to_owned()
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
