//! Generates texts that match a pattern.

use std::ops::RangeInclusive;

use regex_syntax::hir::{Class, Hir, HirKind};

use super::{Pattern, Search, without_look_around};

/// The largest number of additional repetitions to try for a longer text.
const MOST_REPETITIONS: u32 = 64;

/// The maximum number of repetitions in a text.
const LARGEST_MINIMUM: u32 = 10_000;

/// Returns a short text that a pattern matches, with a length in characters
/// within `lengths` if one is found. The same pattern always has the same text.
#[must_use]
pub fn example(pattern: &str, lengths: RangeInclusive<usize>) -> Option<String> {
    let hir = without_look_around(pattern).ok()?;
    let mut first = None;
    for more in 0..=MOST_REPETITIONS {
        let mut text = String::new();
        if !write_match(&hir, more, &mut text) {
            return first;
        }
        if lengths.contains(&text.chars().count()) {
            return Some(text);
        }
        if first.as_ref() == Some(&text) {
            break;
        }
        first.get_or_insert(text);
    }
    first
}

/// Returns true if a pattern is valid and matches a text.
#[must_use]
pub fn is_match(pattern: &str, text: &str) -> bool {
    Pattern::new(pattern).is_ok_and(|pattern| pattern.search(text) == Search::Found)
}

/// Writes a match with `more` additional repetitions. Returns false if nothing
/// matches or the match is too long.
fn write_match(hir: &Hir, more: u32, text: &mut String) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => true,
        HirKind::Literal(literal) => match std::str::from_utf8(&literal.0) {
            Ok(literal) => {
                text.push_str(literal);
                true
            }
            Err(_) => false,
        },
        HirKind::Class(class) => match letter_of(class) {
            Some(letter) => {
                text.push(letter);
                true
            }
            None => false,
        },
        HirKind::Repetition(repetition) => {
            // Prefer one repetition to none, because an empty text is a weak
            // example.
            let least = repetition.min.max(u32::from(repetition.max != Some(0)));
            let most = repetition.max.unwrap_or(u32::MAX);
            let count = least.saturating_add(more).min(most).max(least);
            least <= LARGEST_MINIMUM && (0..count).all(|_| write_match(&repetition.sub, more, text))
        }
        HirKind::Capture(capture) => write_match(&capture.sub, more, text),
        HirKind::Concat(parts) => parts.iter().all(|part| write_match(part, more, text)),
        HirKind::Alternation(choices) => choices.iter().any(|choice| {
            let length = text.len();
            let is_written = write_match(choice, more, text);
            if !is_written {
                text.truncate(length);
            }
            is_written
        }),
    }
}

/// Returns a character of a class, preferably a digit or a letter.
fn letter_of(class: &Class) -> Option<char> {
    let has = |letter: char| match class {
        Class::Unicode(class) => {
            class.iter().any(|range| (range.start()..=range.end()).contains(&letter))
        }
        Class::Bytes(class) => u8::try_from(letter).is_ok_and(|letter| {
            class.iter().any(|range| (range.start()..=range.end()).contains(&letter))
        }),
    };
    let first = || match class {
        Class::Unicode(class) => class.iter().next().map(|range| range.start()),
        Class::Bytes(class) => class.iter().next().map(|range| char::from(range.start())),
    };
    ['1', 'a', 'A', '-', '_'].into_iter().find(|letter| has(*letter)).or_else(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generates_a_match_of_a_pattern() {
        for (pattern, expected) in [
            (r"\d+", "1"),
            ("json|csv", "json"),
            ("^[a-z]{2}-[0-9]{2}$", "aa-11"),
            ("(?i)ab*", "aB"),
            ("[^a-z0-9A-Z]", "-"),
        ] {
            assert_eq!(example(pattern, 0..=usize::MAX).as_deref(), Some(expected), "{pattern}");
        }
        assert_eq!(example("[", 0..=9), None);
        assert_eq!(example("[a&&b]", 0..=9), None);
    }

    #[test]
    fn repeats_for_the_wanted_length() {
        assert_eq!(example("^x[a-f]+$", 4..=9).as_deref(), Some("xaaa"));
        assert_eq!(example("^a{1,3}$", 3..=3).as_deref(), Some("aaa"));
        // No match has this length.
        assert_eq!(example("^ab$", 9..=9).as_deref(), Some("ab"));
    }

    #[test]
    fn finds_matches_of_valid_patterns() {
        assert!(is_match(r"\S", "a") && !is_match(r"^\S$", "  ") && !is_match("[", "["));
    }
}
