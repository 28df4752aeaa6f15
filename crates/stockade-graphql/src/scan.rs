//! Counts the tokens of a document before parsing.
//!
//! async-graphql's parser recurses for each brace and stores each token, so a
//! small text could use many resources. Hot: each document is scanned once.
//!
//! Source: the specification of GraphQL, appendix B (lexical tokens) and
//! section 2.8 (outside of parentheses, a colon appears only after an alias).

use crate::limits::Limits;

/// The limit that a document exceeds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Excess {
    Tokens,
    Nesting,
    Aliases,
    Directives,
}

/// Counts tokens, nested braces, the direct aliases of each definition, and the
/// directives at one location.
///
/// It recognizes the ends of strings and comments, and little else. The parser
/// rejects malformed documents. Aliases in fragments and directives on
/// variables are counted after parsing.
///
/// # Errors
/// Returns the first exceeded limit.
pub(crate) fn scan(document: &str, limits: &Limits) -> Result<(), Excess> {
    let text = document.as_bytes();
    let (mut left, mut depth, mut at) = (limits.tokens, 0_usize, 0);
    let (mut parentheses, mut aliases, mut directives) = (0_usize, 0_usize, 0_usize);
    let mut is_directive = false;
    while let Some(&byte) = text.get(at) {
        at += 1;
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => continue,
            0xef if text[at..].starts_with(b"\xbb\xbf") => {
                // A byte order mark.
                at += 2;
                continue;
            }
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
            _ if is_name_start(byte) => {
                let start = at - 1;
                at = skip(text, at, |byte| is_name_start(byte) || byte.is_ascii_digit());
                if parentheses > 0 {
                    left =
                        left.checked_sub(glued_values(&text[start..at])).ok_or(Excess::Tokens)?;
                }
            }
            b'-' | b'0'..=b'9' => at = end_of_number(text, at - 1),
            _ => {}
        }
        // A location ends at the first token that is neither a directive nor
        // its arguments.
        if parentheses == 0 && !is_directive && !matches!(byte, b'@' | b')') {
            directives = 0;
        }
        is_directive = byte == b'@';
        left = left.checked_sub(1).ok_or(Excess::Tokens)?;
    }
    Ok(())
}

/// Returns true for the first byte of a name. Each invalid byte counts as one
/// token.
const fn is_name_start(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_'
}

/// Returns the index of the first byte, from `at`, that is not accepted.
fn skip(text: &[u8], at: usize, accepts: impl Fn(u8) -> bool) -> usize {
    let rest = &text[at..];
    at + rest.iter().position(|&byte| !accepts(byte)).unwrap_or(rest.len())
}

/// Returns the number of additional values that the parser reads from a word in
/// a list: it treats `truenull` as two values.
fn glued_values(mut word: &[u8]) -> usize {
    let mut values = 0;
    let literals: [&[u8]; 3] = [b"true", b"false", b"null"];
    while let Some(rest) = literals.iter().find_map(|literal| word.strip_prefix(*literal))
        && !rest.is_empty()
    {
        values += 1;
        word = rest;
    }
    values
}

/// Returns the index after a number that starts at `start`, or after a sign
/// without a number. A leading zero ends the integer part.
fn end_of_number(text: &[u8], start: usize) -> usize {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    let whole = start + usize::from(text[start] == b'-');
    let mut end = match text.get(whole) {
        Some(b'0') => whole + 1,
        Some(b'1'..=b'9') => skip(text, whole, is_digit),
        _ => return whole.max(start + 1),
    };
    if text.get(end) == Some(&b'.') && text.get(end + 1).is_some_and(u8::is_ascii_digit) {
        end = skip(text, end + 1, is_digit);
    }
    if matches!(text.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(text.get(end + 1), Some(b'+' | b'-')));
        let digits = end + 1 + sign;
        if text.get(digits).is_some_and(u8::is_ascii_digit) {
            end = skip(text, digits, is_digit);
        }
    }
    end
}

