//! The matching of routes between two locks.

use std::collections::BTreeMap;

use stockade_path::Pattern;

use super::file::Lock;

/// The routes of two locks, by their labels.
pub(super) struct Pairs<'a> {
    /// The old and the new label.
    pub(super) same: Vec<(&'a String, &'a String)>,
    pub(super) gone: Vec<&'a String>,
    pub(super) added: Vec<&'a String>,
}

/// Matches the routes of two locks. First come equal labels, then labels that
/// differ only in the names of parameters, then paths with the same parts. A
/// match must be unique on both sides.
pub(super) fn pairs_of<'a>(old: &'a Lock, new: &'a Lock) -> Pairs<'a> {
    let mut pairs = Pairs { same: Vec::new(), gone: Vec::new(), added: Vec::new() };
    for label in old.routes.keys() {
        match new.routes.get_key_value(label) {
            Some((same, _)) => pairs.same.push((label, same)),
            None => pairs.gone.push(label),
        }
    }
    pairs.added = new.routes.keys().filter(|label| !old.routes.contains_key(*label)).collect();
    pairs.join_by(without_names);
    pairs.join_by(|label| Some(without_params(label)));
    pairs
}

impl<'a> Pairs<'a> {
    /// Pairs the remaining routes that have a key which is unique on both
    /// sides.
    fn join_by(&mut self, key: impl Fn(&str) -> Option<String>) {
        let by_key = |labels: &[&'a String]| {
            let mut map: BTreeMap<String, Vec<&'a String>> = BTreeMap::new();
            for label in labels {
                if let Some(key) = key(label) {
                    map.entry(key).or_default().push(label);
                }
            }
            map
        };
        let added = by_key(&self.added);
        for (key, olds) in by_key(&self.gone) {
            if let ([before], Some([after])) = (olds.as_slice(), added.get(&key).map(Vec::as_slice))
            {
                self.same.push((before, after));
                self.gone.retain(|label| label != before);
                self.added.retain(|label| label != after);
            }
        }
    }
}

/// Returns a label without the names of its parameters.
fn without_names(label: &str) -> Option<String> {
    let (method, path) = label.split_once(' ')?;
    let pattern = Pattern::parse(path).ok()?;
    Some(format!("{method} {}", pattern.canonical()))
}

/// Returns a label with all parameters made equal, regardless of their names
/// and expressions.
fn without_params(label: &str) -> String {
    let part = |part: &str| {
        if part.starts_with(':') { ":".to_owned() } else { part.to_owned() }
    };
    let parts: Vec<String> = label.split('/').map(part).collect();
    parts.join("/")
}
