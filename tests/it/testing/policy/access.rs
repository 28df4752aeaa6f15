//! Policy rules about access to routes.

use stockade::RouteEntry;
use stockade::auth::BasicCredentials;
use stockade::middleware::health::Readiness;
use stockade::middleware::{named, with_permission, with_role};
use stockade::prelude::*;
use stockade::routing::health_routes;
use stockade::serde_json::Value;

use super::*;

#[test]
fn each_route_must_declare_its_access() {
    let optional = with_auth(Auth::secret(secret()).required(false));
    let tree = routes! {
        "nothing": { GET: async || "", POST: async || "" },
        "public": { GET: { handler: async || "", public: "anybody may look" } },
        "optional": {
            middleware: [optional],
            GET: async || "",
            POST: { handler: async || "", public: "guests may order" },
        },
        "guarded": { middleware: [signed_in()], GET: async || "" },
        "role": { middleware: [signed_in(), with_role("admin")], GET: async || "" },
        "contradicts": { middleware: [signed_in()], GET: async || "" },
    };
    let mut map = map_of(create_router(tree, RouterOptions::new()));
    // A router does not build such a route, but a saved map may contain one.
    if let Some(route) = map.routes.last_mut() {
        route.access.public = Some("nothing is secret".to_owned());
    }
    let found = ["GET /nothing", "POST /nothing", "GET /optional", "GET /contradicts"];
    check_map("access-declared", &map, &found);
}

#[test]
fn every_method_to_add_a_route_is_checked() {
    let mut router = create_router(
        routes! { "a": { "b": { "c": { GET: async || "" } }, ws: async |_: WebSocket| () } },
        RouterOptions::new().prefix("/api"),
    );
    router.group("/admin", signed_in(), |admin| {
        admin.get("/in", async || "");
        admin.group("/deep", (), |deep| {
            deep.use_(opaque);
            deep.any("/any", async || "");
        });
    });
    router.get("/late", async || "");
    router.route(Method::from_bytes(b"QUERY").unwrap(), "/q", async || "");
    let inner = create_router(routes! { GET: async || "" }, RouterOptions::new());
    router.mount("/old", inner.build().unwrap());
    router.fallback(async || "");
    let found = [
        "GET /api/a/b/c",
        "WS /api/a",
        "GET /api/late",
        "QUERY /api/q",
        "ANY /api/old/**",
        "fallback",
    ];
    let map = map_of(router);
    check_map("access-declared", &map, &mut_sorted(&map, &found));
}

/// Returns the labels in the order of the map.
fn mut_sorted<'l>(map: &RouteMap, labels: &[&'l str]) -> Vec<&'l str> {
    let all: Vec<String> = map.routes.iter().chain(&map.fallback).map(|it| it.label()).collect();
    let mut sorted = labels.to_vec();
    sorted.sort_by_key(|label| all.iter().position(|it| it == label));
    sorted
}

#[test]
fn routes_for_monitoring_need_no_allowance() {
    let router = create_router(RouteTree::new().spread(health_routes()), RouterOptions::new());
    let router = router.policy(Policy::recommended()).state(Readiness::new());
    assert!(router.build().is_ok());
}

#[test]
fn reports_a_tree_without_its_guard_at_a_second_path() {
    fn users() -> RouteTree {
        routes! { ":id": { GET: async || "", DELETE: async || "" } }
    }
    let tree = routes! {
        "admin": { middleware: [signed_in(), with_role("admin")], "users": { ..users() } },
        "internal": { "users": { ..users() } },
    };
    check("access-declared", tree, &["GET /internal/users/:id", "DELETE /internal/users/:id"]);
}

