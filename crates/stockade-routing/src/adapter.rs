//! Functions for adapters that add routes without a handler function in the
//! program.

use std::panic::Location;

use stockade_core::Handler;
use stockade_errors::ConfigIssue;

use crate::{RouteEntry, RouteTree};

/// Creates an entry for a type-erased handler. Configuration errors report the
/// location.
pub fn entry_of(handler: Handler, location: &'static Location<'static>) -> RouteEntry {
    let mut entry = RouteEntry::of(handler);
    entry.location = location;
    entry
}

/// Adds a configuration error to a tree. The build of a router with this tree
/// reports it.
pub fn add_mistake(tree: &mut RouteTree, mistake: ConfigIssue) {
    tree.mistakes.push(mistake);
}
