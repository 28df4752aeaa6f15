//! Policy rules about request data.

use std::collections::BTreeMap;

use stockade::prelude::*;
use stockade::serde_json::Value;
use stockade::validation::Unchecked;

use super::*;

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Bounded {
    #[schema(max_length = 10)]
    name: String,
    #[schema(format = "uuid")]
    id: String,
    kind: Kind,
    #[schema(max_items = 3)]
    lines: Vec<Line>,
    #[schema(minimum = 0, maximum = 1)]
    share: f64,
    count: Option<u32>,
    #[schema(max_length = 5)]
    note: Option<String>,
}

#[derive(serde::Deserialize, Schema)]
enum Kind {
    Large,
    Small,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Line {
    #[schema(max_length = 4)]
    sku: String,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Open {
    name: String,
    nested: Vec<OpenLine>,
    by_name: BTreeMap<String, u8>,
    maybe: Option<f64>,
    #[schema(format = "uri")]
    link: String,
    #[schema(minimum = 0)]
    half: f64,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct OpenLine {
    text: Option<String>,
    children: Vec<OpenLine>,
}

/// The members of [`Open`] that a query string can contain.
#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct OpenQuery {
    name: String,
    names: Vec<Kind>,
    maybe: Option<f64>,
    #[schema(format = "uri")]
    link: String,
    #[schema(minimum = 0)]
    half: f64,
}

fn requests() -> RouteTree {
    routes! {
        "bounded": {
            POST: async |Body(_): Body<Bounded>| (),
            PUT: async |Query(_): Query<Line>| (),
            ":id": { GET: async |Path(_): Path<u64>| () },
        },
        "open": {
            POST: async |Body(_): Body<Open>| (),
            PUT: async |Body(_): Body<Unchecked<Value>>| (),
            GET: async |Query(_): Query<OpenQuery>| (),
            ":name": { GET: async |Path(_): Path<String>| () },
        },
    }
}

#[test]
fn texts_are_bounded() {
    let map = map_of_tree(requests());
    let found = ["POST /open", "PUT /open", "GET /open", "GET /open/:name"];
    check_map("strings-bounded", &map, &found);
    let texts = texts("strings-bounded", &map);
    let expected = "body.link, body.name, body.nested[].text: add";
    assert!(texts[0].contains(expected), "{}", texts[0]);
    assert!(texts[1].contains("body (anything)"), "{}", texts[1]);
    assert!(texts[2].contains("query.link, query.name"), "{}", texts[2]);
    assert!(texts[3].contains("path.name"), "{}", texts[3]);
}

#[test]
fn lists_and_maps_are_bounded() {
    let map = map_of_tree(requests());
    check_map("arrays-bounded", &map, &["POST /open", "GET /open"]);
    let text = &texts("arrays-bounded", &map)[0];
    assert!(text.contains("body.by_name, body.nested, body.nested[].children"), "{text}");
}

#[test]
fn numbers_are_bounded() {
    let map = map_of_tree(requests());
    check_map("numbers-bounded", &map, &["POST /open", "GET /open"]);
    let text = &texts("numbers-bounded", &map)[0];
    assert!(text.contains("body.half, body.maybe:"), "{text}");
}

#[test]
fn checks_schemas_of_entries_and_socket_messages() {
    let schema = json!({ "type": "object", "properties": { "q": { "type": "string" } } });
    let tree = routes! {
        "entry": { POST: { handler: async || (), validation: schema } },
        "chat": { ws: async |_: WebSocket| () },
    };
    check("strings-bounded", tree, &["POST /entry"]);
}

#[test]
fn the_expression_of_a_parameter_can_bound_it() {
    let tree = routes! {
        "a": { r":format(json|csv)": { GET: async |Path(_): Path<String>| () } },
        "b": { r":code([a-z]{2,3})": { GET: async |Path(_): Path<String>| () } },
        "c": { r":code([a-z]{2,})": { GET: async |Path(_): Path<String>| () } },
        "d": { r":code([a-z]+)": { GET: async |Path(_): Path<String>| () } },
    };
    let found = ["GET /c/:code([a-z]{2,})", "GET /d/:code([a-z]+)"];
    check("strings-bounded", tree, &found);
}

#[test]
fn summarizes_many_locations() {
    let fields = (0..9).map(|index| (format!("f{index}"), json!({ "type": "string" })));
    let fields: serde_json::Map<String, Value> = fields.collect();
    let schema = json!({ "type": "object", "properties": fields });
    let tree = routes! { POST: { handler: async || (), validation: schema } };
    let text = &texts("strings-bounded", &map_of_tree(tree))[0];
    assert!(text.contains("body.f3, body.f4, and 4 others"), "{text}");
}
