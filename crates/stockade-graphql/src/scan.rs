//! [`scan`]: the tokens of a document, counted before it is parsed.
//!
//! The parser of the engine calls itself for each brace and keeps each token, so that
//! a small text could take much. Hot: each document is looked at once.
//!
//! Source: the specification of GraphQL, appendix B (lexical tokens) and section 2.8
//! (fields with an alias are the only place of a colon outside of parentheses).

use crate::limits::Limits;

/// The limit that a document exceeds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Excess {
    Tokens,
    Nesting,
    Aliases,
    Directives,
}

/// Counts tokens, braces within each other, the aliases that one definition has itself
/// and the directives of one place.
///
/// It knows where texts and comments end, and little else: a document that is malformed
/// is the parser's to refuse. Aliases of fragments, and directives of variables, are
/// counted once it is parsed.
///
/// # Errors
/// The limit that is exceeded first.
pub(crate) fn scan(document: &str, limits: &Limits) -> Result<(), Excess> {
    let text = document.as_bytes();
    let (mut left, mut depth, mut at) = (limits.tokens, 0_usize, 0);
    let (mut parentheses, mut aliases, mut directives) = (0_usize, 0_usize, 0_usize);
    let mut is_directive = false;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => continue,
            b'#' => {
                at = end_of_comment(text, at);
                continue;
            }
            b'{' | b'[' | b'(' => {
                depth += 1;
                if depth > limits.nesting {
                    return Err(Excess::Nesting);
                }
                parentheses += usize::from(byte == b'(');
            }
            b'}' | b']' | b')' => {
                depth = depth.saturating_sub(1);
                parentheses = parentheses.saturating_sub(usize::from(byte == b')'));
                // A definition has ended.
                aliases = if depth == 0 { 0 } else { aliases };
            }
            b'"' => at = end_of_text(text, at),
            b'.' if text[at..].starts_with(b"..") => at += 2,
            b':' if parentheses == 0 => {
                aliases += 1;
                if aliases > limits.aliases {
                    return Err(Excess::Aliases);
                }
            }
            b'@' if parentheses == 0 => {
                directives += 1;
                if directives > limits.directives {
                    return Err(Excess::Directives);
                }
            }
            _ if is_word(byte) => {
                let rest = &text[at..];
                at += rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
            }
            _ => {}
        }
        // A place ends with what is neither a directive nor its arguments.
        if parentheses == 0 && !is_directive && !matches!(byte, b'@' | b')') {
            directives = 0;
        }
        is_directive = byte == b'@';
        left = left.checked_sub(1).ok_or(Excess::Tokens)?;
    }
    Ok(())
}

/// Returns true for the bytes of names and numbers. Other bytes stand alone, those
/// of characters beyond ASCII too, which only texts and comments may have.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'+' | b'.')
}

/// Returns the index behind a comment, whose `#` is before `at`.
fn end_of_comment(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    at + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
}

/// Returns the index behind a text, whose first quotation mark is before `at`.
fn end_of_text(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"\"\"") {
        return end_of_block(text, at + 2);
    }
    let mut at = at;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            // The next byte is escaped, and ends nothing.
            b'\\' => at += 1,
            // A text without an end is malformed.
            b'"' | b'\n' | b'\r' => break,
            _ => {}
        }
    }
    at.min(text.len())
}

