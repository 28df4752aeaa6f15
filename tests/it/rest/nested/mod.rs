//! Marks inside the fields of items, at any depth. Clients cannot set a
//! read-only value or receive a write-only one, and a write preserves the
//! stored values.

mod attacks;
mod changes;
mod examples;
mod shapes;

use std::cell::RefCell;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade::prelude::*;
use stockade::rest::{
    Access, Entity, MemoryStore, NewRow, Resource, RowFilter, Store, VersionCheck,
};
use stockade::testing::TestClient;
use stockade::validation::{HasSchema, Rule};
use stockade_errors::random::Random;

use self::changes::{Changer, Way};
use self::shapes::{Mark, Shape, without};
use crate::support::{block_on, long_or};

/// A type that contains itself.
#[derive(Clone, Deserialize, Serialize, Schema)]
pub(crate) struct Branch {
    name: String,
    #[schema(read_only)]
    role: Option<String>,
    #[schema(write_only)]
    key: Option<String>,
    #[serde(default)]
    below: Vec<Self>,
}

thread_local! {
    static SHAPE: RefCell<Shape> = const { RefCell::new(Shape::Text) };
}

/// An item with a body in the shape of the current case.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct Doc {
    id: i64,
    body: Value,
}

impl HasSchema for Doc {
    fn rule() -> Rule {
        Rule::object([
            ("id", i64::rule().required().read_only()),
            ("body", SHAPE.with_borrow(Shape::rule).required()),
        ])
    }
}

impl Entity for Doc {
    type Id = i64;
}

#[test]
fn generated_types_pass_in_memory() {
    block_on(async {
        for seed in 0..long_or(400, 100) {
            begin(seed);
            check(seed, MemoryStore::new()).await;
        }
    });
}

/// Sets the shape for a case.
pub(crate) fn begin(seed: u64) {
    let shape = Shape::object(&mut Random::new(seed), 3, false);
    SHAPE.set(shape);
}

/// Writes and reads an item of the current shape in each format.
pub(crate) async fn check(seed: u64, store: impl Store<Doc> + Clone) {
    let shape = SHAPE.with_borrow(Clone::clone);
    let mut random = Random::new(seed);
    let mut texts = 0;
    let mut changer = Changer { random: &mut random, texts: &mut texts };
    let open = || Access::public("a test");
    let docs = Resource::new("doc", store.clone()).read(open()).write(open());
    let api = routes! { "docs": { ..docs.routes() } };
    let client = TestClient::new(create_router(api, RouterOptions::new()));
    let case = Case { shape: &shape, store: &store, client: &client, seed };

    let sent = changer.fresh(&shape);
    let made = client.post("/docs").json(json!({ "id": 77, "body": sent })).await;
    made.assert_status(201);
    let id = made.json::<Value>()["id"].as_i64().unwrap();
    let mut expected = sent.clone();
    without(&shape, Mark::ReadOnly, &mut expected);
    case.assert(id, made.json::<Value>(), &expected, "create", &sent).await;

    // The application has set the read-only values.
    let whole = changer.fresh(&shape);
    let draft = NewRow::new([("id", json!(id + 1)), ("body", whole.clone())]);
    store.create(draft).await.unwrap();
    let path = format!("/docs/{}", id + 1);
    let mut stored = whole;
    for round in 0..6 {
        let (name, sent, expected, request) = match round % 3 {
            0 => {
                let (sent, expected) = changer.change(&shape, &stored, Way::Put, true);
                ("replace", sent.clone(), expected, client.put(&path).json(json!({ "body": sent })))
            }
            1 => {
                let (sent, expected) = changer.change(&shape, &stored, Way::Merge, true);
                ("merge", sent.clone(), expected, client.patch(&path).json(json!({ "body": sent })))
            }
            _ => {
                let (mut expected, adds) = (stored.clone(), changer.random.one_in(2));
                let sent: Value =
                    (0..5).filter_map(|_| changer.operation(&shape, &mut expected, adds)).collect();
                let request = client.patch(&path).body(sent.to_string());
                let request = request.header("content-type", "application/json-patch+json");
                ("json patch", sent, expected, request)
            }
        };
        let response = request.await;
        assert_eq!(response.status(), 200, "{seed}: {name} {sent}: {}", response.text());
        case.assert(id + 1, response.json::<Value>(), &expected, name, &sent).await;
        // The next round starts with all values.
        stored = changer.fresh(&shape);
        let draft = NewRow::new([("body", stored.clone())]);
        store.replace(&(id + 1), draft, VersionCheck::Any, &RowFilter::all()).await.unwrap();
    }
}

struct Case<'c, S> {
    shape: &'c Shape,
    store: &'c S,
    client: &'c TestClient,
    seed: u64,
}

impl<S: Store<Doc>> Case<'_, S> {
    /// Compares the item in the store and in each response with the model.
    async fn assert(&self, id: i64, answer: Value, expected: &Value, name: &str, sent: &Value) {
        let (seed, shape) = (self.seed, self.shape);
        let stored = self.store.get(&id, &RowFilter::all()).await.unwrap().unwrap();
        assert_eq!(stored.value.body, *expected, "{seed}: {name} {sent} of {shape:?}");
        let mut shown = expected.clone();
        without(shape, Mark::WriteOnly, &mut shown);
        assert_eq!(answer["body"], shown, "{seed}: {name}");
        let one = self.client.get(format!("/docs/{id}")).await.json::<Value>();
        assert_eq!(one["body"], shown, "{seed}: get");
        let page = self.client.get("/docs").await.json::<Value>();
        let mut items = page["items"].as_array().unwrap().iter();
        let item = items.find(|item| item["id"] == id).unwrap();
        assert_eq!(item["body"], shown, "{seed}: list");
    }
}
