//! Writes `routes.lock` of the template from the locks of all programs.

use std::fs;
use std::path::Path;

use super::generate::Choice;
use crate::Outcome;

/// Reads the locks of the programs in this folder, and writes the file.
pub(super) fn save(template: &Path, programs: &Path) -> Outcome {
    let mut locks = Vec::new();
    for choice in Choice::all() {
        let path = programs.join(choice.name()).join("routes.lock");
        let text = fs::read_to_string(&path);
        locks.push((choice, text.map_err(|error| format!("{}: {error}", path.display()))?));
    }
    let path = template.join("routes.lock");
    fs::write(&path, joined(&locks)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Joins the locks to a text of the template. A lock that does not depend on
/// the driver of the database is in it once.
fn joined(locks: &[(Choice, String)]) -> String {
    let mut text = String::new();
    for (choice, lock) in locks {
        let has_same_lock = |(other, other_lock): &(Choice, String)| {
            other.auth == choice.auth && other.database == "sqlite" && other_lock == lock
        };
        let condition = match choice.database {
            "none" => format!("database == \"none\" and auth == \"{}\"", choice.auth),
            "postgres" if locks.iter().any(has_same_lock) => continue,
            "sqlite" if has_postgres_lock(locks, choice.auth, lock) => {
                format!("database != \"none\" and auth == \"{}\"", choice.auth)
            }
            database => format!("database == \"{database}\" and auth == \"{}\"", choice.auth),
        };
        let word = if text.is_empty() { "if" } else { "elsif" };
        text += &format!("{{% {word} {condition} -%}}\n{lock}");
    }
    text + "{% endif -%}\n"
}

fn has_postgres_lock(locks: &[(Choice, String)], auth: &str, lock: &str) -> bool {
    let mut same = locks.iter().filter(|(choice, _)| choice.auth == auth);
    same.any(|(choice, other)| choice.database == "postgres" && other == lock)
}

#[cfg(test)]
mod tests {
    use super::super::liquid::expand;
    use super::*;

    #[track_caller]
    fn check(lock_of: impl Fn(Choice) -> String, branches: usize) {
        let locks: Vec<(Choice, String)> =
            Choice::all().map(|choice| (choice, lock_of(choice))).collect();
        let text = joined(&locks);
        assert_eq!(text.matches("if database").count(), branches, "{text}");
        for (choice, lock) in &locks {
            assert_eq!(expand(&text, &choice.variables("")).as_ref(), Ok(lock), "{text}");
        }
    }

    #[test]
    fn each_program_gets_its_lock() {
        check(|choice| format!("{{ \"name\": {:?} }}\n", choice.name()), 9);
        check(|choice| format!("{:?} {:?}\n", choice.database == "none", choice.auth), 6);
    }
}
