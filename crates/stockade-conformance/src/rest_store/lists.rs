//! Checks the guarantees of lists: filters, scopes and pages.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use stockade_rest::{
    Direction, Filter, ListQuery, Op, RowFilter, Sort, Store, StoreError, VersionCheck,
};

use super::item::TEXTS;
use super::{RestItem, done, fails_with, listed};
use crate::equal;
use crate::fail::{fail, or_fail};

fn sort(field: &str, direction: Direction) -> Sort {
    Sort { field: field.to_owned(), direction }
}

/// Returns the names of the items that match a filter or follow the values of a
/// cursor, sorted by name.
async fn names(
    store: &impl Store<RestItem>,
    promise: &str,
    filters: Vec<Filter>,
    after: Option<Vec<Value>>,
) -> Vec<String> {
    let sorts = vec![sort("name", Direction::Ascending), sort("id", Direction::Ascending)];
    let query = ListQuery { filters, sorts, after, ..ListQuery::new("id", 99) };
    let page = listed(promise, store, &query).await;
    page.items.into_iter().map(|item| item.value.name).collect()
}

pub(super) async fn texts_are_data_in_every_position(store: impl Store<RestItem>) {
    let promise = "strings are data in every position";
    for text in TEXTS {
        let mut new = RestItem::draft(text, 1, text);
        new.set("category", *text);
        new.set("extra", json!({ (*text): text }));
        let item = done(promise, store.create(new).await).value;
        equal(promise, &(&*item.name, &*item.owner), &(*text, *text));
        equal(promise, &item.extra, &Some(json!({ (*text): text })));
    }
    let by = |field: &str, op, values: &[&str]| {
        let values = values.iter().map(|value| json!(value)).collect();
        vec![Filter { field: field.to_owned(), op, values }]
    };
    let mut in_order = TEXTS.to_vec();
    in_order.sort_unstable();
    for text in TEXTS {
        let those = |holds: &dyn Fn(&str) -> bool| -> Vec<&str> {
            in_order.iter().copied().filter(|it| holds(it)).collect()
        };
        let of = |what: &str| format!("{promise}, {what} of {text:?}");
        for (what, filters, expected) in [
            ("the name", by("name", Op::Eq, &[text]), vec![*text]),
            ("the category", by("category", Op::Eq, &[text]), vec![*text]),
            ("one of two names", by("name", Op::Eq, &[text, "an unknown text"]), vec![*text]),
            ("values below", by("name", Op::Lt, &[text]), those(&|it| it < *text)),
            ("a prefix", by("name", Op::Prefix, &[text]), those(&|it| it.starts_with(text))),
        ] {
            let promise = of(what);
            let found = names(&store, &promise, filters, None).await;
            equal(&promise, &found.iter().map(String::as_str).collect(), &expected);
        }
        let (promise, after) = (of("a later page"), Some(vec![json!(text), json!(i64::MAX)]));
        let found = names(&store, &promise, Vec::new(), after).await;
        equal(&promise, &found.iter().map(String::as_str).collect(), &those(&|it| it > *text));
        let (promise, scope) = (of("a scope"), RowFilter::eq("owner", *text));
        let page = listed(&promise, &store, &ListQuery { scope, ..ListQuery::new("id", 9) }).await;
        equal(&promise, &page.items.len(), &1);
    }
}

