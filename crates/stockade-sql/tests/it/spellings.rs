//! Tests values with several spellings: each store uses one canonical spelling,
//! regardless of the spelling that a client sends.

use std::net::IpAddr;

use chrono::{DateTime, FixedOffset};
use http::Method;
use jiff::Timestamp;
use jiff::civil::Date;
use rust_decimal::Decimal;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_rest::{
    Access, Entity, ListQuery, MemoryStore, NewRow, Op, Resource, RowFilter, Store, StoreError,
    VersionCheck,
};
use stockade_routing::{App, RouteTree, RouterOptions, create_router};
use stockade_validation::Schema;
use uuid::Uuid;

use crate::engines;
use crate::requests::{send, send_json, with_query};

#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
struct Visit {
    id: Uuid,
    device: Option<Uuid>,
    /// A UUID that the type treats as plain text.
    #[schema(format = "uuid")]
    ticket: String,
    address: IpAddr,
    #[schema(format = "ipv6")]
    gateway: String,
    at: Timestamp,
    until: DateTime<FixedOffset>,
    #[schema(format = "date-time")]
    told: String,
    day: Date,
    price: Decimal,
}

impl Entity for Visit {
    type Id = Uuid;
}

const ID: &str = "2eb8aa08-aa98-11ea-b4aa-73b441d16380";
const DEVICE: &str = "a0000000-0000-4000-8000-00000000000f";
const INDEXES: &str = "CREATE UNIQUE INDEX items_device ON {} (device);
    CREATE UNIQUE INDEX items_ticket ON {} (ticket); CREATE UNIQUE INDEX items_told ON {} (told);";

/// Returns a visit with a non-canonical spelling of every value.
fn spelled(id: &str) -> Value {
    json!({
        "id": id.to_uppercase(),
        "device": format!("urn:uuid:{DEVICE}"),
        "ticket": DEVICE.to_uppercase(),
        "address": "2001:DB8:0:0:0:0:0:7",
        "gateway": "2001:DB8::0001",
        "at": "2026-11-23T10:00:00.50+01:00",
        "until": "2026-11-23T10:30:00.500+01:00",
        "told": "2026-11-23t10:00:00.500+01:00",
        "day": "2026-11-23T00:00:00",
        "price": "+1.50",
    })
}

/// Returns the same visit in the canonical spelling of every response.
fn canonical(id: &str) -> Value {
    json!({
        "id": id,
        "device": DEVICE,
        "ticket": DEVICE,
        "address": "2001:db8::7",
        "gateway": "2001:db8::1",
        "at": "2026-11-23T09:00:00.5Z",
        "until": "2026-11-23T09:30:00.500Z",
        "told": "2026-11-23T09:00:00.5+00:00",
        "day": "2026-11-23",
        "price": "1.50",
    })
}

fn app(store: impl Store<Visit>) -> App {
    let open = || Access::public("a test");
    let visits = Resource::new("visit", store)
        .filter("id")
        .filter("device")
        .filter("ticket")
        .filter("address")
        .filter("gateway")
        .filter_by("at", [Op::Eq, Op::Gt])
        .filter("until")
        .filter("told")
        .filter("day")
        .sort(["at", "told"])
        .put_creates(true)
        .read(open())
        .write(open());
    let tree = RouteTree::new().segment("visits", visits.routes());
    create_router(tree, RouterOptions::new()).build().unwrap()
}

async fn one_item_has_one_spelling(store: impl Store<Visit> + Clone) {
    let app = app(store);
    let post = async |body: &Value| send_json(&app, Method::POST, "/visits", body).await;
    let get = async |target: &str| send(&app, Method::GET, target).await;
    let made = post(&spelled(ID)).await;
    made.assert(201, &canonical(ID));
    let place = made.location.unwrap();
    assert_eq!(place, format!("/visits/{ID}"));
    get(&place).await.assert(200, &canonical(ID));
    let shouted = format!("/visits/{}", ID.to_uppercase());
    get(&shouted).await.assert(200, &canonical(ID));

    // The same values in other spellings are duplicates.
    let again = post(&canonical(ID)).await;
    assert_eq!(again.status, 409, "{again:?}");
    let mut other = spelled("3eb8aa08-aa98-11ea-b4aa-73b441d16380");
    other["ticket"] = json!(ID);
    other["told"] = json!("2026-11-23T09:00:01Z");
    post(&other).await.assert_field_error(409, "device", "unique");

    // Each spelling finds the item by each field.
    for field in ["id", "device", "ticket", "address", "gateway", "at", "until", "told", "day"] {
        for value in [&spelled(ID)[field], &canonical(ID)[field]] {
            let page = get(&with_query("/visits", field, value.as_str().unwrap())).await;
            assert_eq!(page.status, 200, "{field} {value}");
            assert_eq!(page.body["items"], json!([canonical(ID)]), "{field} {value}");
        }
    }

    // Updates store the canonical spelling in every field.
    let patch = json!({ "told": "2026-11-23T11:00:00+01:00", "device": null });
    let patched = send_json(&app, Method::PATCH, &shouted, &patch).await;
    assert_eq!(patched.status, 200, "{patched:?}");
    assert_eq!(patched.body["told"], "2026-11-23T10:00:00+00:00");
    send_json(&app, Method::PUT, &shouted, &spelled(ID)).await.assert(200, &canonical(ID));
    assert_eq!(send(&app, Method::DELETE, &shouted).await.status, 204);
    assert_eq!(get(&place).await.status, 404);

    // An item created by PUT has its canonical location.
    let made = send_json(&app, Method::PUT, &shouted, &spelled(ID)).await;
    made.assert(201, &canonical(ID));
    assert_eq!(made.location, Some(place));
}

