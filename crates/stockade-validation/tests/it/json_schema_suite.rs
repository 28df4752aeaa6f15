//! The JSON-Schema-Test-Suite, as far as its schemas use our keywords.
//!
//! Every other schema must be refused when it is made: nothing is misjudged.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stockade_validation::{Schema, ValidationOptions};

#[test]
fn draft_2020_12() {
    check("draft2020-12", "judged 314, refused 39 in 11 schemas");
}

#[test]
fn draft_7() {
    check("draft7", "judged 305, refused 33 in 8 schemas");
}

#[test]
fn formats() {
    check("draft2020-12/format", "judged 409, refused 28 in 1 schemas");
    check("draft7/format", "judged 374, refused 28 in 1 schemas");
}

/// Judges every case of a folder by the schema itself and by its export.
#[track_caller]
fn check(folder: &str, expected: &str) {
    let mut validated = 0;
    let mut refused = 0;
    let mut refused_schemas = 0;
    let mut wrong = Vec::new();
    for file in files(folder) {
        let groups: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        for group in groups.as_array().unwrap() {
            let cases = group["tests"].as_array().unwrap();
            let schema = match Schema::rule(&group["schema"]) {
                Ok(schema) => schema,
                Err(error) => {
                    let is_foreign = uses_other_keywords(&group["schema"]);
                    if !is_foreign {
                        wrong.push(format!("{}: refused: {error}", group["description"]));
                    }
                    refused += cases.len();
                    refused_schemas += 1;
                    continue;
                }
            };
            let exported = Schema::rule(&schema.to_json_schema()).unwrap();
            for case in cases {
                validated += 1;
                for schema in [&schema, &exported] {
                    let errors = schema.check(&case["data"], &ValidationOptions::new()).unwrap();
                    if Value::Bool(errors.is_empty()) != case["valid"] {
                        wrong.push(format!(
                            "{} / {} / {}: {} {errors:?}",
                            file.display(),
                            group["description"],
                            case["description"],
                            case["data"],
                        ));
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    let counts = format!("judged {validated}, refused {refused} in {refused_schemas} schemas");
    println!("{folder}: {counts}");
    assert_eq!(counts, expected, "{folder}");
}

/// The files of a folder, sorted.
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

/// Whether a schema, or one in it, uses a keyword that is not ours.
fn uses_other_keywords(schema: &Value) -> bool {
    const OTHER: &[&str] = &[
        "$defs",
        "$ref",
        "additionalItems",
        "allOf",
        "definitions",
        "dependentSchemas",
        "patternProperties",
        "prefixItems",
        "propertyNames",
    ];
    let Some(map) = schema.as_object() else {
        return false;
    };
    map.iter().any(|(keyword, value)| {
        OTHER.contains(&keyword.as_str())
            // The list form of draft 7.
            || (keyword == "items" && value.is_array())
            || (keyword == "format" && matches!(value.as_str(), Some("uri-reference" | "unknown")))
            || (["items", "additionalProperties"].contains(&keyword.as_str())
                && uses_other_keywords(value))
            || (keyword == "properties"
                && value.as_object().is_some_and(|map| map.values().any(uses_other_keywords)))
    })
}
