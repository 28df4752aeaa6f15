//! Splits a file into paragraphs by kind of text.

use std::fmt;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// A kind of text with its own table.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    /// Doc comments and plain comments.
    Comments,
    /// Markdown files without code blocks.
    Markdown,
    /// String literals outside tests that contain a sentence.
    Messages,
    /// Names of test functions.
    TestNames,
}

impl Kind {
    pub(crate) const ALL: [Self; 4] =
        [Self::Comments, Self::Markdown, Self::Messages, Self::TestNames];
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Comments => "comments",
            Self::Markdown => "markdown",
            Self::Messages => "messages",
            Self::TestNames => "test-names",
        })
    }
}

/// A string literal with at least this many words is a message.
const SENTENCE: usize = 4;

/// Returns the paragraphs of a source file or a Markdown file, by kind.
pub(crate) fn paragraphs(path: &Path) -> Result<Vec<(Kind, Vec<String>)>, String> {
    let fault = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let source = fs::read_to_string(path).map_err(|error| fault(&error))?;
    if path.extension().is_some_and(|it| it == "md") {
        return Ok(vec![(Kind::Markdown, split(source.lines()))]);
    }
    let tokens: TokenStream = source.parse().map_err(|error| fault(&error))?;
    let mut literals = Literals { messages: Vec::new(), tests: Vec::new() };
    let is_test = path
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some("tests" | "tests.rs" | "benches")));
    literals.visit(tokens, is_test);
    let comments = split(source.lines().filter_map(comment));
    Ok(vec![
        (Kind::Comments, comments),
        (Kind::Messages, literals.messages),
        (Kind::TestNames, literals.tests),
    ])
}

/// Returns the text of a comment line; `None` for other lines and for `////`.
fn comment(line: &str) -> Option<&str> {
    let text = line.trim_start().strip_prefix("//")?;
    let text = text.strip_prefix(['/', '!']).unwrap_or(text);
    (!text.starts_with('/')).then(|| text.strip_prefix(' ').unwrap_or(text))
}

/// Joins lines to paragraphs, without code blocks.
fn split<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut is_code = false;
    for line in lines {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            is_code = !is_code;
        } else if !is_code && trimmed.is_empty() {
            paragraphs.push(String::new());
        } else if !is_code && let Some(paragraph) = paragraphs.last_mut() {
            paragraph.push_str(line);
            paragraph.push('\n');
        }
    }
    paragraphs
}

struct Literals {
    messages: Vec<String>,
    tests: Vec<String>,
}

impl Literals {
    /// Collects the messages and test names in a token stream.
    fn visit(&mut self, tokens: TokenStream, in_test: bool) {
        let mut in_attribute = false;
        let mut is_test = false;
        let mut is_test_code = in_test;
        let mut after_fn = false;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) => {
                    in_attribute =
                        punct.as_char() == '#' || (in_attribute && punct.as_char() == '!');
                    if punct.as_char() == ';' {
                        (is_test, is_test_code) = (false, in_test);
                    }
                }
                TokenTree::Ident(ident) => {
                    if after_fn && is_test {
                        self.tests.push(ident.to_string().replace('_', " "));
                    }
                    after_fn = ident == "fn";
                    in_attribute = false;
                }
                TokenTree::Group(group)
                    if in_attribute && group.delimiter() == Delimiter::Bracket =>
                {
                    let attribute = group.stream().to_string();
                    let name = attribute.split(['(', '=']).next().unwrap_or_default().trim();
                    is_test |= name == "test" || name.ends_with(":: test");
                    is_test_code |= is_test || attribute.replace(' ', "").starts_with("cfg(test)");
                    in_attribute = false;
                    // Documentation is a comment.
                    if name != "doc" {
                        self.visit(group.stream(), is_test_code);
                    }
                }
                TokenTree::Group(group) => {
                    self.visit(group.stream(), is_test_code);
                    if group.delimiter() == Delimiter::Brace {
                        (is_test, is_test_code) = (false, in_test);
                    }
                }
                TokenTree::Literal(literal) => {
                    let text = literal.to_string();
                    let is_text = text.starts_with(['"', 'r']) && text.ends_with(['"', '#']);
                    if is_text && !in_test && text.split(' ').count() >= SENTENCE {
                        let text = text.trim_start_matches('r').trim_matches(['#', '"']);
                        self.messages.push(text.to_owned());
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Literals, comment, split};

    #[test]
    fn reads_comments_without_their_markers() {
        let lines = ["//! a", "/// b", "// c", "//// d", "let e;", "//", "//f"];
        let found: Vec<_> = lines.iter().filter_map(|line| comment(line)).collect();
        assert_eq!(found, ["a", "b", "c", "", "f"]);
    }

    #[test]
    fn drops_code_blocks() {
        let found = split("a\nb\n\n```\ncode\n```\nc".lines());
        assert_eq!(found, ["a\nb\n", "c\n"]);
    }

    #[test]
    fn separates_messages_from_tests() {
        let source = r#"
            /// not a message of the program
            fn f() { g("cannot read the file") }
            #[test]
            fn rejects_a_file() { g("not a message of it") }
            #[cfg(test)]
            mod tests { fn h() { g("also not a message") } }
            fn i() { g("expected a number here") }
        "#;
        let mut literals = Literals { messages: Vec::new(), tests: Vec::new() };
        literals.visit(source.parse().unwrap(), false);
        assert_eq!(literals.messages, ["cannot read the file", "expected a number here"]);
        assert_eq!(literals.tests, ["rejects a file"]);
    }
}
