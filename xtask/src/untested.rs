//! Targets with `test = false`, which must not contain tests.

use std::fs;
use std::path::{Path, PathBuf};

use crate::tidy::files_below;

/// Returns a fault for each file with a test in a target that cargo does not
/// test.
pub(crate) fn check(root: &Path) -> Vec<String> {
    let folders = ["crates", "examples", "facade", "tests", "xtask"];
    let files = folders.iter().flat_map(|folder| files_below(&root.join(folder)));
    let manifests = files.filter(|path| path.ends_with("Cargo.toml"));
    let mut faults = Vec::new();
    for manifest in manifests {
        let Some(folder) = manifest.parent() else { continue };
        let text = fs::read_to_string(&manifest).unwrap_or_default();
        for file in untested(&text).into_iter().flat_map(|path| sources(&folder.join(path))) {
            if fs::read_to_string(&file).is_ok_and(|source| has_tests(&source)) {
                let manifest = manifest.strip_prefix(root).unwrap_or(&manifest).display();
                let file = file.strip_prefix(root).unwrap_or(&file).display();
                faults.push(format!("{manifest}: remove `test = false`, because {file} has tests"));
            }
        }
    }
    faults
}

/// Returns the paths of the targets with `test = false` in a manifest.
fn untested(manifest: &str) -> Vec<&str> {
    let sections = manifest.split("\n[").filter(|section| {
        let is_target = section.starts_with("lib]") || section.starts_with("[bin]]");
        is_target && section.lines().any(|line| line == "test = false")
    });
    let paths = sections.map(|section| {
        let line = section.lines().find_map(|line| line.strip_prefix("path = "));
        line.map_or("src/lib.rs", |path| path.trim_matches('"'))
    });
    paths.collect()
}

/// Returns the files of a target: all files of the folder of `lib.rs` and
/// `main.rs`.
fn sources(path: &Path) -> Vec<PathBuf> {
    let has_modules = path.ends_with("lib.rs") || path.ends_with("main.rs");
    match path.parent().filter(|_| has_modules) {
        Some(folder) => files_below(folder),
        None => vec![path.to_path_buf()],
    }
}

fn has_tests(source: &str) -> bool {
    source.lines().any(|line| {
        let line = line.trim_start();
        line.starts_with("#[cfg(test)]") || line.starts_with("#[test]") || line.contains("::test]")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_targets_without_tests() {
        let manifest = "[package]\nname = \"a\"\n\n[lib]\ntest = false\n\n[[bin]]\nname = \"b\"\n\
            path = \"b.rs\"\n# A reason.\ntest = false\n\n[[bin]]\nname = \"c\"\npath = \"c.rs\"\n";
        assert_eq!(untested(manifest), ["src/lib.rs", "b.rs"]);
    }

    #[test]
    fn finds_tests() {
        assert!(has_tests("mod a;\n    #[tokio::test]\nfn b() {}"));
        assert!(!has_tests("// #[test]"));
    }
}
