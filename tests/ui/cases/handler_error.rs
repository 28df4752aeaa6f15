//! An error that cannot become an `ApiError`.

use stockade::prelude::*;

#[derive(Debug)]
struct Lost;

async fn show() -> Result<&'static str, Lost> {
    Err(Lost)
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
