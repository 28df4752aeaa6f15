//! Lists that are read from the right, with support for quotes.
//!
//! A client writes on the left of a list, and proxies append on the right. An
//! unclosed quote from the client must not hide the entries of the proxies.

/// Returns the trimmed items between the separators in reverse order, including
/// empty items.
pub(super) fn from_right(list: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    list.rsplit(move |byte| *byte == separator).map(<[u8]>::trim_ascii)
}

/// Returns items like [`from_right`], but ignores separators between quotes.
pub(super) fn from_right_quoted(list: &[u8], separator: u8) -> impl Iterator<Item = &[u8]> {
    let mut rest = Some(list);
    std::iter::from_fn(move || {
        let list = rest?;
        let at = last_unquoted(list, separator);
        rest = at.map(|at| &list[..at]);
        Some(list[at.map_or(0, |at| at + 1)..].trim_ascii())
    })
}

/// Returns the index of the last separator outside of quotes.
fn last_unquoted(list: &[u8], separator: u8) -> Option<usize> {
    let mut quoted = false;
    for (at, byte) in list.iter().enumerate().rev() {
        if *byte == b'"' && !is_escaped(list, at) {
            quoted = !quoted;
        } else if *byte == separator && !quoted {
            return Some(at);
        }
    }
    None
}

/// Returns true if an odd number of backslashes precedes `at`.
fn is_escaped(list: &[u8], at: usize) -> bool {
    list[..at].iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(list: &str, expected: &[&str]) {
        let items: Vec<_> = from_right_quoted(list.as_bytes(), b',').collect();
        let items: Vec<_> = items.iter().map(|item| std::str::from_utf8(item).unwrap()).collect();
        assert_eq!(items, expected, "{list:?}");
    }

    #[test]
    fn the_last_item_comes_first() {
        check("", &[""]);
        check(" a , b\t,,c ", &["c", "", "b", "a"]);
        let items: Vec<_> = from_right(b" a , b\t,,c ", b',').collect();
        assert_eq!(items, [&b"c"[..], b"", b"b", b"a"]);
    }

    #[test]
    fn quotes_keep_an_item_together() {
        check(r#"a, b="1,2", c"#, &["c", r#"b="1,2""#, "a"]);
        check(r#"a="\",", b"#, &["b", r#"a="\",""#]);
    }

    #[test]
    fn an_open_quote_on_the_left_does_not_affect_the_right() {
        check(r#"for=", for=1.1.1.1, for="[::1]""#, &[r#"for="[::1]""#, "for=1.1.1.1", r#"for=""#]);
    }
}
