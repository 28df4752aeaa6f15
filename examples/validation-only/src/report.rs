//! Formats a problem: file, line, column, the line itself, and carets.

use std::io::{self, Write};
use std::ops::Range;

/// A problem with its position.
#[derive(Debug)]
pub(crate) struct Problem {
    /// The bytes of the text that it concerns.
    pub(crate) place: Range<usize>,
    /// The path of the value; empty for the whole file.
    pub(crate) field: String,
    pub(crate) message: String,
}

/// Writes one problem in the style of rustc.
///
/// The column counts characters from 1. Characters that a terminal would
/// interpret or hide are shown as `�`, and long texts are shortened.
pub(crate) fn write(
    err: &mut dyn Write,
    name: &str,
    text: &str,
    problem: &Problem,
) -> io::Result<()> {
    let (before, after) = text.split_at(char_start(text, problem.place.start));
    let number = before.matches('\n').count() + 1;
    let before = before.rsplit('\n').next().unwrap_or_default();
    let column = before.chars().count() + 1;
    let after = after.split('\n').next().unwrap_or_default();
    let after = after.strip_suffix('\r').unwrap_or(after);

    write!(err, "{name}:{number}:{column}: ")?;
    if !problem.field.is_empty() {
        write!(err, "{}: ", shown(&problem.field))?;
    }
    writeln!(err, "{}", shown(&problem.message))?;

    let before = shown_end(before);
    writeln!(err, "{number} | {before}{}", shown(after))?;
    let marked = &after[..char_start(after, problem.place.len())];
    let gutter = " ".repeat(number.to_string().len());
    let indent = " ".repeat(width(&before));
    writeln!(err, "{gutter} | {indent}{}", "^".repeat(width(&shown(marked)).max(1)))
}

/// Returns the first byte of the character at `at`, or the end of the text.
fn char_start(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Returns the beginning of `text`, safe for a terminal.
fn shown(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(MAX_SHOWN).map(visible).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}

/// Returns the end of `text`, safe for a terminal.
fn shown_end(text: &str) -> String {
    let mut chars = text.chars();
    let mut shown: Vec<char> = chars.by_ref().rev().take(MAX_SHOWN / 2).map(visible).collect();
    if chars.next_back().is_some() {
        shown.push('…');
    }
    shown.into_iter().rev().collect()
}

/// Replaces a tab with a space, to keep carets aligned.
fn visible(character: char) -> char {
    match character {
        '\t' => ' ',
        _ if character.is_control() || is_format(character) => '\u{fffd}',
        _ => character,
    }
}

/// Returns true for a character without a shape that may change the shape of
/// others.
fn is_format(character: char) -> bool {
    matches!(
        character,
        '\u{ad}' | '\u{61c}' | '\u{feff}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'
    )
}

/// Returns the approximate number of terminal columns of `text`. For exact
/// results, use the crate `unicode-width`.
fn width(text: &str) -> usize {
    let columns = |character| match character {
        '\u{300}'..='\u{36f}' | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' => 0,
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff01}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    };
    text.chars().map(columns).sum()
}

/// The maximum number of characters shown of a path, of a message, and of a
/// line from the position on. Half as many are shown before the position.
const MAX_SHOWN: usize = 120;

#[cfg(test)]
mod tests {
    use super::*;

    /// Formats a problem at the first `marked` in `text`.
    fn written(text: &str, marked: &str) -> String {
        let start = text.find(marked).expect("the text has it");
        let place = start..start + marked.len();
        let problem = Problem { place, field: "f".to_owned(), message: "Wrong".to_owned() };
        let mut out = Vec::new();
        write(&mut out, "c.json", text, &problem).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[track_caller]
    fn check(text: &str, marked: &str, expected: &[&str]) {
        assert_eq!(written(text, marked).lines().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn the_value_is_underlined() {
        check(
            "{\n  \"a\": 70000,\n}",
            "70000",
            &["c.json:2:8: f: Wrong", "2 |   \"a\": 70000,", "  |        ^^^^^"],
        );
        let text = "\n".repeat(99) + "7";
        check(&text, "7", &["c.json:100:1: f: Wrong", "100 | 7", "    | ^"]);
    }

    #[test]
    fn carriage_returns_and_tabs_are_one_column() {
        check(
            "{\r\n\t\"a\":\t7\r\n}",
            "7",
            &["c.json:2:7: f: Wrong", "2 |  \"a\": 7", "  |       ^"],
        );
    }

    #[test]
    fn wide_characters_count_as_one_column_and_take_two() {
        check(
            "{\"名前\": \"é\u{301}😀\"}",
            "\"é\u{301}😀\"",
            &["c.json:1:8: f: Wrong", "1 | {\"名前\": \"é\u{301}😀\"}", "  |          ^^^^^"],
        );
    }

    #[test]
    fn escapes_control_characters() {
        check(
            "\u{1b}[2J\u{9b}\u{202e}\r 7",
            "7",
            &["c.json:1:9: f: Wrong", "1 | �[2J��� 7", "  |         ^"],
        );
    }

    #[test]
    fn cuts_long_lines() {
        let text = format!("{}7{}", "a".repeat(1_000), "b".repeat(1_000));
        let expected = [
            "c.json:1:1001: f: Wrong".to_owned(),
            format!("1 | …{}7{}…", "a".repeat(60), "b".repeat(119)),
            format!("  | {}^", " ".repeat(61)),
        ];
        assert_eq!(written(&text, "7").lines().collect::<Vec<_>>(), expected);
        assert_eq!(written(&text, &text).lines().nth(2).unwrap().chars().count(), 4 + 121);
    }

    #[test]
    fn a_position_outside_of_the_text_is_its_end() {
        let problem = Problem { place: 9..12, field: String::new(), message: "Wrong".to_owned() };
        let mut out = Vec::new();
        write(&mut out, "c.json", "é", &problem).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "c.json:1:2: Wrong\n1 | é\n  |  ^\n");
    }
}
