//! Lists of headers whose names or values cannot be headers.

use stockade::prelude::*;

async fn value() -> impl Reply {
    ([("x-flag", true)], "text")
}

async fn name() -> impl Reply {
    (vec![(7, "seven")], "text")
}

async fn pair() -> impl Reply {
    (StatusCode::CREATED, ("x-name", "value"), "text")
}

fn main() {
    let _ = routes! {
        GET: value,
        PUT: name,
        POST: pair,
    };
}