pub(super) async fn rows_outside_a_scope_are_missing(store: impl Store<RestItem>) {
    let promise = "rows outside a scope are missing";
    let mut rows = Vec::new();
    for (index, owner) in ["ada", "bob", "Ada", "ada ", "", "%"].iter().enumerate() {
        let made = store.create(RestItem::draft(&index.to_string(), 1, owner)).await;
        let made = done("an item", made);
        rows.push((made.value.id, made.version));
    }
    let (own, _) = rows.remove(0);
    let mine = || RowFilter::eq("owner", "ada");
    for scope in [mine(), mine().and_eq("price", 1).and_eq("open", true)] {
        let found = done(promise, store.get(&own, &scope).await);
        equal("a row inside a scope is found", &found.is_some(), &true);
        let query = ListQuery { scope: scope.clone(), count: Some(99), ..ListQuery::new("id", 9) };
        let page = listed(promise, &store, &query).await;
        equal(promise, &(page.items.len(), page.total, page.more), &(1, Some(1), false));
        for (id, version) in &rows {
            equal(promise, &done(promise, store.get(id, &scope).await), &None);
            for expected in [VersionCheck::Any, VersionCheck::Version(*version)] {
                let new = RestItem::draft("x", 2, "ada");
                let outcome = store.replace(id, new, expected, &scope).await;
                fails_with(promise, outcome, &StoreError::Missing);
                let outcome = store.delete(id, expected, &scope).await;
                fails_with(promise, outcome, &StoreError::Missing);
            }
        }
    }
    let promise = "a null or contradictory scope matches no rows";
    for scope in [
        RowFilter::eq("owner", Value::Null),
        RowFilter::eq("category", Value::Null),
        mine().and_eq("owner", "bob"),
    ] {
        equal(promise, &done(promise, store.get(&own, &scope).await), &None);
        let page = listed(promise, &store, &ListQuery { scope, ..ListQuery::new("id", 9) }).await;
        equal(promise, &page.items.len(), &0);
    }
}

/// Returns the values that a cursor contains for an item. The next page starts
/// after these values.
fn cursor_after(item: &RestItem, sorts: &[Sort]) -> Option<Vec<Value>> {
    let item = or_fail(serde_json::to_value(item));
    let values: Vec<&Value> = sorts.iter().map(|sort| &item[&sort.field]).collect();
    or_fail(serde_json::from_str(&or_fail(serde_json::to_string(&values))))
}

/// Reads all pages of a list, and returns the numbers of rows and pages.
async fn pages(
    promise: &str,
    store: &impl Store<RestItem>,
    mut query: ListQuery,
) -> (usize, usize) {
    let mut seen = BTreeSet::new();
    for number in 1..100 {
        let page = listed(promise, store, &query).await;
        equal(promise, &page.total, &query.count);
        for item in &page.items {
            if !seen.insert(item.value.id) {
                let sorts = &query.sorts;
                fail(format!("{promise}: duplicate {}, in the order of {sorts:?}", item.value.id));
            }
        }
        match page.items.last() {
            Some(last) if page.more => query.after = cursor_after(&last.value, &query.sorts),
            _ => return (seen.len(), number),
        }
    }
    fail(format!("{promise}: the pages do not end"))
}

pub(super) async fn pages_cover_all_rows_once(store: impl Store<RestItem>) {
    let promise = "pages cover all rows once";
    for index in 0..23_u32 {
        let new = RestItem::draft(&format!("{:02}", (index * 7) % 23), index % 4, "ada");
        done(promise, store.create(new).await);
    }
    let (up, down) = (Direction::Ascending, Direction::Descending);
    for sorts in [
        vec![sort("id", up)],
        vec![sort("id", down)],
        vec![sort("price", up), sort("id", up)],
        vec![sort("price", down), sort("id", up)],
        vec![sort("price", down), sort("name", up), sort("id", down)],
        vec![sort("open", up), sort("rating", down), sort("price", up), sort("id", down)],
    ] {
        // The count stops at the requested limit.
        let query = ListQuery { sorts, count: Some(10), ..ListQuery::new("id", 5) };
        equal(promise, &pages(promise, &store, query).await, &(23, 5));
    }
}

/// If a float were read as a neighboring value, its row would repeat on the
/// next page.
pub(super) async fn pages_continue_after_any_float(store: impl Store<RestItem>) {
    let promise = "pages continue after any float";
    for index in 0..40_u32 {
        let mut new = RestItem::draft(&index.to_string(), 1, "ada");
        new.set("rating", 52.074_930_194_446_77 + f64::from(index) / 7.0);
        done(promise, store.create(new).await);
    }
    for direction in [Direction::Ascending, Direction::Descending] {
        let sorts = vec![sort("rating", direction), sort("id", direction)];
        let query = ListQuery { sorts, ..ListQuery::new("id", 1) };
        equal(promise, &pages(promise, &store, query).await, &(40, 40));
    }
}
