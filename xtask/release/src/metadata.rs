//! [`Workspace`]: the output of `cargo metadata`.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use xtask::{cargo_output, crates};

/// The packages of the workspace and all their dependencies.
#[derive(Debug, Deserialize)]
pub(crate) struct Workspace {
    pub(crate) packages: Vec<Package>,
    resolve: Resolve,
    pub(crate) target_directory: PathBuf,
    workspace_members: Vec<String>,
    /// The names and versions that a program compiles with all published
    /// packages. The resolution in `resolve` also has packages that only other
    /// members enable.
    #[serde(skip)]
    compiled: BTreeSet<(String, String)>,
}

#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Package {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) license: Option<String>,
    pub(crate) description: Option<String>,
    pub(crate) repository: Option<String>,
    pub(crate) homepage: Option<String>,
    pub(crate) documentation: Option<String>,
    pub(crate) rust_version: Option<String>,
    pub(crate) manifest_path: PathBuf,
    pub(crate) links: Option<String>,
    pub(crate) metadata: Value,
    /// An empty list for a package that must not be published.
    pub(crate) publish: Option<Vec<String>>,
    pub(crate) dependencies: Vec<Dependency>,
}

/// A dependency in a manifest.
#[derive(Clone, Debug, Default, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    pub(crate) req: String,
    /// `None` for a normal dependency.
    pub(crate) kind: Option<String>,
    pub(crate) path: Option<PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
}

#[derive(Debug, Deserialize)]
struct Node {
    id: String,
    deps: Vec<Edge>,
}

#[derive(Debug, Deserialize)]
struct Edge {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Debug, Deserialize)]
struct Kind {
    kind: Option<String>,
}

impl Workspace {
    /// Reads the workspace with all features and for all platforms.
    pub(crate) fn read() -> Result<Self, String> {
        let arguments = ["metadata", "--format-version=1", "--locked", "--all-features"];
        let mut workspace: Self = serde_json::from_str(&cargo_output(&arguments)?)
            .map_err(|error| format!("cannot read the output of `cargo metadata`: {error}"))?;
        workspace.compare(&crates().collect())?;
        let mut tree = vec!["tree", "--locked", "--all-features", "--target=all", "--prefix=none"];
        tree.push("--edges=normal,build");
        crates().for_each(|krate| tree.extend(["-p", krate]));
        workspace.compiled = compiled(&cargo_output(&tree)?);
        Ok(workspace)
    }

    /// Fails if the published packages are not the packages in this list.
    fn compare(&self, listed: &BTreeSet<&str>) -> Result<(), String> {
        let published: BTreeSet<&str> = self.published().map(|package| &*package.name).collect();
        if published == *listed {
            return Ok(());
        }
        let differences: Vec<&&str> = published.symmetric_difference(listed).collect();
        Err(format!(
            "{differences:?}: a published package has a level in xtask/src/audit.rs, and every \
             other package has `publish = false`"
        ))
    }

    /// Returns the packages that are published.
    pub(crate) fn published(&self) -> impl Iterator<Item = &Package> {
        let members: BTreeSet<&String> = self.workspace_members.iter().collect();
        let packages = self.packages.iter().filter(move |package| members.contains(&package.id));
        packages.filter(|package| package.publish.as_deref() != Some(&[]))
    }

    fn compiles(&self, package: &Package) -> bool {
        self.compiled.contains(&(package.name.clone(), package.version.clone()))
    }

    /// Returns the version of the facade.
    pub(crate) fn version(&self) -> &str {
        let facade = self.published().find(|package| package.name == "stockade");
        facade.map_or("", |package| &*package.version)
    }

