//! The files of JSONTestSuite as request bodies, read in two ways.
//!
//! A `y_` file must be accepted and an `n_` file rejected with 400. An `i_`
//! file may be either, but invalid UTF-8 is always rejected. This applies to a
//! route that keeps the whole document, and to a route with a type that skips
//! it. In the second case serde_json by itself would accept any bytes.

use std::fs;
use std::path::Path as FilePath;

use stockade::http;
use stockade::prelude::*;

use crate::support::{app_of, block_on};

#[test]
fn all_files_get_the_response_in_their_name() {
    let tree = routes! { "x": { POST: async |Body(value): Body<Value>| value } };
    check_all(&app_of(tree), |document| document.to_vec());
}

#[test]
fn ignored_documents_are_checked_the_same_way() {
    let tree = routes! {
        "x": { POST: async |Body(kept): Body<Kept>| json!({ "known": kept.known }) },
    };
    check_all(&app_of(tree), |document| {
        [br#"{"known": 7, "unknown": "#.as_slice(), document, b"}"].concat()
    });
}

/// A type without the field that contains the document.
#[derive(serde::Deserialize, Schema)]
struct Kept {
    known: u8,
}

/// Sends every file, converted by `wrap`, and compares the status with the file
/// name.
#[track_caller]
fn check_all(app: &App, wrap: fn(&[u8]) -> Vec<u8>) {
    let folder = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("vectors/json-parsing");
    let mut counts = [0, 0, 0];
    let mut faults = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".json") {
            continue;
        }
        let document = fs::read(&path).unwrap();
        let request = http::Request::post("/x")
            .header("content-type", "application/json")
            .body(wrap(&document))
            .unwrap();
        let status = block_on(app.handle(request)).status();
        let (index, fits) = match &name[..2] {
            "y_" => (0, status.is_success()),
            "n_" => (1, status == 400),
            _ if std::str::from_utf8(&document).is_err() => (2, status == 400),
            _ => (2, status.is_success() || status == 400),
        };
        counts[index] += 1;
        if !fits {
            faults.push(format!("{name}: {status}"));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(counts, [95, 188, 35]);
}
