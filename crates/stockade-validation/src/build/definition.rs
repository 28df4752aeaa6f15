//! The definitions that rules refer to.
//!
//! Each definition is compiled once, one after the other. This allows recursive
//! rules.

use std::collections::{HashMap, HashSet};

use super::compile::{Compiler, State};
use crate::depth::MAX_DEPTH;
use crate::direction::Direction;
use crate::inner::{Key, Reference};
use crate::names::plain;
use crate::node::Definition;

/// The definitions found so far, in order of first use.
#[derive(Default)]
pub(super) struct Definitions {
    entries: Vec<(String, Reference, Direction)>,
    places: HashMap<(Key, Direction), usize>,
    names: HashSet<String>,
}

impl Definitions {
    /// Returns the index of the definition for `reference` in this direction.
    pub(super) fn place(&mut self, reference: Reference, direction: Direction) -> usize {
        let key = (reference.key.clone(), direction);
        if let Some(place) = self.places.get(&key) {
            return *place;
        }
        let place = self.entries.len();
        self.places.insert(key, place);
        let name = self.free_name(&reference.name);
        self.names.insert(name.clone());
        self.entries.push((name, reference, direction));
        place
    }

    /// Returns `name` if it is free. Otherwise appends the first number,
    /// starting at 2, that makes it unique.
    fn free_name(&self, name: &str) -> String {
        let name = plain(name);
        if !self.names.contains(&name) {
            return name;
        }
        let numbered = (2_usize..).map(|number| format!("{name}{number}"));
        numbered.into_iter().find(|numbered| !self.names.contains(numbered)).unwrap_or(name)
    }
}

impl State {
    /// Compiles the definitions, including definitions that they refer to.
    pub(super) fn compile_definitions(&mut self) -> Box<[Definition]> {
        let mut compiled: Vec<Definition> = Vec::new();
        while let Some((name, reference, direction)) =
            self.definitions.entries.get(compiled.len()).cloned()
        {
            let mut rule = reference.rule();
            let location = rule.location;
            let mut compiler = Compiler::new(self, name.clone(), location, direction);
            rule.turn(direction);
            compiler.flatten(&mut rule, &mut vec![reference.key.clone()]);
            let node = compiler.compile(rule, MAX_DEPTH);
            compiled.push(Definition { name, node, reference, direction, location });
        }
        for (place, definition) in compiled.iter().enumerate() {
            if is_circle(place, &compiled) {
                let Definition { name, direction, location, .. } = definition;
                let mut compiler = Compiler::new(self, name.clone(), location, *direction);
                compiler.issue("the definition refers only to itself");
            }
        }
        compiled.into()
    }
}

/// Returns true if a definition refers back to itself without descending into
/// the value.
fn is_circle(start: usize, definitions: &[Definition]) -> bool {
    let mut seen = vec![false; definitions.len()];
    let mut open = Vec::new();
    definitions[start].node.same_value(&mut open);
    while let Some(place) = open.pop() {
        if place == start {
            return true;
        }
        if !std::mem::replace(&mut seen[place], true) {
            definitions[place].node.same_value(&mut open);
        }
    }
    false
}
