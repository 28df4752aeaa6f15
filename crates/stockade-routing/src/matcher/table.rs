//! Hot: [`Table`], the lookup of a path. It allocates nothing for up to eight
//! parameters; see the [module docs](super).

use std::sync::Arc;

use memchr::memchr;
use stockade_path::Spans;

use super::literals::Literals;
use super::segment::{Dynamic, push};

/// Patterns and their values, in a form that is fast to search.
///
/// ```
/// use stockade_path::Pattern;
/// use stockade_routing::TableBuilder;
///
/// let mut builder = TableBuilder::new();
/// builder.insert(&Pattern::parse("/users/me")?, "me")?;
/// builder.insert(&Pattern::parse("/users/:id")?, "user")?;
/// let table = builder.build();
///
/// assert_eq!(table.find("/users/me").map(|found| *found.value), Some("me"));
/// let found = table.find("/users/42").expect("the second pattern");
/// assert_eq!((*found.value, &*found.names[0]), ("user", "id"));
/// assert_eq!(found.spans.get(0), Some((7, 9)));
/// assert!(table.find("/users/").is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Table<T> {
    pub(super) values: Box<[T]>,
    /// Where a lookup can end.
    pub(super) ends: Box<[End]>,
    /// Whole paths without parameters, and their ends.
    pub(super) texts: Literals,
    /// The tree of all other variants. Invariant: the root is first, and a child
    /// is never before its parent.
    pub(super) nodes: Box<[Node]>,
}

/// What a path was found to be.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Match<'t, T> {
    /// The value of the pattern.
    pub value: &'t T,
    /// Where the parameters are: byte ranges of the raw path, not decoded.
    pub spans: Spans,
    /// The names of the parameters, as many as `spans`, in the same order.
    /// Optional parameters that are absent are not among them.
    pub names: &'t Arc<[Box<str>]>,
}

/// The end of a variant.
#[derive(Clone, Debug)]
pub(super) struct End {
    /// An index into the values.
    pub(super) value: usize,
    pub(super) names: Arc<[Box<str>]>,
}

/// What can follow a number of segments.
#[derive(Debug, Default)]
pub(super) struct Node {
    /// The end, if the path ends here.
    pub(super) end: Option<usize>,
    /// Children that are text.
    pub(super) literals: Literals,
    /// The other children, best precedence first.
    pub(super) dynamic: Box<[(Arc<Dynamic>, usize)]>,
    /// The end of `**`.
    pub(super) rest: Option<usize>,
}

impl<T> Table<T> {
    /// The values, in the order in which they were added.
    #[must_use]
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// The value of the best pattern that matches the raw path, if there is one.
    ///
    /// The path is taken as it is: not decoded, and without its query. One that
    /// does not begin with `/`, or is longer than 65,535 bytes, never matches.
    #[must_use]
    pub fn find(&self, path: &str) -> Option<Match<'_, T>> {
        // A span has 16 bits.
        if !path.starts_with('/') || path.len() > usize::from(u16::MAX) {
            return None;
        }
        let mut spans = Spans::new();
        let end = match self.texts.get(path.as_bytes()) {
            // Text alone has the best precedence in every segment.
            Some(end) => end,
            None => walk(&self.nodes, 0, path, 1, &mut spans)?,
        };
        let End { value, names } = &self.ends[end];
        Some(Match { value: &self.values[*value], spans, names })
    }
}

/// The best end below `node` for the segments from byte `start` on.
///
/// Without one, `spans` may have anything added: who comes back truncates it.
fn walk(
    nodes: &[Node],
    mut node: usize,
    path: &str,
    mut start: usize,
    spans: &mut Spans,
) -> Option<usize> {
    let bytes = path.as_bytes();
    'descend: loop {
        let known = spans.len();
        let Node { literals, dynamic, rest, .. } = &nodes[node];
        let stop = memchr(b'/', &bytes[start..]).map_or(bytes.len(), |length| start + length);
        count(stop - start);
        // Goes on with the segments after this one.
        let enter = |child: usize, spans: &mut Spans| match bytes.get(stop) {
            Some(_) => walk(nodes, child, path, stop + 1, spans),
            None => nodes[child].end,
        };

        // Text beats everything else.
        if let Some(child) = literals.get(&bytes[start..stop]) {
            // With nothing to come back for, there is no need to recurse.
            if dynamic.is_empty() && rest.is_none() && stop < bytes.len() {
                (node, start) = (child, stop + 1);
                continue 'descend;
            }
            if let Some(end) = enter(child, spans) {
                return Some(end);
            }
            spans.truncate(known);
        }

        // A parameter needs a character, so an empty segment is left to `**`.
        if start < stop {
            for (index, (segment, child)) in dynamic.iter().enumerate() {
                if segment.matches(path, start, stop, spans) {
                    // The last choice; again there is nothing to come back for.
                    if index + 1 == dynamic.len() && rest.is_none() && stop < bytes.len() {
                        (node, start) = (*child, stop + 1);
                        continue 'descend;
                    }
                    if let Some(end) = enter(*child, spans) {
                        return Some(end);
                    }
                }
                spans.truncate(known);
            }
        }

        // `**` takes this segment and all that follow.
        let end = (*rest)?;
        push(spans, start, bytes.len());
        return Some(end);
    }
}

/// Counts a visit to a node and the bytes of the segment it looked at, for the
/// test that a lookup is linear.
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
    /// Visited nodes, and bytes that they looked at, on this thread.
    pub(super) static VISITS: std::cell::Cell<(usize, usize)> = const { std::cell::Cell::new((0, 0)) };
}
