//! The fallback: a handler for requests that do not match a route.
// Spec: Router construction and members › handle.

use stockade::middleware::CorsOptions;
use stockade::prelude::*;
use stockade::routing::HostRoutes;

use crate::support::{app, block_on, check, header_of, request};

async fn fallback(req: Request) -> String {
    format!("{} {} {:?}", req.method(), req.path(), req.route())
}

fn api() -> RouteTree {
    routes! { "users": { GET: async || "all users", ":id": { GET: async || "one" } } }
}

#[test]
fn handles_requests_without_a_route() {
    let options = RouterOptions::new().rate_limit(false).fallback(fallback);
    let app = app(create_router(api(), options));
    check(&app, "GET /users", "200 all users");
    check(&app, "GET /none?q=1", "200 GET /none None");
    check(&app, "DELETE /none/a/b", "200 DELETE /none/a/b None");
    check(&app, "QUERY /none", "200 QUERY /none None");
    check(&app, "OPTIONS /none", "200 OPTIONS /none None");
    check(&app, "HEAD /none", "200");
    assert_eq!(header_of(&app, "HEAD /none", "content-length"), "15");
    assert_eq!(header_of(&app, "GET /none", "x-frame-options"), "DENY");
    assert_eq!(app.routes().len(), 2);
}

#[test]
fn does_not_replace_built_in_responses() {
    let options = RouterOptions::new().rate_limit(false).fallback(fallback);
    let app = app(create_router(api(), options));
    check(&app, "PUT /users", r#"405 {"error":"Method Not Allowed"}"#);
    assert_eq!(header_of(&app, "PUT /users", "allow"), "GET, HEAD, OPTIONS");
    check(&app, "OPTIONS /users", "204");
    let preflight = "OPTIONS /none\norigin: https://a.example\naccess-control-request-method: GET";
    check(&app, preflight, "204");
    check(&app, "OPTIONS *", "204");
    check(&app, "GET /a%00b", r#"400 {"error":"Bad Request"}"#);
    check(&app, "CONNECT /none", r#"405 {"error":"Method Not Allowed"}"#);
    let refused = app.refuse(request("GET /none"), ApiError::new(400, "no Host"));
    assert_eq!(block_on(refused).status(), 400);
}

#[test]
fn handles_wrong_methods_if_405_is_disabled() {
    let options = RouterOptions::new().method_not_allowed(false).fallback(fallback);
    let app = app(create_router(api(), options));
    check(&app, "PUT /users", "200 PUT /users None");
    check(&app, "OPTIONS /users", "204");
}

#[test]
fn stages_and_limits_apply_to_the_fallback() {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(3 / MINUTE));
    async fn takes(Body(body): Body<Value>) -> Json<Value> {
        Json(body)
    }
    router.fallback(takes).max_body(4).cors(CorsOptions::default().origin("https://a.example"));
    let app = app(router);
    let json = "content-type: application/json";
    check(&app, &format!("POST /x\n{json}\n\n{{}}"), "200 {}");
    let large = format!("POST /x\ncontent-length: 5\n{json}\n\n{{   }}");
    check(&app, &large, r#"413 {"error":"Request body too large"}"#);
    let ours = "POST /y\norigin: https://a.example";
    assert_eq!(header_of(&app, ours, "access-control-allow-origin"), "https://a.example");
    check(&app, ours, r#"429 {"error":"Too Many Requests"}"#);
    let preflight = "OPTIONS /y\norigin: https://a.example\naccess-control-request-method: PUT";
    assert_eq!(header_of(&app, preflight, "access-control-allow-origin"), "https://a.example");
}

#[test]
fn middleware_of_the_router_runs_before_the_fallback() {
    let refuses = |req: &mut Request| match req.headers().contains_key("x-key") {
        true => Ok(()),
        false => Err(ApiError::authentication()),
    };
    let mut by_options =
        Router::with_options(RouterOptions::new().middleware(refuses).fallback(fallback));
    by_options.routes(api());
    let mut by_use = Router::new();
    by_use.use_(refuses);
    by_use.fallback(fallback);
    let mut own = Router::new();
    own.fallback(fallback).middleware(refuses);
    own.use_(|_: &mut Request| Err::<(), _>(ApiError::conflict()));
    for router in [by_options, by_use, own] {
        let app = app(router);
        check(&app, "GET /x", r#"401 {"error":"Authentication required"}"#);
        check(&app, "GET /x\nx-key: 1", "200 GET /x None");
    }
}

#[test]
fn errors_of_the_fallback_have_the_router_format() {
    let named = |name: &'static str| {
        move |error: &mut stockade::ErrorReply| {
            let route = error.route().is_some();
            error.set_json(json!({ name: route }));
        }
    };
    let fails = async || Err::<(), _>(ApiError::not_found());
    let options = RouterOptions::new().rate_limit(false).error_handling(named("router"));
    let mut router = Router::with_options(options.clone());
    router.fallback(fails);
    check(&app(router), "GET /x", r#"404 {"router":false}"#);
    let mut router = Router::with_options(options);
    router.fallback(fails).error_handling(named("own")).max_body(1);
    let app = app(router);
    check(&app, "GET /x", r#"404 {"own":false}"#);
    check(&app, "GET /x\ncontent-length: 9", r#"413 {"own":false}"#);
}

#[test]
fn the_build_reports_errors_in_the_fallback() {
    let mut router = Router::with_options(RouterOptions::new().fallback(fallback));
    router.fallback(async |State(_): State<u8>, Path(_): Path<u32>| ()).name("x");
    router.group("/group", (), |group| {
        group.fallback(fallback);
    });
    let error = router.build().unwrap_err().to_string();
    for expected in [
        "duplicate fallback, first at",
        "fallback: `State<u8>` was not provided",
        "fallback: `Path<u32>` takes one parameter, but the path has 0",
        "fallback: `name` is set, but the fallback does not have a path",
        "/group: a group cannot have a fallback: add it to the router",
    ] {
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn other_hosts_do_not_use_the_fallback() {
    let router = create_router(api(), RouterOptions::new().fallback(fallback));
    let routes = HostRoutes::build(router).unwrap();
    assert_eq!(routes.routes().len(), 2);
    assert_eq!(block_on(routes.handle(request("GET /none"))).status(), 404);
}
