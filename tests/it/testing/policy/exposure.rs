//! Policy rules about limits and excessive exposure.

use std::time::Duration;

use stockade::RouteEntry;
use stockade::graphql::{GraphQl, async_graphql as gql};
use stockade::middleware::{with_rate_limit, with_timeout};
use stockade::prelude::*;
use stockade::routing::HostRoutes;
use stockade::rpc::{Rpc, RpcMethod};
use stockade::validation::Unchecked;
use stockade::websockets::WebSocketOptions;

use super::*;

const MIB: u64 = 1024 * 1024;

#[test]
fn reports_large_bodies_once_for_the_router_and_by_route() {
    let tree = || {
        routes! {
            "router": { POST: async || "", PUT: async || "", GET: async || "" },
            "own": { POST: { handler: async || "", max_body: 11 * MIB } },
            "small": { POST: { handler: async || "", max_body: 10 * MIB } },
            "get": { GET: { handler: async || "", max_body: 11 * MIB } },
        }
    };
    check("body-bounded", tree(), &["POST /own"]);
    let large = RouterOptions::new().max_body_size(20 * MIB);
    let map = map_of(create_router(tree(), large.clone()));
    check_map("body-bounded", &map, &["router", "POST /own"]);
    let text = &texts("body-bounded", &map)[0];
    assert!(text.contains("20 MiB on POST /router and one other"), "{text}");
    check_map("body-bounded", &map_of(create_router(routes! { GET: async || "" }, large)), &[]);
}

#[test]
fn reports_large_messages() {
    let entry = |size| {
        RouteEntry::web_socket(async |_: WebSocket| ())
            .options(WebSocketOptions::new().max_payload(size))
    };
    let tree = RouteTree::new()
        .segment("large", RouteTree::new().web_socket(entry(11 * MIB)))
        .segment("small", RouteTree::new().web_socket(entry(10 * MIB)));
    check("body-bounded", tree, &["WS /large"]);
}

#[test]
fn a_rate_limit_counts_each_route() {
    let tree = || {
        routes! {
            "exempt": { GET: { handler: async || "", rate_limit: false } },
            "own": { GET: { handler: async || "", rate_limit: 5 / MINUTE } },
            "other": { GET: async || "" },
        }
    };
    check("rate-limited", tree(), &["GET /exempt"]);
    let off = || RouterOptions::new().rate_limit(false);
    let map = map_of(create_router(tree(), off()));
    check_map("rate-limited", &map, &["router", "GET /exempt"]);
    let own = routes! { middleware: [with_rate_limit(5 / MINUTE)], GET: async || "" };
    check_map("rate-limited", &map_of(create_router(own, off())), &[]);
    let mut empty = create_router(RouteTree::new(), off());
    check_map("rate-limited", &map_of(std::mem::take(&mut empty)), &[]);
    let mut empty = empty.map_options(|_| off());
    empty.fallback(async || "");
    check_map("rate-limited", &map_of(empty), &["router"]);
}

#[test]
fn routes_must_have_a_timeout() {
    let timeout = || Middleware::new(with_timeout(Duration::from_secs(5)));
    let tree = |middleware: Vec<Middleware>| {
        routes! {
            middleware: middleware,
            "timed": { GET: { handler: async || "", middleware: [timeout()] } },
            "endless": { GET: async || "" },
            "chat": { ws: async |_: WebSocket| () },
        }
    };
    check("time-bounded", tree(vec![]), &["GET /endless"]);
    check("time-bounded", tree(vec![timeout()]), &[]);
    let none = || routes! { "a": { GET: async || "" }, "b": { GET: async || "" } };
    check("time-bounded", none(), &["router"]);
    let told = texts("time-bounded", &map_of_tree(none()));
    assert!(told[0].contains("GET /a and one other"), "{told:?}");
    check("time-bounded", routes! { "a": { GET: async || "" } }, &["GET /a"]);
    check("time-bounded", RouteTree::new(), &[]);
}

#[test]
fn routes_of_another_host_need_no_settings_of_the_host() {
    let mut router = create_router(
        routes! { GET: { handler: async || "", public: "a test" } },
        RouterOptions::new().rate_limit(false).cors_origin("*"),
    );
    router.fallback(async || "");
    let policy = Policy::recommended()
        .public_routes(["GET /", "fallback"])
        .allow("rate-limited", "router", "the host limits")
        .allow("wildcard-exposed", "fallback", "old pages");
    assert!(HostRoutes::build(router.policy(policy)).is_ok());
}

