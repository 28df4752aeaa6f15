//! Paths and methods: the matching route and its parameters.
// Spec: Path syntax; Router construction and members.

use stockade::prelude::*;
use stockade::serde_json::Map;

use crate::support::{app, app_of, check, header_of};

/// Responds with the matched pattern and its parameters.
async fn echo(req: Request) -> String {
    let params: Map<String, Value> =
        req.params().map(|(name, value)| (name.to_owned(), value.into())).collect();
    format!("{} {}", req.route().unwrap_or("-"), Value::Object(params))
}

/// Builds an app that responds to all routes with `echo`.
#[track_caller]
fn echoing(paths: &[&str]) -> App {
    let mut router = Router::new();
    for path in paths {
        router.get(path, echo);
    }
    app(router)
}

#[track_caller]
fn matches(patterns: &[&str], path: &str, expected: &str) {
    let expected = match expected {
        "404" => r#"404 {"error":"Not Found"}"#.to_owned(),
        "400" => r#"400 {"error":"Bad Request"}"#.to_owned(),
        found => format!("200 {found}"),
    };
    check(&echoing(patterns), &format!("GET {path}"), &expected);
}

// The matcher's own tests cover each form of a path.
#[test]
fn a_route_receives_its_pattern_and_its_parameters() {
    matches(&["/users"], "/users", "/users {}");
    matches(&["users"], "/users", "/users {}");
    matches(&["/a.b"], "/axb", "404");
    matches(&["/users/:id"], "/users/7", r#"/users/:id {"id":"7"}"#);
    matches(&["/:from-:to"], "/a-b-c", r#"/:from-:to {"from":"a-b","to":"c"}"#);
    matches(&["/opt/:id?"], "/opt", "/opt/:id? {}");
    matches(&["/d/**"], "/d/a//b/", r#"/d/** {"splat":"a//b/"}"#);
}

#[test]
fn the_path_is_matched_raw() {
    matches(&["/x"], "//x", "404");
    matches(&["/x"], "/x/", "404");
    matches(&["/x"], "/X", "404");
    matches(&["/users"], "/us%65rs", "404");
    matches(&["/admin"], "/public/../admin", "404");
    matches(&["/x"], "/x?y=/z", "/x {}");
    matches(&["/x"], "http://host/x", "/x {}");
    for control in ["%00", "%0a", "%0D", "%1B", "%7f"] {
        matches(&["/*"], &format!("/a{control}b"), "400");
        matches(&["/*"], &format!("/a%20%41{control}"), "400");
    }
    matches(&["/*"], "/a\\b", "400");
}

#[test]
fn escaped_colons_and_stars_are_text() {
    let routes = [r"/users\:batch", r"/books/:id\:archive", "/books/:id", r"/\*"];
    matches(&routes, "/users:batch", r"/users\:batch {}");
    matches(&routes, "/usersbatch", "404");
    matches(&routes, "/users%3Abatch", "404");
    matches(&routes, "/books/7:archive", r#"/books/:id\:archive {"id":"7"}"#);
    matches(&routes, "/books/7:other", r#"/books/:id {"id":"7:other"}"#);
    matches(&routes, "/*", r"/\* {}");
    matches(&routes, "/x", "404");
    // The escape also works in `routes!` and in an options file.
    let options: RouterOptions = serde_json::from_str(r#"{ "prefix": "/api\\:v1" }"#).unwrap();
    let tree = routes! { r"users\:batch": { POST: { async || "done", name: "batch" } } };
    let app = app(create_router(tree, options));
    check(&app, "POST /api:v1/users:batch", "200 done");
    assert_eq!(app.generate_url("batch", [("", "")]).unwrap(), "/api:v1/users:batch");
}

#[test]
fn a_parameter_that_may_be_text_is_a_configuration_error() {
    let mut router = Router::new();
    router.get("/users:batch", echo);
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains(r"use `\:batch` for this text, or `:batch(.+)`"), "{error}");
}

#[test]
fn non_ascii_text_matches_its_encoded_form() {
    let routes = ["/caf\u{e9}", "/caf\u{e9}/:id", "/\u{e9}-:id", "/:any", "/men\u{fc}/**"];
    for path in ["/caf%C3%A9", "/caf%c3%a9", "/caf%C3%a9", "/caf\u{e9}"] {
        matches(&routes, path, "/caf\u{e9} {}");
        matches(&routes, &format!("{path}/%c3%bc"), "/caf\u{e9}/:id {\"id\":\"\u{fc}\"}");
    }
    matches(&routes, "/%c3%a9-\u{fc}x", "/\u{e9}-:id {\"id\":\"\u{fc}x\"}");
    matches(&routes, "/men%c3%bc/a/%C3%BC", "/men\u{fc}/** {\"splat\":\"a/\u{fc}\"}");
    // A decomposed character is a different character: paths are not
    // normalized.
    matches(&routes, "/cafe%CC%81", "/:any {\"any\":\"cafe\u{301}\"}");
    // Encoded letters of a route are rejected, so such a path never reaches
    // another route.
    matches(&routes, "/%63af%C3%A9", "400");
    matches(&routes, "/caf%E9", "/:any {\"any\":\"caf%E9\"}");
    matches(&["/caf\u{e9}"], "/%63af%C3%A9", "404");
    matches(&["/caf\u{e9}"], "/caf%25C3%25A9", "404");
    matches(&["/a%2fb"], "/a%2Fb", "/a%2fb {}");
    matches(&["/a%2fb", "/a/b"], "/a%2fb", "/a%2fb {}");
}

#[test]
fn non_ascii_text_has_the_methods_of_its_path() {
    let app = app_of(routes! { "caf\u{e9}": { GET: echo, DELETE: echo } });
    for path in ["/caf%C3%A9", "/caf%c3%a9"] {
        check(&app, &format!("POST {path}"), r#"405 {"error":"Method Not Allowed"}"#);
        let allow = header_of(&app, &format!("OPTIONS {path}"), "allow");
        assert_eq!(allow, "GET, HEAD, DELETE, OPTIONS");
    }
    let mut router = Router::new();
    router.get("/caf\u{e9}", echo);
    router.get("/caf%c3%a9", echo);
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("same method and path"), "{error}");
}

#[test]
fn generated_addresses_are_encoded() {
    let mut router = Router::new();
    router.get("/caf\u{e9}/:id", echo).name("menu");
    router.post("/", async || stockade::reply::Created::new(()).location("/caf\u{e9}/7"));
    router.get("/", async || stockade::reply::Redirect::to("/caf\u{e9}?q=\u{fc}"));
    let app = app(router);
    assert_eq!(app.generate_url("menu", [("id", "\u{fc}")]).unwrap(), "/caf%C3%A9/%C3%BC");
    assert_eq!(header_of(&app, "POST /", "location"), "/caf%C3%A9/7");
    assert_eq!(header_of(&app, "GET /", "location"), "/caf%C3%A9?q=%C3%BC");
    assert_eq!(app.route_map().routes[0].templates, ["/caf%C3%A9/{id}"]);
}

#[test]
fn decodes_values_and_keeps_malformed_ones() {
    matches(&["/:v"], "/a%20b%2Fc", r#"/:v {"v":"a b/c"}"#);
    matches(&["/:v"], "/a+b", r#"/:v {"v":"a+b"}"#);
    matches(&["/:v"], "/100%", r#"/:v {"v":"100%"}"#);
    matches(&["/:v"], "/%zz", r#"/:v {"v":"%zz"}"#);
    matches(&["/:v"], "/%E4%B8", r#"/:v {"v":"%E4%B8"}"#);
    matches(&["/:v"], "/%E4%B8%AD", r#"/:v {"v":"中"}"#);
}

#[test]
fn the_most_specific_route_wins_in_any_order() {
    let mut routes = ["/:a", "/x", r"/:n(\d+)", "/:a-:b", "/*", "/**"];
    for _ in 0..2 {
        matches(&routes, "/x", "/x {}");
        matches(&routes, "/7", r#"/:n(\d+) {"n":"7"}"#);
        matches(&routes, "/p-q", r#"/:a-:b {"a":"p","b":"q"}"#);
        matches(&routes, "/y", r#"/:a {"a":"y"}"#);
        matches(&routes, "/y/z", r#"/** {"splat":"y/z"}"#);
        routes.reverse();
    }
    matches(&["/x", "/x/:a?"], "/x", "/x {}");
    // Backtracking: the literal `a` is a dead end.
    matches(&["/a/b", "/:p/c"], "/a/c", r#"/:p/c {"p":"a"}"#);
}

#[test]
fn the_method_is_part_of_the_match() {
    let mut router = Router::new();
    router.get("/users/:id", echo);
    router.post("/users/me", async || "me");
    let app = app(router);
    check(&app, "GET /users/me", r#"200 /users/:id {"id":"me"}"#);
    check(&app, "POST /users/me", "200 me");
    check(&app, "POST /users/7", r#"405 {"error":"Method Not Allowed"}"#);
}

#[test]
fn unmatched_requests_are_404_or_405_with_allow() {
    let app = app_of(routes! { "x": { GET: echo, DELETE: echo }, "y": { POST: echo } });
    check(&app, "GET /z", r#"404 {"error":"Not Found"}"#);
    check(&app, "PATCH /x", r#"405 {"error":"Method Not Allowed"}"#);
    assert_eq!(header_of(&app, "PATCH /x", "allow"), "GET, HEAD, DELETE, OPTIONS");
    assert_eq!(header_of(&app, "GET /y", "allow"), "POST, OPTIONS");
    assert_eq!(header_of(&app, "PATCH /x", "content-type"), "application/json");
    assert_eq!(header_of(&app, "GET /z", "content-type"), "application/json");
}

#[test]
fn wrong_methods_are_404_if_405_is_disabled() {
    let options = RouterOptions::new().method_not_allowed(false);
    let app = app(create_router(routes! { "x": { GET: echo } }, options));
    check(&app, "POST /x", r#"404 {"error":"Not Found"}"#);
}

#[test]
fn head_is_get_without_a_body() {
    let app = app_of(routes! { "x": { GET: async |req: Request| req.method().to_string() } });
    check(&app, "HEAD /x", "200");
    // The handler sees HEAD.
    assert_eq!(header_of(&app, "HEAD /x", "content-length"), "4");
    assert_eq!(header_of(&app, "HEAD /x", "content-type"), "text/plain; charset=utf-8");
    check(&app, "HEAD /y", "404");

    let mut router = Router::new();
    router.get("/x", async || "get");
    router.head("/x", async || StatusCode::ACCEPTED);
    check(&crate::support::app(router), "HEAD /x", "202");
}

#[test]
fn options_gets_a_response_without_a_route() {
    let app = app_of(routes! { "x": { GET: echo, POST: echo } });
    check(&app, "OPTIONS /x", "204");
    assert_eq!(header_of(&app, "OPTIONS /x", "allow"), "GET, HEAD, POST, OPTIONS");
    check(&app, "OPTIONS /y", r#"404 {"error":"Not Found"}"#);
    let preflight = "OPTIONS /y\norigin: https://a.example\naccess-control-request-method: PUT";
    check(&app, preflight, "204");
    check(&app, "OPTIONS *", "204");
    check(&app, "GET *", r#"400 {"error":"Bad Request"}"#);

    let mut router = Router::new();
    router.options("/x", async || "own");
    check(&crate::support::app(router), "OPTIONS /x", "200 own");
}

#[test]
fn connect_is_never_a_route() {
    let app = echoing(&["/**"]);
    check(&app, "CONNECT example.org:443", r#"405 {"error":"Method Not Allowed"}"#);
    assert_eq!(header_of(&app, "CONNECT example.org:443", "allow"), "GET, HEAD, OPTIONS");
}

#[test]
fn other_methods_can_be_registered() {
    let mut router = Router::new();
    router.route(Method::from_bytes(b"QUERY").unwrap(), "/x", async || "found");
    let app = app(router);
    check(&app, "QUERY /x", "200 found");
    assert_eq!(header_of(&app, "GET /x", "allow"), "OPTIONS, QUERY");
}

#[test]
fn groups_nest_and_join_with_one_slash() {
    let mut router = Router::with_options(RouterOptions::new().prefix("api/"));
    router.group("/g", (), |group| {
        group.get("/", echo);
        group.group("h/", (), |group| {
            group.get("x", echo);
        });
    });
    let app = app(router);
    check(&app, "GET /api/g", "200 /api/g {}");
    check(&app, "GET /api/g/h/x", "200 /api/g/h/x {}");
}

#[test]
fn tree_keys_can_have_several_segments_of_any_kind() {
    let app = app_of(routes! {
        "api/v1": {
            ":from-:to": { get: echo },
            "/files/": { "**": { Get: echo } },
        },
        "elsewhere": { PUT: { handler: echo, path: "/put/:id?" } },
    });
    check(&app, "GET /api/v1/a-b", r#"200 /api/v1/:from-:to {"from":"a","to":"b"}"#);
    check(&app, "GET /api/v1/files/a/b", r#"200 /api/v1/files/** {"splat":"a/b"}"#);
    check(&app, "PUT /put", "200 /put/:id? {}");
    check(&app, "PUT /elsewhere", r#"404 {"error":"Not Found"}"#);
}

#[test]
fn urls_are_built_by_name() {
    let mut router = Router::with_options(RouterOptions::new().prefix("/api"));
    router.get("/users/:id", echo).name("user");
    router.get("/search/:query?/:page(\\d+)?", echo).name("search");
    router.get("/files/**", echo).name("file");
    router.group("/g", (), |group| {
        group.get("/:from-:to", echo).name("flight");
    });
    let router_url = router.generate_url("user", [("id", "7")]).unwrap();
    let app = app(router);
    let url = |name: &str, params: &[(&str, &str)]| {
        app.generate_url(name, params.iter().copied()).map_err(|error| error.to_string())
    };
    assert_eq!(url("user", &[("id", "7")]).unwrap(), router_url);
    assert_eq!(url("user", &[("id", "a/b c"), ("more", "x")]).unwrap(), "/api/users/a%2Fb%20c");
    assert_eq!(url("search", &[]).unwrap(), "/api/search");
    assert_eq!(url("search", &[("query", "x"), ("page", "2")]).unwrap(), "/api/search/x/2");
    assert_eq!(url("file", &[("splat", "a b/c")]).unwrap(), "/api/files/a%20b/c");
    assert_eq!(url("flight", &[("from", "OSL"), ("to", "LHR")]).unwrap(), "/api/g/OSL-LHR");
    assert!(url("search", &[("query", "x"), ("page", "two")]).unwrap_err().contains("page"));
    assert!(url("user", &[]).unwrap_err().contains("id"));
    assert!(url("nobody", &[]).unwrap_err().contains("nobody"));
}
