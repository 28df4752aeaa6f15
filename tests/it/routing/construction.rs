//! Configuration errors, all reported together when the router is built.
// Spec: Router construction and members.

use std::collections::HashMap;

use serde::Deserialize;
use stockade::prelude::*;
use stockade::reply::ResponseWriter;
use stockade::server::ServerOptions;
use stockade::validation::Unchecked;
use stockade::{HostOptions, serde_json};

use crate::support::map_with;

#[derive(Deserialize, Schema)]
#[allow(dead_code, reason = "only its shape counts")]
struct Flight {
    from: String,
    to: String,
}

async fn nothing() {}

/// Returns the configuration errors without their locations, one per line.
#[track_caller]
fn check(router: Router, expected: &[&str]) {
    let error = router.build().expect_err("the router has mistakes");
    let actual: Vec<String> = error
        .issues()
        .iter()
        .map(|mistake| {
            let location = mistake.location().expect("every mistake has a place");
            assert!(location.file().ends_with("construction.rs"), "{mistake}");
            let route = mistake.route().expect("every mistake has a route");
            format!("{route}: {}", mistake.message())
        })
        .collect();
    assert_eq!(actual.len(), expected.len(), "{actual:#?}");
    for (actual, expected) in actual.iter().zip(expected) {
        assert!(actual.contains(expected), "{actual:?} does not contain {expected:?}");
    }
}

#[test]
fn reports_all_errors_together_with_their_lines() {
    let mut router = Router::new();
    let line = line!();
    router.get("/a/:", nothing);
    router.get("/b/**/c", nothing);
    router.get("/c/:id/:id", nothing);
    router.get("/d/:id([)", nothing);
    let error = router.build().unwrap_err();
    let lines: Vec<u32> =
        error.issues().iter().map(|mistake| mistake.location().unwrap().line()).collect();
    assert_eq!(lines, [line + 1, line + 2, line + 3, line + 4]);
    assert!(error.to_string().starts_with("4 configuration errors:\n"), "{error}");
}

#[test]
fn duplicates_name_both_locations() {
    let mut router = Router::new();
    let line = line!();
    router.get("/users/:id", nothing).name("user");
    router.get("/users/:name", nothing);
    router.post("/users", nothing).name("user");
    let error = router.build().unwrap_err();
    let [path, name] = error.issues() else { panic!("{error}") };
    let first = format!("GET /users/:id ({}:{})", file!(), line + 1);
    assert_eq!(path.message(), format!("duplicate route: same method and path as {first}"));
    assert_eq!(path.route(), Some("GET /users/:name"));
    assert_eq!(name.message(), format!("duplicate route name \"user\", already used by {first}"));
}

#[test]
fn optional_paths_are_not_duplicates_of_plain_ones() {
    let mut router = Router::new();
    router.get("/x", nothing);
    router.get("/x/:a?", nothing);
    router.post("/x", nothing);
    assert_eq!(router.build().unwrap().routes().len(), 3);
}

#[test]
fn reports_errors_of_a_tree_built_at_run_time() {
    let tree = RouteTree::new()
        .key("GET", nothing)
        .key("get", nothing)
        .key("deep", RouteTree::new().key("put", nothing).key("PUT", nothing))
        .key("users", RouteTree::new())
        .key("/users", RouteTree::new())
        .key("PSOT", nothing)
        .key("post", RouteTree::new())
        .key(":bad:bad", RouteTree::new().key("GET", nothing));
    let expected = [
        "/: duplicate GET",
        "/: duplicate segment \"/users\"",
        "\"PSOT\" is a path segment: expected a tree, found a handler (did you mean POST?)",
        "POST is a method: expected a handler, found a tree",
        "/deep: duplicate PUT",
        "/:bad:bad: path \":bad:bad\"",
    ];
    check(create_router(tree, RouterOptions::new()), &expected);
}

#[test]
fn rejects_arguments_that_the_path_cannot_provide() {
    let mut router = Router::new();
    router.get("/a/:id", async |Path(_): Path<(u32, u32)>| ());
    router.get("/b/:id/:other", async |Path(_): Path<u32>| ());
    router.get("/c/:from", async |Path(_): Path<Flight>| ());
    router.get("/d", async |Path(_): Path<String>| ());
    // A map accepts any parameters.
    router.get("/e/:x", async |Path(_): Path<HashMap<String, String>>| ());
    router.get("/f/:from-:to", async |Path(_): Path<Flight>| ());
    let expected = [
        "GET /a/:id: `Path<(u32, u32)>` takes 2 parameters, but the path has 1",
        "GET /b/:id/:other: `Path<u32>` takes one parameter, but the path has 2",
        "Flight>` reads `to`, but the path does not have it",
        "takes one parameter, but the path has 0",
    ];
    check(router, &expected);
}

