//! A result that cannot become a response.

use stockade::prelude::*;

struct User;

async fn show() -> User {
    User
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
