//! A closure that captures a value that cannot be cloned for each request.

use std::sync::Mutex;

use stockade::prelude::*;

fn main() {
    let visitors = Mutex::new(Vec::<String>::new());
    let _ = routes! {
        "users": { GET: async move || format!("{visitors:?}") },
    };
}
