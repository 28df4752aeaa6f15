//! Cited files: each file that a document or a comment names must exist.
//!
//! A path may omit its leading folders, and `core/extract/body.rs` means
//! `crates/stockade-core/src/extract/body.rs`. A Rust file is checked only if
//! its path has a folder, because examples use names such as `shop.rs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The files of the workspace, as a set of all suffixes of their paths.
pub struct Files {
    ends: BTreeSet<String>,
}

impl Files {
    /// Creates the set from paths relative to the root.
    pub fn new(paths: &[PathBuf]) -> Self {
        let mut ends = BTreeSet::new();
        for path in paths {
            let path = path.to_string_lossy().replace('\\', "/");
            let starts = path.match_indices('/').map(|(at, _)| at + 1);
            ends.extend([0].into_iter().chain(starts).map(|at| path[at..].to_owned()));
        }
        Self { ends }
    }

    /// Returns a fault for each cited file that does not exist.
    pub fn faults(&self, name: &str, text: &str) -> Vec<String> {
        let is_document = has_extension(name, "md");
        let mut faults = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let is_prose = is_document || line.trim_start().starts_with("//");
            // A URL may end with any file name.
            if is_prose && !line.contains("://") && !line.contains("localhost:") {
                let missing = cited(line).filter(|path| !self.contains(path));
                faults.extend(
                    missing.map(|path| format!("{name}:{number}: the file {path} does not exist")),
                );
            }
        }
        faults
    }

    fn contains(&self, path: &str) -> bool {
        let path = path.trim_start_matches("../").trim_start_matches("./");
        let of_crate =
            path.split_once('/').map(|(name, rest)| format!("crates/stockade-{name}/src/{rest}"));
        self.ends.contains(path) || of_crate.is_some_and(|path| self.ends.contains(&path))
    }
}

/// Returns the paths of a line that name a document or a Rust file. `NAME.rs`
/// means any name.
fn cited(line: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_ascii_alphanumeric() || "./-_".contains(c);
    let tokens = line.split(move |c| !is_path(c)).map(|token| token.trim_end_matches('.'));
    tokens.filter(|token| {
        let is_rust = has_extension(token, "rs") && token.contains('/');
        let is_cited = is_rust || has_extension(token, "md");
        let is_whole = token.starts_with("../") || !token.starts_with(['.', '-']);
        is_cited && is_whole && !token.contains("NAME") && !USERS.contains(token)
    })
}

fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

/// Files of a user's program in examples.
const USERS: &[&str] = &[
    "examples/cors.rs",
    "examples/orders.rs",
    "src/products.rs",
    "src/tests.rs",
    "tests/guarded.rs",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_cited_files_that_do_not_exist() {
        let files = Files::new(&[
            PathBuf::from("docs/limits.md"),
            PathBuf::from("crates/stockade-core/src/extract/body.rs"),
        ]);
        let faults = |text: &str| files.faults("docs/a.md", text).len();
        assert_eq!(faults("See limits.md and `core/extract/body.rs:read`."), 0);
        assert_eq!(faults("See [limits](../docs/limits.md#one)."), 0);
        assert_eq!(faults("`extract/body.rs`, shop.rs, extract/NAME.rs"), 0);
        assert_eq!(faults("https://example.org/unknown.md"), 0);
        assert_eq!(faults("See missing.md."), 1);
        assert_eq!(faults("`core/extract/other.rs`, [x](../docs/other.md)"), 2);
        assert_eq!(files.faults("a.rs", "// See missing.md.\nlet x = \"missing.md\";").len(), 1);
    }
}
