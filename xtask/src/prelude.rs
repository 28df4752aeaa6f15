//! Checks that the facade's prelude is small: it contains the names that a
//! handler file needs, rather than a second copy of the modules.

use std::fs;
use std::path::Path;

/// Returns the faults of the prelude of the workspace in `root`.
pub fn check(root: &Path) -> Vec<String> {
    match fs::read_to_string(root.join(PRELUDE)) {
        Ok(text) => fault(&text).into_iter().collect(),
        Err(error) => vec![format!("{PRELUDE}: {error}")],
    }
}

fn fault(text: &str) -> Option<String> {
    let count = names(text).len();
    (count > MAX_NAMES).then(|| {
        format!(
            "{PRELUDE}: {count} names, at most {MAX_NAMES} are allowed: keep other names in \
                 their modules"
        )
    })
}

/// Returns the distinct names in a file of re-exports: a trait and its derive
/// macro share one name.
fn names(text: &str) -> Vec<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with(['/', '#']));
    let mut names: Vec<&str> = code
        .flat_map(|line| line.split([',', '{', '}', ';']))
        .map(|path| path.rsplit([':', ' ']).next().unwrap_or_default())
        // The text before a list is an unfinished path, and the text after it
        // is empty.
        .filter(|name| !name.is_empty())
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

const PRELUDE: &str = "facade/src/prelude.rs";

/// The maximum number of names. More would include names that most programs do
/// not use.
const MAX_NAMES: usize = 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_counts_once() {
        let text = "//! Names.\n//! use a::{b, c};\npub use a::Thing;\n#[cfg(feature = \"x\")]\n\
            pub use b::{Other, self_made, Thing};\npub use c::{\n    Long, Longer,\n};\n\
            pub use d::Old as New;\n";
        assert_eq!(names(text), ["Long", "Longer", "New", "Other", "Thing", "self_made"]);
    }

    #[test]
    fn the_prelude_has_room_for_few() {
        let many: String =
            (0..=MAX_NAMES).map(|number| format!("pub use a::N{number};\n")).collect();
        assert_eq!(fault(&many[..many.len() - 1 - "pub use a::N40;".len()]), None);
        let expected = "facade/src/prelude.rs: 41 names, at most 40 are allowed: keep other \
                        names in their modules";
        assert_eq!(fault(&many).as_deref(), Some(expected));
        assert_eq!(check(&crate::root()), Vec::<String>::new());
    }
}
