//! Route options for error handling, for documentation, and for public routes.
// Spec: Route entry object.

use std::time::Duration;

use stockade::middleware::ErrorHandlerOptions;
use stockade::prelude::*;
use stockade::{RouteDocs, RouteEntry};

use crate::support::{app, check, header_of};

async fn fails() -> Result<(), ApiError> {
    Err(ApiError::conflict())
}

fn wrapped(name: &'static str) -> ErrorHandlerOptions {
    ErrorHandlerOptions::new().transform(move |error, _| json!({ name: error.status() }))
}

fn docs() -> RouteDocs {
    RouteDocs::new("Breaks")
        .description("Always.")
        .tags(["bad"])
        .deprecated(true)
        .response(409, "So")
}

/// Checks the same route in each of the three notations.
fn each(check: impl Fn(App)) {
    let macro_made = routes! {
        "x": { GET: {
            handler: fails,
            error_handling: wrapped("own"),
            docs: docs(),
            public: "it is a test",
        } },
    };
    check(app(create_router(macro_made, RouterOptions::new())));
    let entry = RouteEntry::new(fails).error_handling(wrapped("own")).docs(docs());
    let tree = RouteTree::new().key("x", RouteTree::new().key("get", entry.public("it is a test")));
    check(app(create_router(tree, RouterOptions::new())));
    let mut router = Router::new();
    let route = router.get("/x", fails).error_handling(wrapped("own"));
    route.docs(docs()).public("it is a test");
    check(app(router));
}

#[test]
fn the_keys_work_in_every_notation() {
    each(|app| {
        check(&app, "GET /x", r#"409 {"own":409}"#);
        check(&app, "GET /y", r#"404 {"error":"Not Found"}"#);
        let [route] = app.routes() else { panic!("{app:?}") };
        assert_eq!(route.docs(), &docs());
        assert_eq!(route.public_reason(), Some("it is a test"));
    });
}

#[test]
fn a_text_is_a_summary_and_the_default_is_empty() {
    let mut router = Router::new();
    router.get("/a", async || ()).docs("All of it");
    router.get("/b", async || ());
    let app = app(router);
    assert_eq!(app.routes()[0].docs(), &RouteDocs::new("All of it"));
    assert_eq!(
        (app.routes()[1].docs(), app.routes()[1].public_reason()),
        (&RouteDocs::default(), None)
    );
}

#[test]
fn the_error_handler_formats_limit_errors_of_the_route() {
    // The options may appear in any order.
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router
        .get("/slow", std::future::pending::<()>)
        .timeout(Duration::from_millis(1))
        .rate_limit(1 / MINUTE)
        .error_handling(wrapped("first"))
        .error_handling(wrapped("own"));
    router
        .get("/again", async || ())
        .error_handling(wrapped("own"))
        .rate_limit(1 / MINUTE)
        .middleware(|_: &mut Request| Err::<(), _>(ApiError::authorization()));
    let app = app(router);
    let names: Vec<&str> = app.routes()[0].middleware().iter().map(Middleware::name).collect();
    assert_eq!(names, ["with_error_handling", "with_rate_limit", "with_timeout"]);
    check(&app, "GET /slow", r#"503 {"own":503}"#);
    check(&app, "GET /slow", r#"429 {"own":429}"#);
    check(&app, "GET /again", r#"403 {"own":403}"#);
    check(&app, "GET /again", r#"429 {"own":429}"#);
    assert_eq!(header_of(&app, "GET /again", "retry-after"), "60");
}

#[test]
fn errors_of_inherited_middleware_ignore_the_entry_handler() {
    let refuses = |_: &mut Request| Err::<(), _>(ApiError::authorization());
    let mut router = Router::with_options(RouterOptions::new().middleware(refuses));
    router.get("/x", fails).error_handling(wrapped("own"));
    check(&app(router), "GET /x", r#"403 {"error":"Access denied"}"#);
}

#[test]
fn the_build_reports_errors_in_entries() {
    let mut router = Router::new();
    router.get("/a", async || ()).docs(docs().response(409, "again").response(1, "never"));
    router.get("/b", async || ()).public(" ");
    let error = router.build().unwrap_err().to_string();
    for expected in [
        "GET /a: docs: duplicate response 409",
        "GET /a: docs: 1 is not a status",
        "GET /b: `public` requires a reason",
    ] {
        assert!(error.contains(expected), "{error}");
    }
}
