//! Schemas of a public catalog (SchemaStore): each compiles, or the error names
//! the unsupported keyword and its pointer.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use stockade_validation::{Schema, ValidationOptions};

use crate::support::lines;

fn read(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/schemastore");
    let text = fs::read(folder.join(format!("{name}.json"))).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Returns the messages of the configuration errors in a schema.
fn mistakes(name: &str) -> Vec<String> {
    match Schema::rule(&read(name)) {
        Ok(_) => Vec::new(),
        Err(error) => error.issues().iter().map(|issue| issue.message().to_owned()).collect(),
    }
}

#[test]
fn schemas_of_tools_compile() {
    for name in [
        "appveyor",
        "bower",
        "chart",
        "codecov",
        "github-action",
        "helmfile",
        "kustomization",
        "lerna",
        "pnpm-workspace",
        "prettierrc",
        "semantic-release",
    ] {
        assert_eq!(mistakes(name), Vec::<String>::new(), "{name}");
        // The exported document is also a valid schema.
        let schema = Schema::rule(&read(name)).unwrap();
        assert!(Schema::rule(&schema.to_json_schema()).is_ok(), "{name}");
    }
}

#[test]
fn other_schemas_report_unsupported_keywords() {
    for (name, stops) in [
        ("circleciconfig", &["`$ref`"][..]),
        ("dependabot-2.0", &["`x-intellij-enum-metadata`"]),
        ("github-workflow", &["`dependencies`", "`additionalItems`", "`items`"]),
        ("package", &["`x-intellij-language-injection`", "`$ref`"]),
        ("travis", &["(at `/"]),
        ("uv", &["unknown format `uint`"]),
    ] {
        let mistakes = mistakes(name);
        for stop in stops {
            assert!(mistakes.iter().any(|it| it.contains(stop)), "{name}: {stop}: {mistakes:#?}");
        }
        for mistake in &mistakes {
            let (_, pointer) = mistake.rsplit_once("(at `/").unwrap_or_else(|| panic!("{mistake}"));
            let pointer = pointer.strip_suffix("`)").unwrap_or_else(|| panic!("{mistake}"));
            assert!(read(name).pointer(&format!("/{pointer}")).is_some(), "{mistake}");
        }
    }
}

#[track_caller]
fn check(name: &str, data: &Value, expected: &[&str]) {
    let schema = Schema::rule(&read(name)).unwrap();
    let errors = schema.check(data, &ValidationOptions::new()).unwrap();
    assert_eq!(lines(&errors), expected, "{data}");
}

#[test]
fn checks_a_github_action() {
    let action = |runs: Value| json!({ "name": "a", "description": "b", "runs": runs });
    check("github-action", &action(json!({ "using": "node20", "main": "index.js" })), &[]);
    check(
        "github-action",
        &action(json!({ "using": "composite", "steps": [{ "run": "make", "shell": "bash" }] })),
        &[],
    );
    let missing = "runs.main: Required field 'main' is missing (required)";
    check("github-action", &action(json!({ "using": "node20" })), &[missing]);
}

#[test]
fn a_workspace_of_pnpm_is_checked() {
    check("pnpm-workspace", &json!({ "packages": ["a/*"], "catalog": { "x": "^1" } }), &[]);
    let number = "packages[0]: Expected string, got number (type)";
    check("pnpm-workspace", &json!({ "packages": [1] }), &[number]);
}
