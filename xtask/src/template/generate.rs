//! Generates a program from the template, as cargo-generate does.

use std::fs;
use std::path::{Path, PathBuf};

use super::liquid::{Variables, expand, holds};
use crate::Outcome;
use crate::tidy::files_below;

/// The file with the questions of cargo-generate. It is not part of a program.
const QUESTIONS: &str = "cargo-generate.toml";

/// The name of the generated programs.
pub(super) const NAME: &str = "notes";

/// A combination of answers.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Choice {
    pub(super) database: &'static str,
    pub(super) auth: &'static str,
}

impl Choice {
    /// All combinations.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        ["none", "sqlite", "postgres"].into_iter().flat_map(|database| {
            ["none", "jwt", "sessions"].into_iter().map(move |auth| Self { database, auth })
        })
    }

    /// The name of its folder.
    pub(super) fn name(self) -> String {
        format!("{}-{}", self.database, self.auth)
    }

    /// The variables of the template. If `stockade` is empty, the program
    /// depends on the published crate.
    pub(super) fn variables(self, stockade: &str) -> [(&'static str, &str); 4] {
        [
            ("project-name", NAME),
            ("database", self.database),
            ("auth", self.auth),
            ("stockade_path", stockade),
        ]
    }
}

/// Returns the expanded text of one file of the template.
pub(super) fn file(
    template: &Path,
    name: &str,
    variables: &Variables<'_>,
) -> Result<String, String> {
    let path = template.join(name);
    let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    expand(&text, variables).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a program to a new folder.
pub(super) fn write(template: &Path, folder: &Path, variables: &Variables<'_>) -> Outcome {
    let questions = template.join(QUESTIONS);
    let questions = fs::read_to_string(&questions)
        .map_err(|error| format!("{}: {error}", questions.display()))?;
    let omitted = omitted(&questions, variables)?;
    for path in files_below(template) {
        let name = path.strip_prefix(template).unwrap_or(&path).display().to_string();
        let is_omitted = omitted.iter().any(|it| Path::new(&name).starts_with(it));
        if name == QUESTIONS || is_omitted {
            continue;
        }
        let text = file(template, &name, variables)?;
        let to = folder.join(name.strip_suffix(".liquid").unwrap_or(&name));
        let fault = |error: std::io::Error| format!("{}: {error}", to.display());
        fs::create_dir_all(to.parent().unwrap_or(folder)).map_err(fault)?;
        fs::write(&to, text).map_err(fault)?;
    }
    Ok(())
}

/// Returns the files and folders that the conditions of the questions omit.
fn omitted(questions: &str, variables: &Variables<'_>) -> Result<Vec<PathBuf>, String> {
    let mut omitted = Vec::new();
    for section in questions.split("\n[conditional.'").skip(1) {
        let (condition, rest) =
            section.split_once("']\n").ok_or("the end of a condition is missing")?;
        if !holds(condition, variables)? {
            continue;
        }
        let list = rest.strip_prefix("ignore = [").and_then(|rest| rest.split_once(']'));
        let (list, _) =
            list.ok_or(format!("add the list `ignore` to the condition `{condition}`"))?;
        omitted.extend(list.split('"').skip(1).step_by(2).map(PathBuf::from));
    }
    Ok(omitted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_omit_files() {
        let questions = "[template]\n\n[conditional.'database == \"none\"']\nignore = [\"a\", \
                         \"b/c\"]\n\n[conditional.'auth == \"none\"']\nignore = [\"d\"]\n";
        let omitted = |database: &'static str, auth: &'static str| {
            let choice = Choice { database, auth };
            omitted(questions, &choice.variables("")).unwrap()
        };
        assert_eq!(omitted("none", "jwt"), [Path::new("a"), Path::new("b/c")]);
        assert_eq!(omitted("sqlite", "none"), [Path::new("d")]);
        assert!(omitted("sqlite", "jwt").is_empty());
    }

    #[test]
    fn every_file_of_nine_programs_expands() {
        let template = crate::root().join(super::super::TEMPLATE);
        assert_eq!(Choice::all().count(), 9);
        for choice in Choice::all() {
            for path in files_below(&template) {
                let name = path.strip_prefix(&template).unwrap().display().to_string();
                for stockade in ["", "../stockade/facade"] {
                    let text = file(&template, &name, &choice.variables(stockade)).unwrap();
                    assert!(!text.contains("{%") && !text.contains("{{"), "{name}: {text}");
                }
            }
        }
    }
}
