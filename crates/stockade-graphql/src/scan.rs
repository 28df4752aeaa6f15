//! [`scan`]: the tokens of a document, counted before it is parsed.
//!
//! The parser of the engine calls itself for each brace and keeps each token, so that
//! a small text could take much. Hot: each document is looked at once.
//!
//! Source: the specification of GraphQL, appendix B (lexical tokens).

/// The limit that a document exceeds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Excess {
    Tokens,
    Nesting,
}

/// Counts tokens, and braces within each other.
///
/// It knows where texts and comments end, and nothing else: a document that is
/// malformed is the parser's to refuse.
///
/// # Errors
/// The limit that is exceeded first.
pub(crate) fn scan(document: &str, tokens: usize, nesting: usize) -> Result<(), Excess> {
    let text = document.as_bytes();
    let (mut left, mut depth, mut at) = (tokens, 0_usize, 0);
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
                if depth > nesting {
                    return Err(Excess::Nesting);
                }
            }
            b'}' | b']' | b')' => depth = depth.saturating_sub(1),
            b'"' => at = end_of_text(text, at),
            b'.' if text[at..].starts_with(b"..") => at += 2,
            _ if is_word(byte) => {
                let rest = &text[at..];
                at += rest.iter().position(|&byte| !is_word(byte)).unwrap_or(rest.len());
            }
            _ => {}
        }
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

    /// A document has exactly this many tokens, and braces within each other.
    #[track_caller]
    fn check(document: &str, tokens: usize, nesting: usize) {
        assert_eq!(scan(document, tokens, nesting), Ok(()), "{document}");
        if tokens > 0 {
            assert_eq!(scan(document, tokens - 1, 99), Err(Excess::Tokens), "{document}");
        }
        if nesting > 0 {
            assert_eq!(scan(document, 99, nesting - 1), Err(Excess::Nesting), "{document}");
        }
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
        assert_eq!(scan(&braces, 4_000, 64), Err(Excess::Nesting));
        assert_eq!(scan(&"{}".repeat(32 * 1_024), 4_000, 64), Err(Excess::Tokens));
    }
}
