//! A body whose type cannot be read.

use stockade::prelude::*;

struct User {
    name: String,
}

async fn create(Path(id): Path<u64>, Body(user): Body<User>) -> String {
    format!("{id}: {}", user.name)
}

fn main() {
    let _ = routes! {
        "users": { ":id": { PUT: { create, name: "users.create" } } },
    };
}
