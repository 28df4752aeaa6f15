//! A time has a unit.

use stockade::prelude::*;

fn main() {
    let _ = routes! { GET: { async || "x", timeout: 5 } };
}
