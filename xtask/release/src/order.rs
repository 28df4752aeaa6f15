//! The publication order of the crates.

use crate::metadata::{Package, Workspace};

/// Returns the names of the crates, each after its dependencies, including
/// test dependencies that remain in the published manifest.
pub(crate) fn of(workspace: &Workspace) -> Result<Vec<&str>, String> {
    let mut waiting: Vec<&Package> = workspace.published().collect();
    let mut order: Vec<&str> = Vec::new();
    while !waiting.is_empty() {
        let (ready, blocked): (Vec<&Package>, Vec<&Package>) =
            waiting.iter().partition(|package| {
                let ours = package.dependencies.iter().filter(|it| it.path.is_some());
                let mut needed = ours.filter(|dependency| dependency.is_published());
                needed.all(|dependency| order.contains(&&*dependency.name))
            });
        if ready.is_empty() {
            let names: Vec<&str> = blocked.iter().map(|package| &*package.name).collect();
            return Err(format!(
                "these crates depend on each other: {}; remove the version of a test dependency, \
                 then cargo omits it from the published manifest",
                names.join(", ")
            ));
        }
        order.extend(ready.iter().map(|package| &*package.name));
        waiting = blocked;
    }
    Ok(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::tests::{on, workspace};

    #[test]
    fn dependencies_come_first() {
        let found = workspace(&[
            ("c", "0.1.0", &[on("b", "^0.1.0", Some("dev"))]),
            ("b", "0.1.0", &[on("a", "^0.1.0", None)]),
            ("a", "0.1.0", &[on("c", "*", Some("dev"))]),
        ]);
        assert_eq!(of(&found), Ok(vec!["a", "b", "c"]));
    }

    #[test]
    fn circles_of_published_dependencies_are_errors() {
        let found = workspace(&[
            ("a", "0.1.0", &[on("b", "^0.1.0", Some("dev"))]),
            ("b", "0.1.0", &[on("a", "^0.1.0", None)]),
        ]);
        assert!(of(&found).unwrap_err().starts_with("these crates depend on each other: a, b;"));
    }
}
