//! A result that is no answer.

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
