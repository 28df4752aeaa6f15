//! Checks that no public item of any crate names hyper's body type `Incoming`,
//! because a host may not use hyper.

use std::fs;
use std::path::{Path, PathBuf};

/// Collects the source files of all libraries.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Returns the files of a crate that name `Incoming` outside comments.
fn naming(krate: &Path) -> Vec<String> {
    let mut files = Vec::new();
    sources(&krate.join("src"), &mut files);
    let names = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        text.lines().any(|line| line.contains("Incoming") && !line.trim().starts_with("//"))
    };
    files.retain(names);
    let stem = |path: PathBuf| path.file_stem().unwrap().to_string_lossy().into_owned();
    files.into_iter().map(stem).collect()
}

#[test]
fn only_private_modules_of_the_server_name_the_body_of_hyper() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    for entry in fs::read_dir(crates).unwrap() {
        let krate = entry.unwrap().path();
        let naming = naming(&krate);
        if !krate.ends_with("stockade-server") {
            assert!(naming.is_empty(), "{}: {naming:?}", krate.display());
            continue;
        }
        assert!(!naming.is_empty());
        let lib = fs::read_to_string(krate.join("src/lib.rs")).unwrap();
        assert!(!lib.contains("pub mod "), "a public module shows all that is in it");
        for module in naming {
            assert!(!lib.contains(&format!("pub use {module}")), "{module} is private");
        }
    }
}
