//! The lock file: identical bytes for the same application, and rejection of
//! invalid files.

use std::time::{Duration, SystemTime};

use serde_json::json;
use stockade::openapi::lock::{Lock, RULES};
use stockade::prelude::*;

use super::{all, api, docs, lock_of};

fn text(router: Router) -> String {
    lock_of(&router.build().unwrap()).to_string()
}

#[test]
fn locks_round_trip() {
    for mutation in all() {
        for app in [&mutation.old, &mutation.new] {
            let lock = lock_of(app);
            let text = lock.to_string();
            assert_eq!(text, lock_of(app).to_string());
            let read = Lock::read(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
            assert!(read == lock, "{}\n{text}", mutation.name);
            assert_eq!(read.to_string(), text);
        }
    }
}

#[test]
fn route_order_and_function_names_do_not_affect_the_lock() {
    fn one(_: &mut Request) -> Result<(), ApiError> {
        Ok(())
    }
    let one_way = api(routes! {
        "a": { GET: { handler: async || (), middleware: [one] } },
        "b": { GET: async || () },
    });
    let other = |_: &mut Request| Ok::<(), ApiError>(());
    let other_way = api(routes! {
        "b": { GET: async || () },
        "a": { GET: { handler: async || (), middleware: [other] } },
    });
    let text = text(one_way);
    assert_eq!(text, self::text(other_way));
    assert!(!text.contains("::") && !text.contains(".rs"), "{text}");
}

/// Returns variants of a value with one difference each: a longer text, a
/// larger number, an inverted boolean, or a duplicate or missing list item.
fn with_one_difference(value: &Value) -> Vec<Value> {
    match value {
        Value::Null => vec![json!("x")],
        Value::Bool(flag) => vec![json!(!flag)],
        Value::Number(number) => match number.as_u64() {
            Some(number) => vec![json!(number / 2 + 1)],
            None => vec![json!(number.as_f64().unwrap() + 1.0)],
        },
        Value::String(text) => vec![json!(format!("{text}x"))],
        Value::Array(items) => (0..items.len())
            .flat_map(|at| {
                let replaced = with_one_difference(&items[at]).into_iter().map(|item| {
                    let mut items = items.clone();
                    items[at] = item;
                    json!(items)
                });
                let (mut twice, mut without) = (items.clone(), items.clone());
                twice.push(items[at].clone());
                without.remove(at);
                replaced.chain([json!(twice), json!(without)]).collect::<Vec<_>>()
            })
            .collect(),
        Value::Object(members) => members
            .iter()
            .flat_map(|(name, value)| {
                let mut without = members.clone();
                without.remove(name);
                let replaced = with_one_difference(value).into_iter().map(|value| {
                    let mut members = members.clone();
                    members.insert(name.clone(), value);
                    json!(members)
                });
                replaced.chain([json!(without)]).collect::<Vec<_>>()
            })
            .collect(),
    }
}

#[test]
fn a_difference_is_never_silent() {
    let mut count = 0;
    for mutation in all() {
        let lock = lock_of(&mutation.new);
        let value: Value = serde_json::from_str(&lock.to_string()).unwrap();
        let all = with_one_difference(&value);
        // Locks of resources have about a thousand places to change.
        let step = all.len().div_ceil(7);
        for changed in all.into_iter().step_by(step) {
            let Ok(changed) = Lock::read(&changed.to_string()) else { continue };
            let changes = lock.changes_to(&changed, SystemTime::UNIX_EPOCH);
            if changed != lock && changes.is_empty() {
                let (before, after) = (lock.to_string(), changed.to_string());
                let differ = before.lines().zip(after.lines()).find(|(one, other)| one != other);
                panic!("{}: {differ:#?}", mutation.name);
            }
            count += 1;
        }
    }
    assert!(count > 800, "{count}");
}

#[test]
fn reports_members_written_by_another_version() {
    let lock = text(api(routes! { "x": { GET: async || "text" } }));
    let other = lock.replace("\"operation_id\":", "\"retries\": 3, \"operation_id\":");
    let (lock, other) = (Lock::read(&lock).unwrap(), Lock::read(&other).unwrap());
    let changes = lock.changes_to(&other, SystemTime::UNIX_EPOCH);
    let found: Vec<(&str, &str)> =
        changes.iter().map(|change| (change.rule.id, change.at.as_str())).collect();
    assert_eq!(found, [("unexplained-change", "retries")]);
    assert!(other.to_string().contains("\"retries\": 3"), "{other}");
}

#[test]
fn small_values_are_on_one_line() {
    let text = text(api(routes! { "x": { GET: async || "text" } }));
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    assert!(lines.contains(&"\"GET /x\": {"), "{text}");
    assert!(lines.contains(&"\"access\": {\"user\": \"none\"},"), "{text}");
    assert!(text.starts_with("{\n  \"format\": 1,\n") && text.ends_with("}\n"), "{text}");
}

#[test]
fn compares_dangling_and_recursive_schemas() {
    let text = text(api(routes! { "x": { POST: async |_: Bytes| () } }));
    let with = |schema: &str, schemas: &str| {
        let text = text.replace("\"*/*\": true", &format!("\"*/*\": {schema}"));
        let text = text.replace("\"schemas\": {}", &format!("\"schemas\": {schemas}"));
        Lock::read(&text).unwrap()
    };
    let check = |old: &Lock, new: &Lock, expected: &[&str]| {
        let changes = old.changes_to(new, SystemTime::UNIX_EPOCH);
        let ids: Vec<&str> = changes.iter().map(|change| change.rule.id).collect();
        assert_eq!(ids, expected, "{changes}");
    };
    let itself = with(r##"{"$ref": "#/schemas/A"}"##, r##"{"A": {"$ref": "#/schemas/A"}}"##);
    let each_other = with(
        r##"{"$ref": "#/schemas/A"}"##,
        r##"{"A": {"$ref": "#/schemas/B"}, "B": {"$ref": "#/schemas/A"}}"##,
    );
    let nowhere = with(r##"{"$ref": "#/schemas/C"}"##, "{}");
    let text = with(r#"{"type": "string"}"#, "{}");
    check(&itself, &itself, &[]);
    check(&nowhere, &nowhere, &[]);
    check(&itself, &text, &["schema-unknown-changed"]);
    check(&text, &each_other, &["schema-unknown-changed"]);
    check(&text, &nowhere, &["schema-unknown-changed"]);
    check(&itself, &nowhere, &["schema-unknown-changed", "schema-renamed"]);
    // A type that contains itself, and the same type one level deeper.
    let list = with(
        r##"{"$ref": "#/schemas/A"}"##,
        r##"{"A": {"type": "array", "items": {"$ref": "#/schemas/A"}}}"##,
    );
    let deeper = with(
        r##"{"$ref": "#/schemas/A"}"##,
        r##"{"A": {"type": "array", "items": {"type": "array", "items": {"$ref": "#/schemas/A"}}}}"##,
    );
    check(&list, &deeper, &["form-changed"]);
    check(&deeper, &list, &["form-changed"]);
}

#[test]
fn a_route_can_be_removed_after_its_sunset() {
    let old = docs().deprecated_since("2020-01-01").sunset("2021-01-01");
    let old = api(routes! { "x": { GET: { handler: async || (), docs: old } } });
    let (old, new) = (old.build().unwrap(), api(routes! {}).build().unwrap());
    let check = |now: u64, expected: &str| {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(now);
        let changes = lock_of(&old).changes_to(&lock_of(&new), now);
        let ids: Vec<&str> = changes.iter().map(|change| change.rule.id).collect();
        assert_eq!(ids, [expected]);
    };
    // The year 2021 begins at 1,609,459,200 in UTC.
    check(1_609_459_199, "route-removed");
    check(1_609_459_200, "route-removed-after-sunset");
}

#[test]
fn equal_changes_of_several_routes_are_grouped() {
    let router = |has_limit: bool| {
        let tree = routes! { "a": { GET: async || () }, "b": { GET: async || () } };
        create_router(tree, RouterOptions::new().rate_limit(has_limit))
    };
    let (old, new) = (router(false).build().unwrap(), router(true));
    let changes = super::changes(&old, &new.build().unwrap());
    let added = changes.iter().find(|change| change.rule.id == "error-added").unwrap();
    assert_eq!(added.routes, ["GET /a", "GET /b"]);
    let line = "\n      [compatible] error-added, answers: nothing -> \"429\" (2 routes)\n";
    assert!(changes.to_string().contains(line), "{changes}");
    let first = changes.iter().next().unwrap();
    assert_eq!(first.rule.id, "rate-limit-lowered", "the gravest comes first: {changes}");
}

#[test]
fn the_documentation_has_each_rule_with_its_class() {
    let text = include_str!("../../../../book/src/appendix/lock-rules.md");
    for rule in RULES {
        let line = format!("| `{}` | {} | ", rule.id, rule.class());
        assert!(text.contains(&line), "{line}{}", rule.meaning);
    }
    let rows = text.lines().filter(|line| line.starts_with("| `")).count();
    assert!(rows >= RULES.len());
}

#[test]
fn the_reference_has_exactly_the_rules_of_each_class() {
    let page = include_str!("../../../../book/src/reference/lock-rules.md");
    let mut listed = Vec::new();
    for row in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let ids = cells[2].split('`').skip(1).step_by(2);
        listed.extend(ids.filter(|id| !id.contains('=')).map(|id| (id, cells[1])));
    }
    let rules: Vec<(&str, &str)> = RULES.iter().map(|rule| (rule.id, rule.class())).collect();
    let missing: Vec<_> = rules.iter().filter(|rule| !listed.contains(rule)).collect();
    let unknown: Vec<_> = listed.iter().filter(|row| !rules.contains(row)).collect();
    assert!(missing.is_empty() && unknown.is_empty(), "missing {missing:?}, unknown {unknown:?}");
    assert_eq!(listed.len(), rules.len(), "a rule appears twice");
}
