//! The type whose items the stores keep.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_rest::{Draft, Entity};
use stockade_validation::Schema;

#[derive(Clone, Debug, Deserialize, PartialEq, Schema, Serialize)]
pub(crate) struct Item {
    pub(crate) id: i64,
    pub(crate) name: String,
    pub(crate) price: u32,
    pub(crate) rating: f64,
    pub(crate) category: Option<String>,
    pub(crate) open: bool,
    pub(crate) owner: String,
    #[serde(default)]
    pub(crate) tags: Vec<String>,
    pub(crate) extra: Option<Value>,
}

impl Entity for Item {
    type Id = i64;
}

/// Texts that mean something to a database, and nothing here.
pub(crate) const TEXTS: &[&str] = &[
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

/// Makes a draft with all fields that a client may write.
pub(crate) fn draft(name: &str, price: u32, owner: &str) -> Draft<Item> {
    Draft::new([
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
