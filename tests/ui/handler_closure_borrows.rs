//! An async closure that lends what it captured to its future.

use stockade::prelude::*;

fn main() {
    let greeting = String::from("hello");
    let _ = routes! {
        "users": { GET: async move || greeting.clone() },
    };
}
