//! A body under the name that it has in other frameworks.

use stockade::prelude::*;

#[derive(serde::Deserialize, Schema)]
struct NewUser {
    name: String,
}

async fn create(Json(user): Json<NewUser>) -> String {
    user.name
}

fn main() {
    let _ = routes! {
        "users": { POST: create },
    };
}