#[test]
fn reports_open_routes_that_can_change_data() {
    let tree = routes! {
        "x": { GET: async || "", POST: async || "", PUT: { handler: async || "", public: "a test" } },
        "y": { middleware: [signed_in()], DELETE: async || "" },
    };
    let mut router = create_router(tree, RouterOptions::new());
    router.any("/any", async || "");
    router.head("/head", async || "");
    router.options("/options", async || "");
    let map = map_of(router);
    check_map("mutating-needs-user", &map, &[]);
    let policy = Policy::recommended().without("access-declared", "a test");
    let found: Vec<String> = policy.check(&map).into_iter().map(|it| it.subject).collect();
    assert_eq!(found, ["POST /x", "ANY /any"]);
}

#[test]
fn reports_a_guard_before_the_last_authentication() {
    let admin = || with_role("admin");
    let named = || with_permission(named("own", |_: &Value, _: &Request| true));
    let tree = routes! {
        "right": { middleware: [opaque], GET: { handler: async || "", middleware: [signed_in(), admin()] } },
        "role": { GET: { handler: async || "", middleware: [signed_in(), admin(), session()] } },
        "permission": { middleware: [signed_in(), named()], GET: { handler: async || "", middleware: [session()] } },
        "hidden": { middleware: [opaque], GET: { handler: async || "", middleware: [admin(), signed_in()] } },
        "twice": { middleware: [session(), signed_in(), admin()], GET: async || "" },
    };
    check("user-before-guard", tree, &["GET /role", "GET /permission", "GET /hidden"]);
}

#[test]
fn reports_possible_guards_without_a_description() {
    let silent = Middleware::new(opaque).describing(|_| {});
    let nameless = with_permission(|_: &Value, _: &Request| true);
    let own = with_permission(named("own", |_: &Value, _: &Request| true));
    let tree = routes! {
        "opaque": {
            middleware: [opaque],
            GET: async || "",
            POST: async |User(_): User<Value>| (),
            PUT: { handler: async || "", public: "a test" },
            DELETE: { handler: async || "", middleware: [signed_in()] },
        },
        "silent": { middleware: [silent], GET: async || "" },
        "permission": {
            middleware: [signed_in()],
            GET: { handler: async || "", middleware: [nameless] },
            POST: { handler: async || "", middleware: [own] },
        },
    };
    let map = map_of_tree(tree);
    check_map("middleware-opaque-guard", &map, &["POST /opaque", "GET /permission"]);
    let policy = Policy::recommended().without("access-declared", "a test");
    assert_eq!(policy.check(&map)[0].subject, "GET /opaque");
    let text = &texts("access-declared", &map)[0];
    assert!(text.contains("; if its guard is `it::testing::policy::opaque` ("), "{text}");
    let text = &texts("middleware-opaque-guard", &map)[0];
    assert!(text.contains("opaque` (") && text.contains("access.rs:"), "{text}");
}

#[test]
fn reports_basic_authentication() {
    let basic = with_auth(Auth::basic("shop", |_: BasicCredentials| None::<String>));
    let tree = routes! {
        "basic": { middleware: [basic], GET: async || "" },
        "bearer": { middleware: [signed_in()], GET: async || "" },
    };
    check("no-basic", tree, &["GET /basic"]);
}

#[test]
fn reports_a_get_route_named_after_a_change() {
    let tree = routes! {
        "users": {
            "delete": { GET: async || "", POST: async || "" },
            ":delete": { GET: async || "" },
            "deleted": { GET: async || "" },
            "resetPassword": { GET: async || "" },
            "settings": { GET: async || "" },
            GET: { handler: async || "", name: "users.remove" },
        },
        "updates": { GET: async || "" },
        "delete": { ws: async |_: WebSocket| () },
    };
    let map = map_of_tree(tree);
    let found = ["GET /users", "GET /users/delete", "GET /users/resetPassword"];
    check_map("get-without-effects", &map, &mut_sorted(&map, &found));
}

#[test]
fn checks_an_entry_like_a_route() {
    let tree = RouteTree::new().method(Method::PATCH, RouteEntry::new(async || ""));
    check("access-declared", tree, &["PATCH /"]);
}
