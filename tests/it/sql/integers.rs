//! Integers that fit the type but not the column: they cause a 400 that names
//! the field, and documents do not allow them.

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Op, Resource, Store};
use stockade::sql::{Postgres, SqlStore, Sqlite};
use stockade::testing::{TestClient, TestResponse};

use super::{Folder, run, runtime};

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Counter {
    id: u64,
    views: u64,
    likes: Option<u64>,
    /// In one table, this column is as narrow as `i32`.
    rank: u32,
}

impl Entity for Counter {
    type Id = u64;
}

/// The greatest integer of a column; `ABOVE` contains greater ones.
const GREATEST: u64 = i64::MAX as u64;
const ABOVE: [u64; 3] = [GREATEST + 1, GREATEST + 1_025, u64::MAX];

fn router(store: impl Store<Counter>) -> Router {
    let open = || Access::public("a test");
    let resource = Resource::new("counter", store)
        .put_creates(true)
        .filter_by("views", [Op::Eq, Op::Gt])
        .sort(["views"])
        .read(open())
        .write(open());
    let api = routes! { "counters": { ..resource.routes() } };
    create_router(api, RouterOptions::new().rate_limit(false))
}

#[track_caller]
fn assert_refused(answer: &TestResponse, field: &str) {
    answer.assert_status(400).assert_field_error(field, "maximum");
}

fn counter(id: u64, views: u64, likes: Option<u64>) -> Value {
    json!({ "id": id, "views": views, "likes": likes, "rank": 1 })
}

/// Sends integers at and above the maximum of a column, in every place that
/// accepts one.
async fn ends(store: impl Store<Counter>) {
    let client = TestClient::new(router(store)).with_contract();
    let post = |body: Value| client.post("/counters").json(body);
    let greatest = counter(1, GREATEST, Some(GREATEST));
    post(greatest.clone()).await.assert_status(201).assert_json(greatest.clone());
    let largest_id = counter(GREATEST, 0, None);
    post(largest_id.clone()).await.assert_status(201).assert_json(largest_id.clone());
    let place = "/counters/1";
    for above in ABOVE {
        assert_refused(&post(counter(2, above, None)).await, "views");
        assert_refused(&post(counter(2, 0, Some(above))).await, "likes");
        assert_refused(&post(counter(above, 0, None)).await, "id");
        let put = json!({ "views": above, "likes": null, "rank": 1 });
        assert_refused(&client.put(place).json(put.clone()).await, "views");
        assert_refused(&client.patch(place).json(json!({ "views": above })).await, "views");
        let patch = json!([{ "op": "replace", "path": "/likes", "value": above }]).to_string();
        let patch = client.patch(place).body(patch);
        assert_refused(&patch.header("content-type", "application/json-patch+json").await, "likes");
        // No row can have such an id.
        let nowhere = format!("/counters/{above}");
        client.get(&nowhere).await.assert_status(404);
        client.delete(&nowhere).await.assert_status(404);
        client.patch(&nowhere).json(json!({ "views": 1 })).await.assert_status(404);
        let new = json!({ "views": 1, "likes": null, "rank": 1 });
        assert_refused(&client.put(&nowhere).json(new).await, "id");
        let filtered = |query: String| client.get(format!("/counters?{query}"));
        assert_refused(&filtered(format!("views[gt]={above}")).await, "views[gt]");
        filtered(format!("views={above}")).await.assert_status(400);
    }
    client.get(place).await.assert_json(greatest.clone());
    let page = client.get(format!("/counters?views={GREATEST}&sort=-views")).await;
    page.assert_json(json!({ "items": [greatest], "next": null }));
    let first = client.get("/counters?sort=views&limit=1").await;
    first.assert_status(200);
    let next = first.json::<Value>()["next"].as_str().unwrap().to_owned();
    let second = client.get(format!("/counters?sort=views&limit=1&cursor={next}")).await;
    assert_eq!(second.json::<Value>()["items"][0]["views"], GREATEST);
}

/// Returns the documented bounds for a new item and for a filter.
fn told(store: impl Store<Counter>) -> [Value; 3] {
    let app = router(store).build().unwrap();
    let document = open_api(&app, &OpenApiOptions::new("Counters", "1")).unwrap();
    let path = &document["paths"]["/counters"];
    let new = &path["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"];
    let parameters = path["get"]["parameters"].as_array().unwrap().iter();
    let filter = parameters.clone().find(|it| it["name"] == "views[gt]").unwrap();
    [&new["views"], &new["rank"], &filter["schema"]].map(|schema| schema["maximum"].clone())
}

#[test]
fn the_memory_store_stores_large_integers() {
    assert_eq!(
        told(MemoryStore::new()),
        [u64::MAX, u64::from(u32::MAX), u64::MAX].map(Value::from)
    );
    runtime().block_on(async {
        let client = TestClient::new(router(MemoryStore::new())).with_contract();
        let largest = counter(u64::MAX, u64::MAX, None);
        client.post("/counters").json(&largest).await.assert_status(201);
        client.get(format!("/counters/{}", u64::MAX)).await.assert_json(largest);
    });
}

#[test]
fn sqlite_rejects_large_integers() {
    let folder = Folder::new("integers");
    runtime().block_on(async {
        let db = Sqlite::open(folder.0.join("counters.db")).unwrap();
        run(&db, db.create_table_sql::<Counter>("counters").unwrap()).await;
        let store = db.table::<Counter>("counters").unwrap();
        let expected = [GREATEST, u64::from(u32::MAX), GREATEST].map(Value::from);
        assert_eq!(told(store.clone()), expected);
        ends(store).await;
    });
}

#[test]
#[ignore = "needs PostgreSQL: cargo xtask sql"]
fn postgres_rejects_large_integers() {
    // `cargo xtask sql` sets it.
    let address = std::env::var("STOCKADE_POSTGRES").unwrap();
    runtime().block_on(async {
        let db = Postgres::connect(&address).await.unwrap();
        let schema = format!("integers_{}", std::process::id());
        let name = format!("{schema}.counters");
        let table = db.create_table_sql::<Counter>(&name).unwrap();
        let narrow = table.replace("\"rank\" bigint", "\"rank\" integer");
        let begin = format!("CREATE SCHEMA {schema}; {narrow}");
        db.client().await.unwrap().batch_execute(&begin).await.unwrap();
        let store = SqlStore::<Counter, _>::open(db, &name).await.unwrap();
        let expected = [GREATEST, u64::from(i32::MAX.unsigned_abs()), GREATEST].map(Value::from);
        assert_eq!(told(store.clone()), expected);
        ends(store.clone()).await;
        let client = TestClient::new(router(store)).with_contract();
        let mut wide = counter(9, 0, None);
        wide["rank"] = json!(u32::MAX);
        assert_refused(&client.post("/counters").json(wide).await, "rank");
    });
}
