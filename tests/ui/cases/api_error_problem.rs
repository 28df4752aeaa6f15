//! Invalid problem types and members.

use stockade::prelude::*;

#[derive(ApiError, Debug)]
enum OrderError {
    #[status(409, "sold out", type = "/sold-out")]
    SoldOut,
    #[status(409, "locked", type = locked)]
    Locked,
    #[status(409, "reserved", type = "reserved")]
    Reserved {
        #[member]
        status: u16,
        #[member("type")]
        kind: String,
    },
    #[status(409, "untyped")]
    Untyped {
        #[member]
        sku: String,
    },
    #[status(409, "tuple", type = "tuple")]
    Tuple(#[member] u8),
}

fn main() {}
