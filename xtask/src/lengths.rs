//! Maximum lengths of the documents in the root. `SECURITY.md`, `POLICIES.md`
//! and the other documents do not have a limit.

use std::fs;
use std::path::Path;

/// Returns the faults of the documents in this folder.
pub fn check(root: &Path) -> Result<Vec<String>, String> {
    let mut faults = Vec::new();
    for limit in LIMITS {
        let mut texts = Vec::new();
        for name in limit.files {
            let text = fs::read_to_string(root.join(name));
            texts.push(text.map_err(|error| format!("{name}: {error}"))?);
        }
        faults.extend(limit.fault(&texts));
    }
    Ok(faults)
}

/// The maximum length of one document, or of several together.
struct Limit {
    files: &'static [&'static str],
    unit: Unit,
    max: usize,
}

#[derive(Clone, Copy)]
enum Unit {
    Lines,
    /// Words between white space, including code and tables.
    Words,
}

const LIMITS: &[Limit] = &[
    Limit { files: &["README.md"], unit: Unit::Lines, max: 235 },
    Limit { files: &["ARCHITECTURE.md"], unit: Unit::Words, max: 4_000 },
    Limit { files: &["CONTRIBUTING.md"], unit: Unit::Words, max: 1_200 },
    Limit {
        files: &["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"],
        unit: Unit::Words,
        max: 8_000,
    },
];

impl Limit {
    /// Returns the fault if the texts are longer than the limit together.
    fn fault(&self, texts: &[String]) -> Option<String> {
        let length: usize = texts.iter().map(|text| self.unit.count(text)).sum();
        (length > self.max).then(|| {
            format!(
                "{}: {length} {}, at most {} are allowed: move text to `book` or \
                 `docs/decisions`",
                self.files.join(", "),
                self.unit.name(),
                self.max
            )
        })
    }
}

impl Unit {
    fn count(self, text: &str) -> usize {
        match self {
            Self::Lines => text.lines().count(),
            Self::Words => text.split_whitespace().count(),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Lines => "lines",
            Self::Words => "words",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_long_documents() {
        #[track_caller]
        fn check(unit: Unit, texts: &[&str], expected: Option<&str>) {
            let limit = Limit { files: &["A.md", "B.md"], unit, max: 4 };
            let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
            assert_eq!(limit.fault(&texts).as_deref(), expected);
        }
        let lines = "A.md, B.md: 5 lines, at most 4 are allowed: move text to `book` or \
                     `docs/decisions`";
        check(Unit::Lines, &["one two\nthree\n", "four\n\n"], None);
        check(Unit::Lines, &["one\n\n", "three\n\nfive"], Some(lines));
        check(Unit::Words, &["one  two\n", "three\nfour"], None);
        let words = lines.replace("lines", "words");
        check(Unit::Words, &["one two", "three | `five`\n"], Some(&words));
    }

    #[test]
    fn documents_are_within_their_limits() {
        assert_eq!(check(&crate::root()), Ok(Vec::new()));
    }

    #[test]
    fn a_missing_document_is_a_fault() {
        assert!(check(Path::new("/nowhere")).is_err_and(|fault| fault.starts_with("README.md: ")));
    }
}
