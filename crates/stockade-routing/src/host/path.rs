//! [`HostPath`]: a path in a form that the routers of other hosts can express.

use stockade_path::{SPLAT, Segment, SegmentPart, Variant, encoded};

/// A path for the router of another host.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct HostPath {
    segments: Vec<HostSegment>,
    order: Vec<stockade_path::Precedence>,
}

/// A segment of a [`HostPath`], between two slashes.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum HostSegment {
    /// Percent-encoded text, which may be empty.
    Text(String),
    /// Any non-empty segment. The name is an ASCII identifier that is unique in
    /// the path.
    One(String),
    /// The named rest of the path including slashes, which may be empty. Only
    /// at the end.
    Rest(String),
}

impl HostPath {
    pub(super) fn of(variant: &Variant) -> Self {
        let mut taken: Vec<String> = Vec::new();
        let mut free = |segment: &Segment| {
            let mut name = name_of(segment);
            if name.is_empty() || taken.contains(&name) {
                name = format!("p{}", taken.len());
            }
            taken.push(name.clone());
            name
        };
        let segments = variant.segments().iter().map(|segment| match segment {
            Segment::Literal(text) => HostSegment::Text(encoded(text).into_owned()),
            Segment::Rest => HostSegment::Rest(free(segment)),
            _ => HostSegment::One(free(segment)),
        });
        Self {
            segments: segments.collect(),
            order: variant.segments().iter().map(Segment::precedence).collect(),
        }
    }

    /// Returns the path without the rest at its end. Returns `None` if the path
    /// does not have a rest, or if it consists only of a rest.
    pub(super) fn without_rest(mut self) -> Option<Self> {
        let rest = self.segments.pop_if(|last| matches!(last, HostSegment::Rest(_)));
        self.order.pop();
        (rest.is_some() && !self.segments.is_empty()).then_some(self)
    }

    /// Adds or removes the trailing slash of the path. Returns `None` for the
    /// root and for a path with a rest.
    pub(super) fn other_form(mut self) -> Option<Self> {
        let empty = Segment::Literal(String::new());
        match self.segments.last()? {
            HostSegment::Rest(_) => return None,
            HostSegment::Text(text) if text.is_empty() => {
                self.segments.pop();
                self.order.pop();
            }
            _ => {
                self.segments.push(HostSegment::Text(String::new()));
                self.order.push(empty.precedence());
            }
        }
        (!self.segments.is_empty()).then_some(self)
    }

    /// Returns the segments, at least one; `/` is one empty text.
    #[must_use]
    pub fn segments(&self) -> &[HostSegment] {
        &self.segments
    }

    /// Compares paths for routers that use the first matching path: the lesser
    /// path comes first.
    #[must_use]
    pub fn cmp_precedence(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

/// Returns the names of a segment's parameters as one identifier. It is empty
/// if they are not a valid identifier.
fn name_of(segment: &Segment) -> String {
    let names = match segment {
        Segment::Parts(parts) => {
            let names = parts.iter().filter_map(|part| match part {
                SegmentPart::Param(param) => Some(param.name.as_str()),
                _ => None,
            });
            names.collect::<Vec<_>>().join("_")
        }
        _ => SPLAT.to_owned(),
    };
    let is_plain = names.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    // Segments without a name get names such as `p0`.
    let is_number = names.strip_prefix('p').is_some_and(|rest| rest.parse::<u32>().is_ok());
    if is_plain && !is_number { names } else { String::new() }
}
