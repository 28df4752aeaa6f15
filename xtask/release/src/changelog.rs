//! The section of CHANGELOG.md for the version.

use std::fs;

use xtask::root;

use crate::checklist::Checklist;
use crate::metadata::Workspace;

/// Checks the section for the current version.
pub(crate) fn check(workspace: &Workspace, list: &mut Checklist) {
    let text = fs::read_to_string(root().join("CHANGELOG.md"))
        .map_err(|error| format!("CHANGELOG.md: {error}"));
    let version = workspace.version();
    match text.and_then(|text| section(&text, version)) {
        Err(error) => list.check("changelog", Err::<String, _>(error)),
        Ok(Section { entries, date, .. }) if is_date(&date) => {
            list.check("changelog", Ok::<_, String>(format!("{entries} entries, {date}")));
        }
        Ok(Section { entries, date, title }) => {
            list.check("changelog", Ok::<_, String>(format!("{entries} entries")));
            list.open(
                "date",
                &format!("replace {date:?} by the date in `{title}` of CHANGELOG.md"),
            );
        }
    }
}

#[derive(Debug, Eq, PartialEq)]
struct Section {
    title: String,
    date: String,
    entries: usize,
}

/// Returns the section of a version. Fails if it is missing or empty, or if
/// entries are still in the section of unreleased changes.
fn section(text: &str, version: &str) -> Result<Section, String> {
    let begin = format!("## [{version}]");
    let mut found = None;
    for part in text.split("\n## ").skip(1) {
        let part = format!("## {part}");
        let (title, body) = part.split_once('\n').unwrap_or((&part, ""));
        let entries = body.lines().filter(|line| line.starts_with("- ")).count();
        if title.starts_with("## [Unreleased]") && entries > 0 {
            return Err(format!(
                "CHANGELOG.md: move the {entries} entries of `[Unreleased]` to `[{version}]`"
            ));
        }
        if let Some(date) = title.strip_prefix(&begin) {
            let date = date.trim_start_matches([' ', '-']).to_owned();
            found = Some(Section { title: title.to_owned(), date, entries });
        }
    }
    let found = found.ok_or(format!("CHANGELOG.md: the section `{begin}` is missing"))?;
    match found.entries {
        0 => Err(format!("CHANGELOG.md: the section `{begin}` is empty")),
        _ => Ok(found),
    }
}

/// Returns true for a date such as 2026-11-29.
fn is_date(text: &str) -> bool {
    let lengths: Vec<usize> = text.split('-').map(str::len).collect();
    lengths == [4, 2, 2] && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_section_of_a_version() {
        let text =
            "# Changelog\n\n## [Unreleased]\n\n## [0.1.0] - 2026-11-29\n\n### Added\n\n- A.\n";
        let expected = Section {
            title: "## [0.1.0] - 2026-11-29".to_owned(),
            date: "2026-11-29".to_owned(),
            entries: 1,
        };
        assert_eq!(section(text, "0.1.0"), Ok(expected));
        assert!(section(text, "0.2.0").unwrap_err().ends_with("`## [0.2.0]` is missing"));
        let empty = text.replace("- A.", "");
        assert!(section(&empty, "0.1.0").unwrap_err().ends_with("is empty"));
        let unreleased = text.replace("[Unreleased]", "[Unreleased]\n\n- B.");
        assert!(section(&unreleased, "0.1.0").unwrap_err().contains("move the 1 entries"));
    }

    #[test]
    fn recognizes_dates() {
        assert!(is_date("2026-11-29"));
        assert!(!is_date("not published yet") && !is_date("26-11-2029") && !is_date(""));
    }
}
