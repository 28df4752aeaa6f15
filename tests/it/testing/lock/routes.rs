//! Added and removed routes, and their names, dates and texts.

use stockade::prelude::*;

use super::{Mutation, api, docs, mutation, takes};

fn one(docs: stockade::RouteDocs) -> Router {
    api(routes! { "x": { GET: { handler: async || (), docs: docs } } })
}

pub fn all() -> Vec<Mutation> {
    let get = || routes! { "x": { GET: async || () } };
    let text = async |Path(_): Path<String>| ();
    vec![
        mutation(
            "a route goes",
            (api(routes! { "x": { GET: async || () }, "y": { GET: async || () } }), api(get())),
            "B route-removed",
            "W route-added-open",
        ),
        mutation(
            "a method goes",
            (api(routes! { "x": { GET: async || (), PUT: async || () } }), api(get())),
            "B route-removed",
            "W route-added-open",
        ),
        mutation(
            "a method becomes another one",
            (takes(json!({})), api(routes! { "x": { PUT: async || () } })),
            "BW route-added-open route-removed",
            "BW route-added-open route-removed",
        ),
        mutation(
            "every method is taken",
            (api(get()), api(routes! { "x": { ANY: async || () } })),
            "BW route-added-open route-removed",
            "BW route-added-open route-removed",
        ),
        mutation(
            "a path has another prefix",
            (api(get()), api(routes! { "v2": { "x": { GET: async || () } } })),
            "BW route-added-open route-removed",
            "BW route-added-open route-removed",
        ),
        mutation(
            "a parameter has another name",
            (
                api(routes! { "x": { ":id": { GET: text } } }),
                api(routes! { "x": { ":user": { GET: text } } }),
            ),
            "- path-param-renamed",
            "- path-param-renamed",
        ),
        mutation(
            "two parameters change places",
            (
                api(routes! { ":a": { ":b": { GET: async |Path(_): Path<(String, u64)>| () } } }),
                api(routes! { ":a": { ":b": { GET: async |Path(_): Path<(u64, String)>| () } } }),
            ),
            "B request-type-changed",
            "B request-type-changed",
        ),
        mutation(
            "a parameter may be absent",
            (
                api(routes! { "x": { ":id": { GET: async |Path(_): Path<String>| () } } }),
                api(routes! { "x": { ":id?": { GET: async |Path(_): Path<Option<String>>| () } } }),
            ),
            "- path-param-optional request-type-widened",
            "B path-param-required request-type-narrowed",
        ),
        mutation(
            "a parameter has an expression",
            (
                api(routes! { "x": { ":id": { GET: text } } }),
                api(routes! { "x": { r":id(\d+)": { GET: text } } }),
            ),
            "B error-added path-constraint-added",
            "W error-removed path-constraint-removed",
        ),
        mutation(
            "a parameter has another expression",
            (
                api(routes! { "x": { r":id(\d+)": { GET: text } } }),
                api(routes! { "x": { r":id([a-z]+)": { GET: text } } }),
            ),
            "BW path-constraint-changed",
            "BW path-constraint-changed",
        ),
        mutation(
            "a segment becomes the rest of the path",
            (
                api(routes! { "x": { "*": { GET: text } } }),
                api(routes! { "x": { "**": { GET: text } } }),
            ),
            "BW route-added-open route-removed",
            "BW route-added-open route-removed",
        ),
        mutation(
            "a route becomes a mount",
            (api(get()), api(routes! { "x": { mount: api(routes! {}).build().unwrap() } })),
            "BW route-added-open route-removed",
            "BW route-added-open route-removed",
        ),
        mutation(
            "an operation gets a name",
            (api(get()), api(routes! { "x": { GET: { handler: async || (), name: "x.all" } } })),
            "B operation-id-changed",
            "B operation-id-changed",
        ),
        mutation(
            "documents leave it out",
            (one(docs()), one(docs().hidden("for the staff"))),
            "B route-hidden",
            "- route-shown",
        ),
        mutation(
            "a route is deprecated",
            (one(docs()), one(docs().deprecated_since("2020-01-01"))),
            "- reply-header-added route-deprecated",
            "B reply-header-removed route-deprecated",
        ),
        mutation(
            "a sunset comes earlier",
            (
                one(docs().deprecated_since("2020-01-01").sunset("2031-01-01")),
                one(docs().deprecated_since("2020-01-01").sunset("2030-01-01")),
            ),
            "B sunset-earlier",
            "- sunset-later",
        ),
        mutation(
            "a description",
            (one(docs()), one(docs().description("More words"))),
            "- route-text-changed",
            "- route-text-changed",
        ),
        mutation(
            "groups",
            (one(docs().tags(["a"])), one(docs().tags(["b"]))),
            "- route-text-changed",
            "- route-text-changed",
        ),
        mutation(
            "an example of a reply",
            (one(docs()), one(docs().reply_example(204, Value::Null))),
            "- route-text-changed",
            "- route-text-changed",
        ),
    ]
}
