//! Documents of all mutations, for tools that compare documents. `cargo xtask
//! lock-diff` uses them.

use std::env;
use std::fs;
use std::path::PathBuf;

use stockade::openapi::{OpenApiOptions, open_api};

use super::{all, changes};

/// The variable with the output directory. If it is not set, the test creates
/// the documents without writing them.
const DIRECTORY: &str = "STOCKADE_LOCK_DOCUMENTS";

#[test]
fn each_mutation_has_documents() {
    let directory = env::var_os(DIRECTORY).map(PathBuf::from);
    let options = OpenApiOptions::new("Mutations", "1.0.0");
    let mut written = Vec::new();
    for (index, mutation) in all().iter().enumerate() {
        let pair = (open_api(&mutation.old, &options), open_api(&mutation.new, &options));
        let (Ok(old), Ok(new)) = pair else { panic!("{}", mutation.name) };
        let classes = [(&mutation.old, &mutation.new), (&mutation.new, &mutation.old)];
        let classes = classes.map(|(old, new)| changes(old, new).is_breaking());
        let [forward, backward] = classes;
        written.push(format!("{index} {forward} {backward} {}\n", mutation.name));
        if let Some(directory) = &directory {
            for (which, document) in [("old", old), ("new", new)] {
                let path = directory.join(format!("{index}.{which}.json"));
                fs::write(path, document.to_string()).unwrap();
            }
        }
    }
    if let Some(directory) = &directory {
        fs::write(directory.join("mutations.txt"), written.concat()).unwrap();
    }
}
