//! Checks the server with other versions of hyper, and on its plain path.
//!
//! The server has optimizations that depend on hyper internals. At startup it
//! checks its assumptions on the linked hyper, and selects the plain path if
//! one is broken (`crates/stockade-server/src/fast_path`).
//!
//! - `--patched`: programs with changed versions of hyper. Each version breaks
//!   an assumption.
//! - `--newest`: the tests of the server with the newest release of hyper.
//! - `--plain`: all tests that run a server, and the floods, on the plain path.
//!
//! The task runs all three if it has no option.

mod newest;
mod patched;
mod plain;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use crate::{Outcome, cargo_output};

/// Selects the plain path in the tests of `stockade-server`, when they run.
pub(crate) const PLAIN_TESTS: &str = "STOCKADE_PLAIN_PATH";

/// Makes the plain path the default of `ServerOptions`, when `stockade-server`
/// is compiled.
pub(crate) const PLAIN_BUILD: &str = "STOCKADE_PLAIN_PATH_BUILD";

pub fn run() -> Outcome {
    let arguments: Vec<String> = env::args().skip(2).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        // Part of `nightly`, or without arguments.
        [] => {
            patched::run()?;
            newest::run()?;
            plain::run()
        }
        ["--patched"] => patched::run(),
        ["--newest"] => newest::run(),
        ["--plain"] => plain::run(),
        _ => Err("usage: cargo xtask hyper [--patched | --newest | --plain]".to_owned()),
    }
}

/// Returns the folder of hyper's source, and its version in `Cargo.lock`.
fn source() -> Result<(PathBuf, String), String> {
    let metadata = cargo_output(&["metadata", "--format-version=1", "--locked"])?;
    let manifest = manifest_in(&metadata).ok_or("`cargo metadata` does not list hyper")?;
    let folder = PathBuf::from(manifest).parent().map(PathBuf::from).unwrap_or_default();
    let version = version_in(&read(&folder.join("Cargo.toml"))?)?;
    Ok((folder, version))
}

/// Returns the path of hyper's manifest in the output of `cargo metadata`.
fn manifest_in(metadata: &str) -> Option<String> {
    // A dependency on hyper has a `source` after its name.
    let (_, package) = metadata.split_once("{\"name\":\"hyper\",\"version\":")?;
    let (_, path) = package.split_once("\"manifest_path\":\"")?;
    let (path, _) = path.split_once('"')?;
    Some(path.replace("\\\\", "\\"))
}

/// Returns the first version in a manifest, which is the version of its package.
fn version_in(manifest: &str) -> Result<String, String> {
    let version = manifest.lines().find_map(|line| line.strip_prefix("version = \""));
    let version = version.and_then(|version| version.strip_suffix('"'));
    version.map(str::to_owned).ok_or("the manifest of hyper does not state a version".to_owned())
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_package() {
        let metadata = r#"{"packages":[{"name":"a","dependencies":[{"name":"hyper","source":"x"}],"manifest_path":"/a/Cargo.toml"},{"name":"hyper","version":"1.12.0","targets":[],"manifest_path":"/b/Cargo.toml"}]}"#;
        assert_eq!(manifest_in(metadata).as_deref(), Some("/b/Cargo.toml"));
        let manifest = "[package]\nname = \"hyper\"\nversion = \"1.12.0\"\n[dependencies.a]\n\
                        version = \"2\"\n";
        assert_eq!(version_in(manifest).as_deref(), Ok("1.12.0"));
        assert!(version_in("[package]\n").is_err());
    }
}