    /// Returns the published packages and all packages that a program compiles
    /// with them, each with the ids of its dependencies. Dependencies of tests
    /// are omitted.
    pub(crate) fn shipped(&self) -> Result<Vec<(&Package, Vec<&str>)>, String> {
        let packages: HashMap<&str, &Package> =
            self.packages.iter().map(|package| (&*package.id, package)).collect();
        let nodes: HashMap<&str, &Node> =
            self.resolve.nodes.iter().map(|node| (&*node.id, node)).collect();
        let mut found = BTreeSet::new();
        let mut waiting: Vec<&str> = self.published().map(|package| &*package.id).collect();
        let mut shipped = Vec::new();
        while let Some(id) = waiting.pop() {
            if !found.insert(id) {
                continue;
            }
            let missing = || format!("`cargo metadata` does not contain {id}");
            let (package, node) = (packages.get(id), nodes.get(id));
            let edges = node.ok_or_else(missing)?.deps.iter().filter(|edge| edge.is_shipped());
            let below = edges.map(|edge| &*edge.pkg);
            let below: Vec<&str> = below
                .filter(|id| packages.get(id).is_some_and(|package| self.compiles(package)))
                .collect();
            waiting.extend(&below);
            shipped.push((*package.ok_or_else(missing)?, below));
        }
        shipped.sort_by(|(one, _), (other, _)| {
            (&one.name, &one.version).cmp(&(&other.name, &other.version))
        });
        Ok(shipped)
    }
}

/// Returns the names and versions in the output of `cargo tree`.
fn compiled(tree: &str) -> BTreeSet<(String, String)> {
    let packages = tree.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some((words.next()?.to_owned(), words.next()?.strip_prefix('v')?.to_owned()))
    });
    packages.collect()
}

impl Package {
    /// Returns the folder of the manifest.
    pub(crate) fn folder(&self) -> &Path {
        self.manifest_path.parent().unwrap_or(&self.manifest_path)
    }
}

impl Dependency {
    /// Returns true if the published manifest contains this dependency: cargo
    /// removes test dependencies that have a path and no version.
    pub(crate) fn is_published(&self) -> bool {
        self.kind.as_deref() != Some("dev") || self.path.is_none() || self.req != "*"
    }
}

impl Edge {
    fn is_shipped(&self) -> bool {
        self.dep_kinds.iter().any(|kind| kind.kind.as_deref() != Some("dev"))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Makes a workspace of published packages with these names, versions and
    /// dependencies.
    pub(crate) fn workspace(packages: &[(&str, &str, &[Dependency])]) -> Workspace {
        let packages: Vec<Package> = packages
            .iter()
            .map(|(name, version, dependencies)| Package {
                id: (*name).to_owned(),
                name: (*name).to_owned(),
                version: (*version).to_owned(),
                dependencies: dependencies.to_vec(),
                ..Package::default()
            })
            .collect();
        Workspace {
            workspace_members: packages.iter().map(|package| package.id.clone()).collect(),
            resolve: Resolve { nodes: Vec::new() },
            target_directory: PathBuf::new(),
            compiled: BTreeSet::new(),
            packages,
        }
    }

    /// Makes a dependency on a package of the workspace.
    pub(crate) fn on(name: &str, req: &str, kind: Option<&str>) -> Dependency {
        let (name, req) = (name.to_owned(), req.to_owned());
        Dependency { path: Some(name.clone().into()), name, req, kind: kind.map(str::to_owned) }
    }

    #[test]
    fn reports_a_published_package_without_a_level() {
        let workspace = workspace(&[("a", "0.1.0", &[]), ("b", "0.1.0", &[])]);
        assert_eq!(workspace.compare(&["a", "b"].into()), Ok(()));
        assert!(workspace.compare(&["a"].into()).unwrap_err().starts_with("[\"b\"]: "));
    }

    #[test]
    fn shipped_packages_do_not_include_test_dependencies() {
        let mut workspace = workspace(&[("a", "0.1.0", &[])]);
        let edge = |pkg: &str, kind: Option<&str>| Edge {
            pkg: pkg.to_owned(),
            dep_kinds: vec![Kind { kind: kind.map(str::to_owned) }],
        };
        let package = |name: &str| Package {
            id: name.to_owned(),
            name: name.to_owned(),
            ..Package::default()
        };
        workspace.packages.extend([package("used"), package("tested"), package("enabled")]);
        let deps =
            vec![edge("used", None), edge("tested", Some("dev")), edge("enabled", Some("build"))];
        workspace.compiled = compiled("a v0.1.0 (/a)\n\nused v (proc-macro)\ntested v\n");
        workspace.resolve.nodes.push(Node { id: "a".to_owned(), deps });
        workspace.resolve.nodes.push(Node { id: "used".to_owned(), deps: Vec::new() });
        let shipped = workspace.shipped().unwrap();
        let names: Vec<&str> = shipped.iter().map(|(package, _)| &*package.name).collect();
        assert_eq!(names, ["a", "used"]);
        assert_eq!(shipped[0].1, ["used"]);
    }
}
