//! Statuses that are missing or not error statuses.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(200, "fine")]
    Fine,
    #[status("404", "text")]
    Text,
    #[status(StatusCode::NOT_FOUND, "constant")]
    Constant,
    NoStatus,
    #[status(404, "twice")]
    #[status(409, "twice")]
    Twice,
    #[status(404, no_text)]
    NoText,
    #[status]
    Empty,
}

#[derive(ApiError, Debug)]
#[status(404)]
enum Outer {
    #[status(404, "x")]
    Inner,
}

fn main() {}
