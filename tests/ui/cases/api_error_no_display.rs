//! A type without messages that does not implement `Display`.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(404)]
    NoProduct,
}

fn main() {
    let _ = ShopError::NoProduct;
}