/// Returns the index after a comment. Its `#` is before `at`.
fn end_of_comment(text: &[u8], at: usize) -> usize {
    let rest = &text[at..];
    at + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
}

/// Returns the index after a string. Its first quotation mark is before `at`.
fn end_of_text(text: &[u8], at: usize) -> usize {
    if text[at..].starts_with(b"\"\"") {
        return end_of_block(text, at + 2);
    }
    let mut at = at;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            // The next byte is escaped and does not end the string, unless it
            // ends the line.
            b'\\' if !matches!(text.get(at), Some(b'\n' | b'\r')) => at += 1,
            // An unterminated string is malformed.
            b'"' | b'\n' | b'\r' => break,
            _ => {}
        }
    }
    at.min(text.len())
}

/// Returns the index after a block string. Its opening quotation marks are
/// before `at`.
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

    /// Checks the exact number of tokens and nested braces in a document.
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

    /// Checks the exact maximum of aliases in a definition and of directives at
    /// a location.
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
    fn counts_aliases_per_definition() {
        check_most("{ a: x b: y { c: z } d }", 3, 0);
        check_most("query($a: Int = 1) { x(y: {z: [1, {u: 2}]}) a: b(c: $a) }", 1, 0);
        check_most("query A { a: x } query B { b: x c: x } fragment F on T { d: x }", 2, 0);
        check_most("{ x(a: \"b: c\") } # d: e", 0, 0);
    }

    #[test]
    fn counts_directives_per_location() {
        check_most("{ a @x @y(if: true) @z(if: {b: [1]}) @u }", 0, 4);
        check_most("{ a @x b @x c(d: 1) @x { e @x } f @x }", 0, 1);
        check_most("query Q($a: Int @x @y @z) @u @v { ... @w { a } ...F @w }", 0, 2);
        check_most("{ a: b @x c: d @x @y ...F @x } fragment F on T @x @y @z { a }", 2, 3);
    }

    #[test]
    fn counts_tokens_of_the_specification() {
        check("", 0, 0);
        check("\u{feff} ,\t\r\n\u{feff}", 0, 0);
        check("{ a }", 3, 1);
        check("query Q($a: Int! = 1) { b(c: $a) @d }", 22, 2);
        check("{ ...F ... on T { x } }", 10, 2);
        check("-1.5e+3", 1, 0);
        check("[1, 2 ,3]", 5, 1);
        check("{ a(b: {c: [d]}) }", 14, 4);
        check("a|b&c", 5, 0);
    }

    #[test]
    fn counts_tokens_without_spaces_between_them() {
        check("{...a...b}", 6, 1);
        check("...a...b...c", 6, 0);
        check("[1-1-1]", 5, 1);
        check("[0000]", 6, 1);
        check("1.5...a", 3, 0);
        check("1e+5-2.5E-3+", 3, 0);
        check("a.b", 3, 0);
        check("..", 2, 0);
        check("\u{feff}a\u{feff}b", 2, 0);
        check(r#"["a""b""\"c"]"#, 5, 1);
    }

    /// async-graphql's parser does not need separators between these values.
    #[test]
    fn counts_values_that_the_parser_reads_from_one_word() {
        check("(a: [truefalsenull nullx true])", 12, 2);
        check("{ nullable trueish }", 4, 1);
        let many = format!("{{ a(b: [{}]) }}", "true".repeat(5_000));
        assert_eq!(scan(&many, &Limits::default()), Err(Excess::Tokens));
    }

    /// A document that is read character by character.
    struct Reference {
        text: Vec<char>,
        at: usize,
    }

    impl Reference {
        fn get(&self, ahead: usize) -> Option<char> {
            self.text.get(self.at + ahead).copied()
        }

        fn is_name_start(&self) -> bool {
            self.get(0).is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        }

        fn is_digit(&self, ahead: usize) -> bool {
            self.get(ahead).is_some_and(|c| c.is_ascii_digit())
        }

        fn digits(&mut self) {
            while self.is_digit(0) {
                self.at += 1;
            }
        }

        /// Reads IntValue or FloatValue. `None` if it is malformed.
        fn number(&mut self) -> Option<()> {
            self.at += usize::from(self.get(0) == Some('-'));
            if self.get(0) == Some('0') {
                self.at += 1;
                if self.is_digit(0) {
                    return None;
                }
            } else if self.is_digit(0) {
                self.digits();
            } else {
                return None;
            }
            if self.get(0) == Some('.') && self.is_digit(1) {
                self.at += 1;
                self.digits();
            }
            if matches!(self.get(0), Some('e' | 'E')) {
                self.at += 1 + usize::from(matches!(self.get(1), Some('+' | '-')));
                if !self.is_digit(0) {
                    return None;
                }
                self.digits();
            }
            (self.get(0) != Some('.') && !self.is_name_start()).then_some(())
        }

        /// Reads the rest of a block string.
        fn block(&mut self) -> Option<()> {
            self.at += 3;
            loop {
                let next: String = self.text[self.at..].iter().take(4).collect();
                if next.starts_with("\"\"\"") {
                    self.at += 3;
                    return Some(());
                }
                if next.is_empty() {
                    return None;
                }
                self.at += if next == "\\\"\"\"" { 4 } else { 1 };
            }
        }

        /// Reads the rest of a string.
        fn string(&mut self) -> Option<()> {
            self.at += 1;
            loop {
                match (self.get(0), self.get(1)) {
                    (Some('"'), _) => break,
                    (Some('\\'), Some('"' | '\\' | '/' | 'b' | 'f' | 'n' | 'r' | 't')) => {
                        self.at += 2;
                    }
                    (Some('\\'), Some('u')) => {
                        let is_hex = |ahead| self.get(ahead).is_some_and(|c| c.is_ascii_hexdigit());
                        if !(2..6).all(is_hex) {
                            return None;
                        }
                        self.at += 6;
                    }
                    (None | Some('\\' | '\n' | '\r'), _) => return None,
                    _ => self.at += 1,
                }
            }
            self.at += 1;
            Some(())
        }

        /// Reads the next token or ignored character. Returns the number of
        /// tokens.
        fn next(&mut self, c: char) -> Option<usize> {
            match c {
                // UnicodeBOM, WhiteSpace, LineTerminator, Comma.
                '\u{feff}' | '\t' | ' ' | '\n' | '\r' | ',' => {
                    self.at += 1;
                    return Some(0);
                }
                // Comment.
                '#' => {
                    while self.get(0).is_some_and(|c| !matches!(c, '\n' | '\r')) {
                        self.at += 1;
                    }
                    return Some(0);
                }
                // Punctuator.
                '!' | '$' | '&' | '(' | ')' | ':' | '=' | '@' | '[' | ']' | '{' | '|' | '}' => {
                    self.at += 1;
                }
                '.' if (self.get(1), self.get(2)) == (Some('.'), Some('.')) => self.at += 3,
                '-' | '0'..='9' => self.number()?,
                '"' if (self.get(1), self.get(2)) == (Some('"'), Some('"')) => self.block()?,
                '"' => self.string()?,
                // Name.
                _ if self.is_name_start() => {
                    while self.is_name_start() || self.is_digit(0) {
                        self.at += 1;
                    }
                }
                _ => return None,
            }
            Some(1)
        }
    }

    /// Counts tokens as defined in the specification (October 2021, section
    /// 2.1). Returns the number of tokens, and whether the whole document
    /// consists of tokens.
    fn reference(document: &str) -> (usize, bool) {
        let mut reference = Reference { text: document.chars().collect(), at: 0 };
        let mut count = 0;
        while let Some(c) = reference.get(0) {
            match reference.next(c) {
                Some(tokens) => count += tokens,
                None => return (count, false),
            }
        }
        (count, true)
    }

    /// Returns the minimum limit that a document does not exceed.
    fn count(document: &str) -> usize {
        let most = usize::MAX;
        let fits = |tokens| {
            let limits = Limits {
                tokens,
                nesting: most,
                aliases: most,
                directives: most,
                ..Limits::default()
            };
            scan(document, &limits).is_ok()
        };
        (0..).find(|&tokens| fits(tokens)).unwrap()
    }

    /// Pieces of documents. Words that start with a literal have a separate
    /// test.
    const PIECES: [&str; 64] = [
        "!",
        "$",
        "&",
        "(",
        ")",
        "...",
        ":",
        "=",
        "@",
        "[",
        "]",
        "{",
        "|",
        "}",
        "a",
        "_1b",
        "on",
        "query",
        "0",
        "-0",
        "7",
        "-12",
        "1.5",
        "-0.25e10",
        "3E+2",
        "4e-1",
        "\"\"",
        "\"a\"",
        "\"{ # , \\\" \\u00e4 ä\"",
        "\"\"\"block\"\"\"",
        "\"\"\"a \"\" { \\\"\"\" \n # b\"\"\"",
        "\"\"\"\"\"\"",
        " ",
        "\t",
        "\n",
        "\r",
        "\r\n",
        ",",
        "\u{feff}",
        "# a { \" comment\n",
        "#\r",
        " ",
        "\n",
        ",",
        "...",
        "...",
        "a",
        "b",
        "{",
        "}",
        "(",
        ")",
        ":",
        "@",
        "$",
        "-",
        "+",
        ".",
        "..",
        "ä",
        "\\",
        "\"",
        "?",
        "%",
    ];

    /// The count equals the specification's count. For a malformed document it
    /// is at least as high, because the parser stops early.
    fn check_pieces(pieces: &[usize]) {
        let document: String = pieces.iter().map(|&piece| PIECES[piece]).collect();
        let (expected, is_whole) = reference(&document);
        let counted = count(&document);
        assert!(counted >= expected, "{document:?}: {counted} < {expected}");
        assert!(!is_whole || counted == expected, "{document:?}: {counted} != {expected}");
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(2_000))]

        #[test]
        fn counts_as_many_tokens_as_the_specification(
            pieces in proptest::collection::vec(0..WELL_FORMED, 0..60),
        ) {
            check_pieces(&pieces);
        }

        #[test]
        fn counts_no_fewer_tokens_of_malformed_documents(
            pieces in proptest::collection::vec(0..PIECES.len(), 0..40),
        ) {
            check_pieces(&pieces);
        }
    }

    /// The number of leading pieces that are complete tokens or ignored.
    const WELL_FORMED: usize = 55;

    #[test]
    fn ignores_braces_in_strings_and_comments() {
        check("# {{{{ \"\n{ a }", 3, 1);
        check("# a comment to the end {", 0, 0);
        check(r#"{ a(b: "{ \" {") }"#, 8, 2);
        check("\"\"\"{ \\\"\"\" { \" \"\" {\"\"\" x", 2, 0);
        check("\"\" x", 2, 0);
        check("\"\"\"\"\"\" x", 2, 0);
    }

    #[test]
    fn unterminated_string_ends_with_its_line_or_the_document() {
        check("\"{{\n{ a", 3, 1);
        check("\"\\", 1, 0);
        check("\"\"\"{{", 1, 0);
        check("\"\"\"\\\"\"\"", 1, 0);
        check("\"a", 1, 0);
    }

    #[test]
    fn leaves_unbalanced_braces_to_the_parser() {
        check("}}} {", 4, 1);
    }

    #[test]
    fn rejects_64_kib_of_braces_at_the_first_excess_brace() {
        let braces = "{".repeat(64 * 1_024);
        assert_eq!(scan(&braces, &Limits::default()), Err(Excess::Nesting));
        assert_eq!(scan(&"{}".repeat(32 * 1_024), &Limits::default()), Err(Excess::Tokens));
    }
}
