//! `docs` of a node is a tag, and `docs` of an entry is documentation.

use stockade::prelude::*;
use stockade::{RouteDocs, Tag};

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { docs: RouteDocs::new("Accounts"), GET: show },
        "teams": { docs: "teams", GET: show },
        "news": { GET: { handler: show, tag: Tag::new("news", "What is new") } },
        "twice": { tag: Tag::new("a", "b"), tag: Tag::new("c", "d"), GET: show },
    };
}
