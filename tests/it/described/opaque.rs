//! Each helper describes itself.

use std::collections::BTreeSet;
use std::time::Duration;

use stockade::middleware::{
    ErrorHandlerOptions, InputRule, Metrics, create_api_middleware, create_error_handler, layered,
    with_body_hooks, with_compression, with_concurrency_limit, with_cors,
    with_cross_origin_protection, with_decompression, with_error_handling, with_etag,
    with_input_validation, with_logging, with_metrics, with_params_validation, with_permission,
    with_query_validation, with_request_id, with_role, with_sanitization, with_serialization,
    with_timeout, with_tracing, with_validation,
};
use stockade::prelude::*;
use stockade::serialization::SerializationOptions;
use stockade::validation::schema;

use super::quiet;

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

/// The names of the helpers, as the crate exports them.
fn exported() -> BTreeSet<&'static str> {
    let lines = include_str!("../../../crates/stockade-middleware/public-api.txt").lines();
    let names = lines.filter_map(|line| line.strip_prefix("pub fn stockade_middleware::with_"));
    let end = |name: &str| name.find(['(', '<']).unwrap();
    names.map(|name| &name[..end(name)]).collect()
}

#[test]
fn each_helper_describes_itself() {
    let mut router = Router::with_options(quiet());
    router.use_(helpers());
    router.post("/x/:id", async || "x");
    let app = router.build().unwrap();
    let facts = app.routes()[0].facts();
    let opaque: Vec<_> = facts.middleware.iter().filter(|fact| fact.is_opaque).collect();
    assert!(opaque.is_empty(), "{opaque:?}");
    let names = facts.middleware.iter().filter_map(|fact| fact.name.strip_prefix("with_"));
    assert_eq!(names.collect::<BTreeSet<_>>(), exported());
}

#[test]
fn a_description_is_the_same_when_it_is_asked_for_again() {
    let mut router = Router::with_options(quiet());
    router.use_(helpers());
    router.post("/x/:id", async || "x");
    let app = router.build().unwrap();
    let once = format!("{:?}", app.routes()[0].facts());
    assert_eq!(format!("{:?}", app.routes()[0].facts()), once);
}

#[test]
fn functions_of_the_program_and_layers_are_opaque() {
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
        assert_eq!(facts.middleware.len(), 5);
        assert!(facts.middleware.iter().all(|fact| fact.is_opaque == expected), "{facts:?}");
        assert_eq!(facts.middleware[4].name, "a layer");
    }
}
