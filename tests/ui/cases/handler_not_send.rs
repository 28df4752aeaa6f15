//! A future that holds a value that is not `Send`.

use std::rc::Rc;

use stockade::prelude::*;

async fn pause() {}

async fn show() -> String {
    let name = Rc::new("all users");
    pause().await;
    name.to_string()
}

fn main() {
    let _ = routes! {
        "users": { GET: show },
    };
}
