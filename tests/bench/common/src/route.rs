//! The routes of every contestant: 514 from GitHub's REST API and three others.

/// A method and a path, with parameters as `:name`.
pub type Route = (&'static str, &'static str);

/// Returns GitHub's routes, which all respond with
/// [`MESSAGE`](crate::workload::MESSAGE).
pub fn github() -> impl Iterator<Item = Route> {
    GITHUB.lines().filter_map(|line| line.split_once(' '))
}

/// Returns a path with its parameters as `{name}`.
#[must_use]
pub fn in_braces(path: &str) -> String {
    let segments = path.split('/').map(|segment| match segment.strip_prefix(':') {
        Some(name) => format!("{{{name}}}"),
        None => segment.to_owned(),
    });
    segments.collect::<Vec<_>>().join("/")
}

/// The route of the workload `json`.
pub const JSON: &str = "/json";

/// The route of the workloads `param`, `secure` and `refused`.
pub const PARAM: &str = "/users/:id/posts/:post";

/// The route of the workloads `post` and `bad`.
pub const PEOPLE: &str = "/people";

const GITHUB: &str = include_str!("../../../vectors/routes/github-routes.txt");
