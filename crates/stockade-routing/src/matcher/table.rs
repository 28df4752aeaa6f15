//! [`Table`], the lookup of a path. Hot: it does not allocate for up to eight
//! parameters; see the [module docs](super).

use std::sync::Arc;

use stockade_path::Spans;

use super::literals::{Literals, length_bit};
use super::segment::{Dynamic, push};
use super::text::Text;

/// Patterns and their values, in a form that is fast to search.
#[derive(Debug)]
pub struct Table<T> {
    pub(super) values: Box<[T]>,
    /// The possible ends of a lookup.
    pub(super) ends: Box<[End]>,
    /// The children that are text.
    pub(super) literals: Literals,
    /// The tree. Invariant: the root is first, and a child is never before its
    /// parent.
    pub(super) nodes: Box<[TableNode]>,
}

/// The pattern that matches a path.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Match<'t, T> {
    /// The value of the pattern.
    pub value: &'t T,
    /// The positions of the parameters: byte ranges of the raw path, which is
    /// not decoded.
    pub spans: Spans,
    /// The names of the parameters, one for each of `spans` in the same order.
    /// Absent optional parameters are omitted.
    pub names: &'t Arc<[Box<str>]>,
}

/// The end of a variant.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// An index into the values.
    pub(super) value: usize,
    pub(super) names: Arc<[Box<str>]>,
}

/// The possible segments after a sequence of segments. Children and ends are
/// indices.
#[derive(Debug, Default)]
pub(super) struct TableNode {
    /// The lengths of the text children, as bits.
    pub(super) lengths: u64,
    /// The end, if the path ends here.
    pub(super) end: Option<u32>,
    /// The child of `:name` or `*`; if there are both, the child of `*`.
    pub(super) whole: Option<u32>,
    /// The end of `**`.
    pub(super) rest: Option<u32>,
    /// The other children, the best precedence first. All precede `whole`.
    pub(super) dynamic: Box<[(Arc<Dynamic>, u32)]>,
}

impl<T> Table<T> {
    /// Returns the values, in the order of insertion.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Returns the value of the best pattern that matches the raw path, or
    /// `None`.
    ///
    /// The path is used as is: not decoded, and without its query. A path that
    /// does not begin with `/`, or is longer than 65,535 bytes, never matches.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<Match<'_, T>> {
        // A span has 16 bits.
        if !path.starts_with('/') || path.len() > usize::from(u16::MAX) {
            return None;
        }
        let mut spans = Spans::new();
        let end =
            Walk { literals: &self.literals, nodes: &self.nodes, path }.find(0, 1, &mut spans)?;
        let End { value, names } = &self.ends[end as usize];
        Some(Match { value: &self.values[*value], spans, names })
    }
}

/// A lookup that does not depend on the type of the values.
struct Walk<'w> {
    literals: &'w Literals,
    nodes: &'w [TableNode],
    path: &'w str,
}

impl Walk<'_> {
    /// Returns the best end below `node` for the segments from byte `start` on.
    ///
    /// If nothing matches, `spans` may contain leftovers; the caller truncates
    /// it.
    fn find(&self, mut node: u32, mut start: usize, spans: &mut Spans) -> Option<u32> {
        let path = self.path.as_bytes();
        loop {
            let known = spans.len();
            let TableNode { lengths, whole, rest, dynamic, .. } = &self.nodes[node as usize];
            let text = Text::read(path, start);
            let stop = start + text.length;
            count(text.length);

            // Text has precedence over everything else. Most misses end at the
            // length check.
            if lengths & length_bit(text.length) != 0
                && let Some(child) = self.literals.get(node, &text, &path[start..stop])
            {
                // Recursion is not necessary if there is nothing to backtrack
                // to.
                let is_only = whole.is_none() & rest.is_none() & dynamic.is_empty();
                if is_only && stop < path.len() {
                    (node, start) = (child, stop + 1);
                    continue;
                }
                if let Some(end) = self.enter(child, stop, spans) {
                    return Some(end);
                }
                spans.truncate(known);
            }

            // A parameter needs a character, so only `**` matches an empty
            // segment.
            if start < stop {
                for (segment, child) in dynamic {
                    if segment.matches(self.path, start, stop, spans)
                        && let Some(end) = self.enter(*child, stop, spans)
                    {
                        return Some(end);
                    }
                    spans.truncate(known);
                }
                if let Some(child) = *whole {
                    push(spans, start, stop);
                    // Again, there is nothing to backtrack to.
                    if rest.is_none() && stop < path.len() {
                        (node, start) = (child, stop + 1);
                        continue;
                    }
                    if let Some(end) = self.enter(child, stop, spans) {
                        return Some(end);
                    }
                    spans.truncate(known);
                }
            }

            // `**` matches this segment and all following segments.
            let end = (*rest)?;
            push(spans, start, path.len());
            return Some(end);
        }
    }

    /// Continues with the segments after byte `stop`.
    #[inline]
    fn enter(&self, child: u32, stop: usize, spans: &mut Spans) -> Option<u32> {
        if stop < self.path.len() {
            self.find(child, stop + 1, spans)
        } else {
            self.nodes[child as usize].end
        }
    }
}

/// Counts a visit to a node and the bytes of the segment that it examines, for
/// the test of linear time.
#[cfg(test)]
fn count(bytes: usize) {
    VISITS.with(|visits| {
        let (nodes, sum) = visits.get();
        visits.set((nodes + 1, sum + bytes));
    });
}

#[cfg(not(test))]
#[inline]
fn count(_bytes: usize) {}

#[cfg(test)]
thread_local! {
    /// The visited nodes and their examined bytes, on this thread.
    pub(super) static VISITS: std::cell::Cell<(usize, usize)> = const { std::cell::Cell::new((0, 0)) };
}
