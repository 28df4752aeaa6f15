//! Compiles the facade with the oldest compilers that POLICIES.md promises.

use std::process::{Command, Stdio};

use crate::test_alone::{FACADE_FEATURES, TYPE_FEATURES};
use crate::{Outcome, announce, root, run as started};

/// Checks the features of each minimum version with the toolchain of that
/// version. Fails if a toolchain is missing.
pub fn run() -> Outcome {
    for (version, features) in [(FIRST, first_features().as_slice()), (SECOND, NEEDS_SECOND)] {
        let mut found = rustup(version, "rustc");
        found.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        announce(&found);
        if !found.status().is_ok_and(|status| status.success()) {
            return Err(format!(
                "Rust {version} is missing: \
                 run `rustup toolchain install {version} --profile minimal`"
            ));
        }
        let mut check = rustup(version, "cargo");
        check.args(["check", "--locked", "-p", "stockade", "--features", &features.join(",")]);
        started(&mut check)?;
    }
    Ok(())
}

/// The minimum version of all features except [`NEEDS_SECOND`].
const FIRST: &str = "1.88.0";

/// The minimum version of the other features.
const SECOND: &str = "1.89.0";

/// The features of the facade that need [`SECOND`].
const NEEDS_SECOND: &[&str] = &["actix", "graphql", "graphiql", "sql", "sqlite", "postgres"];

fn first_features() -> Vec<&'static str> {
    let features = FACADE_FEATURES.iter().chain(TYPE_FEATURES);
    features.filter(|feature| !NEEDS_SECOND.contains(feature)).copied().collect()
}

/// Returns a command of the toolchain with this version. It does not inherit
/// the variables of cargo, because they select the default toolchain.
fn rustup(version: &str, program: &str) -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", version, program]).current_dir(root());
    for variable in ["CARGO", "RUSTC", "RUSTDOC", "RUSTUP_TOOLCHAIN"] {
        command.env_remove(variable);
    }
    command
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_versions_are_the_documented_ones() {
        let read = |path: &str| fs::read_to_string(root().join(path)).unwrap();
        let (first, second) = (FIRST.trim_end_matches(".0"), SECOND.trim_end_matches(".0"));
        assert!(read("Cargo.toml").contains(&format!("\nrust-version = \"{first}\"\n")));
        let workflow = read(".github/workflows/ci.yml");
        assert!(workflow.contains(FIRST) && workflow.contains(SECOND));
        let policies = read("POLICIES.md");
        let rows: Vec<&str> = policies.lines().filter(|line| line.starts_with("| ")).collect();
        assert!(rows.contains(&&*format!("| `stockade` and its crates | {first} |")));
        let row = rows.iter().find(|row| row.starts_with("| with the features")).unwrap();
        assert!(row.ends_with(&format!("| {second} |")), "{row}");
        for feature in NEEDS_SECOND {
            assert!(row.contains(&format!("`{feature}`")), "{feature}: {row}");
        }
    }

    #[test]
    fn the_features_of_the_older_version_do_not_need_the_newer_one() {
        let features = first_features();
        assert!(features.contains(&"tls") && features.contains(&"uuid"));
        assert!(NEEDS_SECOND.iter().all(|feature| !features.contains(feature)));
    }
}
