//! The JSON-Schema-Test-Suite: each case has its expected result, both for the
//! schema and for its export, or its group is a listed exception.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_validation::{Schema, ValidationOptions};

use crate::json_schema_exceptions::{DRAFT_7, DRAFT_2020_12, Exception, FORMATS};

#[test]
fn required_part_of_draft_2020_12() {
    check("draft2020-12", DRAFT_2020_12, "1198 passed, 101 excepted");
}

#[test]
fn keywords_of_draft_7() {
    check("draft7", DRAFT_7, "322 passed, 16 excepted");
}

#[test]
fn formats_of_draft_2020_12() {
    check("draft2020-12/format", FORMATS, "752 passed, 5 excepted");
}

#[test]
fn formats_of_draft_7() {
    check("draft7/format", &[], "402 passed, 0 excepted");
}

/// The outcome of a folder.
#[derive(Default)]
struct Outcome {
    passed: usize,
    /// The number of cases that are exceptions.
    excepted: usize,
    wrong: Vec<String>,
    /// The groups with a case that has another result.
    failed: BTreeSet<(String, String)>,
}

/// Checks every case of a folder with the schema itself and with its export.
#[track_caller]
fn check(folder: &str, exceptions: &[Exception], expected: &str) {
    let mut outcome = Outcome::default();
    for file in files(folder) {
        let groups: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        let file = file.file_stem().unwrap().to_str().unwrap();
        for group in groups.as_array().unwrap() {
            check_group(file, group, exceptions, &mut outcome);
        }
    }
    let Outcome { passed, excepted, wrong, failed } = outcome;
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    for (file, group, reason) in exceptions {
        let is_failed = failed
            .iter()
            .any(|(known, description)| known == file && (*group == "*" || description == group));
        assert!(is_failed, "remove this exception, which passes: {file} / {group}: {reason}");
    }
    let counts = format!("{passed} passed, {excepted} excepted");
    assert_eq!(counts, expected, "{folder}");
}

fn check_group(file: &str, group: &Value, exceptions: &[Exception], outcome: &mut Outcome) {
    let description = group["description"].as_str().unwrap();
    let is_excepted =
        exceptions.iter().any(|(known, group, _)| *known == file && *group == description);
    let cases = group["tests"].as_array().unwrap();
    let mut fail = |count: usize, message: String| {
        outcome.failed.insert((file.to_owned(), description.to_owned()));
        if is_excepted {
            outcome.excepted += count;
        } else {
            outcome.wrong.push(format!("{file} / {description}{message}"));
        }
    };
    let schema = match Schema::rule(&group["schema"]) {
        Ok(schema) => schema,
        Err(error) => return fail(cases.len(), format!(": rejected: {error}")),
    };
    let document = schema.to_json_schema();
    let exported = match Schema::rule(&document) {
        Ok(exported) => exported,
        Err(error) => return fail(cases.len(), format!(": {document}: {error}")),
    };
    let mut passed = 0;
    for case in cases {
        let data = &case["data"];
        let verdict =
            |schema: &Schema| schema.check(data, &ValidationOptions::new()).unwrap().is_empty();
        let verdicts = [verdict(&schema), verdict(&exported)];
        if verdicts.map(Value::Bool).iter().all(|verdict| *verdict == case["valid"]) {
            passed += 1;
        } else {
            fail(1, format!(" / {}: {data} {verdicts:?} {document}", case["description"]));
        }
    }
    outcome.passed += passed;
}

/// Returns the files of a folder, sorted.
fn files(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/json-schema");
    let entries = fs::read_dir(root.join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    files.sort();
    files
}
