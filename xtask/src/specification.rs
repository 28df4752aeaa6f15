//! References to the specification, such as `Spec: Errors › Response rules`.
//! Each begins with a heading of `docs/SPECIFICATION.md`.

use std::fs;
use std::path::Path;

/// The path of the document from the root of the workspace.
const DOCUMENT: &str = "docs/SPECIFICATION.md";

/// The headings of the specification.
pub struct Specification {
    headings: Vec<String>,
}

impl Specification {
    /// Reads the headings below this folder.
    pub fn read(root: &Path) -> Result<Self, String> {
        let text = fs::read_to_string(root.join(DOCUMENT));
        Ok(Self::of(&text.map_err(|error| format!("cannot read {DOCUMENT}: {error}"))?))
    }

    fn of(text: &str) -> Self {
        let titles = text.lines().filter(|line| line.starts_with('#'));
        Self { headings: titles.map(|line| plain(line.trim_start_matches('#'))).collect() }
    }

    /// Returns a fault for each reference in a source file to a heading that
    /// does not exist. A reference may end after any word of the heading.
    pub fn faults(&self, name: &str, source: &str) -> Vec<String> {
        let known = |part: &String| {
            let first = part.split(['›', ',']).next().unwrap_or_default();
            let first = plain(first);
            let begins = |heading: &String| {
                heading
                    .strip_prefix(&*first)
                    .is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
            };
            first.starts_with("rfc ") || (!first.is_empty() && self.headings.iter().any(begins))
        };
        let unknown = |(line, text): (usize, String)| {
            let parts = text.split(';').map(|part| part.trim().to_owned());
            let faults = parts.filter(|part| !known(part)).map(move |part| {
                format!("{name}:{line}: `Spec: {part}` does not begin with a heading of {DOCUMENT}")
            });
            faults.collect::<Vec<_>>()
        };
        references(source).into_iter().flat_map(unknown).collect()
    }
}

/// Returns each reference with its line number. A reference ends with a period
/// or with its comment.
fn references(source: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = source.lines().map(str::trim).collect();
    let begins = (1..).zip(&lines).filter_map(|(number, line)| {
        let (slashes, text) = line.split_once("Spec: ")?;
        slashes.starts_with("//").then_some((number, text))
    });
    let whole = |(number, text): (usize, &str)| {
        let mut whole = text.to_owned();
        for line in lines.iter().skip(number) {
            let comment =
                line.strip_prefix("//").map(|line| line.trim_start_matches(['/', '!']).trim());
            match comment {
                Some(more) if !whole.ends_with('.') && !more.is_empty() => {
                    whole.push(' ');
                    whole.push_str(more);
                }
                _ => break,
            }
        }
        let end = whole.find(". ").unwrap_or(whole.trim_end_matches('.').len());
        whole.truncate(end);
        (number, whole)
    };
    begins.map(whole).collect()
}

/// Returns a heading in lower case, without its code marks and its remark in
/// parentheses.
fn plain(heading: &str) -> String {
    let heading = heading.split('(').next().unwrap_or_default();
    heading.replace('`', "").trim().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_begins_with_a_heading() {
        #[track_caller]
        fn check(source: &str, expected: usize) {
            let text =
                "# All\n### Route tree (object router)\ntext\n### `withRole(roles)`\n## Errors\n";
            let faults = Specification::of(text).faults("a.rs", source);
            assert_eq!(faults.len(), expected, "{source}: {faults:?}");
        }
        check("/// Spec: Errors.", 0);
        check("// Spec: Route tree; Errors › Response rules 2.", 0);
        check("/// Spec: Route tree (object router); `withRole`,\n/// rule 1. More of it.", 0);
        check("/// Spec: Route tree\n///\n/// Unknown.", 0);
        check("//! Spec: Errors; RFC 9110, section 15.", 0);
        check("let it = \"Spec: unknown\";", 0);
        check("/// Spec: Route.", 0);
        check("/// Spec: Err.", 1);
        check("/// Spec: Errors; Mistakes › of all;\n/// Faults.", 2);
        check("/// Spec: .", 1);
    }
}
