//! A resource compared with handwritten routes, in process: the processor time
//! of GET for an item and for a list of 20, as a ratio within each round.
//!
//! `cargo bench -p bench-micro --bench rest`

mod beside;
mod product;

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock};

use serde::{Deserialize, Serialize};
use stockade::http::{HeaderValue, header};
use stockade::prelude::*;
use stockade::rest::{Access, MemoryStore, Resource};

use crate::beside::{Side, in_process, show};
use crate::product::Product;

fn products() -> impl Iterator<Item = Product> {
    (1..=1_000).map(|id| Product {
        id,
        name: format!("product {id}"),
        price_cents: 100 + u32::try_from(id).unwrap_or(0),
        category: (id % 2 == 0).then(|| "tea".to_owned()),
    })
}

fn resource() -> RouteTree {
    let store = MemoryStore::new();
    store.insert(products()).expect("an empty store");
    Resource::new("product", store)
        .server_fields(["id"])
        .filter("category")
        .sort(["price_cents"])
        .read(Access::public("a measurement"))
        .write(Access::public("a measurement"))
        .routes()
}

type Rows = Arc<RwLock<BTreeMap<i64, (Product, u64)>>>;

/// The page of the handwritten routes.
#[derive(Serialize, Schema)]
struct Page {
    items: Vec<Product>,
    next: Option<String>,
}

#[derive(Deserialize, Schema)]
struct Query20 {
    #[schema(minimum = 1, maximum = 100, default = 20)]
    limit: usize,
    cursor: Option<String>,
}

fn by_hand() -> RouteTree {
    let rows: Rows =
        Arc::new(RwLock::new(products().map(|product| (product.id, (product, 1))).collect()));
    let one = Arc::clone(&rows);
    let get = move |Path(id): Path<i64>, req: Request| {
        let rows = Arc::clone(&one);
        async move {
            let found = rows.read().expect("a lock").get(&id).cloned();
            let (product, version) = found.ok_or_else(ApiError::not_found)?;
            let tag = format!("\"v{version}\"");
            if req.headers().get(header::IF_NONE_MATCH).is_some_and(|known| *known == *tag) {
                return Err(ApiError::new(412, "not measured"));
            }
            let mut response = Json(product).into_response()?;
            let headers = response.headers_mut();
            headers.insert(header::ETAG, HeaderValue::try_from(tag).expect("a tag"));
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            Ok::<_, ApiError>(response)
        }
    };
    let list = move |Query(query): Query<Query20>| {
        let rows = Arc::clone(&rows);
        async move {
            let after = query.cursor.and_then(|cursor| cursor.parse().ok()).unwrap_or(0);
            let rows = rows.read().expect("a lock");
            let mut rest = rows.range(after + 1..).map(|(_, (product, _))| product);
            let items: Vec<Product> = rest.by_ref().take(query.limit).cloned().collect();
            let last = rest.next().and_then(|_| items.last().map(|last| last.id.to_string()));
            let mut response = Json(Page { items, next: last.clone() }).into_response()?;
            let headers = response.headers_mut();
            headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
            if let Some(next) = last {
                let link = format!("</products?cursor={next}>; rel=\"next\"");
                headers.insert(header::LINK, HeaderValue::try_from(link).expect("a link"));
            }
            Ok::<_, ApiError>(response)
        }
    };
    routes! { GET: list, ":id": { GET: get } }
}

fn app(routes: RouteTree) -> App {
    let options = RouterOptions::new().rate_limit(false);
    create_router(routes! { "products": { ..routes } }, options).build().expect("routes")
}

fn main() {
    let (ours, by_hand) = (app(resource()), app(by_hand()));
    for (name, target, goal) in
        [("GET item", "/products/500", 1.10), ("list of 20", "/products", 1.15)]
    {
        let sides = [&ours, &by_hand].map(|app| Side::get(app.clone(), target));
        show(name, goal, &in_process([&sides[0], &sides[1]], 61, 3_000));
    }
}
