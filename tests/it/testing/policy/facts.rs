//! The facts in the route map that policies read.

use stockade::middleware::{Auth, with_auth, with_role};
use stockade::prelude::*;
use stockade::routing::map::{RouteKind, RouteMap};
use stockade::routing::{HostRoutes, health_routes};

fn map_of(tree: RouteTree, options: RouterOptions) -> RouteMap {
    create_router(tree, options).build().unwrap().route_map()
}

#[test]
fn a_map_contains_the_fallback_as_a_separate_route() {
    let options = || RouterOptions::new().prefix("/api");
    let mut router = create_router(routes! { "a": { GET: async || () } }, options());
    router.fallback(async |Body(_): Body<Vec<u8>>| ()).public("pages of the old site");
    let map = router.build().unwrap().route_map();
    let fallback = map.fallback.unwrap();
    assert_eq!((fallback.kind, fallback.method.as_str()), (RouteKind::Fallback, "ANY"));
    assert_eq!((fallback.path.as_str(), fallback.operation_id.as_str()), ("/**", "fallback"));
    assert_eq!(fallback.access.public.as_deref(), Some("pages of the old site"));
    assert!(fallback.location.file.ends_with("facts.rs") && fallback.body.is_some());
    assert_eq!(map.routes.len(), 1);
    assert_eq!(map_of(RouteTree::new(), options()).fallback, None);
}

#[test]
fn a_map_records_if_errors_are_always_exposed() {
    let always = |options| map_of(RouteTree::new(), options).router.exposes_errors_always;
    assert!(always(RouterOptions::new().expose_errors(true)));
    assert!(!always(RouterOptions::new().expose_errors(false)));
    assert!(!always(RouterOptions::new()));
}

#[test]
fn monitoring_routes_have_reasons_for_being_public_and_unlimited() {
    let router = Router::from(RouteTree::new().spread(health_routes()));
    let app = router.state(stockade::middleware::health::Readiness::new()).build().unwrap();
    for route in app.route_map().routes {
        assert!(route.access.public.is_some() && route.limits.rate_exempt_reason.is_some());
    }
    let map = map_of(routes! { GET: { handler: async || (), rate_limit: false } }, options_of());
    assert_eq!(map.routes[0].limits.rate_exempt_reason, None);
}

fn options_of() -> RouterOptions {
    RouterOptions::new()
}

#[test]
fn a_map_records_if_another_host_runs_the_routes() {
    let hosted = |check: fn(&RouteMap)| {
        let mut router = create_router(routes! { GET: async || () }, options_of());
        router.inspect(move |map| {
            check(map);
            Ok(())
        });
        router
    };
    HostRoutes::build(hosted(|map| assert!(map.router.is_hosted))).unwrap();
    hosted(|map| assert!(!map.router.is_hosted)).build().unwrap();
}

#[test]
fn a_map_records_if_a_guard_checks_an_earlier_user() {
    let find = || with_auth(Auth::verify(|_: &Request| Some(json!({ "role": "admin" }))));
    let validated = |middleware: Vec<Middleware>| {
        let tree = routes! { middleware: middleware, GET: async || () };
        let map = map_of(tree, options_of());
        let access = &map.routes[0].access;
        // Committed locks contain this name.
        let written = serde_json::to_value(access).unwrap();
        assert_eq!(written["judges_earlier_user"] == true, access.judges_earlier_user);
        access.judges_earlier_user
    };
    assert!(!validated(vec![find(), with_role("admin")]));
    let twice = vec![find(), with_role("admin"), find()];
    assert!(validated(twice));
}
