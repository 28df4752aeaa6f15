//! Checks that each helper describes itself.

use std::collections::BTreeSet;
use std::time::Duration;

use stockade::FromRequest;
use stockade::extract::OptionalFromRequest;
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    ErrorHandlerOptions, InputRule, Metrics, create_api_middleware, create_error_handler, layered,
    with_body_hooks, with_compression, with_concurrency_limit, with_cors,
    with_cross_origin_protection, with_decompression, with_error_handling, with_etag,
    with_idempotency, with_input_validation, with_logging, with_metrics, with_params_validation,
    with_permission, with_query_validation, with_request_id, with_role, with_sanitization,
    with_serialization, with_timeout, with_tracing, with_validation,
};
use stockade::prelude::*;
use stockade::serialization::SerializationOptions;
use stockade::validation::schema;

use super::{quiet, row};

fn helpers() -> Vec<Middleware> {
    let any = || schema!({ "id": { "type": "string" } });
    let nobody = |_: String| None::<String>;
    vec![
        with_auth(nobody),
        Middleware::new(with_body_hooks()),
        Middleware::new(with_compression()),
        Middleware::new(with_concurrency_limit(1)),
        with_cors("*"),
        Middleware::new(with_cross_origin_protection()),
        Middleware::new(with_decompression()),
        with_error_handling(create_error_handler(ErrorHandlerOptions::new())),
        Middleware::new(with_etag()),
        with_idempotency(Idempotency::new(MemoryIdempotencyStore::new())),
        with_input_validation([("name", InputRule::new())]),
        Middleware::new(with_logging()),
        with_metrics(Metrics::new()),
        Middleware::new(with_params_validation(any())),
        with_permission(|_: &Value, _: &Request| true),
        Middleware::new(with_query_validation(any())),
        Middleware::new(with_rate_limit(1 / MINUTE)),
        Middleware::new(with_request_id()),
        with_role("admin"),
        with_sanitization(),
        with_serialization(SerializationOptions::new()),
        Middleware::new(with_timeout(Duration::from_secs(1))),
        Middleware::new(with_tracing()),
        Middleware::new(with_validation(any())),
    ]
}

/// Returns the helpers that the crate exports.
fn exported() -> BTreeSet<&'static str> {
    let middleware = include_str!("../../../../crates/stockade-middleware/public-api.txt").lines();
    let stages = include_str!("../../../../crates/stockade-stages/public-api.txt").lines();
    let own = middleware.filter_map(|it| it.strip_prefix("pub fn stockade_middleware::with_"));
    let built_in = stages.filter_map(|it| it.strip_prefix("pub fn stockade_stages::with_"));
    let end = |name: &str| name.find(['(', '<']).unwrap();
    own.chain(built_in).map(|name| &name[..end(name)]).collect()
}

#[test]
fn each_helper_describes_itself() {
    let mut router = Router::with_options(quiet());
    router.use_(helpers());
    router.post("/x/:id", async || "x");
    let app = router.build().unwrap();
    let facts = app.routes()[0].facts();
    let opaque: Vec<_> = facts.route.middleware.iter().filter(|fact| fact.is_opaque).collect();
    assert!(opaque.is_empty(), "{opaque:?}");
    let own: Vec<_> = facts.route.middleware.iter().filter(|fact| fact.may_set_user).collect();
    assert!(own.is_empty(), "{own:?}");
    let names = facts.route.middleware.iter().filter_map(|fact| fact.name.strip_prefix("with_"));
    assert_eq!(names.collect::<BTreeSet<_>>(), exported());
}

#[test]
fn descriptions_are_reproducible() {
    let mut router = Router::with_options(quiet());
    router.use_(helpers());
    router.post("/x/:id", async || "x");
    let app = router.build().unwrap();
    let once = format!("{:?}", app.routes()[0].facts());
    assert_eq!(format!("{:?}", app.routes()[0].facts()), once);
}

#[test]
fn application_functions_and_layers_are_opaque() {
    fn check(_: &mut Request) {}
    async fn around(req: Request, next: Next) -> Response {
        next.run(req).await
    }
    async fn read(Query(_): Query<Value>, _: &mut Request) {}
    let list = [
        Middleware::new(check),
        Middleware::new(around),
        Middleware::new(read),
        create_api_middleware(around),
        layered(tower::layer::layer_fn(|rest| rest)).named("a layer"),
    ];
    let described = list.clone().map(|middleware| middleware.describing(|_| {}));
    for (list, expected) in [(list, true), (described, false)] {
        let mut router = Router::with_options(quiet());
        router.use_(list);
        router.get("/x/:id", async || "x");
        let app = router.build().unwrap();
        let facts = app.routes()[0].facts();
        assert_eq!(facts.route.middleware.len(), 5);
        assert!(facts.route.middleware.iter().all(|fact| fact.is_opaque == expected), "{facts:?}");
        assert_eq!(facts.route.middleware[4].name, "a layer");
    }
}

/// An application's extractor without a description.
struct Paid;

impl FromRequest for Paid {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        match req.headers().get("x-credit") {
            Some(_) => Ok(Self),
            None => Err(ApiError::new(402, "No credit")),
        }
    }
}

impl OptionalFromRequest for Paid {
    async fn from_request_optional(_: &mut Request) -> Result<Option<Self>, ApiError> {
        Err(ApiError::new(423, "locked"))
    }
}

async fn with_paid(_: Paid, _: &mut Request) {}

#[test]
fn application_extractors_may_reject_with_any_status() {
    let told = Middleware::new(with_paid).named("with_paid").describing(|_| {});
    let rows = [
        (row!([], async |_: Paid| "x", "GET /x/7"), 402, "handler"),
        (row!([], async |_: Option<Paid>| "x", "GET /x/7"), 423, "handler"),
        (row!([told], async || "x", "GET /x/7"), 402, "with_paid"),
    ];
    for (row, status, by) in rows {
        let response = row.send();
        assert_eq!(response.status().as_u16(), status);
        row.check_document(&response);
        let map = row.app.route_map();
        let [argument] = &map.routes[0].opaque_arguments[..] else { panic!("{map:?}") };
        assert!(argument.contains("Paid"), "{argument}");
        let answer = map.routes[0].answers.iter().find(|it| it.status == "default").unwrap();
        assert_eq!(answer.by, by);
    }
    // The documentation may name the status. Several arguments share one
    // response.
    let mut router = Router::new();
    let docs = stockade::RouteDocs::new("A report").response(402, "No credit");
    router.get("/x", async |_: Paid, _: Option<Paid>| "x").docs(docs);
    let map = router.build().unwrap().route_map();
    let answers = &map.routes[0].answers;
    assert_eq!(answers.iter().filter(|answer| answer.status == "default").count(), 1);
    assert_eq!(map.routes[0].opaque_arguments.len(), 2);
}
