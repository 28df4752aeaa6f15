//! The suite that every store must pass: the behavior of a resource, with a
//! client that checks each response against the documents.

mod guards;
mod items;
mod lists;

use std::future::Future;

use stockade::http::Method;
use stockade::prelude::*;
use stockade::rest::{Access, Entity, Op, Operation, Resource, RowFilter, Store};
use stockade::testing::{TestClient, TestResponse};

/// The item type of the suite. Names and secrets are unique.
#[derive(Clone, Debug, PartialEq, serde::Deserialize, serde::Serialize, Schema)]
pub(crate) struct Item {
    pub(crate) id: i64,
    #[schema(trim, min_length = 1, max_length = 200)]
    pub(crate) name: String,
    #[schema(maximum = 1_000_000)]
    pub(crate) price: u32,
    pub(crate) weight: f64,
    pub(crate) category: Option<String>,
    pub(crate) sold_out: bool,
    pub(crate) size: Size,
    #[schema(max_items = 5)]
    pub(crate) tags: Vec<String>,
    /// Set only by the scope.
    pub(crate) owner: String,
    /// A hidden field.
    pub(crate) secret: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, serde::Deserialize, serde::Serialize, Schema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Size {
    Small,
    Large,
}

impl Entity for Item {
    type Id = i64;
}

/// Creates the router of the suite with the resource at `/items`. The users
/// `ada` and `bob` log in with their names as tokens, and each sees only their
/// own items. `/open` does not have a scope, but follows all other rules of a
/// resource.
pub(crate) fn router<S: Store<Item> + Clone>(store: S) -> Router {
    let signed_in = with_auth(|token: String| {
        ["ada", "bob"].contains(&&*token).then(|| json!({ "name": token }))
    });
    let owned = |user: Option<&Value>| {
        let name = user.and_then(|user| user["name"].as_str());
        name.map(|name| RowFilter::eq("owner", name)).ok_or_else(ApiError::authorization)
    };
    let items = listed(Resource::new("item", store.clone()))
        .scope(owned)
        .count(true)
        .read(Access::user(&signed_in))
        .write(Access::user(&signed_in));
    let open = listed(Resource::new("open item", store.clone()))
        .require_if_match(true)
        .put_creates(true)
        .before(Operation::Create, async |_, mut draft: stockade::rest::NewRow<Item>| {
            draft.set("owner", "nobody");
            Ok(draft)
        })
        .before(Operation::Replace, async |_, mut draft: stockade::rest::NewRow<Item>| {
            draft.set("owner", "nobody");
            Ok(draft)
        })
        .read(Access::public("a test"))
        .write(Access::public("a test"));
    let own = |user: &Value, item: &Item| user["name"] == item.owner;
    let validated = listed(Resource::new("judged item", store))
        .only([Operation::Get, Operation::Replace, Operation::Patch, Operation::Delete])
        .read(Access::public("a test"))
        .write(Access::check(&signed_in, own));
    let api = routes! {
        "items": { ..items.routes() },
        "open": { ..open.routes() },
        "judged": { ..validated.routes() },
    };
    create_router(api, RouterOptions::new().rate_limit(false))
}

fn listed(resource: Resource<Item>) -> Resource<Item> {
    resource
        .server_fields(["id", "owner"])
        .hidden(["secret"])
        .filter("category")
        .filter("sold_out")
        .filter("size")
        .filter_by("id", [Op::Eq, Op::Gt])
        .filter_by("name", [Op::Eq, Op::Prefix, Op::Lt])
        .filter_by("price", [Op::Eq, Op::Lt, Op::Lte, Op::Gt, Op::Gte])
        .filter_by("weight", [Op::Eq, Op::Lt, Op::Gte])
        .sort(["price", "name", "weight", "sold_out", "id"])
}

/// A client of one user that checks each response against the documents.
pub(crate) struct Client {
    client: TestClient,
}

impl Client {
    pub(crate) fn new<S: Store<Item> + Clone>(store: S, user: &str) -> Self {
        Self { client: TestClient::new(router(store)).with_contract().with_bearer(user) }
    }

    pub(crate) async fn get(&self, target: &str) -> TestResponse {
        self.client.get(target).await
    }

    pub(crate) async fn send(&self, method: Method, target: &str, body: &Value) -> TestResponse {
        self.client.request(method, target).json(body).await
    }

    /// Sends a request text such as `PUT /items/1`, then headers, then a body
    /// after an empty line.
    pub(crate) async fn raw(&self, text: &str) -> TestResponse {
        let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
        let mut lines = head.lines();
        let (method, target) = lines.next().unwrap().split_once(' ').unwrap();
        let mut request = self.client.request(method.parse().unwrap(), target);
        for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
            request = request.header(name, value);
        }
        if !body.is_empty() {
            request = request.body(body.to_owned());
            if !head.contains("content-type") {
                request = request.header("content-type", "application/json");
            }
        }
        request.await
    }

    #[track_caller]
    pub(crate) fn check(&self, text: &str, status: u16) -> impl Future<Output = TestResponse> {
        let place = std::panic::Location::caller();
        async move {
            let answer = self.raw(text).await;
            assert_eq!(answer.status(), status, "{place}: {text}\n{}", answer.text());
            answer
        }
    }

    /// Returns the item names of a list, in order.
    pub(crate) async fn names(&self, query: &str) -> String {
        let page = self.check(&format!("GET /items?{query}"), 200).await;
        names_of(&page.json())
    }
}

pub(crate) fn names_of(page: &Value) -> String {
    let items = page["items"].as_array().unwrap().iter();
    items.map(|item| item["name"].as_str().unwrap()).collect::<Vec<_>>().join(" ")
}

pub(crate) fn item(name: &str, price: u32) -> Value {
    json!({
        "name": name, "price": price, "weight": 0.5, "category": null,
        "sold_out": false, "size": "small", "tags": [],
    })
}

fn with(mut item: Value, changes: Value) -> Value {
    for (name, value) in changes.as_object().unwrap() {
        item[name] = value.clone();
    }
    item
}

/// Runs all tests on empty stores from `make`.
pub(crate) async fn suite<S: Store<Item> + Clone>(make: impl AsyncFn() -> S) {
    items::one_item(make().await).await;
    items::changes(make().await).await;
    items::conditions(make().await).await;
    items::refusals(make().await).await;
    lists::pages(make().await).await;
    lists::filters(make().await).await;
    guards::scope(make().await).await;
    guards::open(make().await).await;
    guards::validated(make().await).await;
    guards::hidden(make().await).await;
}
