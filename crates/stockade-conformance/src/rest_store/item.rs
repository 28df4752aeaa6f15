//! [`RestItem`]: the item type of a resource store under test.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_rest::{Entity, NewRow};
use stockade_validation::Schema;

/// The item type of [`rest_store`](super::rest_store), with a value of each
/// kind.
///
/// The `name` of an item is unique in its store.
#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
#[schema(no_reply)]
pub struct RestItem {
    /// The key.
    pub id: i64,
    /// A unique text.
    pub name: String,
    /// An integer.
    pub price: u32,
    /// A floating-point number.
    pub rating: f64,
    /// A nullable text.
    pub category: Option<String>,
    /// A boolean.
    pub open: bool,
    /// The text that defines scopes.
    pub owner: String,
    /// A list; empty by default.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Any JSON value.
    pub extra: Option<Value>,
}

impl Entity for RestItem {
    type Id = i64;
}

impl RestItem {
    /// Creates a draft with all fields that a client may write: `category` and
    /// `extra` are null, `open` is true, and the rest is arbitrary.
    #[must_use]
    pub fn draft(name: &str, price: u32, owner: &str) -> NewRow<Self> {
        NewRow::new([
            ("name", json!(name)),
            ("price", json!(price)),
            ("rating", json!(1.5)),
            ("category", Value::Null),
            ("open", json!(true)),
            ("owner", json!(owner)),
            ("tags", json!(["a"])),
            ("extra", Value::Null),
        ])
    }
}

/// Texts that a database might interpret as syntax.
pub(super) const TEXTS: &[&str] = &[
    "tea",
    "teapot",
    "Tea",
    "",
    " ",
    "'",
    "''; DROP TABLE items; --",
    "\"; DROP TABLE items; --",
    "1 OR 1=1",
    "' OR ''='",
    "%",
    "_",
    "te%",
    "te_",
    "\\",
    "\\'",
    "$1",
    "?1",
    ":id",
    "{\"$ne\": null}",
    "$.id",
    "NULL",
    "null",
    "true",
    "0",
    "-1",
    "1e3",
    "/*",
    "*/",
    "--",
    ";",
    "\u{1}\u{7f}",
    "\n\r\t",
    "ä",
    "Ä",
    "z",
    "é",
    "e\u{301}",
    "ß",
    "\u{ffff}",
    "\u{10000}",
    "\u{10ffff}",
    "🍵",
    "𝄞",
    "\u{202e}",
    "owner",
    "items",
];
