//! Routes for any method, and HEAD and OPTIONS routes in a tree.
// Spec: Route tree (object router); Router construction and members.

use stockade::RouteEntry;
use stockade::prelude::*;

use crate::support::{app, app_of, block_on, check, header_of, request};

/// Responds with the request method.
async fn method(req: Request) -> String {
    req.method().to_string()
}

const PREFLIGHT: &str = "origin: https://a.example\naccess-control-request-method: PUT";

#[test]
fn any_has_lower_precedence_than_methods() {
    let app = app_of(routes! {
        "x": { ANY: method, GET: async || "get", POST: async || "post" },
    });
    check(&app, "GET /x", "200 get");
    check(&app, "POST /x", "200 post");
    for name in ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY", "ANY", "MKCOL"] {
        check(&app, &format!("{name} /x"), &format!("200 {name}"));
    }
    // HEAD runs like GET, but the body is omitted.
    assert_eq!(header_of(&app, "HEAD /x", "content-length"), "3");
    check(&app, "CONNECT /x", r#"405 {"error":"Method Not Allowed"}"#);
    check(&app, "PUT /y", r#"404 {"error":"Not Found"}"#);
}

#[test]
fn the_path_is_matched_before_the_method() {
    let app = app_of(routes! {
        "files": {
            "special": { ANY: async || "any of special" },
            ":id": { GET: async || "get of id", ANY: async || "any of id" },
            "**": { GET: async || "get of rest", ANY: async || "any of rest", DELETE: method },
        },
    });
    check(&app, "GET /files/special", "200 any of special");
    check(&app, "PUT /files/special", "200 any of special");
    check(&app, "GET /files/7", "200 get of id");
    check(&app, "DELETE /files/7", "200 any of id");
    check(&app, "GET /files/7/8", "200 get of rest");
    check(&app, "DELETE /files/7/8", "200 DELETE");
    check(&app, "PUT /files/7/8", "200 any of rest");
    // A single named method does not affect the other methods.
    let app = app_of(routes! { "a": { "b": { GET: method }, "**": { ANY: async || "rest" } } });
    check(&app, "GET /a/b", "200 GET");
    check(&app, "POST /a/b", "200 rest");
    check(&app, "OPTIONS /a/b", "200 rest");
}

#[test]
fn head_and_options_of_a_tree_are_routes() {
    let tree = routes! {
        "x": {
            GET: async || "get",
            head: async || ([("x-own", "head")], ()),
            OPTIONS: async || "options",
            ANY: async || "any",
        },
    };
    let app = app_of(tree);
    assert_eq!(header_of(&app, "HEAD /x", "x-own"), "head");
    check(&app, "OPTIONS /x", "200 options");
    check(&app, "PUT /x", "200 any");
    // An OPTIONS route also responds to preflights, as documented in
    // `Router::options`.
    check(&app, &format!("OPTIONS /x\n{PREFLIGHT}"), "200 options");
    let app = app_of(routes! { "x": { ANY: async || ([("x-own", "any")], "12345") } });
    assert_eq!(header_of(&app, "HEAD /x", "x-own"), "any");
    assert_eq!(header_of(&app, "HEAD /x", "content-length"), "5");
}

#[test]
fn the_router_handles_preflights_if_cors_is_enabled() {
    let build = |options: RouterOptions| {
        let mut router = Router::with_options(options.rate_limit(false));
        router.any("/x", method);
        router.any("/own", method).cors("https://a.example");
        app(router)
    };
    let preflight = |path: &str| format!("OPTIONS {path}\n{PREFLIGHT}");
    let on = build(RouterOptions::new().cors_origin("https://b.example"));
    check(&on, &preflight("/x"), "204");
    check(&on, "OPTIONS /x", "200 OPTIONS");
    let allowed =
        |app: &App, path: &str| header_of(app, &preflight(path), "access-control-allow-origin");
    assert_eq!(allowed(&on, "/own"), "https://a.example");
    let off = build(RouterOptions::new().cors(false));
    check(&off, &preflight("/x"), "200 OPTIONS");
    assert_eq!(allowed(&off, "/own"), "https://a.example");
    check(&off, &preflight("/own"), "204");
}

#[test]
fn allow_names_all_usual_methods() {
    let allow = |app: &App, request: &str| header_of(app, request, "allow");
    let any = app_of(routes! { "x": { ANY: method } });
    let usual = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";
    assert_eq!(allow(&any, "OPTIONS *"), usual);
    assert_eq!(allow(&any, "CONNECT /x"), usual);
    let mut router = Router::new();
    router.any("/x", method);
    router.route(Method::TRACE, "/y", method);
    let both = app(router);
    assert_eq!(allow(&both, "OPTIONS *"), format!("{usual}, TRACE"));
    assert_eq!(allow(&both, "OPTIONS /y"), "OPTIONS, TRACE");
    assert_eq!(allow(&both, "GET /y"), "OPTIONS, TRACE");
}

#[test]
fn rejects_duplicate_any_of_a_path() {
    let mut router = Router::new();
    router.any("/x", method).name("x");
    router.any("/:id", method);
    router.any("/:key", method);
    router.route(Method::from_bytes(b"ANY").unwrap(), "/x", method);
    let error = router.build().unwrap_err();
    let messages: Vec<_> = error.issues().iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 2, "{messages:?}");
    assert!(messages[0].contains("ANY /:key"), "{messages:?}");
    assert!(messages[1].contains("ANY /x"), "{messages:?}");
}

