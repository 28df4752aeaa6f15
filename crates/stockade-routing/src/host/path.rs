//! [`HostPath`]: a path as the routers of other hosts can express it.

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
    /// This text, which may be empty; percent-encoded.
    Text(String),
    /// Any one segment that is not empty, under a name: an identifier of ASCII
    /// that no other segment of the path has.
    One(String),
    /// The rest, slashes included, also nothing, under a name; only at the end.
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

    /// Returns the path without the rest at its end, if it has both.
    pub(super) fn without_rest(mut self) -> Option<Self> {
        let rest = self.segments.pop_if(|last| matches!(last, HostSegment::Rest(_)));
        self.order.pop();
        (rest.is_some() && !self.segments.is_empty()).then_some(self)
    }

    /// Returns the path with or without a slash at its end; `None` for the root and for a
    /// path with a rest.
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

    /// Compares paths for routers that take the first path that matches: the
    /// lesser path comes first.
    #[must_use]
    pub fn cmp_precedence(&self, other: &Self) -> std::cmp::Ordering {
        self.order.cmp(&other.order)
    }
}

/// Returns the names of a segment's parameters as one identifier, empty if they
/// cannot be one.
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
    // `p` and digits are the names of those that have none.
    let is_number = names.strip_prefix('p').is_some_and(|rest| rest.parse::<u32>().is_ok());
    if is_plain && !is_number { names } else { String::new() }
}
