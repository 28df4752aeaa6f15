//! [`is_built_in`]: distinguishes functions of the framework from functions of a
//! program.

/// Returns true if the path of a function type begins with a crate of the
/// framework.
///
/// The compiler does not guarantee the form of such a path. A path in an unknown
/// form counts as a function of the program, which checks treat more strictly.
pub(crate) fn is_built_in(path: &str) -> bool {
    let path = path.trim_start_matches(['<', '&']);
    let name = path.split("::").next().unwrap_or_default();
    name.strip_prefix("stockade_").is_some_and(|rest| CRATES.contains(&rest))
}

/// The crates of the framework, without `stockade_`.
const CRATES: [&str; 28] = [
    "actix",
    "auth",
    "axum",
    "conformance",
    "core",
    "errors",
    "graphiql",
    "graphql",
    "hardening",
    "json",
    "macros",
    "map",
    "mcp",
    "middleware",
    "openapi",
    "path",
    "redis",
    "rest",
    "routing",
    "rpc",
    "serialization",
    "server",
    "sql",
    "stages",
    "swagger_ui",
    "testing",
    "validation",
    "websockets",
];

#[cfg(test)]
mod tests {
    use std::any::type_name_of_val;
    use std::fs;

    use super::*;

    #[test]
    fn the_list_contains_each_crate() {
        let folders = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")).unwrap();
        let names = folders.map(|folder| folder.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names
            .filter_map(|name| Some(name.strip_prefix("stockade-")?.replace('-', "_")))
            .collect();
        names.sort_unstable();
        assert_eq!(names, CRATES);
    }

    #[test]
    fn only_paths_of_the_framework_are_built_in() {
        #[track_caller]
        fn check(path: &str, expected: bool) {
            assert_eq!(is_built_in(path), expected, "{path}");
        }
        let own = |text: &str| text.len();
        check(type_name_of_val(&own), true);
        check(type_name_of_val(&str::len), false);
        check("stockade_middleware::auth::with_auth::check::{{closure}}", true);
        check("<stockade_stages::timeout::WithTimeout as x::IntoMiddleware>::y", true);
        check("<shop::Guard as stockade_core::middleware::IntoMiddleware>::y", false);
        check("stockade_shop::with_auth", false);
        check("shop::stockade_core::with_auth", false);
        check("stockade_core", true);
        check("", false);
    }
}
