//! [`KeptFile`]: the failing cases of earlier runs, in a file next to the test.

use std::panic::Location;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

use serde::{Deserialize, Serialize};

use super::input::Input;
use super::report::Property;

/// A case that failed.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub(super) struct SavedFailure {
    /// Method and path.
    pub(super) route: String,
    pub(super) property: Property,
    /// The field, and the names of the rules that the input violates; empty for
    /// valid input.
    pub(super) field: String,
    pub(super) rules: Vec<String>,
    pub(super) input: Input,
}

/// The file that saves the failing cases of a test.
#[derive(Debug, Default)]
pub(super) struct KeptFile {
    pub(super) path: Option<PathBuf>,
    pub(super) cases: Vec<SavedFailure>,
    pub(super) error: Option<String>,
}

impl KeptFile {
    /// Reads the file, if it exists.
    pub(super) fn read(path: Option<PathBuf>) -> Self {
        let Some(file) = &path else { return Self::default() };
        let read = match fs::read_to_string(file) {
            Ok(text) => serde_json::from_str(&text).map_err(|error| error.to_string()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(error.to_string()),
        };
        let named = |error: String| format!("{}: {error}", file.display());
        match read {
            Ok(cases) => Self { path, cases, error: None },
            // An unreadable file is never overwritten.
            Err(error) => Self { cases: Vec::new(), error: Some(named(error)), path: None },
        }
    }

    /// Adds a case and writes the file.
    pub(super) fn add(&mut self, case: SavedFailure) {
        if self.cases.contains(&case) {
            return;
        }
        self.cases.push(case);
        let Some(path) = &self.path else { return };
        let written = serde_json::to_string_pretty(&self.cases).map_err(io::Error::from);
        let written = written.and_then(|text| fs::write(path, text + "\n"));
        if let Err(error) = written {
            self.error = Some(format!("{}: {error}", path.display()));
        }
    }
}

/// Returns the file next to the test source: `shop.failures.json` for
/// `shop.rs`. Returns `None` if the source is not found.
pub(super) fn beside(test: &Location<'_>) -> Option<PathBuf> {
    let source = Path::new(test.file());
    let here = env::current_dir().ok()?;
    // The compiler reports source paths relative to the workspace root, but a
    // test runs in the folder of its package.
    let parts: Vec<_> = source.components().collect();
    let found = (0..parts.len()).find_map(|skipped| {
        let tail: PathBuf = parts.get(skipped..)?.iter().collect();
        let file = here.join(tail);
        file.is_file().then_some(file)
    });
    Some(found?.with_extension("failures.json"))
}
