//! A result that cannot become a response, in a `Result`.

use stockade::prelude::*;

struct User;

async fn show() -> Result<User, ApiError> {
    Ok(User)
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
