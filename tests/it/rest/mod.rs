//! REST resources: a suite for all stores, and tests that do not depend on a
//! store.

mod checked;
mod concurrent_patches;
mod construction;
mod edges;
mod guarded;
mod json_patch;
mod languages;
mod long_keys;
mod marked;
pub(crate) mod nested;
mod other_origins;
mod strict;
pub(crate) mod suite;

use stockade::rest::MemoryStore;

use crate::support::block_on;

#[test]
fn the_memory_store_passes_the_suite() {
    block_on(suite::suite(async || MemoryStore::new().unique("name").unique("secret")));
}
