//! [`Candidate`]: a type that needs a name, with the data for choosing it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::panic::Location;

use serde_json::Value;
use stockade_errors::__internal::sort_by;

use crate::document::{Definition, DefinitionId};
use crate::has_schema::paths_of;
use crate::inner::Key;

/// A type that needs a name, and perhaps a second name for its input.
#[derive(Debug)]
pub(super) struct Candidate {
    /// The definition for each direction, and equal definitions from other
    /// documents.
    pub(super) definitions: Vec<Definition>,
    /// True if both directions exist and are not equal.
    pub(super) differs: bool,
    pub(super) short_name: String,
    pub(super) type_name: &'static str,
    pub(super) is_pinned: bool,
    pub(super) location: &'static Location<'static>,
    /// The number of modules that prefix each path.
    pub(super) level: usize,
    /// The number after the name, from 2 on.
    pub(super) number: usize,
    /// The number after the input name, from 2 on.
    pub(super) input_number: usize,
    /// Distinguishes types with the same modules and name.
    text: String,
}

impl Candidate {
    fn new(mut definitions: Vec<Definition>, differs: bool) -> Self {
        // The output definition comes first and has the plain name.
        sort_by(&mut definitions, |one, other| other.is_reply().cmp(&one.is_reply()));
        let first = &definitions[0];
        let (short_name, type_name) = (plain(first.short_name()), first.type_name());
        // A pinned name of a generic type applies to several types.
        let is_pinned = first.is_pinned() && !type_name.contains('<');
        let location = first.location();
        Self {
            definitions,
            differs,
            short_name,
            type_name,
            is_pinned,
            location,
            level: 0,
            number: 1,
            input_number: 1,
            text: String::new(),
        }
    }

    /// Returns the current name.
    pub(super) fn name(&self, is_reply: bool) -> String {
        let mut name = self.base(self.level);
        if self.number > 1 {
            name.push_str(&self.number.to_string());
        }
        if self.differs && !is_reply {
            name.push_str("Input");
            if self.input_number > 1 {
                name.push_str(&self.input_number.to_string());
            }
        }
        name
    }

    /// Returns the name with `level` modules as its prefix.
    pub(super) fn base(&self, level: usize) -> String {
        if level == 0 || self.type_name.is_empty() {
            return self.short_name.clone();
        }
        let names = paths_of(self.type_name).map(|path| with_modules(path, level));
        plain(&names.filter(|name| !name.is_empty()).collect::<Vec<_>>().join("_"))
    }
}

/// Returns the types of these definitions in an order that depends only on the
/// definitions.
pub(super) fn candidates(all: &HashMap<DefinitionId, Definition>) -> Vec<Candidate> {
    let mut by_key: HashMap<&Key, Vec<Definition>> = HashMap::new();
    for (id, definition) in all {
        by_key.entry(&id.key).or_default().push(definition.clone());
    }
    let differing = differing(&by_key);
    let mut candidates: Vec<Candidate> = by_key
        .into_iter()
        .map(|(key, definitions)| Candidate::new(definitions, differing.contains(key)))
        .collect();
    let mut counts: HashMap<(&str, String), usize> = HashMap::new();
    for candidate in &candidates {
        *counts.entry((candidate.type_name, candidate.short_name.clone())).or_default() += 1;
    }
    for candidate in &mut candidates {
        if counts[&(candidate.type_name, candidate.short_name.clone())] > 1 {
            candidate.text = text_of(&candidate.definitions[0], all);
        }
    }
    sort_by(&mut candidates, |left, right| {
        let key = |of: &Candidate| (of.type_name, of.short_name.clone(), of.text.clone());
        key(left).cmp(&key(right))
    });
    // Each call creates new documents, so equal definitions count as one.
    candidates.dedup_by(|later, earlier| {
        let is_same = later.type_name.is_empty()
            && earlier.type_name.is_empty()
            && later.short_name == earlier.short_name
            && later.text == earlier.text;
        if is_same {
            earlier.definitions.append(&mut later.definitions);
        }
        is_same
    });
    candidates
}

/// Returns the types with different directions, either in themselves or in a
/// type that they refer to.
fn differing<'k>(by_key: &HashMap<&'k Key, Vec<Definition>>) -> HashSet<&'k Key> {
    let mut differing = HashSet::new();
    let mut others = Vec::new();
    for (key, definitions) in by_key {
        let [left, right] = definitions.as_slice() else {
            continue;
        };
        let named = |id: &DefinitionId| format!("{:?}", id.key);
        let (left, references) = export(left, &named);
        let (right, _) = export(right, &named);
        if left == right {
            others.push((*key, references));
        } else {
            differing.insert(*key);
        }
    }
    loop {
        let count = differing.len();
        others.retain(|(key, references)| {
            let refers = references.iter().any(|id| differing.contains(&id.key));
            if refers {
                differing.insert(*key);
            }
            !refers
        });
        if differing.len() == count {
            return differing;
        }
    }
}

/// Returns a definition and everything that it refers to as one text, which is
/// the same in every build of a program.
fn text_of(definition: &Definition, all: &HashMap<DefinitionId, Definition>) -> String {
    let short = |id: &DefinitionId| {
        all.get(id).map_or_else(String::new, |known| known.short_name().to_owned())
    };
    let mut seen = HashSet::from([definition.id()]);
    let (own, mut queue) = export(definition, &short);
    let mut texts = Vec::new();
    while let Some(id) = queue.pop() {
        if let Some(next) = all.get(&id)
            && seen.insert(id)
        {
            let (value, references) = export(next, &short);
            texts.push(value.to_string());
            queue.extend(references);
        }
    }
    texts.sort();
    format!("{own} {}", texts.join(" "))
}

/// Exports a definition, and returns the definitions that it refers to.
fn export(
    definition: &Definition,
    name: &dyn Fn(&DefinitionId) -> String,
) -> (Value, Vec<DefinitionId>) {
    let found = RefCell::new(Vec::new());
    let references = |id: &DefinitionId| {
        found.borrow_mut().push(id.clone());
        name(id)
    };
    let value = definition.export().references(&references).to_value();
    (value, found.into_inner())
}

/// Returns the last segment of a path, prefixed with `level` of its modules.
/// Types of the standard library do not get a prefix.
fn with_modules(path: &str, level: usize) -> String {
    let segments: Vec<&str> = path.split("::").filter(|segment| !segment.is_empty()).collect();
    let Some((name, modules)) = segments.split_last() else {
        return String::new();
    };
    if matches!(modules.first(), Some(&("alloc" | "core" | "std"))) {
        return (*name).to_owned();
    }
    let first = modules.len().saturating_sub(level);
    let modules = modules[first..].iter().map(|module| capitalized(module));
    modules.chain([(*name).to_owned()]).collect()
}

/// Converts a module name to a type name: `user_profile` becomes `UserProfile`.
fn capitalized(module: &str) -> String {
    let words = module.split('_').map(|word| {
        let mut chars = word.chars();
        chars
            .next()
            .map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect::<String>())
    });
    words.collect()
}

/// Returns the name with only the characters that need no escape in a URL or a
/// JSON pointer.
pub(crate) fn plain(name: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '.' | '-');
    name.chars().map(|char| if is_plain(char) { char } else { '_' }).collect()
}
