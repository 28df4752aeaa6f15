//! The levels of the crates from `cargo tree`, circles of files, the names and
//! uses of `__internal`, and licenses and advisories.

use std::env;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::tidy::files_below;
use crate::{Outcome, announce, cargo, cargo_output, package, root, skip};

/// Our crates and their levels: a crate depends only on lower levels.
///
/// See ARCHITECTURE.md, "Who may depend on whom".
const LEVELS: &[(&str, u8)] = &[
    ("stockade-errors", 0),
    ("stockade-graphiql", 0),
    ("stockade-json", 0),
    ("stockade-macros", 0),
    ("stockade-path", 0),
    ("stockade-swagger-ui", 0),
    ("stockade-auth", 1),
    ("stockade-serialization", 1),
    ("stockade-validation", 1),
    ("stockade-map", 2),
    ("stockade-core", 3),
    ("stockade-stages", 4),
    ("stockade-websockets", 4),
    ("stockade-middleware", 5),
    ("stockade-routing", 5),
    ("stockade-rest", 6),
    ("stockade-server", 6),
    ("stockade-openapi", 6),
    ("stockade-mcp", 6),
    ("stockade-redis", 6),
    ("stockade-rpc", 6),
    ("stockade-graphql", 6),
    ("stockade-axum", 6),
    ("stockade-actix", 6),
    ("stockade-conformance", 7),
    ("stockade-hardening", 7),
    ("stockade-sql", 7),
    ("stockade-testing", 8),
    ("stockade", 9),
];

/// Returns the names of our crates.
pub fn crates() -> impl Iterator<Item = &'static str> {
    LEVELS.iter().map(|(name, _)| *name)
}

/// Workspace members outside the library. They do not have a level and may
/// depend on everything.
const WITHOUT_LEVEL: &[&str] = &[
    "auth-only",
    "cluster",
    "graphql",
    "in-actix",
    "in-axum",
    "internal-examples",
    "shop",
    "stockade-doc-examples",
    "stockade-examples",
    "stockade-tests",
    "stockade-tests-hosts",
    "stockade-tests-mcp",
    "stockade-tests-openapi",
    "stockade-tests-ui",
    "stockade-tutorial",
    "tenants",
    "validation-only",
    "xtask",
    "xtask-circles",
    "xtask-cluster",
    "xtask-compile-cost",
    "xtask-prose",
    "xtask-release",
];

/// Allowed edges within a level: the macros and the router parse paths with the
/// same crate, and JSON errors become an `ApiError`.
const ALLOWED_WITHIN_LEVEL: &[(&str, &str)] =
    &[("stockade-json", "stockade-errors"), ("stockade-macros", "stockade-path")];

/// Crates that a crate of a level must not depend on, directly or indirectly.
const FORBIDDEN: &[(u8, &[&str])] = &[
    (1, &["http", "http-body", "hyper", "hyper-util", "tokio", "tower-service"]),
    // RUSTSEC-2023-0071 does not have a fix, and ring is the only provider.
    (8, &["aws-lc-rs", "rsa"]),
    (5, &["hyper", "hyper-util", "tokio-rustls", "rustls"]),
];

/// The module of our crates without stability guarantees: a private interface
/// between them.
// The name is split, otherwise the check would find it here.
const DOOR: &str = concat!("__", "internal");

/// Allowed uses of the module outside the sources and tests of our crates. The
/// first measures a route table without a router, two have room members without
/// sockets, and the last has a row for each setting of the table.
const MAY_USE_THE_DOOR: &[&str] = &[
    "tests/bench/micro/benches/match.rs",
    "crates/stockade-redis/tests/it/rooms/load.rs",
    "crates/stockade-redis/tests/it/rooms/mod.rs",
    "tests/it/routing/settings.rs",
];

pub fn run() -> Outcome {
    package::circles()?;
    let faults = uses_of_the_door();
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let members = cargo_output(&["tree", "--workspace", "--depth=0", "--prefix=none"])?;
    let faults = misplaced(LEVELS, &names(&members));
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    let mut faults = Vec::new();
    for (krate, level) in LEVELS {
        let features = ["tree", "--edges=normal", "--prefix=none", "--all-features", "-p", krate];
        let below = names(&cargo_output(&features)?);
        faults.extend(forbidden(krate, *level, &below));
        let direct = cargo_output(&[&features[..], &["--depth=1"]].concat())?;
        faults.extend(upward(krate, *level, &names(&direct)));
        println!("{krate}: level {level}, {} crates below", below.len() - 1);
    }
    if !faults.is_empty() {
        return Err(faults.join("\n"));
    }
    if has_cargo("deny") {
        // Advisories need a database that may be unavailable. They are checked
        // below, where a missing database can be reported.
        cargo(&["deny", "check", "bans", "licenses", "sources"])?;
    } else {
        skip("licenses (`cargo install cargo-deny --locked`, then run this again)");
    }
    if !has_cargo("audit") {
        skip("advisories (`cargo install cargo-audit --locked`, then run this again)");
    } else if !has_advisories() {
        skip("advisories (no database here; `cargo audit` fetches it, then run this again)");
    } else {
        cargo(&["audit", "--no-fetch"])?;
    }
    Ok(())
}

