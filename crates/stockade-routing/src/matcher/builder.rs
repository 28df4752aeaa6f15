//! [`TableBuilder`]: from patterns to a [`Table`]. All that is slow happens here.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use stockade_errors::__internal::sort_by;
use stockade_path::spelling::{Spelling, encoded_variant};
use stockade_path::{Pattern, Precedence, Segment, Variant};

use super::literals::{Literals, length_bit, narrow};
use super::segment::Dynamic;
use super::table::{End, Table, TableNode};

/// Collects patterns and their values, in any order.
///
/// It keeps little beside the patterns, because it lives while all routes are compiled:
/// what was used for the tree of each pattern stayed with the process, between parts
/// that live on.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct TableBuilder<T> {
    values: Vec<T>,
    /// The canonical text of each pattern, and the index of its value.
    known: HashMap<String, usize>,
    /// The texts of the patterns, as many as values, in the same order. Parsed, they
    /// take four times the memory.
    patterns: Vec<Box<str>>,
    /// The ends of all variants of the first pattern, then those of the second.
    ends: Vec<End>,
    /// The segments with parameters, compiled once for all of their shape.
    dynamic: BTreeMap<Precedence, Arc<Dynamic>>,
}

/// Why a pattern cannot join a [`Table`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum InsertError {
    /// The expressions of a segment are too large for the matcher.
    Constraint {
        /// The pattern.
        pattern: String,
        /// The message of the regular expression engine.
        message: String,
    },
    /// An equivalent pattern is there already.
    Duplicate {
        /// The pattern.
        pattern: String,
        /// The index of the earlier value: insertions that succeeded, from 0.
        earlier: usize,
    },
}

/// A variant on its way into the tree.
#[derive(Debug)]
struct Candidate {
    variant: Variant,
    /// The index of its end.
    end: u32,
    order: Order,
}

/// Of two variants with the same shape, the lesser wins. The fields are the
/// rules in their order. Variants of one pattern never have the same shape: the
/// earlier one covers the other.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Order {
    skips: bool,
    whole: Rc<[Precedence]>,
    canonical: Rc<str>,
}

impl<T> Default for TableBuilder<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> TableBuilder<T> {
    /// Makes a builder without patterns.
    pub fn new() -> Self {
        Self {
            values: Vec::new(),
            known: HashMap::new(),
            patterns: Vec::new(),
            ends: Vec::new(),
            dynamic: BTreeMap::new(),
        }
    }

    /// Returns the value of an equivalent pattern, if there is one.
    #[must_use]
    pub fn equivalent(&self, pattern: &Pattern) -> Option<&T> {
        self.known.get(&pattern.canonical()).map(|index| &self.values[*index])
    }

    /// Adds a pattern, and gives the index of its value: how many were added
    /// before.
    ///
    /// # Errors
    /// When an equivalent pattern is there, or an expression is too large. Then
    /// nothing was added, and the value is dropped.
    pub fn insert(&mut self, pattern: &Pattern, value: T) -> Result<usize, InsertError> {
        let canonical = pattern.canonical();
        if let Some(&earlier) = self.known.get(&canonical) {
            return Err(InsertError::Duplicate { pattern: pattern.to_string(), earlier });
        }
        let index = self.values.len();
        let variants = pattern.variants();
        for variant in &variants {
            for segment in encoded_variant(variant).segments() {
                compile(&mut self.dynamic, segment).map_err(|error| InsertError::Constraint {
                    pattern: pattern.to_string(),
                    message: error.to_string(),
                })?;
            }
        }
        let end = |variant: &Variant| End {
            value: index,
            names: variant.names().map(Box::from).collect(),
        };
        self.ends.extend(variants.iter().map(end));
        self.patterns.push(pattern.as_str().into());
        self.known.insert(canonical, index);
        self.values.push(value);
        Ok(index)
    }

    /// Returns the table of all that was added.
    #[must_use]
    pub fn build(self) -> Table<T> {
        let tree = Tree::of(self.candidates(encoded_variant), &self.dynamic);
        let (literals, nodes) = tree.freeze();
        Table {
            values: self.values.into_boxed_slice(),
            ends: self.ends.into_boxed_slice(),
            literals,
            nodes,
        }
    }

