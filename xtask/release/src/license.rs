//! License expressions of dependencies, against the list in `deny.toml`.

use std::fs;

use xtask::root;

use crate::manifests::fail_with;
use crate::metadata::Workspace;

/// Checks the license of each package that a program compiles with stockade.
/// Unlike cargo-deny it reads only the manifests, so it needs no other tool.
pub(crate) fn check(workspace: &Workspace) -> Result<String, String> {
    let text = fs::read_to_string(root().join("deny.toml"));
    let text = text.map_err(|error| format!("deny.toml: {error}"))?;
    let (allowed, exceptions) = allowed(&text)?;
    let shipped = workspace.shipped()?;
    let mut faults = Vec::new();
    for (package, _) in &shipped {
        let expression = package.license.as_deref().unwrap_or_default();
        let of_package = exceptions.iter().filter(|(name, _)| *name == package.name);
        let of_package: Vec<&str> = of_package.flat_map(|(_, ids)| ids.clone()).collect();
        let is_allowed = |id: &str| allowed.contains(&id) || of_package.contains(&id);
        if !satisfies(expression, &is_allowed) {
            faults.push(format!(
                "{} {}: the license {expression:?} is not in deny.toml",
                package.name, package.version
            ));
        }
    }
    fail_with(faults)?;
    Ok(format!("{} packages, by their manifests", shipped.len()))
}

/// The licenses for all packages, and the additional licenses of some.
type Allowed<'t> = (Vec<&'t str>, Vec<(&'t str, Vec<&'t str>)>);

/// Reads the lists in `deny.toml`.
fn allowed(text: &str) -> Result<Allowed<'_>, String> {
    let (_, licenses) = text.split_once("\n[licenses]\n").ok_or("deny.toml: no `[licenses]`")?;
    let (licenses, _) = licenses.split_once("\n[").unwrap_or((licenses, ""));
    let (general, exceptions) = licenses.split_once("\nexceptions = ").unwrap_or((licenses, ""));
    let exceptions = exceptions.split("{ crate = ").skip(1).map(|exception| {
        let mut words = quoted(exception);
        (words.next().unwrap_or_default(), words.collect())
    });
    Ok((quoted(general).collect(), exceptions.collect()))
}

/// Returns the texts between quotation marks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('"').skip(1).step_by(2)
}

/// Returns true if the licenses that `is_allowed` accepts are enough for an
/// SPDX expression.
pub(crate) fn satisfies(expression: &str, is_allowed: &dyn Fn(&str) -> bool) -> bool {
    let spaced = expression.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    any(&mut rest, is_allowed).is_some_and(|result| result && rest.is_empty())
}

/// Reads alternatives; `None` means a malformed expression.
fn any(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut result = all(rest, is_allowed)?;
    while let ["OR", after @ ..] = *rest {
        *rest = after;
        result |= all(rest, is_allowed)?;
    }
    Some(result)
}

/// Reads licenses that apply together.
fn all(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let mut result = one(rest, is_allowed)?;
    while let ["AND", after @ ..] = *rest {
        *rest = after;
        result &= one(rest, is_allowed)?;
    }
    Some(result)
}

/// Reads one license, or an expression in parentheses.
fn one(rest: &mut &[&str], is_allowed: &dyn Fn(&str) -> bool) -> Option<bool> {
    let (first, after) = rest.split_first()?;
    *rest = after;
    if *first == "(" {
        let result = any(rest, is_allowed)?;
        *rest = rest.strip_prefix(&[")"])?;
        return Some(result);
    }
    // An exception only adds permissions.
    if let ["WITH", _, after @ ..] = *rest {
        *rest = after;
    }
    (!["AND", "OR", "WITH", ")"].contains(first)).then(|| is_allowed(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluates_expressions() {
        #[track_caller]
        fn check(expression: &str, expected: bool) {
            let is_allowed = |id: &str| ["MIT", "Apache-2.0", "ISC"].contains(&id);
            assert_eq!(satisfies(expression, &is_allowed), expected, "{expression}");
        }
        check("MIT", true);
        check("GPL-3.0", false);
        check("MIT OR GPL-3.0", true);
        check("GPL-3.0/MIT", true);
        check("MIT AND GPL-3.0", false);
        check("Apache-2.0 AND ISC", true);
        check("(MIT OR GPL-3.0) AND (ISC)", true);
        check("GPL-3.0 AND ISC OR MIT", true);
        check("GPL-3.0 AND (ISC OR MIT)", false);
        check("Apache-2.0 WITH LLVM-exception", true);
        for malformed in ["", "MIT OR", "(MIT", "MIT)", "MIT ISC", "AND", "OR MIT"] {
            check(malformed, false);
        }
    }

    #[test]
    fn reads_the_lists_of_deny_toml() {
        let text = "[graph]\n\n[licenses]\nallow = [\n    \"MIT\",\n    \"ISC\",\n]\n\
                    exceptions = [{ crate = \"a\", allow = [\"0BSD\"] }]\n\n[bans]\nx = \"y\"\n";
        let expected = (vec!["MIT", "ISC"], vec![("a", vec!["0BSD"])]);
        assert_eq!(allowed(text), Ok(expected));
        let ours = fs::read_to_string(root().join("deny.toml")).unwrap();
        assert!(allowed(&ours).unwrap().0.contains(&"Unicode-3.0"));
    }
}
