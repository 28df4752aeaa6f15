//! How our paths look to actix-web.

use stockade_routing::Router;

use super::*;

#[track_caller]
fn check(pattern: &str, expected: &[(&str, Take)]) {
    let mut router = Router::new();
    router.get(pattern, async || "ours");
    let routes = HostRoutes::new(&router.build().unwrap());
    let places = places(&routes.routes());
    let actual: Vec<_> =
        places.iter().map(|place| (place.text.as_str(), place.take.clone())).collect();
    assert_eq!(actual, expected, "{pattern:?}");
}

fn rest(count: usize) -> Take {
    Take::Rest(count, "splat".to_owned())
}

#[test]
fn paths_of_actix_have_our_names() {
    check("/", &[("", Take::Root)]);
    check("/users/:id", &[("/users/{id}", Take::Last(2))]);
    check("/flights/:from-:to", &[("/flights/{from_to}", Take::Last(2))]);
    check("/opt/:id?", &[("/opt", Take::Last(1)), ("/opt/{id}", Take::Last(2))]);
    check("/:a?", &[("", Take::Root), ("/{a}", Take::Last(1))]);
    check("/files/**", &[("/files/{splat}*", rest(1))]);
    check("/**", &[("", Take::Root), ("/{splat}*", rest(0))]);
    check("/a%20b/:x", &[("/{text0__}/{x}", Take::Last(2))]);
}

#[test]
fn more_parameters_than_actix_takes_are_a_rest() {
    let pattern: String = (0..20).map(|index| format!("/:a{index}")).collect();
    let mut expected: String = (0..15).map(|index| format!("/{{a{index}}}")).collect();
    expected += "/{rest__}*";
    check(&pattern, &[(&expected, Take::Rest(15, "rest__".to_owned()))]);
}
