//! Strategies for plain texts, for patterns, and for formats.

use std::rc::Rc;

use proptest::prelude::*;
use proptest::string::string_regex_parsed;
use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, Hir, HirKind};
use stockade_validation::pattern::without_look_around as pattern_hir;

/// The characters of plain texts.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Alphabet {
    /// Any characters, including characters that often cause errors.
    All,
    /// ASCII letters and digits, which are never changed or parsed as syntax.
    Plain,
}

/// Generates texts of these lengths, in characters.
pub(super) fn plain(alphabet: Alphabet, least: usize, most: usize) -> BoxedStrategy<String> {
    let letters = prop::char::ranges(vec!['a'..='z', 'A'..='Z', '0'..='9'].into());
    let char = match alphabet {
        Alphabet::Plain => letters.boxed(),
        Alphabet::All => prop_oneof![
            12 => letters,
            3 => prop::char::range(' ', '~'),
            2 => prop::sample::select(vec!['é', 'ß', '漢', '\u{1F600}', '\u{200D}', 'İ', '\u{FEFF}']),
            1 => prop::sample::select(vec!['\0', '\u{7F}', '\n', '\t', '\u{2028}', '\u{FFFD}']),
        ]
        .boxed(),
    };
    let usual = most.min(least.saturating_add(USUAL));
    let text = move |lengths| {
        prop::collection::vec(char.clone(), lengths).prop_map(|chars| chars.into_iter().collect())
    };
    if most <= LONG && most > usual {
        prop_oneof![9 => text(least..=usual), 1 => text(most..=most)].boxed()
    } else {
        text(least..=usual).boxed()
    }
}

/// The usual number of characters above the minimum length.
const USUAL: usize = 12;

/// The maximum length that is tried as a boundary case.
const LONG: usize = 4_096;

/// Generates texts that probably match a regular expression. The caller
/// discards the others.
pub(super) fn of_pattern(pattern: &str) -> Result<BoxedStrategy<String>, String> {
    let unknown = |error: &dyn std::fmt::Display| {
        // A syntax error has several lines; the last contains the reason.
        let words = error.to_string();
        let words = words.lines().last().unwrap_or_default();
        format!("cannot generate a string for the pattern {pattern}: {words}")
    };
    let parsed = pattern_hir(pattern).map_err(|error| unknown(&error))?;
    let text = string_regex_parsed(&readable(&parsed)).map_err(|error| unknown(&error))?;
    Ok(text.boxed())
}

/// Removes anchors from an expression. Limits its classes to printable ASCII
/// characters if they have any, for readable reports.
fn readable(expression: &Hir) -> Hir {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Hir::empty(),
        HirKind::Literal(literal) => Hir::literal(literal.0.clone()),
        HirKind::Class(class) => Hir::class(printable(class)),
        HirKind::Repetition(repetition) => {
            let mut repetition = repetition.clone();
            repetition.sub = Box::new(readable(&repetition.sub));
            Hir::repetition(repetition)
        }
        HirKind::Capture(capture) => readable(&capture.sub),
        HirKind::Concat(parts) => Hir::concat(parts.iter().map(readable).collect()),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(readable).collect()),
    }
}

fn printable(class: &Class) -> Class {
    let Class::Unicode(all) = class else { return class.clone() };
    let mut few = all.clone();
    few.intersect(&ClassUnicode::new([ClassUnicodeRange::new(' ', '~')]));
    let is_none = few.ranges().is_empty();
    Class::Unicode(if is_none { all.clone() } else { few })
}

/// Generates texts of a format; `None` if the format is unknown.
pub(super) fn of_format(format: &str) -> Option<BoxedStrategy<String>> {
    let pattern = match format {
        "email" => "[a-z][a-z0-9]{0,8}(\\.[a-z]{1,4})?@[a-z]{1,8}\\.(com|org|test)",
        "uri" | "url" => "https?://[a-z]{1,8}\\.example(/[a-z0-9]{1,5}){0,2}(\\?[a-z]=[0-9])?",
        "uri-reference" => "/[a-z0-9]{1,5}(\\?[a-z]=[0-9])?",
        "uuid" => "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}",
        "date" => "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])",
        "date-time" => {
            "(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\\.[0-9]{1,3})?(Z|[+-]0[0-9]:[03]0)"
        }
        "time" => "([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](Z|[+-]0[0-9]:[03]0)",
        "ipv4" => "(1?[1-9]?[0-9]|2[0-4][0-9])(\\.(1?[1-9]?[0-9]|2[0-4][0-9])){3}",
        "ipv6" => "(2001:db8(:[1-9a-f][0-9a-f]{0,3}){6}|::1|fe80::[1-9a-f]{1,4})",
        "hostname" => "[a-z][a-z0-9]{0,8}(\\.[a-z]{2,6}){0,2}",
        "duration" => "P([1-9]Y)?[1-9]D(T[1-9]H)?",
        "byte" => "([A-Za-z0-9+/]{4}){0,4}",
        _ => return None,
    };
    of_pattern(pattern).ok()
}

/// Keeps only the texts that the predicate accepts.
pub(super) fn only(
    texts: BoxedStrategy<String>,
    why: &'static str,
    is_right: Rc<dyn Fn(&str) -> bool>,
) -> BoxedStrategy<String> {
    texts.prop_filter(why, move |text| is_right(text)).boxed()
}
