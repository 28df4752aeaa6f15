//! Tests of all engines against recorded results of a JavaScript engine.

use std::time::{Duration, Instant};

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};
use serde_json::Value;

use super::classes::Set;
use super::syntax::Syntax;
use super::*;

/// Returns a recorded result of Node's JavaScript engine; see
/// `tests/vectors/patterns`.
fn recorded(name: &str) -> Value {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/patterns");
    let text = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

fn ranges_of(text: &str) -> ClassUnicode {
    let code = |text: &str| char::from_u32(u32::from_str_radix(text, 16).unwrap()).unwrap();
    ClassUnicode::new(text.split_ascii_whitespace().map(|range| {
        let (from, to) = range.split_once('-').unwrap();
        ClassUnicodeRange::new(code(from), code(to))
    }))
}

fn class_of(pattern: &str) -> ClassUnicode {
    match parse(pattern).unwrap().syntax {
        Syntax::Concat(parts) => match parts.as_slice() {
            [Syntax::Class(set)] => set.clone(),
            other => panic!("{pattern} is {other:?}"),
        },
        other => panic!("{pattern} is {other:?}"),
    }
}

/// The characters at which a set begins and ends, and their neighbors.
fn edges(set: &ClassUnicode) -> Vec<char> {
    let ends = set.ranges().iter().flat_map(|range| [range.start(), range.end()]);
    let near =
        ends.flat_map(|end| [u32::from(end).wrapping_sub(1), end.into(), u32::from(end) + 1]);
    near.chain(0..0x300).filter_map(char::from_u32).collect()
}

fn in_set(set: &ClassUnicode, char: char) -> bool {
    set.ranges().iter().any(|range| (range.start()..=range.end()).contains(&char))
}

#[test]
fn classes_contain_the_code_points_of_javascript() {
    let recorded = recorded("classes");
    for (group, flag) in [("classes", ""), ("folded", "(?i)")] {
        for (class, ranges) in recorded[group].as_object().unwrap() {
            let expected = ranges_of(ranges.as_str().unwrap());
            let found = class_of(&format!("{flag}{class}"));
            assert_eq!(found, expected, "{flag}{class}");
            let pattern = Pattern::new(&format!("{flag}^{class}$")).unwrap();
            let set = Set::new(&found);
            for char in edges(&found) {
                let is_in = in_set(&expected, char);
                assert_eq!(set.has(char), is_in, "{class} {char:?}");
                let is_found = pattern.search(&char.to_string()) == Search::Found;
                assert_eq!(is_found, is_in, "{class} {char:?}");
            }
        }
    }
}

#[test]
fn properties_contain_the_code_points_of_javascript() {
    let recorded = recorded("classes");
    // The two versions of the Unicode tables may differ in new characters and
    // in the category of U+0295.
    let mut known = class_of(r"\p{Assigned}");
    known.difference(&classes::of_char('\u{295}'));
    known.intersect(&ranges_of(recorded["assigned"].as_str().unwrap()));
    for (name, ranges) in recorded["properties"].as_object().unwrap() {
        let mut expected = ranges_of(ranges.as_str().unwrap());
        expected.intersect(&known);
        for (letter, is_negated) in [('p', false), ('P', true)] {
            let mut found = class_of(&format!("\\{letter}{{{name}}}"));
            if is_negated {
                found.negate();
            }
            found.intersect(&known);
            found.symmetric_difference(&expected);
            assert_eq!(found.ranges(), [], "{letter} {name}");
        }
    }
}

#[test]
fn all_property_names_have_a_set() {
    let tables = [
        (property_names::CATEGORIES, ["", "gc=", "General_Category="].as_slice()),
        (property_names::BINARY, &[""]),
        (property_names::SCRIPTS, &["sc=", "Script=", "scx=", "Script_Extensions="]),
    ];
    for (names, prefixes) in tables {
        for name in names.split_ascii_whitespace() {
            for prefix in prefixes {
                let class = class_of(&format!("\\p{{{prefix}{name}}}"));
                let is_empty = class.ranges().is_empty();
                assert_eq!(is_empty, ["Cs", "Surrogate"].contains(&name), "{prefix}{name}");
            }
        }
    }
}

/// Searches each text with every engine that supports the pattern.
#[track_caller]
fn agrees(pattern: &str, texts: &[&str], found: &str) {
    let parsed = parse(pattern).unwrap();
    let syntax = &parsed.syntax;
    let backtrack = Backtrack::new(syntax, parsed.groups).unwrap();
    let automaton = (!syntax.has_references()).then(|| Automaton::new(syntax).unwrap());
    let regular = automaton.as_ref().and_then(|_| Regular::new(syntax).unwrap());
    for (text, found) in texts.iter().zip(found.chars()) {
        let expected = found == '1';
        let mut steps = Steps::of_text(text.len(), 100_000);
        let outcome = backtrack.is_match(text, &mut steps);
        assert_eq!(outcome, Ok(expected), "backtrack: {pattern} on {text:?}");
        if let Some(automaton) = &automaton {
            let outcome = automaton.is_match(text, &mut steps);
            assert_eq!(outcome, Ok(expected), "automaton: {pattern} on {text:?}");
        }
        if let Some(regular) = &regular {
            assert_eq!(regular.is_match(text), expected, "regular: {pattern} on {text:?}");
        }
    }
}

#[test]
fn searches_find_what_javascript_finds() {
    let recorded = recorded("searches");
    let texts = recorded["texts"].as_array().unwrap().iter();
    let texts: Vec<&str> = texts.map(|text| text.as_str().unwrap()).collect();
    for group in ["everyday", "generated", "references"] {
        for (pattern, found) in recorded[group].as_object().unwrap() {
            assert_eq!(&parse(pattern).unwrap().ecma, pattern);
            agrees(pattern, &texts, found.as_str().unwrap());
        }
    }
    for (pattern, row) in recorded["translated"].as_object().unwrap() {
        assert_eq!(parse(pattern).unwrap().ecma, row[0], "{pattern}");
        agrees(pattern, &texts, row[1].as_str().unwrap());
    }
}

fn engine_of(pattern: &str) -> &'static str {
    match Pattern::new(pattern).unwrap().engine {
        Engine::Regular(_) => "regular",
        Engine::Automaton(_) => "automaton",
        Engine::Backtrack(_) => "backtrack",
    }
}

