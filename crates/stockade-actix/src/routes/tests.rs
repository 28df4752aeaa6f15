//! Tests of stockade paths in actix-web syntax.

use stockade_routing::Router;

use super::*;

#[track_caller]
fn check(pattern: &str, expected: &[(&str, PathPart)]) {
    let mut router = Router::new();
    router.get(pattern, async || "ours");
    let routes = HostRoutes::new(&router.build().unwrap());
    let paths = paths(&routes.routes());
    let actual: Vec<_> = paths.iter().map(|path| (path.text.as_str(), path.part.clone())).collect();
    assert_eq!(actual, expected, "{pattern:?}");
}

fn rest(count: usize) -> PathPart {
    PathPart::Rest(count, "splat".to_owned())
}

#[test]
fn actix_paths_use_our_parameter_names() {
    check("/", &[("", PathPart::Root)]);
    check("/users/:id", &[("/users/{id}", PathPart::Last(2))]);
    check("/flights/:from-:to", &[("/flights/{from_to}", PathPart::Last(2))]);
    check("/opt/:id?", &[("/opt", PathPart::Last(1)), ("/opt/{id}", PathPart::Last(2))]);
    check("/:a?", &[("", PathPart::Root), ("/{a}", PathPart::Last(1))]);
    check("/files/**", &[("/files/{splat}*", rest(1))]);
    check("/**", &[("", PathPart::Root), ("/{splat}*", rest(0))]);
    check("/a%20b/:x", &[("/{text0__}/{x}", PathPart::Last(2))]);
}

#[test]
fn parameters_beyond_the_actix_limit_become_a_rest() {
    let pattern: String = (0..20).map(|index| format!("/:a{index}")).collect();
    let mut expected: String = (0..15).map(|index| format!("/{{a{index}}}")).collect();
    expected += "/{rest__}*";
    check(&pattern, &[(&expected, PathPart::Rest(15, "rest__".to_owned()))]);
}
