//! A node has a `tag`, and `docs` belong to an entry.

use stockade::prelude::*;
use stockade::Tag;

async fn show() -> &'static str {
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { docs: "Accounts of users", GET: show },
        "teams": { docs: "teams", GET: show },
        "news": { GET: { handler: show, tag: Tag::new("news", "What is new") } },
        "twice": { tag: Tag::new("a", "b"), tag: Tag::new("c", "d"), GET: show },
    };
}
