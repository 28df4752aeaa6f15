//! [`header_names`]: the texts in the sources of a program that may be names of
//! request headers.
//!
//! A function cannot be asked which headers it reads. The name that it reads is a
//! text in its source, however unusual the name is.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Returns the texts in the Rust files below a folder that may name a header, in
/// lower case. Omits headers with a meaning in HTTP, and unreadable files.
pub(crate) fn header_names(folder: &Path) -> Vec<String> {
    let mut names = BTreeSet::new();
    let mut files = MAX_FILES;
    add_folder(folder, &mut files, &mut names);
    names.into_iter().take(MAX_NAMES).collect()
}

fn add_folder(folder: &Path, files: &mut usize, names: &mut BTreeSet<String>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.filter_map(Result::ok) {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        // A link may lead back to a folder above.
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && !name.starts_with('.') && name != "target" && name != "node_modules" {
            add_folder(&path, files, names);
        } else if kind.is_file() && name.ends_with(".rs") && *files > 0 {
            *files -= 1;
            if let Ok(text) = fs::read_to_string(&path) {
                add_text(&text, names);
            }
        }
    }
}

/// Adds the quoted words of a source. It does not parse Rust: a word in a comment
/// is sent as a header too, which does no harm.
fn add_text(text: &str, names: &mut BTreeSet<String>) {
    for (start, _) in text.match_indices('"') {
        let Some(rest) = text.get(start + 1..) else { continue };
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        let Some(end) = rest.find(|c| !is_part(c)) else { continue };
        let Some(name) = rest.get(..end).filter(|_| rest[end..].starts_with('"')) else { continue };
        let name = name.to_ascii_lowercase();
        if (2..=MAX_LENGTH).contains(&name.len()) && !is_standard(&name) {
            names.insert(name);
        }
    }
}

/// Returns true for headers that the server or other attacks use.
pub(crate) fn is_standard(name: &str) -> bool {
    let starts = ["accept", "access-control-", "content-", "if-", "proxy-", "sec-"];
    STANDARD.contains(&name) || starts.iter().any(|start| name.starts_with(start))
}

const STANDARD: [&str; 16] = [
    "authorization",
    "cache-control",
    "connection",
    "cookie",
    "date",
    "expect",
    "host",
    "http2-settings",
    "idempotency-key",
    "keep-alive",
    "origin",
    "range",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// The maximum number of files that are read.
const MAX_FILES: usize = 2_000;

/// The maximum number of names.
const MAX_NAMES: usize = 10_000;

/// The maximum length of a name.
const MAX_LENGTH: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quoted_words_may_name_headers() {
        let mut names = BTreeSet::new();
        let text = r##"
            req.headers().get("X-Zq7"); from_static("remote_user");
            r#"raw-name"#; b"bytes-name"; "two words"; "a/b"; "x"; ""; "Host"; "if-match";
            '"'; "after-char"
        "##;
        add_text(text, &mut names);
        let expected = ["after-char", "bytes-name", "raw-name", "remote_user", "x-zq7"];
        assert_eq!(names.into_iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn this_package_contains_its_own_names() {
        let names = header_names(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/src")));
        assert!(names.iter().any(|name| name == "x-zq7"), "{}", names.len());
        assert!(header_names(Path::new("no/such/folder")).is_empty());
    }
}
