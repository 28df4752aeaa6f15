//! The archives that `cargo package` writes.

use std::fs;
use std::path::Path;
use std::process::Command;

use xtask::{announce, root};

use crate::checklist::Checklist;
use crate::manifests::fail_with;
use crate::metadata::{Package, Workspace};

/// Packages all crates, compiles them if `verify` is set, and checks the content
/// of their archives.
pub(crate) fn check(workspace: &Workspace, verify: bool, list: &mut Checklist) {
    match xtask::package_crates(if verify { &[] } else { &["--no-verify"] }) {
        Err(error) => {
            list.check("cargo package", Err::<String, _>(error));
            list.skip("licenses of packages", "`cargo package` failed");
        }
        Ok(()) => {
            let count = workspace.published().count();
            list.check("cargo package", Ok::<_, String>(format!("{count} crates")));
            if verify {
                list.check("compile packages", Ok::<_, String>("each from its archive"));
            } else {
                list.skip("compile packages", "because of `--no-verify`");
            }
            list.check("licenses of packages", archives(workspace));
        }
    }
}

fn archives(workspace: &Workspace) -> Result<String, String> {
    let mut faults = Vec::new();
    let mut size = 0;
    for package in workspace.published() {
        let name = format!("{}-{}", package.name, package.version);
        let archive = workspace.target_directory.join(format!("package/{name}.crate"));
        let path = archive.display();
        size += fs::metadata(&archive).map_err(|error| format!("{path}: {error}"))?.len();
        faults.extend(archive_faults(package, &archive, &name)?);
    }
    fail_with(faults)?;
    Ok(format!("each archive has the texts of its licenses ({} KB in total)", size.div_ceil(1024)))
}

/// The files that each archive contains in addition to its sources. The
/// licenses have the text of the files in the root.
const LICENSES: [&str; 2] = ["LICENSE-MIT", "LICENSE-APACHE"];

fn archive_faults(package: &Package, archive: &Path, name: &str) -> Result<Vec<String>, String> {
    let files = tar(&["-tzf"], archive, &[])?;
    let files: Vec<&str> = files.lines().collect();
    let mut faults = missing(&files, name);
    for license in LICENSES.iter().filter(|license| !is_missing(&files, name, license)) {
        let text = fs::read_to_string(root().join(license));
        let text = text.map_err(|error| format!("{license}: {error}"))?;
        if tar(&["-xzOf"], archive, &[&format!("{name}/{license}")])? != text {
            faults.push(format!("{}: {license} differs from the file in the root", package.name));
        }
    }
    Ok(faults)
}

/// Returns a fault for each file that an archive lacks.
fn missing(files: &[&str], name: &str) -> Vec<String> {
    let expected = ["Cargo.toml", "README.md"].into_iter().chain(LICENSES);
    let missing = expected.filter(|file| is_missing(files, name, file));
    missing.map(|file| format!("{name}.crate does not contain {file}")).collect()
}

fn is_missing(files: &[&str], name: &str, file: &str) -> bool {
    !files.contains(&&*format!("{name}/{file}"))
}

/// Runs tar, and returns its output.
fn tar(arguments: &[&str], archive: &Path, files: &[&str]) -> Result<String, String> {
    let mut tar = Command::new("tar");
    tar.args(arguments).arg(archive).args(files);
    announce(&tar);
    let output = tar.output().map_err(|error| format!("cannot start tar: {error}"))?;
    if !output.status.success() {
        return Err(format!("tar cannot read {}", archive.display()));
    }
    String::from_utf8(output.stdout).map_err(|error| format!("{}: {error}", archive.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_missing_licenses() {
        let files =
            ["a-1/Cargo.toml", "a-1/README.md", "a-1/LICENSE-MIT", "a-1/src/LICENSE-APACHE"];
        assert_eq!(missing(&files, "a-1"), ["a-1.crate does not contain LICENSE-APACHE"]);
    }
}