#[test]
fn at_run_time_the_names_are_segments() {
    let tree = RouteTree::new()
        .key("any", RouteTree::new().key("GET", method))
        .key("OPTIONS", RouteTree::new().key("GET", method))
        .segment("all", RouteTree::new().any(RouteEntry::new(method)));
    let app = app_of(tree);
    check(&app, "GET /any", "200 GET");
    check(&app, "GET /OPTIONS", "200 GET");
    check(&app, "PURGE /all", "200 PURGE");
}

/// Like `validation` on GET, this is a configuration error: the method does not
/// have a body.
#[test]
fn a_schema_checks_only_existing_bodies() {
    let body = || schema!({ "a": { "type": "integer", "required": true } });
    let inner = app_of(routes! { "x": { ANY: method } });
    let app = app_of(routes! {
        "any": { ANY: { method, validation: body() } },
        "mount": { mount: { inner, validation: body() } },
        "options": { OPTIONS: { method, validation: body() } },
    });
    let status = |text: &str| block_on(app.handle(request(text))).status().as_u16();
    for path in ["/any", "/mount/x"] {
        // The statuses without a body, with a valid body, and with an invalid
        // body.
        for (name, expected) in [
            ("GET", [200, 400, 400]),
            ("HEAD", [200, 400, 400]),
            ("OPTIONS", [200, 200, 400]),
            ("DELETE", [400, 200, 400]),
            ("POST", [400, 200, 400]),
            ("QUERY", [400, 200, 400]),
            ("PURGE", [400, 200, 400]),
        ] {
            let json = format!("{name} {path}\ncontent-type: application/json\n\n");
            let sent = [
                format!("{name} {path}"),
                format!("{json}{{\"a\":1}}"),
                format!("{json}{{\"a\":\"x\"}}"),
            ];
            assert_eq!(sent.map(|text| status(&text)), expected, "{name} {path}");
        }
    }
    assert_eq!(status("OPTIONS /options"), 400);
}

#[test]
fn an_any_entry_accepts_all_settings() {
    let app = app_of(routes! {
        "items/:id": {
            ANY: {
                async |Path(id): Path<u8>, Body(body): Body<Value>| format!("{id} {body}"),
                name: "items.any",
                max_body: 20,
                validation: schema!({ "a": { "type": "integer" } }),
            },
        },
    });
    assert_eq!(app.generate_url("items.any", [("id", 7)]).unwrap(), "/items/7");
    let json = "content-type: application/json";
    check(&app, &format!("PUT /items/7\n{json}\n\n{{\"a\":1}}"), r#"200 7 {"a":1}"#);
    let wrong = format!("PATCH /items/7\n{json}\n\n{{\"a\":\"x\"}}");
    assert_eq!(header_of(&app, &wrong, "content-type"), "application/json");
    let long = format!("PUT /items/7\n{json}\ncontent-length: 99\n\n{}", "1".repeat(99));
    check(&app, &long, r#"413 {"error":"Request body too large"}"#);
}
