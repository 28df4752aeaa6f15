//! [`Params`]: the values of path parameters.
//!
//! Hot: a match stores ranges into the path. A value is decoded only on use,
//! and allocates only if it contains an escape.
// Spec: Path syntax; Request object.

use std::borrow::Cow;
use std::sync::Arc;

use percent_encoding::percent_decode_str;
use stockade_path::Spans;

/// The parameters of the matched path: their names and positions.
#[derive(Clone, Debug, Default)]
pub struct Params {
    names: Option<Arc<[Box<str>]>>,
    spans: Spans,
    /// The parameters of the host, which come first. Usually `None`.
    host: Option<Arc<HostParams>>,
}

/// The parameters of a route's host.
#[derive(Debug)]
pub struct HostParams {
    labels: Box<str>,
    names: Arc<[Box<str>]>,
    spans: Spans,
}

impl HostParams {
    /// Pairs the names with ranges of a host, written as a path of its labels.
    #[must_use]
    pub fn new(labels: String, names: &Arc<[Box<str>]>, spans: Spans) -> Self {
        Self { labels: labels.into(), names: Arc::clone(names), spans }
    }

    fn values(&self) -> impl Iterator<Item = &str> {
        let value = |(start, end)| self.labels.get(usize::from(start)..usize::from(end));
        self.spans.iter().map(move |span| value(span).unwrap_or_default())
    }
}

impl Params {
    /// Pairs the names with the ranges at the same indexes.
    #[must_use]
    pub fn new(names: &Arc<[Box<str>]>, spans: Spans) -> Self {
        // Cloning an `Arc` has a cost even for an empty list.
        Self { names: (!spans.is_empty()).then(|| Arc::clone(names)), spans, host: None }
    }

    /// Returns the parameters with the same number of other ranges, or `None`
    /// if `map` returns `None`.
    #[must_use]
    pub fn map_spans(self, map: impl FnOnce(&Spans) -> Option<Spans>) -> Option<Self> {
        let spans = map(&self.spans)?;
        Some(Self { spans, ..self })
    }

    /// Inserts the parameters of the host before the path parameters.
    #[must_use]
    pub fn with_host(self, host: Arc<HostParams>) -> Self {
        Self { host: Some(host), ..self }
    }

    /// Returns the labels of the route's host as a path.
    pub(crate) fn host(&self) -> Option<&str> {
        self.host.as_deref().map(|host| &*host.labels)
    }

    /// Returns true if the path does not have parameters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Returns the decoded value of the parameter `name` in `path`.
    #[must_use]
    pub fn get<'a>(&'a self, path: &'a str, name: &str) -> Option<Cow<'a, str>> {
        self.raw(path).find(|(known, _)| *known == name).map(|(_, raw)| decode(raw))
    }

    /// Returns the byte position of the raw value of `name` in the matched
    /// path.
    #[must_use]
    pub fn start(&self, name: &str) -> Option<usize> {
        // Names are missing only if there are no spans.
        let names = self.names.as_deref().unwrap_or_default();
        let mut pairs = names.iter().zip(self.spans.iter());
        let found = pairs.find(|(known, _)| known.as_ref() == name);
        found.map(|(_, (start, _))| usize::from(start))
    }

    /// Returns names and decoded values, first for the host, then in path
    /// order.
    pub fn iter<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, Cow<'a, str>)> {
        self.raw(path).map(|(name, raw)| (name, decode(raw)))
    }

    /// Returns the raw values, first for the host, then in path order.
    pub(crate) fn raw_values<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        // The spans belong to the matched path, and another path may be
        // shorter.
        let value = |(start, end)| path.get(usize::from(start)..usize::from(end));
        let own = self.spans.iter().map(move |span| value(span).unwrap_or_default());
        self.host.as_deref().into_iter().flat_map(HostParams::values).chain(own)
    }

    fn raw<'a>(&'a self, path: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        // Names are missing only if there are no spans.
        let names = self.names.as_deref().unwrap_or_default();
        let of_host = self.host.as_deref().map(|host| &*host.names).unwrap_or_default();
        of_host.iter().chain(names).map(Box::as_ref).zip(self.raw_values(path))
    }
}

/// Decodes the percent escapes of a captured value.
///
/// If any escape is malformed (bad hex, bad UTF-8), returns the whole value
/// unchanged. A `+` is not a space.
#[must_use]
pub fn decode(raw: &str) -> Cow<'_, str> {
    if !raw.contains('%') || !escapes_are_hex(raw) {
        return Cow::Borrowed(raw);
    }
    percent_decode_str(raw).decode_utf8().unwrap_or(Cow::Borrowed(raw))
}

/// Returns true if each `%` is followed by two hexadecimal digits.
fn escapes_are_hex(raw: &str) -> bool {
    raw.split('%').skip(1).all(|after| {
        let mut digits = after.bytes();
        let mut is_hex = || digits.next().is_some_and(|byte| byte.is_ascii_hexdigit());
        is_hex() && is_hex()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(raw: &str, expected: &str) {
        assert_eq!(decode(raw), expected, "{raw:?}");
    }

    #[test]
    fn escapes_are_decoded() {
        check("plain", "plain");
        check("a%20b", "a b");
        check("a%2Fb", "a/b");
        check("a%2fb", "a/b");
        check("%E4%B8%AD", "中");
        check("a+b", "a+b");
        check("%25zz", "%zz");
    }

    #[test]
    fn a_malformed_escape_leaves_the_value_undecoded() {
        for raw in ["100%", "%zz", "%E4%B8", "a%20b%", "%2", "%20%FF", "%+1"] {
            check(raw, raw);
        }
    }
}
