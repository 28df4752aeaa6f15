//! The doors of adapters, which make routes that no function of the program stands
//! for.

use std::panic::Location;

use stockade_core::Handler;
use stockade_errors::ConfigIssue;

use crate::{RouteEntry, RouteTree};

/// Makes an entry of a handler whose types are erased, with the place that a
/// mistake in it names.
pub fn entry_of(handler: Handler, location: &'static Location<'static>) -> RouteEntry {
    let mut entry = RouteEntry::of(handler);
    entry.location = location;
    entry
}

/// Adds a mistake to a tree, which is told when a router is built of it.
pub fn add_mistake(tree: &mut RouteTree, mistake: ConfigIssue) {
    tree.mistakes.push(mistake);
}
