//! A text or bytes instead of a secret.

use stockade::auth::{SessionKeys, generate_jwt};

fn main() {
    let _ = generate_jwt([("sub", "7")], "1h", "a secret of thirty-two bytes or more");
    let _ = SessionKeys::new("session", &[7_u8; 32]);
}
