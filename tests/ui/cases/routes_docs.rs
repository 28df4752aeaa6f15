//! A key of a node appears once. A node may have `docs`.

use stockade::prelude::*;
use stockade::{RouteDocs, Tag};

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { docs: RouteDocs::default().hidden("internal"), GET: { show, docs: "Users" } },
        "twice": { tag: Tag::new("a", "b"), tag: Tag::new("c", "d"), GET: show },
    };
}
