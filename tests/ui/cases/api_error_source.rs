//! Fields that cannot be the source of an error.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum ShopError {
    #[status(500, "database")]
    Database { source: String },
    #[status(500, "two fields")]
    Two(#[from] std::io::Error, u8),
}

fn main() {}
