//! GraphQL schemas.

use stockade::RouteDescription;
use stockade::prelude::*;
use stockade::routing::map::GraphQlInfo;

use super::{Mutation, api, mutation, nothing};

/// Returns a router that serves a schema with these members at `GET /x`.
fn serves<const N: usize>(members: [(&str, &str); N]) -> Router {
    let members = members.map(|(name, of_type)| (name.to_owned(), of_type.to_owned()));
    let fact = GraphQlInfo::new("", members.into_iter().collect());
    let describe = move |doc: &mut RouteDescription| doc.serves_graphql(&fact);
    let middleware = Middleware::new(nothing).named("graphql").describing(describe);
    api(routes! { "x": { GET: { handler: async || (), middleware: [middleware] } } })
}

pub fn all() -> Vec<Mutation> {
    let one = || serves([("Query.a", "Int")]);
    let with = |name: &str, of_type: &str| serves([("Query.a", "Int"), (name, of_type)]);
    let input = |name: &str, of_type: &str| {
        serves([("Query.a", "Int"), ("input I.a", "Int"), (name, of_type)])
    };
    vec![
        mutation(
            "a field of a schema goes",
            (with("Query.b", "Int"), one()),
            "B graphql-removed",
            "- graphql-added",
        ),
        mutation(
            "a field of a schema may be null",
            (serves([("Query.a", "Int!")]), one()),
            "B graphql-type-changed",
            "- graphql-relaxed",
        ),
        mutation(
            "a field of a schema has another type",
            (serves([("Query.a", "[Int!]!")]), serves([("Query.a", "[Int]!")])),
            "B graphql-type-changed",
            "B graphql-type-changed",
        ),
        mutation(
            "an argument must be given",
            (with("Query.a(b)", "Int"), with("Query.a(b)", "Int!")),
            "B graphql-required",
            "- graphql-relaxed",
        ),
        mutation(
            "an argument has no default",
            (with("Query.a(b)", "Int! = 1"), with("Query.a(b)", "Int!")),
            "B graphql-required",
            "- graphql-relaxed",
        ),
        mutation(
            "an argument comes that must be given",
            (one(), with("Query.a(b)", "Int!")),
            "B graphql-required",
            "B graphql-removed",
        ),
        mutation(
            "an argument comes that may be left out",
            (one(), with("Query.a(b)", "Int! = 1")),
            "- graphql-added",
            "B graphql-removed",
        ),
        mutation(
            "a field comes with an argument that must be given",
            (one(), serves([("Query.a", "Int"), ("Query.b", "Int"), ("Query.b(c)", "Int!")])),
            "- graphql-added",
            "B graphql-removed",
        ),
        mutation(
            "an input field comes that must be given",
            (with("input I.a", "Int"), input("input I.b", "Int!")),
            "B graphql-required",
            "B graphql-removed",
        ),
        mutation(
            "an input comes with a field that must be given",
            (one(), with("input I.a", "Int!")),
            "- graphql-added",
            "B graphql-removed",
        ),
        mutation(
            "a value of an enum goes",
            (with("enum E.A", ""), one()),
            "B graphql-removed",
            "- graphql-added",
        ),
        mutation(
            "a schema sends the hash of a password",
            (one(), with("User.passwordHash", "String!")),
            "W graphql-added reply-secret-added",
            "B graphql-removed",
        ),
    ]
}
