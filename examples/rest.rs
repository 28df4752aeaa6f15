//! A REST resource: teas that everyone may read and an administrator may
//! change, and private notes of each user.
//!
//! ```text
//! cargo run -p stockade-examples --bin rest
//! curl -i 'localhost:3000/teas?sort=-price_cents&limit=2'
//! curl -i localhost:3000/teas/1
//! curl -i localhost:3000/teas -H 'authorization: Bearer root' \
//!      -H 'content-type: application/json' -d '{"name": "Assam", "price_cents": 640}'
//! curl -i -X PATCH localhost:3000/teas/1 -H 'authorization: Bearer root' \
//!      -H 'if-match: "v1"' -H 'content-type: application/merge-patch+json' \
//!      -d '{"price_cents": 500}'
//! ```

use serde::{Deserialize, Serialize};
use stockade::openapi::OpenApiOptions;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Op, Resource, RowFilter, StoreError};

#[derive(Clone, Serialize, Deserialize, Schema)]
struct Tea {
    #[schema(read_only)]
    id: i64,
    #[schema(trim, min_length = 1, max_length = 200)]
    name: String,
    #[schema(maximum = 100_000)]
    price_cents: u32,
    origin: Option<String>,
}

impl Entity for Tea {
    type Id = i64;
}

#[derive(Clone, Serialize, Deserialize, Schema)]
struct Note {
    #[schema(read_only)]
    id: i64,
    #[schema(trim, min_length = 1, max_length = 10_000)]
    text: String,
    #[schema(read_only)]
    owner: String,
}

impl Entity for Note {
    type Id = i64;
}

fn teas() -> Result<MemoryStore<Tea>, StoreError> {
    let store = MemoryStore::new().unique("name");
    let tea = |(id, name, price_cents, origin): (i64, &str, u32, Option<&str>)| Tea {
        id,
        name: name.to_owned(),
        price_cents,
        origin: origin.map(str::to_owned),
    };
    let teas = [
        (1, "Sencha", 490, Some("Japan")),
        (2, "Darjeeling", 720, Some("India")),
        (3, "House blend", 350, None),
    ];
    store.insert(teas.map(tea))?;
    Ok(store)
}

fn router() -> Result<Router, BoxError> {
    // The token is the name of the user. A public program needs real tokens.
    let signed_in = with_auth(|token: String| {
        let role = if token == "root" { "admin" } else { "customer" };
        (!token.is_empty()).then(|| json!({ "name": token, "role": role }))
    });
    let teas = Resource::new("tea", teas()?)
        .filter("origin")
        .filter_by("name", [Op::Prefix])
        .filter_by("price_cents", [Op::Lt, Op::Gte])
        .sort(["price_cents", "name"])
        .read(Access::public("the catalogue is open"))
        .write(Access::role(&signed_in, "admin"));
    let notes = Resource::new("note", MemoryStore::<Note>::new())
        .scope(|user| match user.and_then(|user| user["name"].as_str()) {
            Some(name) => Ok(RowFilter::eq("owner", name)),
            None => Err(ApiError::authentication()),
        })
        .read(Access::user(&signed_in))
        .write(Access::user(&signed_in))
        .require_if_match(true);
    let api = routes! {
        "teas": { ..teas.routes() },
        "notes": { ..notes.routes() },
    };
    let documents = OpenApiOptions::new("Teas", "1.0.0").public("everybody may read it");
    Ok(create_router(api, RouterOptions::new()).open_api(documents))
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    env_logger::init();
    let port: u16 = std::env::var("PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(3000);
    let server = router()?.create_server()?.bind(port).await?;
    println!("listening on http://{}; Ctrl-C ends it", server.local_addr());
    server.with_signals().serve().await?;
    Ok(())
}
