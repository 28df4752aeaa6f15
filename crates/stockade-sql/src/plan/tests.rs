//! Tests the statements in both dialects.

use serde_json::{Map, Value, json};
use stockade_rest::{Direction, Filter, ListQuery, Op, RowFilter, Sort, Version, VersionCheck};

use super::Plan;
use crate::table::Table;
use crate::table::tests::products;
use crate::{Dialect, Statement};

/// Formats a statement without the columns of an item, which are the same in
/// every statement.
fn shown(table: &Table, statement: &Statement) -> String {
    let sql = statement.sql.replace(&super::item(table), "ITEM");
    let read = "jsonb_populate_record(NULL::\"products\", $1 #> ";
    format!("{} <- {}", sql.replace(read, "read("), statement.parameter)
}

#[track_caller]
fn check(make: impl Fn(&Table) -> Statement, postgres: &str, sqlite: &str) {
    for (dialect, expected) in [(Dialect::Postgres, postgres), (Dialect::Sqlite, sqlite)] {
        let table = products(dialect);
        assert_eq!(shown(&table, &make(&table)), expected);
    }
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn sort(field: &str, direction: Direction) -> Sort {
    Sort { field: field.to_owned(), direction }
}

#[test]
fn a_row_is_found_by_its_id_and_the_scope() {
    check(
        |table| Plan::get(table, &json!(7), &RowFilter::eq("category", "tea")).unwrap(),
        "SELECT ITEM, t.\"version\"::bigint FROM \"products\" AS t \
         WHERE t.\"id\" = (SELECT r.\"id\" FROM read('{id}') r) \
         AND t.\"category\" = (SELECT r.\"category\" FROM read('{scope,0}') r) \
         <- {\"id\":{\"id\":7},\"scope\":[{\"category\":\"tea\"}]}",
        "SELECT ITEM, \"version\" FROM \"products\" AS t \
         WHERE \"id\" = json_extract(?1, '$.id') \
         AND \"category\" = json_extract(?1, '$.scope[0]') \
         <- {\"id\":7,\"scope\":[\"tea\"]}",
    );
}

#[test]
fn a_page_begins_after_its_keys() {
    let query = ListQuery {
        filters: vec![Filter {
            field: "category".to_owned(),
            op: Op::Eq,
            values: vec![json!("a"), json!("b")],
        }],
        sorts: vec![sort("price", Direction::Descending), sort("id", Direction::Descending)],
        after: Some(vec![json!(5), json!(9)]),
        ..ListQuery::new("id", 20)
    };
    check(
        |table| Plan::list(table, &query).unwrap(),
        "SELECT ITEM, t.\"version\"::bigint FROM \"products\" AS t \
         WHERE t.\"category\" = ANY (ARRAY(SELECT r.\"category\" \
         FROM jsonb_populate_recordset(NULL::\"products\", $1 #> '{filters,0}') r)) \
         AND (t.\"price\", t.\"id\") < ((SELECT r.\"price\" FROM read('{after}') r), \
         (SELECT r.\"id\" FROM read('{after}') r)) \
         ORDER BY t.\"price\" DESC, t.\"id\" DESC LIMIT 21 \
         <- {\"filters\":[[{\"category\":\"a\"},{\"category\":\"b\"}]],\
         \"after\":{\"price\":5,\"id\":9}}",
        "SELECT ITEM, \"version\" FROM \"products\" AS t \
         WHERE \"category\" IN (SELECT value FROM json_each(?1, '$.filters[0]')) \
         AND (\"price\", \"id\") < (json_extract(?1, '$.after[0]'), json_extract(?1, '$.after[1]')) \
         ORDER BY \"price\" DESC, \"id\" DESC LIMIT 21 \
         <- {\"filters\":[[\"a\",\"b\"]],\"after\":[5,9]}",
    );
}

#[test]
fn compares_keys_of_mixed_directions_one_by_one() {
    let query = ListQuery {
        sorts: vec![sort("price", Direction::Ascending), sort("id", Direction::Descending)],
        after: Some(vec![json!(5), json!(9)]),
        ..ListQuery::new("id", 1)
    };
    let statement = Plan::list(&products(Dialect::Sqlite), &query).unwrap();
    let (five, nine) = ("json_extract(?1, '$.after[0]')", "json_extract(?1, '$.after[1]')");
    let condition = format!(
        " WHERE \"price\" >= {five} AND (\"price\" > {five} OR (\"price\" = {five} AND \"id\" < \
         {nine})) ORDER BY \"price\", \"id\" DESC LIMIT 2"
    );
    assert!(statement.sql.ends_with(&condition), "{}", statement.sql);
}

#[test]
fn creates_a_row_from_the_fields_of_its_draft() {
    check(
        |table| Plan::create(table, object(&json!({ "name": "x", "tags": [] })), 9).unwrap(),
        "INSERT INTO \"products\" AS t (\"name\", \"tags\") SELECT r.\"name\", r.\"tags\" \
         FROM read('{row}') r RETURNING ITEM, t.\"version\"::bigint \
         <- {\"row\":{\"name\":\"x\",\"tags\":[]}}",
        "INSERT INTO \"products\" AS t (\"name\", \"tags\") \
         VALUES (json_extract(?1, '$.row.\"name\"'), nullif(?1 -> '$.row.\"tags\"', 'null')) \
         RETURNING ITEM, \"version\" <- {\"row\":{\"name\":\"x\",\"tags\":[]}}",
    );
    let statement = Plan::create(&products(Dialect::Sqlite), object(&json!({ "id": 4 })), 9);
    let expected = "(\"id\", \"version\") VALUES (json_extract(?1, '$.row.\"id\"'), \
        json_extract(?1, '$.version'))";
    assert!(statement.unwrap().sql.contains(expected));
    let statement = Plan::create(&products(Dialect::Sqlite), Map::new(), 9).unwrap();
    assert!(statement.sql.starts_with("INSERT INTO \"products\" AS t DEFAULT VALUES RETURNING "));
}

#[test]
fn writes_a_row_at_its_version() {
    let fields = ["id", "name", "category", "tags"].map(str::to_owned);
    check(
        |table| {
            let values = object(&json!({ "name": "x" }));
            let expected = VersionCheck::Version(Version(3));
            Plan::replace(table, &json!(7), values, &fields, expected, &RowFilter::all()).unwrap()
        },
        "UPDATE \"products\" AS t SET \"version\" = t.\"version\" + 1, \"name\" = r.\"name\", \
         \"category\" = NULL, \"tags\" = DEFAULT FROM read('{row}') r \
         WHERE t.\"id\" = (SELECT r.\"id\" FROM read('{id}') r) \
         AND t.\"version\"::bigint = ($1->>'version')::bigint \
         RETURNING ITEM, t.\"version\"::bigint \
         <- {\"id\":{\"id\":7},\"version\":3,\"row\":{\"name\":\"x\"}}",
        "UPDATE \"products\" AS t SET \"version\" = \"version\" + 1, \
         \"name\" = json_extract(?1, '$.row.\"name\"'), \"category\" = NULL, \
         \"tags\" = ('[]') WHERE \"id\" = json_extract(?1, '$.id') \
         AND \"version\" = json_extract(?1, '$.version') RETURNING ITEM, \"version\" \
         <- {\"id\":7,\"version\":3,\"row\":{\"name\":\"x\"}}",
    );
}

#[test]
fn unknown_column_names_create_no_statement() {
    let table = products(Dialect::Postgres);
    let name = "id\" = 1 OR \"id";
    let filter = Filter { field: name.to_owned(), op: Op::Eq, values: vec![json!(1)] };
    let all = RowFilter::all();
    let asks = [
        ListQuery { filters: vec![filter], ..ListQuery::new("id", 1) },
        ListQuery { scope: RowFilter::eq(name, 1), ..ListQuery::new("id", 1) },
        ListQuery::new(name, 1),
        // Fewer keys than the order has.
        ListQuery { after: Some(Vec::new()), ..ListQuery::new("id", 1) },
    ];
    for query in asks {
        assert!(Plan::list(&table, &query).is_err(), "{query:?}");
    }
    let values = object(&json!({ (name): 1 }));
    assert!(Plan::create(&table, values.clone(), 1).is_err());
    let fields = [name.to_owned()];
    assert!(Plan::replace(&table, &json!(1), values, &fields, VersionCheck::Any, &all).is_err());
    assert!(Plan::get(&table, &json!(1), &RowFilter::eq(name, 1)).is_err());
}

#[test]
fn statements_contain_no_values() {
    let evil = "'; DROP TABLE products; --";
    for dialect in [Dialect::Postgres, Dialect::Sqlite] {
        let table = products(dialect);
        let scope = RowFilter::eq("category", evil);
        let mut statements = vec![
            Plan::get(&table, &json!(evil), &scope).unwrap(),
            Plan::create(&table, object(&json!({ "name": evil })), 1).unwrap(),
            Plan::delete(&table, &json!(evil), VersionCheck::Any, &scope).unwrap(),
        ];
        for op in Op::ALL {
            let filter = Filter { field: "name".to_owned(), op, values: vec![json!(evil); 2] };
            let after = Some(vec![json!(evil)]);
            let query = ListQuery {
                filters: vec![filter],
                after,
                scope: scope.clone(),
                ..ListQuery::new("name", 5)
            };
            statements.push(Plan::list(&table, &query).unwrap());
            statements.push(Plan::count(&table, &query, 9).unwrap());
        }
        for statement in statements {
            assert!(!statement.sql.contains("DROP"), "{}", statement.sql);
            assert!(statement.parameter.contains("DROP"), "{}", statement.parameter);
        }
    }
}
