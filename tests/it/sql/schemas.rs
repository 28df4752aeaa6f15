//! A resource with fields of all kinds. Values that its schemas allow are
//! stored. Other values cause a 400 that names the field and the rule. Each
//! response matches its description.

use std::collections::BTreeMap;

use stockade::prelude::*;
use stockade::rest::{Access, Entity, MemoryStore, Op, Resource, Store};
use stockade::sql::{Sqlite, rusqlite};
use stockade::testing::{SchemaReport, check_schemas};

use super::{Folder, run, runtime};

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Device {
    #[schema(read_only)]
    id: u32,
    #[schema(trim, min_length = 1, max_length = 40)]
    name: String,
    note: Option<String>,
    #[schema(kind = "uuid")]
    serial: Option<String>,
    level: Level,
    former: Option<Level>,
    size: Size,
    spare: Option<Size>,
    #[serde(default)]
    #[schema(max_items = 3)]
    parts: Vec<Part>,
    labels: BTreeMap<String, u16>,
    #[schema(exclusive_minimum = 0, maximum = 100)]
    ratio: f64,
    views: u64,
    depth: i8,
    on: bool,
    extra: Option<Value>,
    #[schema(read_only)]
    seen: Option<u32>,
    #[schema(write_only, min_length = 4, max_length = 8)]
    pin: Option<String>,
    /// The resource hides this field.
    #[schema(max_length = 20)]
    secret: Option<String>,
}

#[derive(Clone, Copy, serde::Deserialize, serde::Serialize, Schema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
struct Size {
    #[schema(minimum = 1)]
    width: u32,
    height: Option<u32>,
    #[schema(max_length = 10)]
    unit: Option<String>,
}

#[derive(Clone, serde::Deserialize, serde::Serialize, Schema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Part {
    Screw { thread: u8 },
    Board { size: Size, level: Option<Level> },
}

impl Entity for Device {
    type Id = u32;
}

/// Returns the initial items, with values of each kind.
fn devices() -> Vec<Device> {
    let device = |id: u32| {
        let is_odd = id % 2 == 1;
        json!({
            "id": id, "name": format!("device {id}"), "note": is_odd.then_some("é"),
            "serial": null, "level": "low", "former": is_odd.then_some("high"),
            "size": { "width": 1, "height": null, "unit": "cm" },
            "spare": is_odd.then(|| json!({ "width": 2, "height": 3, "unit": null })),
            "parts": [{ "kind": "screw", "thread": 3 }], "labels": { "a": 1 }, "ratio": 0.5,
            "views": id, "depth": -1, "on": is_odd, "extra": is_odd.then(|| json!([1, null])),
            "seen": null, "pin": "1234", "secret": "kept",
        })
    };
    (0..20).map(|id| serde_json::from_value(device(id)).unwrap()).collect()
}

fn router(store: impl Store<Device>) -> Router {
    let open = || Access::public("a test");
    let resource = Resource::new("device", store)
        .hidden(["secret"])
        .count(true)
        .put_creates(true)
        .filter("level")
        .filter("former")
        .filter("on")
        .filter_by("name", [Op::Eq, Op::Prefix])
        .filter_by("views", [Op::Eq, Op::Lt, Op::Gte])
        .filter_by("ratio", [Op::Lte, Op::Gt])
        .sort(["name", "level", "ratio", "views", "on"])
        .read(open())
        .write(open());
    create_router(routes! { "devices": { ..resource.routes() } }, RouterOptions::new())
}

/// Fewer than usual, because the type has many fields with rules to violate.
const CASES: u32 = 24;

/// Checks the report against the expected values for this resource.
fn validate(report: &SchemaReport) {
    println!("{report}");
    assert!(report.is_passed(), "{report}");
    let one = "/devices/:id";
    for (method, path, least, success) in [
        ("GET", "/devices", 0, 200),
        ("POST", "/devices", 15, 201),
        ("GET", one, 0, 200),
        ("PUT", one, 15, 200),
        ("PATCH", one, 10, 200),
        ("DELETE", one, 0, 204),
    ] {
        let mut routes = report.routes.iter();
        let route = routes.find(|it| it.path == path && it.method == method).unwrap();
        assert!(route.rules >= least, "{method} {path}: {report}");
        let answered = route.replies.get(&success).copied().unwrap_or_default();
        assert!(route.valid > CASES / 3 && answered > 0, "{method} {path}: {report}");
    }
}

#[test]
fn responses_of_a_memory_store_match_their_schemas() {
    let make = || {
        let store = MemoryStore::new();
        store.insert(devices()).unwrap();
        router(store)
    };
    validate(
        &runtime().block_on(check_schemas(make()).cases(CASES).kept_in(None).try_run()).unwrap(),
    );
}

/// Inserts the items into an empty table, as another program would.
fn fill(connection: &rusqlite::Connection) {
    connection.execute_batch("DELETE FROM devices").unwrap();
    for device in devices() {
        let Value::Object(device) = json!(device) else { panic!("an item is an object") };
        let names: Vec<String> = device.keys().map(|name| format!("\"{name}\"")).collect();
        let places = vec!["?"; names.len()].join(", ");
        let insert = format!("INSERT INTO devices ({}) VALUES ({places})", names.join(", "));
        let values = device.iter().map(|(name, value)| match value {
            Value::Null => rusqlite::types::Value::Null,
            Value::Bool(is_on) => i64::from(*is_on).into(),
            Value::Number(number) => match number.as_i64() {
                Some(number) if name != "extra" => number.into(),
                _ => number.as_f64().unwrap().into(),
            },
            Value::String(text) => text.clone().into(),
            other => other.to_string().into(),
        });
        connection.execute(&insert, rusqlite::params_from_iter(values)).unwrap();
    }
}

#[test]
fn responses_of_a_sqlite_table_match_their_schemas() {
    let folder = Folder::new("schemas");
    let path = folder.0.join("devices.db");
    runtime().block_on(async {
        let db = Sqlite::open(&path).unwrap();
        run(&db, db.create_table_sql::<Device>("devices").unwrap()).await;
        let beside = rusqlite::Connection::open(&path).unwrap();
        let make = move || {
            fill(&beside);
            router(db.table::<Device>("devices").unwrap())
        };
        validate(&check_schemas(make()).cases(CASES).kept_in(None).try_run().await.unwrap());
    });
}
