//! The keyword `pattern`.

use serde_json::{Value, json};
use stockade_validation::{Rule, Schema, ValidationOptions};

use crate::support::lines;

fn schema(pattern: &str) -> Schema {
    Rule::string().pattern(pattern).build().unwrap()
}

fn accepts(schema: &Schema, text: &str) -> bool {
    schema.check(&json!(text), &ValidationOptions::new()).unwrap().is_empty()
}

/// Returns the characters that JavaScript matches for a class.
fn recorded(class: &str) -> Vec<std::ops::RangeInclusive<u32>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/patterns/classes.json");
    let table: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let code = |text: &str| u32::from_str_radix(text, 16).unwrap();
    let ranges = table["classes"][class].as_str().unwrap().split_ascii_whitespace();
    ranges.map(|range| range.split_once('-').unwrap()).map(|(a, b)| code(a)..=code(b)).collect()
}

#[test]
fn accepts_exactly_the_documented_characters() {
    for class in [r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", "."] {
        let schema = schema(&format!("^{class}$"));
        assert_eq!(schema.to_json_schema()["pattern"], format!("^{class}$"));
        let promised = recorded(class);
        for char in ('\0'..=char::MAX).filter(|char| *char < '\u{1_1000}') {
            let is_promised = promised.iter().any(|range| range.contains(&char.into()));
            assert_eq!(accepts(&schema, &char.to_string()), is_promised, "{class} {char:?}");
        }
    }
}

#[test]
fn boundaries_of_words_are_ascii() {
    assert!(accepts(&schema(r"^é\bb$"), "éb"));
    assert!(!accepts(&schema(r"^é\Bb$"), "éb"));
    assert!(accepts(&schema(r"^é\B$"), "é"));
}

#[test]
fn common_patterns_build() {
    for (pattern, text) in [
        (r"^\w{3,30}$", "ada_lovelace"),
        (r"^[\p{L}\d .'-]{1,100}$", "Zoë O'Neil-Müller 3"),
        (r"^\p{L}[\p{L}\p{M}\p{N} '-]{0,254}$", "Nguyễn"),
        (r"^[^\p{C}]{1,1000}$", "naïve"),
        (r"^(?=.*\p{Lu})(?=.*\p{Ll})(?=.*\p{Nd})[^\s]{8,128}$", "Añejo12345"),
    ] {
        assert!(accepts(&schema(pattern), text), "{pattern}");
        assert!(!accepts(&schema(pattern), "\u{7}"), "{pattern}");
    }
}

#[test]
fn an_error_names_the_pattern_and_its_limit() {
    let error = Rule::string().pattern(r"^(?:\w{1000}){1000}$").build().unwrap_err();
    let expected = r#"invalid pattern "^(?:\\w{1000}){1000}$": its compiled form exceeds the limit of 50000 states"#;
    assert!(error.to_string().contains(expected), "{error}");
}

#[test]
fn long_valid_texts_are_accepted() {
    let long = "aA1!".repeat(50_000);
    for pattern in [
        r"^(?=.*\d)(?=.*[a-z]).{8,}$",
        r"(?=.*\d)(?=.*[a-z]).{8,}$",
        r"^(?!.*admin).*$",
        r"^((?!admin).)*$",
        r"^(?:[aA](?=[A1])|1!)*$",
        r"^(aA1!)\1*$",
    ] {
        assert!(accepts(&schema(pattern), &long), "{pattern}");
    }
}

#[test]
fn a_text_that_takes_too_many_steps_has_its_own_error() {
    let rule = Rule::string().pattern(r"^(a+)+\1$").message("Not a name");
    let schema = rule.build().unwrap();
    let message = "Text cannot be checked: its pattern takes too many steps; send a shorter text";
    for length in [60, 1 << 20] {
        let text = json!("a".repeat(length) + "b");
        let errors = schema.check(&text, &ValidationOptions::new()).unwrap();
        assert_eq!(lines(&errors), [format!(": {message} (patternLimit)")]);
    }
    let errors = schema.check(&json!("b"), &ValidationOptions::new()).unwrap();
    assert_eq!(lines(&errors), [": Not a name (pattern)"]);
}

#[test]
fn short_texts_of_a_long_list_have_enough_steps() {
    let schema = Rule::array(Rule::string().pattern(r"^(?:(?!b).)*(c?)\1$")).build().unwrap();
    let texts = json!(vec![""; 200_000]);
    assert!(schema.check(&texts, &ValidationOptions::new()).unwrap().is_empty());
}

#[test]
fn rejects_text_that_trim_empties_as_documented() {
    let schema = Rule::string().trim().min_length(1).build().unwrap();
    assert_eq!(schema.to_json_schema()["pattern"], r"\S");
    let promised = recorded(r"\S");
    for char in ('\0'..='\u{FFFF}').filter(|char| *char < '\u{3100}' || *char > '\u{FE00}') {
        let is_promised = promised.iter().any(|range| range.contains(&char.into()));
        assert_eq!(accepts(&schema, &char.to_string()), is_promised, "{char:?}");
    }
}
