//! The raw path below a scope.
//!
//! actix-web decodes a path before routing. It reports only the part of the
//! decoded path that a scope has matched, but stockade needs the raw path.
//! Slashes are never decoded, so segments can be counted.

/// Returns the part of a raw path after the scope. The scope has matched
/// `taken` of the decoded path.
pub(crate) fn after<'p>(raw: &'p str, taken: &str) -> &'p str {
    match taken.matches('/').count() {
        0 => raw,
        count => raw.match_indices('/').nth(count).map_or("/", |(at, _)| &raw[at..]),
    }
}

/// Returns the last `count` segments of a raw path, each with its leading
/// slash.
pub(crate) fn last(raw: &str, count: usize) -> &str {
    match count {
        0 => "/",
        count => raw.rmatch_indices('/').nth(count - 1).map_or(raw, |(at, _)| &raw[at..]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scope_matches_whole_segments() {
        for (raw, taken, expected) in [
            ("/api/users", "/api", "/users"),
            ("/api/users/", "/api", "/users/"),
            ("/api/", "/api", "/"),
            ("/api", "/api", "/"),
            ("/%61pi/us%65rs", "/api", "/us%65rs"),
            ("/a%2Fb/v1/x", "/a%2Fb/v1", "/x"),
            ("/api//x", "/api", "//x"),
            ("/x/y", "", "/x/y"),
            ("*", "", "*"),
            ("/", "", "/"),
        ] {
            assert_eq!(after(raw, taken), expected, "{raw:?} {taken:?}");
        }
    }

    #[test]
    fn segments_are_counted_from_the_end() {
        for (raw, count, expected) in [
            ("/api/users/7", 2, "/users/7"),
            ("/api/users/", 2, "/users/"),
            ("/api/a%2Fb", 1, "/a%2Fb"),
            ("/x", 1, "/x"),
            ("/x", 5, "/x"),
            ("/", 1, "/"),
        ] {
            assert_eq!(last(raw, count), expected, "{raw:?} {count}");
        }
    }
}
