//! Tags, which group the routes in documents.

use stockade::openapi::{OpenApiOptions, open_api};
use stockade::prelude::*;
use stockade::{RouteDocs, Tag};

async fn nothing() {}

fn options() -> OpenApiOptions {
    OpenApiOptions::new("Shop", "1")
}

/// Compares the tags of all operations, and the tags with their descriptions.
#[track_caller]
fn check(router: Router, options: &OpenApiOptions, operations: &[&str], tags: &[&str]) {
    let document = open_api(&router.build().unwrap(), options).unwrap();
    let mut actual = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            actual.push(format!("{method} {path} {}", operation["tags"]));
        }
    }
    assert_eq!(actual, operations);
    let groups = document["tags"].as_array().unwrap().iter();
    let groups: Vec<String> = groups
        .map(|tag| format!("{}: {}", tag["name"].as_str().unwrap(), tag["description"]))
        .collect();
    assert_eq!(groups, tags);
}

fn tree() -> RouteTree {
    routes! {
        "api/v1": {
            "users": {
                tag: Tag::new("accounts", "Who may come in"),
                GET: nothing,
                ":id": {
                    GET: { handler: nothing, docs: RouteDocs::new("One user").tags(["one", "two"]) },
                    "orders": {
                        tag: Tag::new("orders", "What was bought"),
                        GET: nothing,
                        POST: { handler: nothing, docs: "A new order" },
                        "lines": { GET: nothing },
                    },
                },
            },
            "products": { GET: nothing },
            ":page": { GET: nothing },
            ..spread().tag(Tag::new("spread", "From elsewhere")),
            "hidden": {
                tag: Tag::new("hidden", "For nobody"),
                GET: { handler: nothing, docs: RouteDocs::new("x").hidden("it is ours") },
            },
        },
    }
}

fn spread() -> RouteTree {
    routes! {
        "teams": { GET: nothing },
        "news": { tag: Tag::new("news", "What is new"), ws: socket },
    }
}

async fn socket(_socket: WebSocket) {}

#[test]
fn the_innermost_tag_counts_and_route_tags_replace_it() {
    let router = || create_router(tree(), RouterOptions::new().enable_web_sockets(true));
    let operations = [
        r#"get /api/v1/users ["accounts"]"#,
        r#"get /api/v1/users/{id} ["one","two"]"#,
        r#"get /api/v1/users/{id}/orders ["orders"]"#,
        r#"post /api/v1/users/{id}/orders ["orders"]"#,
        r#"get /api/v1/users/{id}/orders/lines ["orders"]"#,
        r#"get /api/v1/products ["products"]"#,
        r#"get /api/v1/{page} ["v1"]"#,
        r#"get /api/v1/teams ["spread"]"#,
        r#"get /api/v1/news ["news"]"#,
    ];
    let [accounts, orders] = [r#"accounts: "Who may come in""#, r#"orders: "What was bought""#];
    let others =
        ["products: null", "v1: null", r#"spread: "From elsewhere""#, r#"news: "What is new""#];
    let all = [&[accounts, "one: null", "two: null", orders], &others[..]].concat();
    check(router(), &options(), &operations, &all);
    // Tags from the options come first, with their descriptions.
    let options = options().tag("orders", "What was bought").tag("one", "A single one");
    let [first, one] = [orders, r#"one: "A single one""#];
    let all = [&[first, one, accounts, "two: null"], &others[..]].concat();
    check(router(), &options, &operations, &all);
}

#[test]
fn groups_and_routers_can_have_tags() {
    let mut router = Router::new();
    router.get("/early", nothing);
    router.tag(Tag::new("all", "Everything"));
    router.group("/admin", (), |admin| {
        admin.get("/cache", nothing);
        admin.tag(Tag::new("admin", "For those who run it"));
        admin.group("/deep", (), |deep| {
            deep.get("/a", nothing);
            deep.routes(RouteTree::new().tag(Tag::new("deep", "Further in")).key("get", nothing));
        });
        admin.get("/b", nothing).docs(RouteDocs::new("b").tags(["own"]));
    });
    let operations = [
        r#"get /early ["all"]"#,
        r#"get /admin/cache ["admin"]"#,
        r#"get /admin/deep/a ["admin"]"#,
        r#"get /admin/deep ["deep"]"#,
        r#"get /admin/b ["own"]"#,
    ];
    let tags = [
        r#"all: "Everything""#,
        r#"admin: "For those who run it""#,
        r#"deep: "Further in""#,
        "own: null",
    ];
    check(router, &options(), &operations, &tags);
}

#[test]
fn duplicate_tag_descriptions_are_errors_with_both_locations() {
    let first = line!() + 3;
    let api = routes! {
        "users": {
            tag: Tag::new("users", "Accounts"),
            GET: nothing,
            "again": { tag: Tag::new("users", "Accounts"), GET: nothing },
        },
        "people": {
            tag: Tag::new("users", "People"),
            GET: nothing,
            POST: nothing,
        },
        "empty": { tag: " ", GET: nothing, POST: nothing },
    };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    let mistakes: Vec<String> = error.issues().iter().map(ToString::to_string).collect();
    let expected = [
        format!(
            "tag: duplicate description of \"users\", first at {file}:{first} ({file}:{})",
            first + 5,
            file = file!()
        ),
        format!("tag: the name is missing ({}:{})", file!(), first + 9),
    ];
    assert_eq!(mistakes, expected);
}

#[test]
fn options_and_tree_must_describe_a_tag_the_same_way() {
    let api = routes! {
        "users": { tag: Tag::new("users", "Accounts"), GET: nothing },
    };
    let app = create_router(api, RouterOptions::new()).build().unwrap();
    assert!(open_api(&app, &options().tag("users", "Accounts")).is_ok());
    let error = open_api(&app, &options().tag("users", "People")).unwrap_err().to_string();
    let expected =
        "the tag \"users\" has a description here and in `OpenApiOptions::tag`: remove one of them";
    assert!(error.contains(expected) && error.contains("GET /users"), "{error}");
}