    /// Returns true if a pattern has text that can be spelled in another way.
    #[must_use]
    pub fn has_other_spellings(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.contains('%') || !pattern.is_ascii())
    }

    /// Returns the table of all that was added, with the text of the patterns in a
    /// spelling. It is for paths in the same spelling.
    #[must_use]
    pub fn build_spelled(&self, spelling: Spelling) -> Table<T>
    where
        T: Clone,
    {
        let mut dynamic = BTreeMap::new();
        let mut candidates = self.candidates(|variant| spelling.of_variant(variant));
        // An expression stays as it is and was compiled before, so nothing is removed.
        candidates.retain(|candidate| {
            let segments = &mut candidate.variant.segments().iter();
            segments.all(|segment| compile(&mut dynamic, segment).is_ok())
        });
        let (literals, nodes) = Tree::of(candidates, &dynamic).freeze();
        Table {
            values: self.values.clone().into_boxed_slice(),
            ends: self.ends.clone().into_boxed_slice(),
            literals,
            nodes,
        }
    }

    /// Returns the variants of all patterns, the preferred ones first.
    fn candidates(&self, spelled: impl Fn(&Variant) -> Variant) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(self.ends.len());
        let mut known: Vec<(&String, usize)> =
            self.known.iter().map(|(canonical, index)| (canonical, *index)).collect();
        known.sort_unstable_by_key(|(_, index)| *index);
        for ((canonical, _), text) in known.into_iter().zip(&self.patterns) {
            // It was parsed before, so that it can be parsed.
            let Ok(pattern) = Pattern::parse(text) else { continue };
            let whole: Rc<[_]> = pattern.segments().iter().map(Segment::precedence).collect();
            let canonical: Rc<str> = canonical.as_str().into();
            for variant in pattern.variants() {
                let skips = variant.skipped() > 0;
                let (whole, canonical) = (Rc::clone(&whole), Rc::clone(&canonical));
                let order = Order { skips, whole, canonical };
                let end = narrow(candidates.len());
                candidates.push(Candidate { variant: spelled(&variant), end, order });
            }
        }
        // The first to come to an end keeps it.
        sort_by(&mut candidates, |one, other| one.order.cmp(&other.order));
        candidates
    }
}

/// Compiles a segment, unless one of its shape is compiled.
fn compile(
    known: &mut BTreeMap<Precedence, Arc<Dynamic>>,
    segment: &Segment,
) -> Result<(), regex::Error> {
    if let Entry::Vacant(place) = known.entry(segment.precedence())
        && let Some(dynamic) = Dynamic::new(segment)?
    {
        place.insert(Arc::new(dynamic));
    }
    Ok(())
}

/// The nodes of a table that still take children. All children are in two maps, because
/// a map for each node would have room for eleven.
struct Tree {
    nodes: Vec<TableNode>,
    /// By parent and text.
    literals: BTreeMap<(u32, String), u32>,
    /// By parent and precedence, which is different for different shapes.
    dynamic: BTreeMap<(u32, Precedence), (Arc<Dynamic>, u32)>,
}

impl Default for Tree {
    fn default() -> Self {
        let nodes = vec![TableNode::default()];
        Self { nodes, literals: BTreeMap::new(), dynamic: BTreeMap::new() }
    }
}

impl Tree {
    fn of(candidates: Vec<Candidate>, compiled: &BTreeMap<Precedence, Arc<Dynamic>>) -> Self {
        let mut tree = Self::default();
        for Candidate { variant, end, .. } in candidates {
            tree.plant(compiled, &variant, end);
        }
        tree
    }

    /// Adds a path through the tree that leads to `end`, unless its end is taken.
    fn plant(
        &mut self,
        compiled: &BTreeMap<Precedence, Arc<Dynamic>>,
        variant: &Variant,
        end: u32,
    ) {
        let mut node = 0;
        for segment in variant.segments() {
            let new = narrow(self.nodes.len());
            let precedence = segment.precedence();
            node = match (segment, compiled.get(&precedence)) {
                (Segment::Literal(text), _) => {
                    *self.literals.entry((node, text.clone())).or_insert(new)
                }
                (_, Some(dynamic)) => {
                    let place = self.dynamic.entry((node, precedence));
                    place.or_insert_with(|| (Arc::clone(dynamic), new)).1
                }
                (_, None) => {
                    self.nodes[node as usize].rest.get_or_insert(end);
                    return;
                }
            };
            if node == new {
                self.nodes.push(TableNode::default());
            }
        }
        self.nodes[node as usize].end.get_or_insert(end);
    }

    /// Gives the nodes their children.
    fn freeze(self) -> (Literals, Box<[TableNode]>) {
        let Self { mut nodes, literals, dynamic } = self;
        for ((parent, _), (segment, child)) in dynamic {
            let node = &mut nodes[parent as usize];
            let other = match *segment {
                // Of `:name` and `*`, the one that comes last is `whole`.
                Dynamic::Whole => node.whole.replace(child),
                _ => Some(child),
            };
            if let Some(other) = other {
                let mut children = std::mem::take(&mut node.dynamic).into_vec();
                children.push((segment, other));
                node.dynamic = children.into_boxed_slice();
            }
        }
        for (parent, text) in literals.keys() {
            nodes[*parent as usize].lengths |= length_bit(text.len());
        }
        let texts: Vec<(u32, &str, u32)> = literals
            .iter()
            .map(|((parent, text), child)| (*parent, text.as_str(), *child))
            .collect();
        (Literals::new(&texts), nodes.into_boxed_slice())
    }
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constraint { pattern, message } => {
                write!(f, "path {pattern:?} has an expression that cannot be used: {message}")
            }
            Self::Duplicate { pattern, .. } => {
                write!(f, "path {pattern:?} is equivalent to an earlier one")
            }
        }
    }
}

impl std::error::Error for InsertError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_is_compiled_once() {
        let mut builder = TableBuilder::new();
        for path in ["/:a", "/x/:b", r"/:id(\d+)/y", r"/z/:other(\d+)"] {
            builder.insert(&Pattern::parse(path).unwrap(), path).unwrap();
        }
        assert_eq!(builder.dynamic.len(), 2);
    }
}
