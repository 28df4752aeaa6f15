//! The tags that nodes, groups and routers set for their routes.

use std::collections::HashMap;
use std::panic::Location;
use std::sync::Arc;

use stockade_core::Tag;
use stockade_errors::ConfigIssue;

/// A tag with its source location.
#[derive(Clone, Debug)]
pub(crate) struct PlacedTag {
    pub(crate) tag: Arc<Tag>,
    location: &'static Location<'static>,
}

impl PlacedTag {
    #[track_caller]
    pub(crate) fn new(tag: Tag) -> Self {
        Self { tag: Arc::new(tag), location: Location::caller() }
    }
}

/// The tags of the routes so far.
#[derive(Default)]
pub(crate) struct SeenTags {
    /// The tags by name, each with the location of its first description.
    first: HashMap<String, PlacedTag>,
    /// The locations of tags with a configuration error. An error is reported
    /// once, even if several routes inherit the tag.
    faulty: Vec<&'static Location<'static>>,
}

impl SeenTags {
    /// Records the tag of a route, and returns its configuration error.
    pub(crate) fn note(&mut self, placed: &PlacedTag) -> Option<ConfigIssue> {
        let PlacedTag { tag, location } = placed;
        let first = self.first.entry(tag.name.clone()).or_insert_with(|| placed.clone());
        if first.tag.description.is_empty() {
            *first = placed.clone();
        }
        // A tag without a description uses the description from another place.
        let is_alike = tag.description.is_empty() || first.tag.description == tag.description;
        let message = if is_alike {
            tag.issue()?
        } else {
            let place = first.location;
            format!(
                "tag: duplicate description of {:?}, first at {}:{}",
                tag.name,
                place.file(),
                place.line()
            )
        };
        if self.faulty.contains(location) {
            return None;
        }
        self.faulty.push(location);
        Some(ConfigIssue::new(message).at(location))
    }
}
