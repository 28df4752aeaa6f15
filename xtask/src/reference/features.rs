//! The features of the facade: its manifest, the table of the book, and the
//! Rust versions that README and book name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::page::{Page, codes};

/// Compares the table with the manifests in this folder.
pub fn check(page: &Page, root: &Path) -> Result<Vec<String>, String> {
    let read = |name: &str| {
        fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"))
    };
    let features = features(&read("facade/Cargo.toml")?);
    let mut faults = differences(page, &features);
    let newer = |package: &str| {
        let manifest = read(&format!("crates/{package}/Cargo.toml"))?;
        Ok(manifest.contains(&format!("\nrust-version = \"{NEWER}\"")))
    };
    let newer = with_newer_rust(&features, newer)?;
    let mut listed = BTreeSet::new();
    for row in page.rows().iter().filter(|row| row.cell(1).contains(&format!("(Rust {NEWER})"))) {
        listed.extend(codes(row.cell(0)).map(str::to_owned));
    }
    faults.extend(page.differences("feature with a newer Rust version", &listed, &newer));
    let readme = read("README.md")?;
    let (_, line) = readme
        .split_once(&format!("and {NEWER} with the features "))
        .ok_or_else(|| format!("README.md: name the features that need Rust {NEWER}"))?;
    let listed: BTreeSet<String> =
        codes(line.lines().next().unwrap_or_default()).map(str::to_owned).collect();
    if listed != newer {
        faults.push(format!("README.md: these features need Rust {NEWER}: {newer:?}"));
    }
    Ok(faults)
}

/// The version that some features need.
const NEWER: &str = "1.89";

/// The features, each with the features and crates that it enables.
type Features = BTreeMap<String, Vec<String>>;

fn features(manifest: &str) -> Features {
    let section = manifest.split_once("\n[features]\n").map_or("", |(_, rest)| rest);
    let section = section.split("\n[").next().unwrap_or_default();
    let lines = section.lines().filter(|line| !line.trim_start().starts_with('#'));
    let text: String = lines.flat_map(|line| [line, "\n"]).collect();
    let pairs = text.split("]\n").filter_map(|pair| pair.split_once(" = ["));
    let quoted = |text: &str| text.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    pairs.map(|(name, enabled)| (name.trim().to_owned(), quoted(enabled))).collect()
}

/// Returns the differences in names, and in the column of the defaults.
fn differences(page: &Page, features: &Features) -> Vec<String> {
    let names = features.keys().filter(|name| *name != "default").cloned().collect();
    let mut faults = page.differences("feature", &page.first_codes(), &names);
    let mut listed = BTreeSet::new();
    for row in page.rows().iter().filter(|row| row.cell(2) == "yes") {
        listed.extend(codes(row.cell(0)).map(str::to_owned));
    }
    let defaults = features.get("default").into_iter().flatten().cloned().collect();
    faults.extend(page.differences("default feature", &listed, &defaults));
    faults
}

/// Returns the features that enable a crate with a newer Rust version, directly
/// or by other features.
fn with_newer_rust(
    features: &Features,
    is_newer: impl Fn(&str) -> Result<bool, String>,
) -> Result<BTreeSet<String>, String> {
    let mut found = BTreeSet::new();
    for name in features.keys() {
        let (mut open, mut seen) = (vec![name.clone()], BTreeSet::new());
        while let Some(feature) = open.pop() {
            let enabled = features.get(&feature).into_iter().flatten();
            open.extend(enabled.filter(|other| seen.insert((*other).clone())).cloned());
            if let Some(package) = feature.strip_prefix("dep:")
                && is_newer(package)?
            {
                found.insert(name.clone());
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str = "[a]\nb = [1]\n\n[features]\ndefault = [\"a\"]\n# It.\na = []\n\
                            b-c = [\n    \"x\",\n]\nx = [\"dep:new\"]\n\n[c]\nd = []\n";

    #[test]
    fn the_manifest_lists_features() {
        let found: Vec<String> = features(MANIFEST)
            .into_iter()
            .map(|(name, enabled)| format!("{name}: {}", enabled.join(" ")))
            .collect();
        assert_eq!(found, ["a: ", "b-c: x", "default: a", "x: dep:new"]);
    }

    #[test]
    fn a_feature_inherits_the_rust_version() {
        let found = with_newer_rust(&features(MANIFEST), |package| Ok(package == "new"));
        assert_eq!(found, Ok(["b-c", "x"].map(str::to_owned).into()));
    }
}
