//! Without messages, the type has to say its text itself.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(404)]
    NoProduct,
}

fn main() {
    let _ = ShopError::NoProduct;
}
