//! Policy rules about pagination and about lists in responses.

use std::collections::BTreeMap;

use stockade::prelude::*;

use super::*;

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Bounded {
    #[schema(minimum = 1, maximum = 1_000)]
    limit: u64,
    #[schema(maximum = 100_000)]
    offset: Option<u32>,
    /// A cursor rather than a number.
    page: Option<String>,
    /// The type limits this to a small number.
    per_page: u8,
    id: u64,
}

#[derive(serde::Deserialize, Schema)]
#[expect(dead_code, reason = "only the schema matters")]
struct Open {
    #[serde(rename = "pageSize")]
    #[schema(maximum = 1_001)]
    page_size: u64,
    skip: Option<i64>,
    first: f64,
}

#[test]
fn pages_have_a_maximum_size_and_offset() {
    let tree = routes! {
        "bounded": { GET: async |Query(_): Query<Bounded>| () },
        "open": { GET: async |Query(_): Query<Open>| () },
        "body": { POST: async |Body(_): Body<Open>| () },
    };
    let map = map_of_tree(tree);
    check_map("pages-bounded", &map, &["GET /open"]);
    let told = texts("pages-bounded", &map);
    for place in ["query.first", "query.pageSize", "query.skip"] {
        assert!(told[0].contains(place), "{told:?}");
    }
}

#[derive(serde::Serialize, Schema)]
struct Few {
    #[schema(max_items = 10)]
    items: Vec<u8>,
    pair: (u8, u8),
}

#[derive(serde::Serialize, Schema)]
struct Many {
    few: Few,
    items: Option<Vec<Few>>,
    by_name: BTreeMap<String, u8>,
}

#[test]
fn lists_of_responses_are_bounded() {
    let few = || Few { items: Vec::new(), pair: (0, 0) };
    let tree = routes! {
        "few": { GET: async move || Json(few()) },
        "many": {
            GET: async move || Json(Many { few: few(), items: None, by_name: BTreeMap::new() }),
        },
        "all": { GET: async move || Json(vec![few()]) },
        // A different rule covers lists in requests.
        "takes": { POST: async |Body(_): Body<Vec<u8>>| () },
    };
    let map = map_of_tree(tree);
    check_map("replies-bounded", &map, &["GET /many", "GET /all"]);
    let told = texts("replies-bounded", &map);
    assert!(told[0].contains("body.by_name, body.items"), "{told:?}");
    assert!(!told[0].contains("body.few"), "{told:?}");
}
