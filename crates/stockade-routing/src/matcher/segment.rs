//! Hot: [`Dynamic`], a segment with parameters, compiled.

use std::sync::Mutex;

use memchr::memmem::FinderRev;
use regex::bytes::{CaptureLocations, Regex, RegexBuilder};
use stockade_path::{Segment, SegmentPart, Spans};

/// A segment that is not text alone, and not `**`.
#[derive(Debug)]
pub(super) enum Dynamic {
    /// `:name` or `*`.
    Whole,
    /// One parameter with an expression, between texts that may be empty.
    Constrained { before: Box<str>, regex: Regex, after: Box<str> },
    /// Parameters without expressions, between texts.
    Split { before: Box<str>, separators: Box<[FinderRev<'static>]>, after: Box<str> },
    /// Several parameters, at least one of them with an expression: a group of
    /// the expression for each.
    Groups { regex: Regex, locations: Mutex<CaptureLocations> },
}

impl Dynamic {
    /// Compiles a segment; `None` if it has no parameters of its own.
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
    /// matches; then the places of its parameters are added to `spans`. Otherwise
    /// `spans` may have anything added.
    ///
    /// The segment must not be empty.
    // Apart, so that the walk past plain parameters stays small.
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

/// Returns the part between the texts at both ends, if it is not empty.
#[inline]
fn inner(
    path: &str,
    mut start: usize,
    mut end: usize,
    before: &str,
    after: &str,
) -> Option<(usize, usize)> {
    // An empty box has no memory behind it, and comparing with it takes 80 ns
    // where `memcmp` uses masked AVX-512 loads; so it is not compared with.
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
/// Greedy from the left: the first parameter is as long as it can be, then the
/// second, and so on. That is the same as putting the last separator as far to
/// the right as it can be, then the one before it. For let some split exist:
/// by induction from the right, none of its separators is further right than
/// ours, since ours took the last place left of the next one, which is no
/// further left than in that split. So if ours leaves the first parameter empty,
/// every split does; and no split has a longer first parameter, or, with that
/// one equal, a longer second one. Each byte is searched once.
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
    // The parameter after the separator needs a byte.
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
        // A parameter has one or more characters, and whole ones: an expression
        // is about bytes and could cut one.
        from < to && path.is_char_boundary(from) && path.is_char_boundary(to)
    })
}

/// Adds a span. Paths that do not fit 16 bits never reach the tree.
#[inline]
pub(super) fn push(spans: &mut Spans, start: usize, end: usize) {
    let narrow = |at| u16::try_from(at).unwrap_or(u16::MAX);
    spans.push(narrow(start), narrow(end));
}

/// Returns the part as an expression; a group if it is a parameter.
fn expression(part: &SegmentPart) -> String {
    match part {
        SegmentPart::Literal(text) => regex::escape(text),
        SegmentPart::Param(param) => match &param.constraint {
            Some(constraint) => format!("({})", constraint.expression()),
            None => "([^/]+)".to_owned(),
        },
        // `SegmentPart` is complete; this is for variants to come.
        _ => String::new(),
    }
}

/// Compiles an expression that must match all of the text, byte by byte: `\d`
/// is an ASCII digit. It runs in linear time.
pub(crate) fn anchored(expression: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(&format!(r"\A(?:{expression})\z")).unicode(false).build()
}
