//! The item type of the stores, from the public suite.

pub(crate) use stockade_conformance::RestItem as Item;
use stockade_rest::NewRow;

/// Creates a draft with all fields that a client may write.
pub(crate) fn draft(name: &str, price: u32, owner: &str) -> NewRow<Item> {
    Item::draft(name, price, owner)
}