/// Returns uses of the module in code that represents user code: tests,
/// examples and documentation.
fn uses_of_the_door() -> Vec<String> {
    let root = root();
    let folders = ["crates", "facade", "examples", "tests", "README.md"].map(|it| root.join(it));
    let files = folders
        .iter()
        .flat_map(|path| if path.is_dir() { files_below(path) } else { vec![path.clone()] });
    let hidden = hidden_modules();
    let mut faults = Vec::new();
    for path in files {
        // Skips files that are not text.
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        // The lists of public items and profiles contain the paths of
        // definitions.
        let is_list = name.ends_with(".txt");
        faults.extend(forced(&name, &text, if is_list { &[] } else { &hidden }));
    }
    faults
}

/// Returns the paths of our crates' hidden modules, through the crate and
/// through the facade.
fn hidden_modules() -> Vec<String> {
    let mut paths = Vec::new();
    for krate in crates().filter_map(|krate| krate.strip_prefix("stockade-")) {
        let lib = root().join(format!("crates/stockade-{krate}/src/lib.rs"));
        let text = fs::read_to_string(lib).unwrap_or_default();
        let names = hidden_in(&text);
        paths.extend(names.flat_map(|name| {
            [format!("stockade_{krate}::{name}::"), format!("stockade::{krate}::{name}::")]
        }));
    }
    paths.iter().map(|path| path.replace('-', "_")).collect()
}

/// Returns the names of the hidden modules in the text of a `lib.rs`.
fn hidden_in(text: &str) -> impl Iterator<Item = &str> {
    let after = text.split("#[doc(hidden)]\npub mod ").skip(1);
    let names = after.filter_map(|rest| rest.split([';', ' ']).next());
    // Tests may use the random generator.
    names.filter(|name| !name.starts_with("__") && *name != "random")
}

/// Returns the lines of a file that use a private module of our crates without
/// permission.
fn forced(name: &str, text: &str, hidden: &[String]) -> Vec<String> {
    if MAY_USE_THE_DOOR.contains(&name) {
        return Vec::new();
    }
    let is_source = name.starts_with("crates/") && name.contains("/src/");
    let own = own_crate(name);
    let used_in = |line: &str| {
        let is_example = line.trim_start().starts_with("//");
        let is_own = own.as_ref().is_some_and(|own| line.contains(own));
        if !is_example && (is_source || is_own) {
            return None;
        }
        let mut doors = std::iter::once(DOOR).chain(hidden.iter().map(String::as_str));
        doors.find(|door| line.contains(door)).map(str::to_owned)
    };
    let lines = text.lines().enumerate();
    let used = lines.filter_map(|(index, line)| Some((index, used_in(line)?)));
    used.map(|(index, door)| {
        format!("{name}:{}: `{door}` is only for the crates of the framework", index + 1)
    })
    .collect()
}

/// Returns the path prefix of the crate that this file tests.
fn own_crate(name: &str) -> Option<String> {
    let (krate, path) = name.strip_prefix("crates/")?.split_once('/')?;
    path.starts_with("tests/").then(|| format!("{}::", krate.replace('-', "_")))
}

/// Returns workspace members without a level, and levels for crates that do not
/// exist.
fn misplaced(levels: &[(&str, u8)], members: &[String]) -> Vec<String> {
    let levelled = |name: &str| levels.iter().any(|(known, _)| *known == name);
    let without = members
        .iter()
        .filter(|name| !levelled(name) && !WITHOUT_LEVEL.contains(&name.as_str()))
        .map(|name| format!("{name} does not have a level: add it to xtask/src/audit.rs"));
    let absent = levels.iter().filter(|(known, _)| !members.iter().any(|name| name == known)).map(
        |(known, _)| format!("{known} does not exist: remove its level from xtask/src/audit.rs"),
    );
    without.chain(absent).collect()
}

/// Returns the distinct names in the output of `cargo tree --prefix=none`.
fn names(tree: &str) -> Vec<String> {
    let mut names: Vec<String> =
        tree.lines().filter_map(|line| line.split_whitespace().next()).map(str::to_owned).collect();
    names.sort();
    names.dedup();
    names
}

/// Returns the third-party crates that this crate must not depend on.
fn forbidden(krate: &str, level: u8, below: &[String]) -> Vec<String> {
    let lists = FORBIDDEN.iter().filter(|(up_to, _)| level <= *up_to);
    let names = lists.flat_map(|(_, names)| names.iter());
    names
        .filter(|name| below.iter().any(|found| found == *name))
        .map(|name| format!("{krate} (level {level}) must not have {name} below it"))
        .collect()
}

