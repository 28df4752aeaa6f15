//! The files of JSONTestSuite as bodies of a typed route.
//!
//! `y_` must be taken, `n_` refused with 400, `i_` either, but never 5xx.

use std::fs;
use std::path::Path as FilePath;

use stockade::http;
use stockade::prelude::*;

use crate::support::{app_of, block_on};

#[test]
fn all_files_are_answered_as_their_names_say() {
    let app = app_of(routes! { "x": { POST: async |Body(value): Body<Value>| value } });
    let folder = FilePath::new(env!("CARGO_MANIFEST_DIR")).join("vectors/json-parsing");
    let mut counts = [0, 0, 0];
    let mut faults = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".json") {
            continue;
        }
        let request = http::Request::post("/x")
            .header("content-type", "application/json")
            .body(fs::read(&path).unwrap())
            .unwrap();
        let status = block_on(app.handle(request)).status();
        let (index, fits) = match &name[..2] {
            "y_" => (0, status.is_success()),
            "n_" => (1, status == 400),
            _ => (2, !status.is_server_error()),
        };
        counts[index] += 1;
        if !fits {
            faults.push(format!("{name}: {status}"));
        }
    }
    assert_eq!(faults, Vec::<String>::new());
    assert_eq!(counts, [95, 188, 35]);
}
