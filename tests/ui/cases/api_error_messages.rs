//! Messages on only some variants, and messages that show fields that do not exist.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(404, "no product {ids}")]
    NoProduct { id: u64 },
    #[status(409, "sold out: {}")]
    SoldOut(String),
    #[status(410, "gone: {0}")]
    Gone,
    #[status(402)]
    Unpaid,
}

#[derive(Debug)]
struct Size;

#[derive(ApiError, Debug)]
#[status(404, "no {0}")]
struct NoSize(Size);

fn main() {}
