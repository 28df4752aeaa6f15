//! `false` is off, except for an option that must have a value; `None` is not a value.

use stockade::RouteEntry;
use stockade::prelude::*;

fn main() {
    let _ = RouterOptions::new().max_body(false);
    let _ = RouteEntry::new(async || "x").max_body(false);
    let _ = routes! { max_body: false, GET: async || "x" };
    let _ = RouterOptions::new().rate_limit(None);
    let _ = RouterOptions::new().cors(7);
}
