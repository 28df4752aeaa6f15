//! The type whose items the stores keep: that of the public suite.

use stockade_rest::Draft;
pub(crate) use stockade_testing::conformance::RestItem as Item;

/// Makes a draft with all fields that a client may write.
pub(crate) fn draft(name: &str, price: u32, owner: &str) -> Draft<Item> {
    Item::draft(name, price, owner)
}
