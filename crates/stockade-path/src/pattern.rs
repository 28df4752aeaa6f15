//! [`Pattern`]: the path of a route declaration.

use std::fmt;

use crate::{PatternError, Segment, Variant, parse, variant};

/// The path of a route declaration, such as `/users/:id`.
///
/// The [crate docs](crate) describe the notation and the precedence of
/// patterns.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Pattern {
    text: String,
    segments: Vec<Segment>,
}

impl Pattern {
    /// Parses the notation. Adds a missing leading slash. A trailing slash is
    /// significant.
    ///
    /// # Errors
    /// Fails if the path is malformed or has too many variants. The error
    /// contains a message and the failing byte range of `path`.
    ///
    /// # Examples
    /// ```
    /// use stockade::path::{Pattern, PatternError, PatternErrorKind};
    ///
    /// assert_eq!(Pattern::parse("users/:id")?.as_str(), "/users/:id");
    ///
    /// let error = Pattern::parse("/users/:id:name").unwrap_err();
    /// assert_eq!(error.kind(), &PatternErrorKind::AdjacentParameters);
    /// assert_eq!(error.at(), 10..15);
    /// # Ok::<(), PatternError>(())
    /// ```
    pub fn parse(path: &str) -> Result<Self, PatternError> {
        let segments = parse::segments(path)?;
        Ok(Self { text: join("", path), segments })
    }

    /// Returns the notation, with its leading slash.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the segments; `/` is one empty [`Segment::Literal`].
    #[must_use]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the names of the parameters in order, each with a flag that is
    /// true if the parameter may be absent. `*` and `**` are named `splat` and
    /// are never absent.
    pub fn params(&self) -> impl Iterator<Item = (&str, bool)> {
        // `Segment::params` explains why this is a list.
        self.segments.iter().flat_map(Segment::names).collect::<Vec<_>>().into_iter()
    }

    /// Returns the notation without the names of parameters and with
    /// [encoded](crate::encoded) text: `/caf%C3%A9/:` for `/café/:id`.
    ///
    /// Two patterns are equivalent if and only if their canonical texts are
    /// equal. Expressions are compared as text.
    #[must_use]
    pub fn canonical(&self) -> String {
        self.segments.iter().flat_map(|segment| ["/".to_owned(), segment.shape()]).collect()
    }

    /// Returns the variants of the pattern, one for each choice of its optional
    /// parameters. Variants that include the leftmost parameter come first.
    /// Omits variants that an earlier variant covers.
    #[must_use]
    pub fn variants(&self) -> Vec<Variant> {
        variant::expand(&self.segments)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns the path of a route within a group: `prefix` and `path` with exactly
/// one slash between them.
///
/// The prefixes `""` and `/` add nothing; the route `/` of the group `/g` is
/// `/g`.
///
/// ```
/// assert_eq!(stockade::path::join("/api/", "users"), "/api/users");
/// assert_eq!(stockade::path::join("/api", "/"), "/api");
/// ```
#[must_use]
pub fn join(prefix: &str, path: &str) -> String {
    let prefix = prefix.trim_end_matches('/');
    if prefix.is_empty() {
        return with_slash(path);
    }
    match path.trim_start_matches('/') {
        "" => with_slash(prefix),
        path => format!("{}/{path}", with_slash(prefix)),
    }
}

fn with_slash(path: &str) -> String {
    if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_and_path_join_with_one_slash() {
        for (prefix, path, expected) in [
            ("", "", "/"),
            ("", "/", "/"),
            ("/", "/", "/"),
            ("/", "x", "/x"),
            ("", "/x/", "/x/"),
            ("", "//x", "//x"),
            ("g", "", "/g"),
            ("/g", "/", "/g"),
            ("/g/", "/", "/g"),
            ("/g", "x", "/g/x"),
            ("/g/", "/x", "/g/x"),
            ("g//", "//x/", "/g/x/"),
            ("/g", ":id?", "/g/:id?"),
            ("/g", "/**", "/g/**"),
        ] {
            assert_eq!(join(prefix, path), expected, "{prefix:?} {path:?}");
        }
    }

    #[track_caller]
    fn check(path: &str, params: &[(&str, bool)], canonical: &str) {
        let pattern = Pattern::parse(path).unwrap();
        assert_eq!(pattern.params().collect::<Vec<_>>(), params, "{path:?}");
        assert_eq!(pattern.canonical(), canonical, "{path:?}");
        let notation: String = pattern.segments().iter().map(|it| format!("/{it}")).collect();
        assert_eq!(notation, pattern.as_str(), "{path:?}");
    }

    #[test]
    fn parameters_are_listed_and_erased() {
        check("", &[], "/");
        check("/a//b/", &[], "/a//b/");
        check("/:from-:to", &[("from", false), ("to", false)], "/:-:");
        check("/x:id?/*", &[("id", true), ("splat", false)], "/x:?/*");
        check(r"/:a(\d+)?/**", &[("a", true), ("splat", false)], r"/:(\d+)?/**");
    }

    #[test]
    fn only_equivalent_patterns_have_the_same_canonical_text() {
        let canonical = |path| Pattern::parse(path).unwrap().canonical();
        assert_eq!(canonical("/u/:id"), canonical("u/:name"));
        assert_eq!(canonical("/caf\u{e9}-:id"), canonical("/caf%c3%A9-:x"));
        for (one, other) in [
            ("/:a", "/:a?"),
            ("/:a", "/:a/"),
            ("/:a", "/*"),
            ("/*", "/**"),
            (r"/:a(\d+)", r"/:a([0-9]+)"),
            ("/:a?(b", "/:a(b)?"),
            ("/A", "/a"),
            ("/e\u{301}", "/\u{e9}"),
            ("/%61", "/a"),
            (r"/\*", "/*"),
            (r"/a\::b", r"/a\:\:b"),
        ] {
            assert_ne!(canonical(one), canonical(other), "{one:?} {other:?}");
        }
    }
}
