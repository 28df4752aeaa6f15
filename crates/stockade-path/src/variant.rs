//! [`Variant`]: a pattern with some of its optional parameters.

use crate::{Segment, SegmentPart};

/// A pattern with a selection of its optional parameters. All parameters of the
/// variant are required.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Variant {
    segments: Vec<Segment>,
    skipped: usize,
}

impl Variant {
    /// Returns the segments, at least one.
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the names of the captured parameters, in the order of the path.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.segments.iter().flat_map(Segment::names).map(|(name, _)| name)
    }

    /// Returns the number of omitted optional parameters.
    #[must_use]
    pub fn skipped(&self) -> usize {
        self.skipped
    }

    /// Returns the same selection with other segments.
    pub(crate) fn with_segments(&self, segments: Vec<Segment>) -> Self {
        Self { segments, skipped: self.skipped }
    }

    /// Returns true if it has as many segments as `other` and matches every
    /// path that `other` matches, segment by segment.
    fn covers(&self, other: &Self) -> bool {
        self.segments.len() == other.segments.len()
            && self.segments.iter().zip(&other.segments).all(|(own, other)| covers(own, other))
    }
}

/// Returns the variants in order of preference, without covered variants.
pub(crate) fn expand(segments: &[Segment]) -> Vec<Variant> {
    let optional = segments.iter().flat_map(Segment::params).filter(|it| it.optional).count();
    let mut variants: Vec<Variant> = Vec::new();
    // Counts down, and the leftmost parameter is the highest bit. The variants
    // that include the leftmost parameter therefore come first. The parser
    // allows at most 8 parameters.
    for chosen in (0..1_u32 << optional).rev() {
        let is_chosen = |index: usize| chosen >> (optional - 1 - index) & 1 == 1;
        let variant = choose(segments, is_chosen);
        if !variants.iter().any(|earlier| earlier.covers(&variant)) {
            variants.push(variant);
        }
    }
    variants
}

/// Returns the pattern with the optional parameters, numbered from 0, that
/// `is_chosen` selects.
fn choose(segments: &[Segment], is_chosen: impl Fn(usize) -> bool) -> Variant {
    let mut optional = 0;
    let mut skipped = 0;
    // The exact capacity saves memory, because a growing list allocates space
    // for at least four segments.
    let mut chosen = Vec::with_capacity(segments.len());
    for segment in segments {
        let Segment::Parts(parts) = segment else {
            chosen.push(segment.clone());
            continue;
        };
        let mut kept = Vec::with_capacity(parts.len());
        for part in parts {
            match part {
                SegmentPart::Literal(text) => push_text(&mut kept, text),
                SegmentPart::Param(param) => {
                    let mut param = param.clone();
                    let is_kept = !param.optional || is_chosen(optional);
                    optional += usize::from(param.optional);
                    skipped += usize::from(!is_kept);
                    param.optional = false;
                    if is_kept {
                        kept.push(SegmentPart::Param(param));
                    }
                }
            }
        }
        // The slash of an omitted whole-segment parameter is omitted too.
        if !kept.is_empty() {
            chosen.push(segment_of(kept));
        }
    }
    // The path `/` is one empty segment.
    if chosen.is_empty() {
        chosen.push(Segment::Literal(String::new()));
    }
    Variant { segments: chosen, skipped }
}

/// Returns the segment that consists of the parts.
pub(crate) fn segment_of(parts: Vec<SegmentPart>) -> Segment {
    match parts.as_slice() {
        [] => Segment::Literal(String::new()),
        [SegmentPart::Literal(text)] => Segment::Literal(text.clone()),
        _ => Segment::Parts(parts),
    }
}

/// Appends text. Keeps the invariant of `Segment::Parts` that no two texts are
/// adjacent.
fn push_text(parts: &mut Vec<SegmentPart>, text: &str) {
    match parts.last_mut() {
        Some(SegmentPart::Literal(before)) => before.push_str(text),
        _ => parts.push(SegmentPart::Literal(text.to_owned())),
    }
}

/// Returns true if `wide` matches every text that `narrow` matches. A false
/// negative only costs a variant that never wins.
fn covers(wide: &Segment, narrow: &Segment) -> bool {
    let takes_all = match wide {
        Segment::Any => true,
        Segment::Parts(parts) => {
            matches!(parts.as_slice(), [SegmentPart::Param(param)] if param.constraint.is_none())
        }
        Segment::Literal(_) | Segment::Rest => false,
    };
    let is_never_empty = match narrow {
        Segment::Literal(text) => !text.is_empty(),
        Segment::Parts(_) | Segment::Any => true,
        Segment::Rest => false,
    };
    takes_all && is_never_empty || wide.shape() == narrow.shape()
}

#[cfg(test)]
mod tests {
    use crate::Pattern;

    #[track_caller]
    fn check(path: &str, expected: &[&str]) {
        let pattern = Pattern::parse(path).unwrap();
        let show = |variant: &super::Variant| -> String {
            variant.segments().iter().map(|segment| format!("/{segment}")).collect()
        };
        let variants: Vec<_> = pattern.variants().iter().map(show).collect();
        assert_eq!(variants, expected, "{path:?}");
    }

    #[test]
    fn skips_a_whole_segment_with_its_slash() {
        check("/opt/:id?", &["/opt/:id", "/opt"]);
        check("/:a?", &["/:a", "/"]);
        check("/:a?/", &["/:a/", "/"]);
        check("/:a?/b", &["/:a/b", "/b"]);
        check("/:a?/**", &["/:a/**", "/**"]);
    }

    #[test]
    fn skips_only_the_parameter_within_a_segment() {
        check("/x:id?", &["/x:id", "/x"]);
        check("/a:x?b/:y", &["/a:xb/:y", "/ab/:y"]);
        check("/:a?-:b?", &["/:a-:b", "/:a-", "/-:b", "/-"]);
    }

    #[test]
    fn covered_variants_are_dropped() {
        check("/:a?/:b?", &["/:a/:b", "/:a", "/"]);
        check(r"/s/:q?/:p(\d+)?", &[r"/s/:q/:p(\d+)", "/s/:q", "/s"]);
        check(r"/s/:p(\d+)?/:q?", &[r"/s/:p(\d+)/:q", r"/s/:p(\d+)", "/s/:q", "/s"]);
        check(r"/:p(\d+)?/:q(\d+)?", &[r"/:p(\d+)/:q(\d+)", r"/:p(\d+)", "/"]);
        check("/:a?/x/:b?", &["/:a/x/:b", "/:a/x", "/x/:b", "/x"]);
        check("/:a?/:b?/**", &["/:a/:b/**", "/:a/**", "/**"]);
        check("/:a?/*", &["/:a/*", "/*"]);
    }

    #[test]
    fn counts_skipped_parameters() {
        let variants = Pattern::parse("/a/:x?/y:z?").unwrap().variants();
        let skipped: Vec<_> = variants.iter().map(super::Variant::skipped).collect();
        assert_eq!(skipped, [0, 1, 1, 2]);
    }
}