#[test]
fn patterns_get_the_fastest_engine() {
    for (pattern, engine) in [
        (r"^\w{3,30}$", "regular"),
        (r"^(?=.*\d)(?=.*[a-z]).{8,}$", "regular"),
        (r"^(?!-)[a-z-]{1,63}(?<!-)$", "regular"),
        (r"^(?=a).$|^(?!b)..$", "regular"),
        (r"^[\p{L}\d .'-]{1,100}$", "automaton"),
        (r"^\p{L}{1,1000}$", "automaton"),
        (r"^((?!ab).)*$", "automaton"),
        (r"(?=.*\d)(?=.*[a-z]).{8,}", "automaton"),
        (r"^(?=a(?=b)).*$", "automaton"),
        (r"^(a|b)\1$", "backtrack"),
    ] {
        assert_eq!(engine_of(pattern), engine, "{pattern}");
    }
}

#[test]
fn a_pattern_beyond_the_limit_is_an_error() {
    for pattern in [r"(?:a{1000}){1000}", r"(?:\p{L}{1000}){1000}", r"(?:(a)b){30000}\1"] {
        let error = Pattern::new(pattern).unwrap_err();
        assert!(error.contains("the limit of 50000"), "{pattern}: {error}");
    }
    for pattern in ["(?:){4000000000}", r"(?:){4000000000}\1()", "(?:(?=a)(?!b)){4000000000}"] {
        // Nothing to copy, or too much; quick in both cases.
        let _ = Pattern::new(pattern);
    }
}

#[test]
fn long_texts_are_searched_in_linear_time() {
    let text = "a".repeat(200_000) + "1";
    for (pattern, expected) in [
        (r"^(?=.*\d)(?=.*[a-z]).{8,}$", Search::Found),
        (r"(?=.*\d)(?=.*[a-z]).{8,}$", Search::Found),
        (r"^((?!b).)*$", Search::Found),
        (r"^(?:(?!b)(?:a|a|1)+)*(?<!a)$", Search::Found),
        (r"(?=(a+)+$)b", Search::Nothing),
        (r"^(?=(?:a|a|aa)*b)", Search::Nothing),
        (r"(?<=^(?:a|aa)+)b", Search::Nothing),
        (r"^(\w)\1*1$", Search::Found),
    ] {
        begin();
        let pattern = Pattern::new(pattern).unwrap();
        let start = Instant::now();
        assert_eq!(pattern.search(&text), expected, "{}", pattern.ecma());
        assert!(start.elapsed() < Duration::from_secs(20), "{}", pattern.ecma());
    }
}

#[test]
fn steps_are_bounded_on_long_texts() {
    let text = "a".repeat(1 << 20) + "b";
    for pattern in [
        r"^(a+)+\1$",
        r"(a|aa)+\1c",
        r"(.*)x\1",
        r"^(?=(a+)+\1$)c",
        r"(?:a?){60}(?<=(?:a?){60})(c)?\1d",
    ] {
        begin();
        let pattern = Pattern::new(pattern).unwrap();
        let mut steps = Steps::of_text(text.len(), BACKTRACK_STEPS);
        let Engine::Backtrack(backtrack) = &pattern.engine else { panic!("{}", pattern.ecma()) };
        assert_eq!(backtrack.is_match(&text, &mut steps), Err(GaveUp), "{}", pattern.ecma());
    }
}

#[test]
fn many_texts_share_the_additional_steps() {
    let pattern = Pattern::new(r"^(?:(a|aa)+\1c)|z").unwrap();
    let text = format!("{}z", "a".repeat(16));
    begin();
    assert_eq!(pattern.search(&text), Search::Found);
    let gave_up = (0..1_000).find(|_| pattern.search(&text) == Search::GaveUp);
    assert!(gave_up.is_some_and(|count| count > 2), "{gave_up:?}");
    begin();
    assert_eq!(pattern.search(&text), Search::Found);
}

#[test]
fn trim_removes_the_white_space_of_patterns() {
    let space = Set::new(&class_of(r"\s"));
    for char in ('\0'..=char::MAX).filter(|char| *char < '\u{1_0000}') {
        let text = format!("{char}a{char}");
        assert_eq!(trim(&text) == "a", space.has(char), "{char:?}");
    }
}
