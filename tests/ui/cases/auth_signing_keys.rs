//! A text is no secret yet, and neither are bytes.

use stockade::auth::{SessionId, generate_jwt};

fn main() {
    let _ = generate_jwt([("sub", "7")], "1h", "a secret of thirty-two bytes or more");
    let _ = SessionId::generate().map(|id| id.sign(&[7_u8; 32]));
}
