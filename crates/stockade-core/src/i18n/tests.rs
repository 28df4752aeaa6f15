//! Tests of the catalogs.

use std::collections::BTreeSet;

use stockade_errors::{ApiError, ErrorText, FieldError};

use super::*;

fn text(catalogs: &Catalogs, tag: &str, error: &FieldError) -> Option<String> {
    catalogs.rule(catalogs.place(tag).unwrap(), error)
}

fn limit(id: &'static str, limit: i64) -> FieldError {
    FieldError::new("address.zip", "…", id).with_text_id(id).with_param("limit", limit)
}

#[test]
fn built_in_languages_have_all_texts() {
    let catalogs = Catalogs::builtin();
    assert_eq!(catalogs.tags(), ["en", "de"]);
    assert_eq!(catalogs.issues(&[]), [""; 0]);
    // Also as application texts, which are checked for their variables.
    for source in [ENGLISH, GERMAN] {
        let same = Catalogs::builtin().add("xx", source).unwrap();
        assert_eq!(same.issues(&[]), [""; 0]);
    }
    let sorted: BTreeSet<&str> = RULES.iter().map(|(id, _)| *id).collect();
    assert_eq!(sorted.len(), RULES.len());
}

#[test]
fn texts_depend_on_rule_and_parameters() {
    let catalogs = Catalogs::builtin();
    let german = |error: FieldError| text(&catalogs, "de", &error).unwrap();
    assert_eq!(german(limit("minItems", 1)), "Mindestens ein Eintrag erforderlich");
    assert_eq!(german(limit("minItems", 2)), "Mindestens 2 Einträge erforderlich");
    assert_eq!(
        german(limit("maximum", i64::MAX)),
        format!("Die Zahl darf höchstens {} sein", i64::MAX)
    );
    assert_eq!(german(limit("required", 0)), "Das Pflichtfeld „zip“ fehlt");
    let wrong = FieldError::new("a[0]", "…", "type").with_text_id("type");
    let wrong = wrong.with_param("expected", "string").with_param("got", "number");
    assert_eq!(german(wrong), "Erwartet: Text, erhalten: Zahl");
    // The error's own message is English.
    assert_eq!(text(&catalogs, "en", &limit("minimum", 1)), None);
}

#[test]
fn english_texts_equal_the_built_in_messages() {
    let catalogs = Catalogs::builtin().add("en", ENGLISH).unwrap();
    let english = |error: FieldError| text(&catalogs, "en", &error).unwrap();
    assert_eq!(english(limit("minLength", 3)), "String must be at least 3 characters");
    assert_eq!(english(limit("required", 0)), "Required field 'zip' is missing");
}

#[test]
fn client_values_are_inserted_as_plain_text() {
    let catalogs = Catalogs::builtin().add("xx", ENGLISH).unwrap();
    let error = FieldError::new("a{ $limit }\u{202e}", "…", "x").with_text_id("custom");
    assert_eq!(text(&catalogs, "xx", &error).unwrap(), "a{ $limit }\u{202e} is invalid");
}

#[test]
fn applications_can_add_languages_texts_and_problems() {
    let source = format!(
        "{ENGLISH}\neven = Doit être un multiple de {{ $step }}\n\
                          problem-sold-out = {{ $sku }} est épuisé\n"
    );
    let catalogs = Catalogs::builtin().add("fr", &source).unwrap();
    let even = ErrorText::new("even", "Must be a multiple of 2").param("step", 2);
    let error = FieldError::of_text("n", even, "custom");
    assert_eq!(text(&catalogs, "fr", &error).unwrap(), "Doit être un multiple de 2");
    assert_eq!(text(&catalogs, "de", &error), None);
    let sold = ApiError::new(409, "7 is sold out")
        .with_problem_type("https://shop.example/problems/sold-out")
        .with_member("sku", "7");
    let french = catalogs.place("fr").unwrap();
    assert_eq!(catalogs.problem(french, &sold).unwrap(), "7 est épuisé");
    assert_eq!(catalogs.problem(0, &sold), None);

    let expected = [
        "languages: the language \"de\" does not have a text for `even`",
        "languages: the language \"de\" does not have a text for `problem-sold-out`",
    ];
    assert_eq!(catalogs.issues(&[("sold-out", vec!["sku"])]), expected);
    let other = catalogs.issues(&[("sold-out", vec!["shelf"])]);
    assert!(
        other.iter().any(|issue| issue.contains("Unknown variable") || issue.contains("$sku")),
        "{other:?}"
    );
}

#[test]
fn missing_texts_and_variables_are_configuration_errors() {
    let catalogs = Catalogs::builtin().add("fr", "minimum = au moins { $least }").unwrap();
    let issues = catalogs.issues(&[]);
    assert!(issues[0].starts_with(
        "languages: the language \"fr\" does not have a text for `additionalProperties`, "
    ));
    assert!(!issues[0].contains("`minimum`"));
    assert!(issues[1].contains("the text `minimum` of \"fr\" cannot be formatted"), "{issues:?}");
    assert!(issues[1].contains("its variables are: `$limit`, `$field`"), "{issues:?}");
}

#[test]
fn rejects_malformed_catalogs() {
    for (tag, source, part) in [
        ("", "a = b", "the tag is malformed"),
        ("f r", "a = b", "the tag is malformed"),
        ("fr", "a = {", "the syntax is malformed"),
        ("fr", "a = b\na = c", "duplicate id `a`"),
        ("fr", "a =\n    .title = b", "the id `a` does not have a message"),
    ] {
        let error = Catalogs::builtin().add(tag, source).unwrap_err().to_string();
        assert!(error.contains(part), "{source:?}: {error}");
    }
    assert!(Catalogs::builtin().default_language("fr").is_err());
    let german = Catalogs::builtin().default_language("de").unwrap();
    assert_eq!(german.tags(), ["de", "en"]);
    assert_eq!(
        text(&german, "de", &limit("minimum", 1)).unwrap(),
        "Die Zahl muss mindestens 1 sein"
    );
}
