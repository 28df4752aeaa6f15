//! The item type of the measured resources.

use serde::{Deserialize, Serialize};
use stockade::prelude::*;
use stockade::rest::Entity;

#[derive(Clone, Serialize, Deserialize, Schema)]
pub struct Product {
    pub id: i64,
    pub name: String,
    pub price_cents: u32,
    pub category: Option<String>,
}

impl Entity for Product {
    type Id = i64;
}
