//! [`TableBuilder`]: from patterns to a [`Table`]. All that is slow happens here.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use stockade_path::{Pattern, Precedence, Segment, Variant};

use super::literals::{Literals, length_bit, narrow};
use super::segment::Dynamic;
use super::table::{End, Table, TableNode};

/// Collects patterns and their values, in any order.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct TableBuilder<T> {
    values: Vec<T>,
    /// The canonical text of each pattern, and the index of its value.
    known: HashMap<String, usize>,
    candidates: Vec<Candidate>,
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
    segments: Vec<Step>,
    end: End,
    order: Order,
}

/// Of two variants with the same shape, the lesser wins. The fields are the
/// rules in their order. Variants of one pattern never have the same shape: the
/// earlier one covers the other.
#[derive(Debug, Eq, Ord, PartialEq, PartialOrd)]
struct Order {
    skips: bool,
    whole: Vec<Precedence>,
    canonical: String,
}

#[derive(Debug)]
enum Step {
    Literal(String),
    Dynamic(Precedence, Arc<Dynamic>),
    Rest,
}

impl<T> Default for TableBuilder<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> TableBuilder<T> {
    /// Makes a builder without patterns.
    pub fn new() -> Self {
        Self { values: Vec::new(), known: HashMap::new(), candidates: Vec::new() }
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
        let whole: Vec<_> = pattern.segments().iter().map(Segment::precedence).collect();
        let mut candidates = Vec::new();
        for variant in &pattern.variants() {
            let segments = steps(variant).map_err(|error| InsertError::Constraint {
                pattern: pattern.to_string(),
                message: error.to_string(),
            })?;
            let names = variant.names().map(Box::from).collect();
            let order = Order {
                skips: variant.skipped() > 0,
                whole: whole.clone(),
                canonical: canonical.clone(),
            };
            candidates.push(Candidate { segments, end: End { value: index, names }, order });
        }
        self.candidates.extend(candidates);
        self.known.insert(canonical, index);
        self.values.push(value);
        Ok(index)
    }

    /// Returns the table of all that was added.
    #[must_use]
    pub fn build(self) -> Table<T> {
        let mut candidates = self.candidates;
        // The first to come to an end keeps it.
        candidates.sort_by(|one, other| one.order.cmp(&other.order));

        let mut ends = Vec::new();
        let mut nodes = vec![Growing::default()];
        for Candidate { segments, end, .. } in candidates {
            plant(&mut nodes, segments, narrow(ends.len()));
            ends.push(end);
        }
        let texts: Vec<(u32, &str, u32)> = (0..)
            .zip(&nodes)
            .flat_map(|(parent, node)| {
                node.literals.iter().map(move |(text, child)| (parent, text.as_str(), *child))
            })
            .collect();
        Table {
            values: self.values.into_boxed_slice(),
            ends: ends.into_boxed_slice(),
            literals: Literals::new(&texts),
            nodes: nodes.into_iter().map(Growing::freeze).collect(),
        }
    }
}

fn steps(variant: &Variant) -> Result<Vec<Step>, regex::Error> {
    let step = |segment: &Segment| {
        Ok(match (Dynamic::new(segment)?, segment) {
            (Some(dynamic), _) => Step::Dynamic(segment.precedence(), Arc::new(dynamic)),
            (None, Segment::Literal(text)) => Step::Literal(text.clone()),
            (None, _) => Step::Rest,
        })
    };
    variant.segments().iter().map(step).collect()
}

/// A [`TableNode`] that still takes children.
#[derive(Default)]
struct Growing {
    end: Option<u32>,
    literals: BTreeMap<String, u32>,
    /// By precedence, which is different for different shapes.
    dynamic: BTreeMap<Precedence, (Arc<Dynamic>, u32)>,
    rest: Option<u32>,
}

impl Growing {
    fn freeze(self) -> TableNode {
        let mut dynamic: Vec<_> = self.dynamic.into_values().collect();
        let whole = dynamic.pop_if(|(segment, _)| matches!(**segment, Dynamic::Whole));
        TableNode {
            lengths: self.literals.keys().fold(0, |bits, text| bits | length_bit(text.len())),
            end: self.end,
            whole: whole.map(|(_, child)| child),
            rest: self.rest,
            dynamic: dynamic.into_boxed_slice(),
        }
    }
}

/// Adds a path through the tree that leads to `end`, unless its end is taken.
fn plant(nodes: &mut Vec<Growing>, segments: Vec<Step>, end: u32) {
    let mut node = 0;
    for step in segments {
        let new = narrow(nodes.len());
        let here = &mut nodes[node as usize];
        node = match step {
            Step::Literal(text) => *here.literals.entry(text).or_insert(new),
            Step::Dynamic(precedence, dynamic) => {
                here.dynamic.entry(precedence).or_insert((dynamic, new)).1
            }
            Step::Rest => {
                here.rest.get_or_insert(end);
                return;
            }
        };
        if node == new {
            nodes.push(Growing::default());
        }
    }
    nodes[node as usize].end.get_or_insert(end);
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
