//! The groups of files: each crate, and each Markdown file.

use std::fs;
use std::path::{Path, PathBuf};

/// Files that share a line of the table.
pub(crate) struct Group {
    pub(crate) name: String,
    pub(crate) files: Vec<PathBuf>,
}

/// Folders without prose of the project.
const SKIPPED: &[&str] = &["target", ".git", "node_modules", "vectors"];

/// Documents with prose from others: the specification and the licenses.
const FOREIGN: &[&str] = &["SPECIFICATION.md", "LICENSE.md"];

/// Source folders that form one group each, in addition to each crate.
const FOLDERS: &[&str] = &["facade", "examples", "tests", "xtask"];

pub(crate) fn groups(root: &Path) -> Result<Vec<Group>, String> {
    let mut folders = entries(&root.join("crates"))?;
    folders.extend(FOLDERS.iter().map(|folder| root.join(folder)));
    let mut groups = Vec::new();
    for folder in folders {
        groups.push(Group { name: name(root, &folder), files: files(&folder, "rs")? });
    }
    for document in files(root, "md")? {
        if !FOREIGN.iter().any(|foreign| document.ends_with(foreign)) {
            groups.push(Group { name: name(root, &document), files: vec![document] });
        }
    }
    Ok(groups)
}

fn name(root: &Path, path: &Path) -> String {
    path.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Returns all files below a folder with an extension, in order. Skips symbolic links.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    for entry in entries(folder)? {
        let name = entry.file_name().unwrap_or_default().to_string_lossy();
        if entry.is_symlink() || SKIPPED.contains(&&*name) {
            continue;
        }
        if entry.is_dir() {
            found.extend(files(&entry, extension)?);
        } else if entry.extension().is_some_and(|it| it == extension) {
            found.push(entry);
        }
    }
    Ok(found)
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let fault = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(fault)?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()).map_err(fault))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}
