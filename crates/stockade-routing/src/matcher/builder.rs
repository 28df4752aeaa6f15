//! [`TableBuilder`]: builds a [`Table`] from patterns. All slow work happens
//! here.

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
/// It stores little more than the patterns, because it exists while all routes
/// are compiled. The process did not return the memory of a tree per pattern,
/// because it was between long-lived allocations.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct TableBuilder<T> {
    values: Vec<T>,
    /// The canonical text of each pattern, and the index of its value.
    known: HashMap<String, usize>,
    /// The texts of the patterns, one for each value in the same order. Parsed
    /// patterns need four times the memory.
    patterns: Vec<Box<str>>,
    /// The ends of all variants of the first pattern, then of the second
    /// pattern.
    ends: Vec<End>,
    /// The segments with parameters, compiled once for each shape.
    dynamic: BTreeMap<Precedence, Arc<Dynamic>>,
}

/// The reason why a pattern cannot be added to a [`Table`].
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
    /// An equivalent pattern was already added.
    Duplicate {
        /// The pattern.
        pattern: String,
        /// The index of the earlier value, which counts successful insertions
        /// from 0.
        earlier: usize,
    },
}

/// A variant to be added to the tree.
#[derive(Debug)]
struct Candidate {
    variant: Variant,
    /// The index of its end.
    end: u32,
    order: Order,
}

/// The precedence of variants with the same shape; the lesser variant wins. The
/// fields are the rules in their order. Variants of one pattern never have the
/// same shape, because the earlier variant would cover the later one.
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
    /// Creates a builder without patterns.
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

    /// Adds a pattern, and returns the index of its value: the number of
    /// earlier patterns.
    ///
    /// # Errors
    /// Fails if an equivalent pattern was already added, or if an expression is
    /// too large. Then nothing is added, and the value is dropped.
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

    /// Returns the table of all patterns.
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

    /// Returns true if a pattern has text with another spelling.
    #[must_use]
    pub fn has_other_spellings(&self) -> bool {
        self.patterns.iter().any(|pattern| pattern.contains('%') || !pattern.is_ascii())
    }

    /// Returns the table of all patterns with their text in a spelling. It is
    /// for paths in the same spelling.
    #[must_use]
    pub fn build_spelled(&self, spelling: Spelling) -> Table<T>
    where
        T: Clone,
    {
        let mut dynamic = BTreeMap::new();
        let mut candidates = self.candidates(|variant| spelling.of_variant(variant));
        // An expression does not change and was already compiled, so nothing is
        // removed.
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

    /// Returns the variants of all patterns, the preferred variants first.
    fn candidates(&self, spelled: impl Fn(&Variant) -> Variant) -> Vec<Candidate> {
        let mut candidates = Vec::with_capacity(self.ends.len());
        let mut known: Vec<(&String, usize)> =
            self.known.iter().map(|(canonical, index)| (canonical, *index)).collect();
        known.sort_unstable_by_key(|(_, index)| *index);
        for ((canonical, _), text) in known.into_iter().zip(&self.patterns) {
            // The text was already parsed, so it is valid.
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
        // The first variant that reaches an end keeps it.
        sort_by(&mut candidates, |one, other| one.order.cmp(&other.order));
        candidates
    }
}

/// Compiles a segment, unless a segment of the same shape is already compiled.
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

/// The nodes of a table under construction. All children are in two maps,
/// because a map in each node would have room for eleven children.
struct Tree {
    nodes: Vec<TableNode>,
    /// By parent and text.
    literals: BTreeMap<(u32, String), u32>,
    /// By parent and precedence, which differs for different shapes.
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

    /// Adds a path through the tree that leads to `end`, unless the path
    /// already has an end.
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

    /// Moves the children into their nodes.
    fn freeze(self) -> (Literals, Box<[TableNode]>) {
        let Self { mut nodes, literals, dynamic } = self;
        for ((parent, _), (segment, child)) in dynamic {
            let node = &mut nodes[parent as usize];
            let other = match *segment {
                // If there are both `:name` and `*`, the last one is `whole`.
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
                write!(f, "path {pattern:?} has an invalid expression: {message}")
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