/// Returns the index behind a text within three quotation marks, the first of which
/// are before `at`.
fn end_of_block(text: &[u8], mut at: usize) -> usize {
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(b"\"\"\"") {
            return at + 3;
        }
        at += if rest.starts_with(b"\\\"\"\"") { 4 } else { 1 };
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(tokens: usize, nesting: usize) -> Limits {
        Limits { tokens, nesting, ..Limits::default() }
    }

    /// A document has exactly this many tokens, and braces within each other.
    #[track_caller]
    fn check(document: &str, tokens: usize, nesting: usize) {
        let scan = |tokens, nesting| scan(document, &limits(tokens, nesting));
        assert_eq!(scan(tokens, nesting), Ok(()), "{document}");
        if tokens > 0 {
            assert_eq!(scan(tokens - 1, 99), Err(Excess::Tokens), "{document}");
        }
        if nesting > 0 {
            assert_eq!(scan(99, nesting - 1), Err(Excess::Nesting), "{document}");
        }
    }

    /// A definition has exactly this many aliases at most, and a place this many
    /// directives.
    #[track_caller]
    fn check_most(document: &str, aliases: usize, directives: usize) {
        let scan = |aliases, directives| {
            scan(document, &Limits { aliases, directives, ..Limits::default() })
        };
        assert_eq!(scan(aliases, directives), Ok(()), "{document}");
        if aliases > 0 {
            assert_eq!(scan(aliases - 1, 99), Err(Excess::Aliases), "{document}");
        }
        if directives > 0 {
            assert_eq!(scan(99, directives - 1), Err(Excess::Directives), "{document}");
        }
    }

    #[test]
    fn aliases_are_those_of_one_definition() {
        check_most("{ a: x b: y { c: z } d }", 3, 0);
        check_most("query($a: Int = 1) { x(y: {z: [1, {u: 2}]}) a: b(c: $a) }", 1, 0);
        check_most("query A { a: x } query B { b: x c: x } fragment F on T { d: x }", 2, 0);
        check_most("{ x(a: \"b: c\") } # d: e", 0, 0);
    }

    #[test]
    fn directives_are_those_of_one_place() {
        check_most("{ a @x @y(if: true) @z(if: {b: [1]}) @u }", 0, 4);
        check_most("{ a @x b @x c(d: 1) @x { e @x } f @x }", 0, 1);
        check_most("query Q($a: Int @x @y @z) @u @v { ... @w { a } ...F @w }", 0, 2);
        check_most("{ a: b @x c: d @x @y ...F @x } fragment F on T @x @y @z { a }", 2, 3);
    }

    #[test]
    fn tokens_are_those_of_the_specification() {
        check("", 0, 0);
        check(" ,\t\r\n\u{feff}", 3, 0); // The mark is three bytes, which stand alone.
        check("{ a }", 3, 1);
        check("query Q($a: Int! = 1) { b(c: $a) @d }", 22, 2);
        check("{ ...F ... on T { x } }", 10, 2);
        check("-1.5e+3", 1, 0);
        check("[1, 2 ,3]", 5, 1);
        check("{ a(b: {c: [d]}) }", 14, 4);
        check("a|b&c", 5, 0);
    }

    #[test]
    fn texts_and_comments_hide_braces() {
        check("# {{{{ \"\n{ a }", 3, 1);
        check("# a comment to the end {", 0, 0);
        check(r#"{ a(b: "{ \" {") }"#, 8, 2);
        check("\"\"\"{ \\\"\"\" { \" \"\" {\"\"\" x", 2, 0);
        check("\"\" x", 2, 0);
        check("\"\"\"\"\"\" x", 2, 0);
    }

    #[test]
    fn a_text_without_an_end_ends_with_its_line_or_the_document() {
        check("\"{{\n{ a", 3, 1);
        check("\"\\", 1, 0);
        check("\"\"\"{{", 1, 0);
        check("\"\"\"\\\"\"\"", 1, 0);
        check("\"a", 1, 0);
    }

    #[test]
    fn closing_more_than_was_opened_is_the_parsers_to_refuse() {
        check("}}} {", 4, 1);
    }

    #[test]
    fn sixty_four_kibibytes_of_braces_are_refused_at_the_first_too_many() {
        let braces = "{".repeat(64 * 1_024);
        assert_eq!(scan(&braces, &Limits::default()), Err(Excess::Nesting));
        assert_eq!(scan(&"{}".repeat(32 * 1_024), &Limits::default()), Err(Excess::Tokens));
    }
}
