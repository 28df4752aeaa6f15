//! Fields of types without a schema.

use stockade::validation::{HasSchema, Schema};

struct Address;

#[derive(Schema)]
struct User {
    address: Address,
    old: Vec<Address>,
}

fn main() {
    let _ = User::schema();
}