/// Returns our crates that this crate depends on although their level is not
/// lower.
fn upward(krate: &str, level: u8, direct: &[String]) -> Vec<String> {
    let ours = direct.iter().filter(|name| *name != krate);
    ours.filter_map(|name| {
        let known = LEVELS.iter().find(|(ours, _)| ours == name);
        match known {
            None if name.starts_with("stockade") => {
                Some(format!("{name} does not have a level: add it to xtask/src/audit.rs"))
            }
            Some((_, other)) if *other >= level => {
                let allowed = ALLOWED_WITHIN_LEVEL.contains(&(krate, name));
                (!allowed).then(|| {
                    format!("{krate} (level {level}) must not depend on {name} (level {other})")
                })
            }
            _ => None,
        }
    })
    .collect()
}

fn has_cargo(subcommand: &str) -> bool {
    let mut command = Command::new(format!("cargo-{subcommand}"));
    command.args([subcommand, "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    announce(&command);
    command.current_dir(root()).status().is_ok_and(|status| status.success())
}

/// Returns true if cargo-audit's local database exists. It is not downloaded
/// here, so everything works offline.
fn has_advisories() -> bool {
    let home = env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| env::home_dir().map(|home| home.join(".cargo")));
    home.is_some_and(|home| home.join("advisory-db/crates").is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_the_names_of_a_tree() {
        let tree = "stockade-core v0.1.0 (/x)\nhttp v1.5.0\n\nbytes v1.12.1\nbytes v1.12.1 (*)\n";
        assert_eq!(names(tree), ["bytes", "http", "stockade-core"]);
    }

    #[test]
    fn each_member_has_a_level_and_each_level_a_member() {
        let levels = [("stockade-errors", 0), ("stockade-core", 3)];
        #[track_caller]
        fn check(levels: &[(&str, u8)], members: &[&str], expected: &[&str]) {
            let members: Vec<String> = members.iter().copied().map(str::to_owned).collect();
            assert_eq!(misplaced(levels, &members), expected);
        }
        check(&levels, &["stockade-core", "stockade-errors", "stockade-tests", "xtask"], &[]);
        check(
            &levels,
            &["stockade-core", "stockade-errors", "stockade-new"],
            &["stockade-new does not have a level: add it to xtask/src/audit.rs"],
        );
        check(
            &levels,
            &["stockade-core"],
            &["stockade-errors does not exist: remove its level from xtask/src/audit.rs"],
        );
    }

    #[test]
    fn users_and_examples_do_not_use_private_modules() {
        let line = format!("use stockade_core::{DOOR}::run;\n");
        let example = format!("/// {line}");
        let module = "use stockade::routing::method_set::Calls;\n".to_owned();
        let hidden = ["stockade::routing::method_set::".to_owned()];
        for (name, text, expected) in [
            ("tests/it/errors.rs", &module, 1),
            ("crates/stockade-rpc/src/lib.rs", &module, 0),
            ("crates/stockade-routing/src/app.rs", &line, 0),
            ("crates/stockade-routing/src/app.rs", &example, 1),
            ("crates/stockade-axum/tests/it/whole.rs", &line, 1),
            ("crates/stockade-core/tests/it/main.rs", &line, 0),
            ("crates/stockade-core/tests/it/main.rs", &example, 1),
            ("tests/it/errors.rs", &line, 1),
            ("facade/src/lib.rs", &line, 1),
            ("tests/bench/micro/benches/match.rs", &line, 0),
        ] {
            assert_eq!(forced(name, text, &hidden).len(), expected, "{name}: {text}");
        }
    }

    #[test]
    fn finds_hidden_modules() {
        let text = "mod a;\n#[doc(hidden)]\npub mod b;\npub mod c;\n#[doc(hidden)]\npub mod __d;\n\
                    #[doc(hidden)]\npub mod e_internals {\n    pub use super::e::F;\n}\n";
        assert_eq!(hidden_in(text).collect::<Vec<_>>(), ["b", "e_internals"]);
        assert!(hidden_modules().contains(&"stockade_routing::method_set::".to_owned()));
    }

    #[test]
    fn only_our_crates_use_private_modules() {
        assert_eq!(uses_of_the_door(), Vec::<String>::new());
    }

    #[test]
    fn reports_hyper_below_the_server() {
        let below = ["hyper".to_owned()];
        assert_eq!(forbidden("stockade-routing", 5, &below).len(), 1);
        assert_eq!(forbidden("stockade-server", 6, &below).len(), 0);
        assert_eq!(forbidden("stockade-errors", 0, &["http".to_owned()]).len(), 1);
    }

    #[test]
    fn reports_an_upward_dependency() {
        let direct = ["stockade-routing".to_owned()];
        assert_eq!(upward("stockade-core", 3, &direct).len(), 1);
        assert_eq!(upward("stockade-server", 6, &direct).len(), 0);
        assert_eq!(upward("stockade-macros", 0, &["stockade-path".to_owned()]).len(), 0);
        assert_eq!(upward("stockade-core", 3, &["stockade-new".to_owned()]).len(), 1);
    }
}
