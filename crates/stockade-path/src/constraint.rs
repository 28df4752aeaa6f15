//! [`Constraint`]: the regular expression of `:name(expr)`.
//!
//! The syntax is the byte syntax of the `regex` crate without Unicode classes,
//! so `\d` is an ASCII digit.

use std::ops::Range;

use regex_syntax::hir::{Hir, HirKind, Repetition};
use regex_syntax::{Error, ParserBuilder};

/// The expression that a parameter must match, instead of "one or more
/// characters except `/`".
///
/// It must match the parameter's whole part of the raw segment. Escapes are
/// decoded after the match.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Constraint {
    text: String,
    expression: String,
}

impl Constraint {
    /// Parses the text between the parentheses.
    ///
    /// An error contains the failing byte range of `text` and a message.
    pub(crate) fn parse(text: &str) -> Result<Self, (Range<usize>, String)> {
        let whole = 0..text.len();
        // `:name(?:a|b)` mistakes the parentheses of the constraint for a
        // group.
        if text.starts_with('?') {
            let message = "it begins with `?`: put the group inside the parentheses";
            return Err((0..1, message.to_owned()));
        }
        let hir = ParserBuilder::new()
            .unicode(false)
            .utf8(false)
            .nest_limit(NEST_LIMIT)
            .build()
            .parse(text)
            .map_err(|error| describe(&error, text))?;

        if hir.properties().maximum_len() == Some(0) || hir.properties().minimum_len().is_none() {
            return Err((whole, "it matches nothing".to_owned()));
        }
        let expression = without_groups(hir).to_string();
        Ok(Self { text: text.to_owned(), expression })
    }

    /// Returns the original expression without its parentheses.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the expression without capture groups and with explicit flags.
    /// It keeps its meaning between `(?:` and `)` in a larger expression.
    #[must_use]
    pub fn expression(&self) -> &str {
        &self.expression
    }
}

/// Returns the position of the error in `text`, on character boundaries, and
/// its message.
fn describe(error: &Error, text: &str) -> (Range<usize>, String) {
    let (span, message) = match error {
        Error::Parse(error) => (Some(error.span()), error.kind().to_string()),
        Error::Translate(error) => (Some(error.span()), error.kind().to_string()),
        other => (None, other.to_string()),
    };
    let at = span.map(|span| span.start.offset..span.end.offset);
    let at = at.filter(|at| !at.is_empty() && text.get(at.clone()).is_some());
    (at.unwrap_or(0..text.len()), message)
}

/// Removes capture groups, which would shift the group numbers of the matcher.
fn without_groups(hir: Hir) -> Hir {
    match hir.into_kind() {
        HirKind::Empty => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0),
        HirKind::Class(class) => Hir::class(class),
        HirKind::Look(look) => Hir::look(look),
        HirKind::Repetition(repetition) => {
            let sub = Box::new(without_groups(*repetition.sub));
            Hir::repetition(Repetition { sub, ..repetition })
        }
        HirKind::Capture(capture) => without_groups(*capture.sub),
        HirKind::Concat(subs) => Hir::concat(subs.into_iter().map(without_groups).collect()),
        HirKind::Alternation(subs) => {
            Hir::alternation(subs.into_iter().map(without_groups).collect())
        }
    }
}

/// The deepest accepted nesting. It protects the parser's stack.
const NEST_LIMIT: u32 = 50;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<&str, (Range<usize>, &str)>) {
        let read = Constraint::parse(text).map(|constraint| constraint.expression);
        let expected = expected.map(str::to_owned).map_err(|(at, text)| (at, text.to_owned()));
        assert_eq!(read, expected, "{text:?}");
    }

    #[test]
    fn removes_capture_groups_and_expands_flags() {
        check("abc", Ok("(?:abc)"));
        check(r"\d+", Ok("(?-u:[0-9])+"));
        check("(json)|(?<y>xml)", Ok("(?:(?:json)|(?:xml))"));
        check("(?i)a", Ok("(?-u:[Aa])"));
        check("(?x)a # b", Ok("a"));
        check(r"\.", Ok("\\."));
    }

    #[test]
    fn rejects_unsupported_expressions_with_their_position() {
        check(
            "(?=a)b",
            Err((0..3, "look-around, including look-ahead and look-behind, is not supported")),
        );
        check(r"(a)\1", Err((3..5, "backreferences are not supported")));
        check("a[b", Err((1..2, "unclosed character class")));
        check(
            "a{2,1}",
            Err((1..6, "invalid repetition count range, the start must be <= the end")),
        );
        check("?:a", Err((0..1, "it begins with `?`: put the group inside the parentheses")));
        check("", Err((0..0, "it matches nothing")));
        check("()", Err((0..2, "it matches nothing")));
        check(r"\pL", Err((0..3, "Unicode not allowed here")));
        check(&"(".repeat(99), Err((98..99, "unclosed group")));
    }
}