async fn programs_may_use_any_spelling(store: impl Store<Visit> + Clone) {
    let draft = |value: Value| NewRow::<Visit>::new(value.as_object().unwrap().clone());
    let made = store.create(draft(spelled(ID))).await.unwrap();
    assert_eq!(serde_json::to_value(&made.value).unwrap(), canonical(ID));
    let id = made.value.id;
    for field in ["device", "ticket", "address", "at", "told"] {
        let scope = RowFilter::eq(field, spelled(ID)[field].clone());
        let found = store.get(&id, &scope).await.unwrap();
        assert_eq!(found.map(|it| it.value).as_ref(), Some(&made.value), "{field}");
        let page = store
            .list(&ListQuery { scope: scope.clone(), ..ListQuery::new("id", 9) })
            .await
            .unwrap();
        assert_eq!(page.items.len(), 1, "{field}");
        let part = NewRow::new([("price", json!("2.00"))]);
        store.replace(&id, part, VersionCheck::Any, &scope).await.unwrap();
        let part = NewRow::new([("price", json!("1.50"))]);
        let found = store.replace(&id, part, VersionCheck::Any, &RowFilter::all()).await.unwrap();
        assert_eq!(found.value, made.value);
    }
    let after = Some(vec![json!(ID.to_uppercase())]);
    let page = store.list(&ListQuery { after, ..ListQuery::new("id", 9) }).await.unwrap();
    assert_eq!(page.items.len(), 0);
    let again = store.create(draft(spelled(ID))).await;
    assert!(matches!(again, Err(StoreError::Taken { .. })), "{again:?}");
}

/// A value that no store can represent is a client error in every store.
async fn values_that_postgres_does_not_read_are_400(store: impl Store<Visit> + Clone) {
    let app = app(store);
    for (field, value) in [
        ("told", "0000-01-01T00:00:00Z"),
        ("told", "0001-01-01T00:00:00+00:01"),
        ("told", "9999-12-31T23:59:59-00:01"),
        ("at", "-000001-01-01T00:00:00Z"),
        ("day", "0000-01-01"),
        ("ticket", "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380"),
    ] {
        let mut visit = canonical(ID);
        visit[field] = json!(value);
        let made = send_json(&app, Method::POST, "/visits", &visit).await;
        made.assert_field_error(400, field, "format");
        let found = send(&app, Method::GET, &with_query("/visits", field, value)).await;
        assert_eq!(found.status, 400, "{found:?}");
    }
    // PostgreSQL does not support offsets this far from UTC and never receives
    // any.
    let mut visit = canonical(ID);
    visit["told"] = json!("2026-11-23T10:00:00+23:59");
    let made = send_json(&app, Method::POST, "/visits", &visit).await;
    assert_eq!(made.status, 201, "{made:?}");
    assert_eq!(made.body["told"], "2026-11-22T10:01:00+00:00");
}

async fn check<S: Store<Visit> + Clone>(make: impl AsyncFn() -> S) {
    one_item_has_one_spelling(make().await).await;
    programs_may_use_any_spelling(make().await).await;
    values_that_postgres_does_not_read_are_400(make().await).await;
}

#[tokio::test]
async fn memory_keeps_one_spelling() {
    check(async || MemoryStore::new().unique("device").unique("ticket").unique("told")).await;
}

#[tokio::test]
async fn memory_keeps_one_spelling_of_inserted_items() {
    let visit: Visit = serde_json::from_value(spelled(ID)).unwrap();
    assert_eq!(visit.ticket, DEVICE.to_uppercase());
    let store = MemoryStore::new();
    store.insert([visit]).unwrap();
    let page = send(&app(store), Method::GET, &with_query("/visits", "ticket", DEVICE)).await;
    assert_eq!(page.body["items"], json!([canonical(ID)]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite_keeps_one_spelling() {
    let engines = std::sync::Mutex::new(Vec::new());
    check(async || {
        let engine = engines::sqlite_of::<Visit>(&INDEXES.replace("{}", "items")).await;
        let store = engine.store.clone();
        engines.lock().unwrap().push(engine);
        store
    })
    .await;
}

#[cfg(feature = "postgres")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
async fn postgres_keeps_one_spelling() {
    use crate::engines::postgres::table_of;

    // The index is in the schema of its table.
    check(async || table_of::<Visit>(INDEXES).await).await;
}
