//! An argument that no request has.

use stockade::prelude::*;

struct Database;

async fn list(database: Database) -> &'static str {
    let _ = database;
    "all users"
}

fn main() {
    let _ = routes! {
        "users": { GET: list },
    };
}