#[test]
fn optional_parameters_need_optional_types() {
    #[derive(Deserialize)]
    #[allow(dead_code, reason = "only its shape counts")]
    struct Shelf {
        #[serde(alias = "category")]
        kind: String,
        page: Option<u32>,
    }
    let mut router = Router::new();
    router.get("/a/:id?", async |Path(_): Path<u32>| ());
    router.get("/b/:id?", async |Path(_): Path<Option<u32>>| ());
    router.get("/c/:x/:y?", async |Path(_): Path<(u32, u32)>| ());
    router.get("/d/:kind/:page?", async |Path(_): Path<Unchecked<Shelf>>| ());
    // The field is renamed with serde.
    router.get("/e/:category/:page?", async |Path(_): Path<Unchecked<Shelf>>| ());
    router.get("/f/:kind?/:page?", async |Path(_): Path<Unchecked<Shelf>>| ());
    router.get("/g/:kind", async |Path(_): Path<Unchecked<Shelf>>| ());
    let expected = [
        "GET /a/:id?: `id` is optional in the path: write `Path<Option<u32>>`",
        "GET /c/:x/:y?: `y` is optional in the path, but a tuple cannot show",
        "GET /f/:kind?/:page?: `kind` is optional in the path: make it an `Option` in `",
        "Shelf>>` reads `page`, but the path does not have it",
    ];
    check(router, &expected);
}

#[test]
fn rejects_a_second_response_writer() {
    let mut router = Router::new();
    router.get("/a", async |_: ResponseWriter, _: ResponseWriter| ());
    check(router, &["GET /a: two arguments of the handler write the response"]);
}

#[test]
fn rejects_missing_state() {
    let mut router = Router::new().state(7_u8);
    router.get("/a", async |_: State<u8>| ());
    router.get("/b", async |_: State<u64>| ());
    check(router, &["GET /b: `State<u64>` was not provided: add `.state(…)`"]);
}

#[test]
fn rejects_body_arguments_of_methods_without_a_body() {
    let mut router = Router::new();
    router.get("/a", async |_: Body<Value>| ());
    router.get("/b", async |_: Body<Option<Value>>| ());
    check(router, &["GET /a: the handler needs a body, but GET requests have no body"]);
}

#[test]
fn rejects_duplicate_request_arguments() {
    let mut router = Router::new();
    router.get("/a", async |_: Request, _: Request| ());
    check(router, &["GET /a: two arguments of the handler consume the request"]);
}

#[test]
fn a_group_cannot_replace_its_options() {
    let mut router = Router::new().map_options(|options| options.max_body_size(1));
    router.group("/api", (), |api| {
        api.error_handling(|_: &mut stockade::ErrorReply| {}).validation_status(422);
        api.group("/admin", (), |admin| {
            admin.get("/cache", nothing);
            let router = std::mem::take(admin);
            *admin = router.map_options(|options| options.middleware(|_: &mut Request| ()));
        });
    });
    check(router, &["/admin: a group cannot have router options"]);
}

#[test]
fn rejects_connect() {
    let mut router = Router::new();
    router.route(Method::CONNECT, "/a", nothing);
    check(router, &["a route cannot use the method CONNECT"]);
}

#[test]
fn options_are_read_from_a_configuration() {
    let options: RouterOptions =
        serde_json::from_str(r#"{"max_body_size": 10, "exposeErrors": true}"#).unwrap();
    let read = map_with(options.enable_web_sockets(true)).router;
    assert_eq!((read.max_body, read.exposes_errors_always), (10, true));
    let defaults = map_with(RouterOptions::new().enable_web_sockets(true)).router;
    assert_eq!((defaults.max_body, defaults.exposes_errors_always), (1_048_576, false));
    let error = serde_json::from_str::<RouterOptions>(r#"{"bodySize": 10}"#).unwrap_err();
    assert!(error.to_string().contains("unknown field `bodySize`"), "{error}");
    assert!(serde_json::from_str::<HostOptions>(r#"{"prefix": "/x"}"#).is_err());
    assert!(serde_json::from_str::<ServerOptions>(r#"{"unknown": 1}"#).is_err());
}
