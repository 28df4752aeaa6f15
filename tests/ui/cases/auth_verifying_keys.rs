//! A text or bytes instead of a secret.

use stockade::auth::{TokenVerifier, verify_token};

fn main() {
    let _ = verify_token("e30.e30.", "a secret of thirty-two bytes or more");
    let _ = verify_token("e30.e30.", &String::from("a secret of thirty-two bytes or more"));
    let _ = TokenVerifier::new().verify("e30.e30.", &[7_u8; 32]);
}
