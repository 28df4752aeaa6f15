//! The components that the operations of a document use.
//!
//! The document therefore contains nothing about hidden routes and no unused
//! components.

use std::collections::BTreeSet;

use serde_json::Value;
use stockade_map::schemas::references;

/// The JSON pointer prefix of components.
const PLACE: &str = "#/components/";

/// The kinds of components that `$ref` points to.
const KINDS: [&str; 3] = ["schemas", "responses", "headers"];

/// Removes components that neither paths nor webhooks refer to.
pub(super) fn keep_used(document: &mut Value) {
    let mut used = BTreeSet::new();
    let mut found = BTreeSet::new();
    for part in ["paths", "webhooks"].iter().filter_map(|part| document.get(part)) {
        references(part, PLACE, &mut found);
    }
    while let Some(name) = found.pop_first() {
        let component = document.pointer(&format!("/components/{name}"));
        if let Some(component) = component
            && used.insert(name)
        {
            references(component, PLACE, &mut found);
        }
    }
    let Some(components) = document.get_mut("components").and_then(Value::as_object_mut) else {
        return;
    };
    for kind in KINDS {
        if let Some(components) = components.get_mut(kind).and_then(Value::as_object_mut) {
            components.retain(|name, _| used.contains(&format!("{kind}/{name}")));
        }
    }
    components.retain(|_, kind| kind.as_object().is_none_or(|kind| !kind.is_empty()));
}
