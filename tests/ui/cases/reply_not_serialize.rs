//! `Reply` of what cannot be serialised.

use stockade::prelude::*;

#[derive(Reply, Schema)]
struct User {
    name: String,
}

fn main() {
    let _ = User { name: String::new() };
}
