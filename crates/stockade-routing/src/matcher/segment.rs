//! [`Dynamic`], a compiled segment with parameters. Hot.

use std::sync::Mutex;

use memchr::memmem::FinderRev;
use regex::bytes::{CaptureLocations, Regex, RegexBuilder};
use stockade_path::{Segment, SegmentPart, Spans};

/// A segment that contains more than text, except `**`.
#[derive(Debug)]
pub(super) enum Dynamic {
    /// `:name` or `*`.
    Whole,
    /// One parameter with an expression, between two texts, which may be empty.
    Constrained { before: Box<str>, regex: Regex, after: Box<str> },
    /// Parameters without expressions, between texts.
    Split { before: Box<str>, separators: Box<[FinderRev<'static>]>, after: Box<str> },
    /// Several parameters, at least one of them with an expression. The regular
    /// expression has a group for each.
    Groups { regex: Regex, locations: Mutex<CaptureLocations> },
}

impl Dynamic {
    /// Compiles a segment. Returns `None` if it does not have its own
    /// parameters.
    pub(super) fn new(segment: &Segment) -> Result<Option<Self>, regex::Error> {
        let parts = match segment {
            Segment::Any => return Ok(Some(Self::Whole)),
            Segment::Parts(parts) => parts.as_slice(),
            _ => return Ok(None),
        };
        let (before, inner) = match parts {
            [SegmentPart::Literal(text), inner @ ..] => (text.as_str(), inner),
            _ => ("", parts),
        };
        let (inner, after) = match inner {
            [inner @ .., SegmentPart::Literal(text)] => (inner, text.as_str()),
            _ => (inner, ""),
        };
        let (before, after) = (Box::from(before), Box::from(after));
        let is_constrained = segment.params().any(|param| param.constraint.is_some());
        Ok(Some(match inner {
            [SegmentPart::Param(_)] if parts.len() == 1 && !is_constrained => Self::Whole,
            [only @ SegmentPart::Param(_)] if is_constrained => {
                Self::Constrained { before, regex: anchored(&expression(only))?, after }
            }
            _ if is_constrained => {
                let regex = anchored(&parts.iter().map(expression).collect::<String>())?;
                let locations = Mutex::new(regex.capture_locations());
                Self::Groups { regex, locations }
            }
            _ => {
                let separators = inner.iter().filter_map(|part| match part {
                    SegmentPart::Literal(text) => {
                        Some(FinderRev::new(text.as_bytes()).into_owned())
                    }
                    _ => None,
                });
                Self::Split { before, separators: separators.collect(), after }
            }
        }))
    }

    /// Returns true if the segment of `path` from byte `start` to byte `end`
    /// matches, and adds the positions of its parameters to `spans`. If it does
    /// not match, `spans` may contain leftovers.
    ///
    /// The segment must not be empty.
    // Not inlined, to keep the walk past plain parameters small.
    #[inline(never)]
    pub(super) fn matches(&self, path: &str, start: usize, end: usize, spans: &mut Spans) -> bool {
        match self {
            Self::Whole => {
                push(spans, start, end);
                true
            }
            Self::Constrained { before, regex, after } => inner(path, start, end, before, after)
                .is_some_and(|(start, end)| {
                    push(spans, start, end);
                    regex.is_match(&path.as_bytes()[start..end])
                }),
            Self::Split { before, separators, after } => inner(path, start, end, before, after)
                .is_some_and(|(start, end)| split(path.as_bytes(), start, end, separators, spans)),
            Self::Groups { regex, locations } => {
                // Only contention allocates: each thread may then have its own.
                match locations.try_lock() {
                    Ok(mut locations) => groups(path, start, end, regex, &mut locations, spans),
                    Err(_) => {
                        groups(path, start, end, regex, &mut regex.capture_locations(), spans)
                    }
                }
            }
        }
    }
}

/// Returns the part between the texts at both ends, unless it is empty.
#[inline]
fn inner(
    path: &str,
    mut start: usize,
    mut end: usize,
    before: &str,
    after: &str,
) -> Option<(usize, usize)> {
    // An empty box does not own memory. Comparing with it takes 80 ns if
    // `memcmp` uses masked AVX-512 loads, so the comparison is skipped.
    if !before.is_empty() {
        path[start..end].strip_prefix(before)?;
        start += before.len();
    }
    if !after.is_empty() {
        path[start..end].strip_suffix(after)?;
        end -= after.len();
    }
    (start < end).then_some((start, end))
}

/// Splits bytes `start` to `end` into parameters at the separators.
///
/// The split is greedy from the left: the first parameter is as long as
/// possible, then the second, and so on. This equals placing the last separator
/// as far right as possible, then the one before it.
///
/// Proof: let any split exist. By induction from the right, none of its
/// separators is further right than ours. Ours uses the last position to the
/// left of the next separator, which is at least as far right as in the other
/// split. So if our first parameter is empty, it is empty in every split. No
/// split has a longer first parameter, or a longer second parameter after an
/// equal first one. Each byte is searched once.
fn split(
    path: &[u8],
    start: usize,
    end: usize,
    separators: &[FinderRev<'_>],
    spans: &mut Spans,
) -> bool {
    let Some((last, others)) = separators.split_last() else {
        push(spans, start, end);
        return start < end;
    };
    // The parameter after the separator needs at least one byte.
    let Some(before_last) = path.get(start..end.saturating_sub(1)) else { return false };
    let Some(at) = last.rfind(before_last).map(|at| start + at) else { return false };
    if !split(path, start, at, others, spans) {
        return false;
    }
    push(spans, at + last.needle().len(), end);
    true
}

/// Adds a span for each group of the expression, if it matches.
fn groups(
    path: &str,
    start: usize,
    end: usize,
    regex: &Regex,
    locations: &mut CaptureLocations,
    spans: &mut Spans,
) -> bool {
    if regex.captures_read(locations, &path.as_bytes()[start..end]).is_none() {
        return false;
    }
    (1..locations.len()).all(|group| {
        let Some((from, to)) = locations.get(group) else { return false };
        let (from, to) = (start + from, start + to);
        push(spans, from, to);
        // A parameter has one or more whole characters. An expression matches
        // bytes and could split a character.
        from < to && path.is_char_boundary(from) && path.is_char_boundary(to)
    })
}

/// Adds a span. Paths that do not fit in 16 bits never reach the tree.
#[inline]
pub(super) fn push(spans: &mut Spans, start: usize, end: usize) {
    let narrow = |at| u16::try_from(at).unwrap_or(u16::MAX);
    spans.push(narrow(start), narrow(end));
}

/// Returns the part as an expression. A parameter is a group.
fn expression(part: &SegmentPart) -> String {
    match part {
        SegmentPart::Literal(text) => regex::escape(text),
        SegmentPart::Param(param) => match &param.constraint {
            Some(constraint) => format!("({})", constraint.expression()),
            None => "([^/]+)".to_owned(),
        },
        // Currently unreachable: `SegmentPart` has no other variants.
        _ => String::new(),
    }
}

/// Compiles an expression that must match the whole text, byte by byte: `\d` is
/// an ASCII digit. It runs in linear time.
pub(crate) fn anchored(expression: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&format!(r"\A(?:{expression})\z")).unicode(false).build()
}
