//! `routes.lock`: mutations of small routers and the classes of the changes, in
//! both directions.

mod authentication;
mod command;
mod documents;
mod graphql;
mod idempotency;
mod inputs;
mod replies;
mod resources;
mod routes;
mod safety;
mod signatures;
mod stable;

use std::collections::BTreeSet;
use std::time::SystemTime;

use stockade::description::{Content, ContentSchema, ResponseDoc};
use stockade::openapi::lock::{Changes, Lock};
use stockade::prelude::*;
use stockade::validation::Schema as AnySchema;
use stockade::{RouteDescription, RouteDocs};

/// Two routers and the changes between them.
pub struct Mutation {
    pub name: &'static str,
    pub old: App,
    pub new: App,
    /// The class and ids of the changes from the old router to the new one.
    forward: &'static str,
    /// The class and ids of the changes from the new router to the old one.
    backward: &'static str,
}

/// Creates a mutation. Changes are written as `B route-removed`: the letters of
/// the class (breaking, weakening; `-` for neither), then the ids in order.
#[track_caller]
pub fn mutation(
    name: &'static str,
    (old, new): (Router, Router),
    forward: &'static str,
    backward: &'static str,
) -> Mutation {
    let build = |router: Router| router.build().unwrap_or_else(|error| panic!("{name}: {error}"));
    Mutation { name, old: build(old), new: build(new), forward, backward }
}

pub fn all() -> Vec<Mutation> {
    let of_routes = [routes::all(), inputs::all(), replies::all(), safety::all()];
    let of_adapters = [resources::all(), graphql::all(), idempotency::all()];
    let of_guards = [authentication::all(), signatures::all()];
    of_routes.into_iter().chain(of_adapters).chain(of_guards).flatten().collect()
}

pub fn lock_of(app: &App) -> Lock {
    Lock::of(&app.route_map()).unwrap()
}

pub fn changes(old: &App, new: &App) -> Changes {
    lock_of(old).changes_to(&lock_of(new), SystemTime::UNIX_EPOCH)
}

/// Returns the changes in the format of a mutation.
fn told(changes: &Changes) -> String {
    let class = match (changes.is_breaking(), changes.is_weakening()) {
        (true, true) => "BW",
        (true, false) => "B",
        (false, true) => "W",
        (false, false) => "-",
    };
    let ids: BTreeSet<&str> = changes.iter().map(|change| change.rule.id).collect();
    let ids: Vec<&str> = ids.into_iter().collect();
    format!("{class} {}", ids.join(" "))
}

/// Returns a router with one tree and without a rate limit.
pub fn api(tree: RouteTree) -> Router {
    create_router(tree, RouterOptions::new().rate_limit(false))
}

/// Returns a router with these options and one route.
pub fn with(options: RouterOptions) -> Router {
    create_router(routes! { "x": { GET: async || () } }, options)
}

/// Returns a router that reads a body of this schema at `POST /x`.
pub fn takes(schema: Value) -> Router {
    let schema = AnySchema::from_value(&schema).unwrap();
    api(routes! { "x": { POST: { handler: async || (), validation: schema } } })
}

/// Returns a router that reads a query of this schema at `GET /x`.
pub fn asks(schema: Value) -> Router {
    let schema = AnySchema::from_value(&schema).unwrap();
    api(routes! { "x": { GET: { handler: async || (), query: schema } } })
}

/// Returns a router that responds to `GET /x` with 200 and a value of this
/// schema.
pub fn sends(schema: Value) -> Router {
    answers(
        ResponseDoc::new(200)
            .content(Content::new("application/json", ContentSchema::Json(schema))),
    )
}

/// Returns a router with this additional response at `GET /x`.
pub fn answers(answer: ResponseDoc) -> Router {
    let describe = move |doc: &mut RouteDescription| doc.responds(answer.clone());
    let middleware = Middleware::new(nothing).named("answers").describing(describe);
    api(routes! { "x": { GET: { handler: async || (), middleware: [middleware] } } })
}

pub fn nothing(_: &mut Request) -> Result<(), ApiError> {
    Ok(())
}

#[test]
fn each_mutation_has_its_class_both_ways() {
    let all = all();
    let mut faults = Vec::new();
    for Mutation { name, old, new, forward, backward } in &all {
        for (way, before, after, expected) in
            [("forward", old, new, forward), ("backward", new, old, backward)]
        {
            let changes = changes(before, after);
            if told(&changes) != *expected {
                faults.push(format!("{name} {way}: {}\n{changes}", told(&changes)));
            }
        }
        assert!(changes(old, old).is_empty() && changes(new, new).is_empty(), "{name}");
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), all.len(), faults.join("\n"));
    assert!(all.len() >= 80, "{}", all.len());
    let names: BTreeSet<&str> = all.iter().map(|mutation| mutation.name).collect();
    assert_eq!(names.len(), all.len());
}

pub fn docs() -> RouteDocs {
    RouteDocs::new("The route")
}
