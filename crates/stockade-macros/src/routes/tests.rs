//! Tests the messages and the expansion of `routes!` on tokens.

use super::*;
use crate::paths::CratePath;

/// Returns the errors in `source` with line and column.
fn mistakes(source: &str) -> Vec<String> {
    let (node, mut errors) = parse::parse(source.parse().expect("these are tokens"));
    check::check(&node, &mut errors);
    errors.messages()
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(mistakes(source), expected, "{source}");
}

/// Returns the expansion and its errors, without whitespace.
fn expansion(source: &str) -> String {
    let (node, mut errors) = parse::parse(source.parse().expect("these are tokens"));
    check::check(&node, &mut errors);
    let tokens = expand::expand(&node, errors, &CratePath::routing());
    let file = quote::quote!(fn tree() { #tokens });
    assert!(syn::parse2::<syn::ItemFn>(file).is_ok(), "not an expression: {tokens}");
    tokens.to_string().replace(' ', "").replace("::stockade_routing::", "")
}

#[track_caller]
fn expands(source: &str, expected: &str) {
    assert_eq!(expansion(source), expected.replace([' ', '\n'], ""), "{source}");
}

#[test]
fn accepts_an_empty_tree() {
    expands("", "RouteTree::new()");
    expands("\"users\": {}", "RouteTree::new().segment(\"users\", RouteTree::new())");
}

#[test]
fn methods_accept_any_case_and_a_handler_or_entry() {
    expands(
        "get: a, Post: { handler: b, name: \"x\", max_body: 1 + 1, path: \"/y\", validation: v() },",
        "RouteTree::new()
            .method(Method::GET, RouteEntry::new(a))
            .method(
                Method::POST,
                RouteEntry::new(b).name(\"x\").max_body(1 + 1).path(\"/y\").validation(v())
            )",
    );
}

#[test]
fn head_options_and_any_are_methods() {
    expands(
        "HEAD: a, options: b, Any: c, \"any\": { \"HEAD\": { ANY: { handler: d, name: \"x\" } } },",
        "RouteTree::new()
            .method(Method::HEAD, RouteEntry::new(a))
            .method(Method::OPTIONS, RouteEntry::new(b))
            .any(RouteEntry::new(c))
            .segment(\"any\", RouteTree::new().segment(
                \"HEAD\", RouteTree::new().any(RouteEntry::new(d).name(\"x\"))))",
    );
    check("ANY: a,\nany: b", &["2:0 duplicate `ANY`, first on line 1"]);
    check("ANY: a, GET: b, \"x\": { ANY: c }", &[]);
}

#[test]
fn an_entry_can_begin_with_a_handler_without_a_key() {
    let entry = "RouteTree::new().method(Method::POST, RouteEntry::new(H).name(\"x\"))";
    for handler in ["handler", "name", "m::h", "h::<A, B>", "async || 1", "f(1, 2)"] {
        expands(&format!("POST: {{ {handler}, name: \"x\" }}"), &entry.replace('H', handler));
    }
    expands("POST: { h, }", "RouteTree::new().method(Method::POST, RouteEntry::new(h))");
    check("POST: { h, handler: g }", &["1:11 duplicate `handler`, first on line 1"]);
    check(
        "POST: { h, g }",
        &[&format!("1:11 unknown key `g`: an entry can contain {}", tree::entry_keys().join(", "))],
    );
    check("POST: { h, name }", &["1:11 expected `:` and a value after `name`"]);
}

#[test]
fn limits_become_calls_on_the_entry() {
    expands(
        "GET: { timeout: SECOND * 5, handler: a, rate_limit: 10 / MINUTE },",
        "RouteTree::new().method(
            Method::GET,
            RouteEntry::new(a).timeout(SECOND * 5).rate_limit(10 / MINUTE)
        )",
    );
    check(
        "GET: { handler: h, rateLimit: 1, timout: 2 }",
        &[
            "1:19 unknown key `rateLimit`, did you mean `rate_limit`?",
            "1:33 unknown key `timout`, did you mean `timeout`?",
        ],
    );
}

#[test]
fn a_node_accepts_each_setting_of_an_entry() {
    for key in tree::SETTINGS {
        expands(
            &format!("{key}: x, GET: {{ h, {key}: y }}"),
            &format!("RouteTree::new().{key}(x).method(Method::GET, RouteEntry::new(h).{key}(y))"),
        );
        check(
            &format!("{key}: x,\n{key}: y"),
            &[&format!("2:0 duplicate `{key}`, first on line 1")],
        );
    }
}

#[test]
fn a_node_can_have_methods_and_a_web_socket() {
    expands(
        "GET: a, ws: { handler: b, name: \"x\", options: o(), allowed_origins: [\"y\"] },",
        "RouteTree::new()
            .method(Method::GET, RouteEntry::new(a))
            .web_socket(
                RouteEntry::web_socket(b).name(\"x\").options(o()).allowed_origins([\"y\"])
            )",
    );
    expands("ws: b", "RouteTree::new().web_socket(RouteEntry::web_socket(b))");
    check("ws: a, ws: b", &["1:7 duplicate `ws`, first on line 1"]);
    check(
        "ws: {}",
        &["1:0 the entry of `ws` does not have a handler: add it as the first item, as in \
             `ws: { f, … }`"],
    );
    assert_eq!(mistakes("GET: { handler: a, options: o() }").len(), 1);
}

#[test]
fn a_node_can_have_methods_and_a_mount() {
    expands(
        "GET: a, mount: { Files::new(\"x\"), max_body: 1, middleware: [m] },",
        "RouteTree::new()
            .method(Method::GET, RouteEntry::new(a))
            .mount(RouteEntry::mount(Files::new(\"x\")).middleware(m).max_body(1))",
    );
    expands("mount: b", "RouteTree::new().mount(RouteEntry::mount(b))");
    check("mount: a, mount: b", &["1:10 duplicate `mount`, first on line 1"]);
}

#[test]
fn each_middleware_becomes_a_separate_call() {
    expands(
        "middleware: [a, b(1, 2)], GET: { middleware: c, handler: h },",
        "RouteTree::new().middleware(a).middleware(b(1, 2))
            .method(Method::GET, RouteEntry::new(h).middleware(c))",
    );
    expands("middleware: [],", "RouteTree::new()");
}

#[test]
fn trees_nest_and_spread() {
    expands(
        "\"a\": { \":id\": { GET: h } }, ..b::routes(),",
        "RouteTree::new()
            .segment(\"a\", RouteTree::new().segment(
                \":id\", RouteTree::new().method(Method::GET, RouteEntry::new(h))))
            .spread(b::routes())",
    );
}

#[test]
fn braces_without_entry_keys_are_a_block() {
    expands("GET: { h }", "RouteTree::new().method(Method::GET, RouteEntry::new({h}))");
    expands(
        "GET: { m::h }, PUT: { let x = 1; h(x) }",
        "RouteTree::new().method(Method::GET, RouteEntry::new({m::h}))
            .method(Method::PUT, RouteEntry::new({let x = 1; h(x)}))",
    );
}

#[test]
fn closures_with_commas_are_one_value() {
    check(
        "GET: async |Path(a): Path<u8>, Query(b): Query<B<C, D>>| json!({\"a\": a}), PUT: h",
        &[],
    );
}

#[test]
fn unknown_keys_are_named() {
    check("PSOT: h", &["1:0 unknown key `PSOT`, did you mean `POST`?"]);
    check("midleware: []", &["1:0 unknown key `midleware`, did you mean `middleware`?"]);
    check("users: { GET: h }", &["1:0 a path segment must be a string: use `\"users\": { … }`"]);
    check("name: 1", &["1:0 `name` belongs in an entry: `GET: { f, name: … }`"]);
    check("handler: h", &["1:0 `handler` belongs in an entry: `GET: { f, … }`"]);
    check(
        "TRACE: h, QUERY: h",
        &[
            "1:0 a tree cannot contain `TRACE`: use the router's `route` method, or one of GET, \
             POST, PUT, DELETE, PATCH, HEAD, OPTIONS, ANY",
            "1:10 a tree cannot contain `QUERY`: use the router's `route` method, or one of \
             GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS, ANY",
        ],
    );
    check(
        "users: h",
        &[&format!(
            "1:0 unknown key `users`: a tree can contain GET, POST, PUT, DELETE, PATCH, HEAD, \
             OPTIONS, ANY, ws, mount, middleware, {}, path segments in quotes and `..tree`",
            tree::node_settings().join(", "),
        )],
    );
}

#[test]
fn unknown_keys_of_an_entry_are_named() {
    check(
        "GET: { handler: h, midleware: [], nmae: \"x\", summary: \"y\", PUT: h, \"z\": {} }",
        &[
            "1:19 unknown key `midleware`, did you mean `middleware`?",
            "1:34 unknown key `nmae`, did you mean `name`?",
            &format!(
                "1:45 unknown key `summary`: an entry can contain {}",
                tree::entry_keys().join(", "),
            ),
            "1:59 an entry cannot contain `PUT`: put it next to `GET`",
            "1:67 an entry cannot contain path segments: put them next to `GET`",
        ],
    );
    check(
        "GET: { maxBody: 1, handler: h }",
        &["1:7 unknown key `maxBody`, did you mean `max_body`?"],
    );
}

#[test]
fn reports_a_timeout_without_a_unit() {
    let message = "`timeout` requires a unit: use `std::time::Duration::from_secs(…)`";
    check("GET: { h, timeout: 5 }", &[&format!("1:19 {message}")]);
    check("GET: { handler: h, timeout: 2.5 }", &[&format!("1:28 {message}")]);
    check("GET: { h, timeout: LIMIT }, timeout: LIMIT", &[]);
    check("timeout: 5", &[&format!("1:9 {message}")]);
}

#[test]
fn explains_wrong_syntax() {
    let holds = "a path segment requires `{ … }`: use `\"a\": { GET: … }` for a handler, \
                 `\"a\": { ..… }` for a tree";
    check("\"a\": h", &[&format!("1:5 {holds}")]);
    check("\"a\"", &["1:0 expected `: { … }` after the path segment \"a\""]);
    check("\"a\":", &["1:0 expected `{ … }`"]);
    check("GET", &["1:0 expected `:` and a value after `GET`"]);
    check("GET:", &["1:0 expected a handler"]);
    check("GET: , PUT: h", &["1:0 expected a handler"]);
    check("middleware: ,", &["1:0 expected middleware"]);
    check("..", &["1:0 expected a tree after `..`"]);
    check("GET: { handler: , name: \"x\" }", &["1:7 expected a value"]);
    check(
        "GET: {}",
        &["1:0 the entry of `GET` does not have a handler: add it as the first item, as in \
             `GET: { f, … }`"],
    );
    check(
        "GET: { \"a\": { PUT: h } }",
        &["1:5 `GET` expects a handler or an entry, such as `{ f, … }`: put path segments \
             next to `GET`"],
    );
    let known = "expected a method such as `GET`, a path segment such as \"users\", `middleware` \
                 or `..tree`";
    check("7: h", &[&format!("1:0 {known}")]);
    check(
        "#[cfg(test)] GET: h",
        &["1:0 a tree cannot contain attributes or doc comments: use `//` for comments"],
    );
}

#[test]
fn reports_missing_commas_and_continues() {
    check("GET: a PUT: b", &["1:7 expected `,` before this"]);
    check("GET: a b, PUT: ", &["1:7 expected `,`", "1:10 expected a handler"]);
    check(
        "GET: |a, b, PUT: h, PSOT: h",
        &["1:0 expected `,`", "1:20 unknown key `PSOT`, did you mean `POST`?"],
    );
}

#[test]
fn continues_after_an_unread_group() {
    check(
        "GET: f(1 2), PSOT: h",
        &["1:9 expected `,`", "1:13 unknown key `PSOT`, did you mean `POST`?"],
    );
}

#[test]
fn expands_the_valid_rest() {
    let tokens = expansion("PSOT: a, GET: b, \"c\": { ?, PUT: d }");
    assert!(tokens.contains("compile_error!"), "{tokens}");
    assert!(tokens.contains("method(Method::GET,RouteEntry::new(b))"), "{tokens}");
    assert!(tokens.contains("method(Method::PUT,RouteEntry::new(d))"), "{tokens}");
}

#[test]
fn rejects_duplicate_methods_of_a_node() {
    check("GET: a,\nget: b", &["2:0 duplicate `GET`, first on line 1"]);
    check("GET: a, PUT: b, \"x\": { GET: c }", &[]);
    check("GET: a, \"x\": { GET: { handler: b, path: \"/y\" }, get: c }", &[]);
}

#[test]
fn rejects_duplicate_segments_of_a_node() {
    check(
        "\"a\": {},\n\"/a\": {}",
        &["2:0 the path segment \"/a\" matches the same requests as \"a\", first on line 1"],
    );
    check("\"a\": {},\n\"a\": {}", &["2:0 duplicate path segment \"a\", first on line 1"]);
    check(
        "\":id\": {},\n\":name\": {}",
        &["2:0 the path segment \":name\" matches the same requests as \":id\", first on line 1"],
    );
    check("\"a\": { \"b\": {} }, \"b\": {}, \":id\": {}, \":id([0-9]+)\": {}", &[]);
}

#[test]
fn finds_equivalent_paths_at_every_depth() {
    check(
        "\"a\": {\n \":id\": { GET: h } },\n\"a/:key\": { GET: h, PUT: h }",
        &["3:12 duplicate route `GET /a/:key`, first on line 2"],
    );
    check(
        "GET: h,\n\"a\": { GET: { handler: h, path: \"/\" } }",
        &["2:32 duplicate route `GET /`, first on line 1"],
    );
    check(
        "GET: { handler: h, path: dynamic() }, \"a\": { GET: { handler: h, path: dynamic() } }",
        &[],
    );
}

#[test]
fn rejects_duplicate_route_and_parameter_names() {
    check(
        "GET: { handler: h, name: \"x\" },\nPUT: { handler: h, name: \"x\" }",
        &["2:25 duplicate route name \"x\", first on line 1"],
    );
    check(
        "\"a/:id\": {\n\":b\": { \"c-:id\": { GET: h } } }",
        &["2:8 duplicate parameter `id` in the path, first on line 1"],
    );
    check("\":id\": { \"a\": { GET: h } }, \"b/:id\": { GET: h }", &[]);
    check(
        "GET: {\nhandler: h,\nhandler: h, name: \"a\", name: \"b\" }",
        &["3:0 duplicate `handler`, first on line 2", "3:23 duplicate `name`, first on line 3"],
    );
}

#[test]
fn reports_malformed_paths() {
    check("\":\": {}", &["1:1 path \":\" is missing a name after `:` at byte 0"]);
    check(
        "\"a\": { \":b:c\": { GET: h } }",
        &["1:10 path \":b:c\" requires text between \":c\" and the parameter before it"],
    );
    check(
        "GET: { handler: h, path: \"/a**\" }",
        &["1:28 path \"/a**\" mixes `*` with text: `*` and `**` must be whole segments"],
    );
    check("\"a/**/b\": {}", &["1:5 path \"a/**/b\" has \"/b\" after `**`, which must be last"]);
}

#[test]
fn rejects_segments_below_a_rest() {
    check(
        "\"a/**\": { GET: h, \"b\": { GET: h } }",
        &["1:18 `**` must be the last segment: remove \"b\" below it"],
    );
    check("\"**\": { GET: h }", &[]);
}

#[test]
fn checks_the_limits_of_the_whole_path() {
    let optional = "\":a?/:b?/:c?/:d?/:e?\": { \":f?/:g?/:h?/:i?\": { GET: h } }";
    let found = mistakes(optional);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("more than 8 optional parameters"), "{found:?}");
}