#[test]
fn reports_routes_that_match_every_path() {
    let inner = create_router(routes! { GET: async || "" }, RouterOptions::new()).build().unwrap();
    let mut router = create_router(
        routes! {
            "files": { "**": { GET: async |Path(name): Path<String>| name } },
            "one": { "*": { GET: async |Path(name): Path<String>| name } },
            "rest": { ":name": { GET: async |Path(name): Path<String>| name } },
            "old": { mount: inner },
        },
        RouterOptions::new(),
    );
    router.fallback(async || "");
    let found = ["GET /files/**", "ANY /old/**", "fallback"];
    check_map("wildcard-exposed", &map_of(router), &found);
}

#[test]
fn reports_cors_for_every_origin_with_a_user() {
    let tree = || {
        routes! {
            "open": { GET: { handler: async || "", public: "a test" } },
            "me": { middleware: [signed_in()], GET: async || "", POST: async || "" },
            "own": {
                middleware: [signed_in()],
                GET: { handler: async || "", cors: "*" },
                POST: { handler: async || "", cors: "https://app.example" },
            },
            "chat": { middleware: [signed_in()], ws: async |_: WebSocket| () },
        }
    };
    check("cors-open-with-user", tree(), &["GET /own"]);
    let options = RouterOptions::new().cors_origin("*");
    let map = map_of(create_router(tree(), options));
    check_map("cors-open-with-user", &map, &["router", "GET /own"]);
    assert!(texts("cors-open-with-user", &map)[0].contains("GET /me and one other"));
    let options = RouterOptions::new().cors_origin("https://app.example");
    check_map("cors-open-with-user", &map_of(create_router(tree(), options)), &["GET /own"]);
}

#[test]
fn reports_sockets_for_every_origin_with_browser_credentials() {
    let entry = || RouteEntry::web_socket(async |_: WebSocket| ()).allowed_origins(["*"]);
    let at = |tree: RouteTree, path: &str, entry: RouteEntry| {
        tree.segment(path, RouteTree::new().web_socket(entry))
    };
    let mut tree = RouteTree::new();
    tree = at(tree, "feed", entry().public("news"));
    tree = at(tree, "token", entry().middleware(signed_in()));
    tree = at(tree, "session", entry().middleware(session()));
    tree = at(tree, "opaque", entry().middleware(opaque));
    let same = RouteEntry::web_socket(async |_: WebSocket| ()).middleware(session());
    tree = at(tree, "same", same);
    check("ws-origin-open", tree, &["WS /session", "WS /opaque"]);
}

#[test]
fn a_socket_of_json_rpc_counts_the_methods_that_it_calls() {
    let options = || WebSocketOptions::new().allowed_origins(["*"]);
    let rpc = || Rpc::new().web_socket(true).web_socket_options(options());
    let method = || RpcMethod::new(async || "");
    let tree = routes! {
        "open": { ..rpc().method("a", method()).routes() },
        "all": { middleware: [session()], ..rpc().method("a", method()).routes() },
        "one": {
            ..rpc().method("a", method()).method("b", method().middleware(session())).routes()
        },
        "token": { ..rpc().method("a", method().middleware(signed_in())).routes() },
        "closed": {
            ..Rpc::new().web_socket(true).method("a", method().middleware(session())).routes()
        },
    };
    check("ws-origin-open", tree, &["WS /all", "WS /one"]);
}

#[test]
fn reports_a_graphql_socket() {
    struct Query;

    #[gql::Object(crate = "gql")]
    impl Query {
        async fn hello(&self) -> &str {
            "hello"
        }
    }
    let options = || WebSocketOptions::new().allowed_origins(["*"]);
    let schema = || gql::Schema::build(Query, gql::EmptyMutation, gql::EmptySubscription);
    let graphql = || GraphQl::new(schema()).web_socket(true).web_socket_options(options());
    let tree = routes! {
        "open": { ..graphql().public("news").routes() },
        "unknown": { ..graphql().routes() },
        "session": { middleware: [session()], ..graphql().routes() },
        "token": { middleware: [signed_in()], ..graphql().routes() },
        "init": { ..graphql().on_init(|_: Value| None::<String>).routes() },
        "same": { middleware: [session()], ..GraphQl::new(schema()).web_socket(true).routes() },
    };
    // Resolvers receive the headers of the handshake, including its cookies.
    check("ws-origin-open", tree, &["WS /unknown", "WS /session"]);
}

#[test]
fn reports_exposed_errors() {
    let map = |options| map_of(create_router(RouteTree::new(), options));
    check_map("errors-hidden", &map(RouterOptions::new().expose_errors(true)), &["router"]);
    check_map("errors-hidden", &map(RouterOptions::new().expose_errors(false)), &[]);
    check_map("errors-hidden", &map(RouterOptions::new()), &[]);
}

#[test]
fn counts_bodies_that_are_read() {
    let tree = routes! {
        POST: { handler: async |Body(_): Body<Unchecked<String>>| (), max_body: 12 * MIB },
    };
    check("body-bounded", tree, &["POST /"]);
}
