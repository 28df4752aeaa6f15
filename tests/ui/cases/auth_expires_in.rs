//! Token lifetimes of the wrong type.

use stockade::auth::{Secret, generate_jwt};

fn main() {
    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let _ = generate_jwt([("sub", "7")], 3_600, &secret);
    let _ = generate_jwt([("sub", "7")], Some("1h"), &secret);
}
