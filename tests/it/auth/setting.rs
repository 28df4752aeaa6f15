//! The `auth` setting of routers, groups, nodes and routes. `public` uses the
//! same slot.

use stockade::auth::BasicCredentials;
use stockade::middleware::health::Readiness;
use stockade::middleware::{RateLimit, named, with_cors, with_permission, with_role};
use stockade::openapi::lock::Lock;
use stockade::openapi::{OpenApiOptions, open_api, with_open_api};
use stockade::policy::Policy;
use stockade::routing::{HostRoutes, health_routes};
use stockade::rpc::{Rpc, RpcMethod};
use stockade::testing::TestClient;
use stockade::{ErrorReply, prelude::*};

use crate::support::{app, app_of, block_on, call, check, header_of, request};

const DENIED: &str = r#"401 {"error":"Unauthorized"}"#;

/// Accepts the token `ada`, and any other three-letter token as a guest.
fn token() -> Auth {
    Auth::bearer(|token: String| {
        let role = if token == "ada" { "admin" } else { "guest" };
        (token.len() == 3).then(|| json!({ "name": token, "role": role }))
    })
}

/// Accepts the password `ada`.
fn password() -> Auth {
    Auth::basic("test", |it: BasicCredentials| {
        (it.password() == "ada").then(|| json!({ "name": it.user() }))
    })
}

/// Returns the user's name.
async fn me(user: Option<User<Value>>) -> String {
    user.map_or("nobody".to_owned(), |User(user)| user["name"].as_str().unwrap_or("?").to_owned())
}

/// Requires a user. Otherwise the response is a 401.
async fn own(User(user): User<Value>) -> String {
    format!("own {}", user["name"].as_str().unwrap_or("?"))
}

fn with_token(line: &str, token: &str) -> String {
    format!("{line}\nauthorization: Bearer {token}")
}

/// Checks that the router has these configuration errors, in order. Each text
/// is a part of an error.
#[track_caller]
fn issues(router: Router, expected: &[&str]) {
    let error = router.build().err();
    let found: Vec<String> =
        error.iter().flat_map(|it| it.issues()).map(ToString::to_string).collect();
    assert_eq!(found.len(), expected.len(), "{found:#?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.contains(expected), "{found}\ndoes not contain\n{expected}");
    }
}

#[track_caller]
fn issues_of(tree: RouteTree, expected: &[&str]) {
    issues(create_router(tree, RouterOptions::new()), expected);
}

#[test]
fn the_innermost_auth_or_public_counts() {
    let (token, password) = (token(), password());
    let app = app_of(routes! {
        auth: &token,
        GET: own,
        "open": { public: "totals", GET: me, "closed": { auth: &password, GET: own } },
        "accept": { POST: { me, public: "the link is the credential" } },
        "other": { GET: { me, auth: &password } },
        "both": { GET: { me, auth: token.optional(), public: "totals only" } },
        "by-value": { GET: { own, auth: token.clone() } },
        "back": { public: "totals", "in": { GET: { own, public: false } } },
    });
    check(&app, "GET /", DENIED);
    check(&app, &with_token("GET /", "ada"), "200 own ada");
    check(&app, "GET /open", "200 nobody");
    // `public` removes authentication: the route does not read credentials.
    check(&app, &with_token("GET /open", "ada"), "200 nobody");
    check(&app, &with_token("GET /open/closed", "ada"), DENIED);
    check(&app, "GET /open/closed\nauthorization: Basic YWRhOmFkYQ==", "200 own ada");
    check(&app, "POST /accept", "200 nobody");
    check(&app, &with_token("GET /other", "ada"), DENIED);
    check(&app, "GET /other\nauthorization: Basic YWRhOmFkYQ==", "200 ada");
    check(&app, "GET /both", "200 nobody");
    check(&app, &with_token("GET /both", "ada"), "200 ada");
    check(&app, &with_token("GET /both", "forged"), "200 nobody");
    check(&app, "GET /by-value", DENIED);
    check(&app, "GET /back/in", DENIED);
    check(&app, &with_token("GET /back/in", "ada"), "200 own ada");
    let reasons = app.routes().iter().filter_map(|route| route.public_reason());
    let expected = ["totals", "the link is the credential", "totals only"];
    assert_eq!(reasons.collect::<Vec<_>>(), expected);
}

#[test]
fn rejects_hostile_credentials_on_each_level() {
    let app = app_of(routes! { auth: token(), GET: own, "x": { "y": { POST: own } } });
    for line in ["GET /", "POST /x/y", "HEAD /", "GET /\nauthorization: Bearer"] {
        assert!(block_on(call(&app, line)).starts_with("401"), "{line}");
    }
    for value in ["Bearer toolong", "Basic ada", "Bearer ada, Bearer ada", "Bearer\tada x"] {
        check(&app, &format!("GET /\nauthorization: {value}"), DENIED);
        check(&app, &format!("POST /x/y\nauthorization: {value}"), DENIED);
    }
    check(&app, "GET /\nauthorization: Bearer ada\nauthorization: Bearer ada", DENIED);
    assert_eq!(header_of(&app, "GET /", "www-authenticate"), "Bearer");
}

/// Creates a router that requires a user, with every kind of route.
fn guarded() -> Router {
    let options = RouterOptions::new()
        .auth(token())
        .rate_limit(false)
        .enable_web_sockets(true)
        .fallback(async || "fallback");
    let tree = routes! {
        ..health_routes(),
        "tree": { GET: me, ANY: me },
        "socket": { ws: async |_: WebSocket| () },
        "open": { GET: { me, public: "a test" } },
        "rpc": { ..Rpc::new().method("me", own).routes() },
        mount: app(Router::from(routes! { "below": { GET: async || "below" } })),
    };
    let mut router = create_router(tree, options).state(Readiness::new());
    router.get("/added", me);
    router.group("/group", (), |group| {
        group.get("/in", me);
        group.get("/open", me).public("a test");
    });
    router
}

#[test]
fn a_router_requires_a_user_on_every_route_mount_and_fallback() {
    let router = with_open_api(guarded(), OpenApiOptions::new("Test", "1").public("a test"));
    let app = app(router);
    for line in ["GET /tree", "PUT /tree", "GET /below", "GET /added", "GET /group/in"] {
        check(&app, line, DENIED);
    }
    let rpc = "POST /rpc\ncontent-type: application/json\n\n{\"jsonrpc\":\"2.0\",\"method\":\"me\",\"id\":1}";
    check(&app, rpc, DENIED);
    check(&app, &with_token("GET /below", "ada"), "200 below");
    check(&app, &with_token("GET /group/in", "ada"), "200 ada");
    let open = ["/health/live", "/health/ready", "/open", "/group/open", "/openapi.json", "/docs"];
    for path in open {
        assert!(block_on(call(&app, &format!("GET {path}"))).starts_with("200"), "{path}");
    }
    let map = app.route_map();
    let undeclared = map.routes.iter().filter(|it| it.is_open() && it.access.public.is_none());
    assert_eq!(undeclared.count(), 0);
    // A handshake needs a connection, so check only the map.
    let socket = map.routes.iter().find(|it| it.path == "/socket").unwrap();
    assert_eq!(socket.access.to_string(), "user");
}

#[tokio::test]
async fn a_router_requires_a_user_for_web_sockets() {
    let server = TestClient::new(guarded());
    server.websocket("/socket").refused().await.assert_status(401);
    server.websocket("/socket").bearer("ada").connect().await.close().await;
}

#[test]
fn the_fallback_requires_a_user_too() {
    let options = RouterOptions::new().auth(token()).fallback(me);
    let app = app(create_router(routes! { "x": { GET: me } }, options));
    check(&app, "GET /none", DENIED);
    check(&app, &with_token("GET /none", "ada"), "200 ada");
    let mut open = Router::with_options(RouterOptions::new().auth(token()));
    open.fallback(me).public("a test");
    check(&app_built(open), "GET /none", "200 nobody");
}

fn app_built(router: Router) -> App {
    app(router)
}

#[test]
fn a_guarded_document_has_only_its_own_authentication() {
    let router = Router::with_options(RouterOptions::new().auth(token()));
    let options = OpenApiOptions::new("Test", "1").guarded(with_auth(password()));
    let app = app(with_open_api(router, options));
    check(&app, &with_token("GET /docs", "ada"), DENIED);
    let page = "GET /docs\nauthorization: Basic YWRhOmFkYQ==";
    assert!(block_on(call(&app, page)).starts_with("200"));
}

#[test]
fn methods_of_router_and_group_set_it() {
    let token = token();
    let mut router = Router::new();
    router.get("/before", me);
    router.auth(&token);
    router.group("/group", (), |group| {
        group.auth(password());
        group.get("/", me);
        group.get("/own", me).auth(&token);
        group.get("/open", me).public("a test");
    });
    let app = app(router);
    check(&app, "GET /before", DENIED);
    check(&app, &with_token("GET /before", "ada"), "200 ada");
    check(&app, &with_token("GET /group", "ada"), DENIED);
    check(&app, "GET /group\nauthorization: Basic YWRhOmFkYQ==", "200 ada");
    check(&app, &with_token("GET /group/own", "ada"), "200 ada");
    check(&app, "GET /group/open", "200 nobody");
}

fn note(name: &'static str) -> Middleware {
    Middleware::new(move |req: &mut Request| {
        let user = if req.user().is_some() { "known" } else { "unknown" };
        let seen = req.extensions().get::<Vec<String>>().cloned().unwrap_or_default();
        let seen: Vec<String> = seen.into_iter().chain([format!("{name}:{user}")]).collect();
        req.extensions_mut().insert(seen);
    })
}

async fn seen(req: Request) -> String {
    req.extensions().get::<Vec<String>>().cloned().unwrap_or_default().join(" ")
}

#[test]
fn it_runs_after_the_middleware_of_the_router_and_before_other_middleware() {
    let tree = || {
        routes! {
            middleware: note("node"),
            GET: { seen, middleware: note("route") },
        }
    };
    let options = || RouterOptions::new().middleware(note("options"));
    let expected = "200 options:unknown used:unknown group:known node:known route:known";
    let mut router = Router::with_options(options().auth(token()));
    router.use_(note("used"));
    router.group("/x", note("group"), |group| {
        group.routes(tree());
    });
    check(&app(router), &with_token("GET /x", "ada"), expected);

    let mut router = Router::with_options(options());
    router.use_(note("used"));
    router.group("/x", note("group"), |group| {
        group.group("/y", (), |inner| {
            inner.routes(routes! { ..routes! { auth: token(), ..tree() } });
        });
    });
    check(&app(router), &with_token("GET /x/y", "ada"), expected);
}

#[test]
fn guards_of_groups_see_the_user_of_the_router() {
    let mut router = Router::with_options(RouterOptions::new().auth(token()));
    router.group("/admin", with_role("admin"), |admin| {
        admin.get("/", own);
    });
    let app = app(router);
    check(&app, &with_token("GET /admin", "ada"), "200 own ada");
    check(&app, &with_token("GET /admin", "bob"), r#"403 {"error":"Forbidden"}"#);
}

#[test]
fn wrong_passwords_count_for_limits_by_address() {
    let wrong = "GET /in\nauthorization: Basic YWRhOmJvYg==";
    let right = "GET /in\nauthorization: Basic YWRhOmFkYQ==";
    let refused = r#"429 {"error":"Too Many Requests"}"#;
    let free = || RouterOptions::new().rate_limit(false);
    let of_node = create_router(
        routes! { rate_limit: 2 / MINUTE, auth: password(), "in": { GET: own } },
        RouterOptions::new(),
    );
    let of_route = create_router(
        routes! { auth: password(), "in": { GET: { own, rate_limit: 2 / MINUTE } } },
        RouterOptions::new(),
    );
    let below_middleware = create_router(
        routes! { auth: password(), middleware: note("x"), "in": { rate_limit: 2 / MINUTE, GET: own } },
        RouterOptions::new(),
    );
    let of_router = create_router(
        routes! { "in": { GET: { own, auth: password() } } },
        RouterOptions::new().rate_limit(2 / MINUTE),
    );
    let mut of_group = Router::with_options(RouterOptions::new().auth(password()));
    of_group.group("/", note("group"), |group| {
        group.rate_limit(2 / MINUTE);
        group.get("/in", own);
    });
    for router in [of_node, of_route, below_middleware, of_router, of_group] {
        let app = app(router);
        check(&app, wrong, DENIED);
        check(&app, wrong, DENIED);
        check(&app, wrong, refused);
        check(&app, right, refused);
    }
    // Without a rate limit, the right password is accepted after wrong ones.
    let app = app(create_router(routes! { auth: password(), "in": { GET: own } }, free()));
    check(&app, wrong, DENIED);
    check(&app, right, "200 own ada");
}

#[test]
fn a_limit_by_user_runs_after_authentication() {
    let by_user = RateLimit::from(1 / MINUTE).key_generator(|req| {
        let user = req.user().ok_or_else(ApiError::authentication)?;
        Ok(user["name"].to_string())
    });
    let tree = routes! { auth: token(), rate_limit: by_user, GET: own };
    let app = app(create_router(tree, RouterOptions::new()));
    for _ in 0..3 {
        check(&app, &with_token("GET /", "toolong"), DENIED);
    }
    check(&app, &with_token("GET /", "ada"), "200 own ada");
    check(&app, &with_token("GET /", "ada"), r#"429 {"error":"Too Many Requests"}"#);
    check(&app, &with_token("GET /", "bob"), "200 own bob");
}

#[test]
fn rate_limits_of_several_levels_add_up() {
    let tree = routes! {
        auth: token(),
        rate_limit: 3 / MINUTE,
        "a": { GET: { own, rate_limit: 1 / MINUTE } },
        "b": { GET: own },
    };
    let app = app(create_router(tree, RouterOptions::new()));
    let refused = r#"429 {"error":"Too Many Requests"}"#;
    check(&app, &with_token("GET /a", "ada"), "200 own ada");
    check(&app, &with_token("GET /a", "ada"), refused);
    check(&app, &with_token("GET /b", "ada"), "200 own ada");
    check(&app, &with_token("GET /b", "ada"), refused);
    let limits = &app.route_map().routes[0].limits.rate;
    let quotas: Vec<Option<u64>> = limits.iter().map(|quota| quota.limit).collect();
    assert_eq!(quotas, [Some(100), Some(3), Some(1)]);
}

#[test]
fn concurrency_limits_of_several_levels_add_up() {
    let wait = async || std::future::pending::<()>().await;
    let tree = routes! {
        auth: token(),
        concurrency_limit: 2,
        "a": { GET: { wait, concurrency_limit: 1 } },
        "b": { GET: wait },
    };
    let app = app(create_router(tree, RouterOptions::new()));
    let busy = |paths: &[&str]| {
        block_on(async {
            let mut running: Vec<_> =
                paths.iter().map(|path| Box::pin(respond(&app, path))).collect();
            let mut done = Vec::new();
            for response in &mut running {
                let polled =
                    std::future::poll_fn(|cx| std::task::Poll::Ready(response.as_mut().poll(cx)));
                done.push(match polled.await {
                    std::task::Poll::Ready(status) => status,
                    std::task::Poll::Pending => 0,
                });
            }
            done
        })
    };
    assert_eq!(busy(&["/a", "/a", "/b", "/b"]), [0, 503, 0, 503]);
    assert_eq!(busy(&["/b", "/b", "/a"]), [0, 0, 503]);
}

async fn respond(app: &App, path: &str) -> u16 {
    app.handle(request(&with_token(&format!("GET {path}"), "ada"))).await.status().as_u16()
}

fn in_form(reply: &mut ErrorReply) {
    let status = reply.status().as_u16();
    reply.set_json(json!({ "form": status }));
}

#[test]
fn error_handlers_get_the_401() {
    let limited = routes! {
        auth: token(),
        "route": { GET: { own, error_handling: in_form, rate_limit: 1 / MINUTE } },
        "node": { error_handling: in_form, GET: own },
        "plain": { GET: own },
    };
    let app = app(create_router(limited, RouterOptions::new()));
    check(&app, "GET /route", r#"401 {"form":401}"#);
    check(&app, "GET /route", r#"429 {"form":429}"#);
    check(&app, "GET /node", r#"401 {"form":401}"#);
    check(&app, "GET /plain", DENIED);
}

#[test]
fn other_hosts_authenticate_and_browsers_can_read_the_401() {
    let tree = routes! {
        auth: token(),
        middleware: with_cors("https://a.example"),
        "x": { GET: own, POST: { me, public: "a test" } },
    };
    let routes = HostRoutes::build(create_router(tree, RouterOptions::new())).unwrap();
    let answer = |text: &str| {
        let response = block_on(routes.handle(request(text)));
        let allowed = response.headers().contains_key("access-control-allow-origin");
        (response.status().as_u16(), allowed)
    };
    assert_eq!(answer("GET /x\norigin: https://a.example"), (401, true));
    let known = with_token("GET /x\norigin: https://a.example", "ada");
    assert_eq!(answer(&known), (200, true));
    assert_eq!(answer("POST /x\norigin: https://a.example"), (200, true));
}

#[test]
fn rejects_public_routes_that_require_a_user() {
    let token = token();
    let line = line!() + 1;
    let both = routes! { "x": { GET: { me, auth: &token, public: "a test" } } };
    let place = format!("({}:{line})", file!());
    let message = "GET /x: `public` and a required `auth` are both set: remove one of them, or \
                   use an optional `auth`, as in `token.optional()`";
    issues_of(both, &[&format!("{message} {place}")]);
    let node = routes! { auth: &token, public: "a test", "a": { GET: me }, "b": { GET: me } };
    issues_of(node, &["`public` and a required `auth` are both set"]);
    let options = RouterOptions::new().auth(&token).public("a test");
    issues(create_router(routes! { GET: me }, options), &["`public` and a required `auth`"]);
    let mut router = Router::new();
    router.group("/x", (), |group| {
        group.auth(&token).public("a test");
        group.get("/", me);
    });
    issues(router, &["`public` and a required `auth`"]);

    let with_user = "GET /x: the route is `public`, but the handler takes the user";
    issues_of(routes! { "x": { GET: { own, public: "a test" } } }, &[with_user]);
    issues_of(routes! { auth: &token, "x": { GET: { own, public: "a test" } } }, &[with_user]);
    issues_of(routes! { public: "a test", "x": { GET: own } }, &[with_user]);
    let optional = routes! { "x": { GET: { own, auth: token.optional(), public: "a test" } } };
    issues_of(optional, &[with_user]);

    let with_auths = "GET /x: the route is `public`, but `with_auth` requires a user";
    let own_list =
        routes! { "x": { GET: { me, middleware: with_auth(&token), public: "a test" } } };
    issues_of(own_list, &[with_auths]);
    let of_node = routes! { middleware: with_auth(&token), "x": { GET: { me, public: "a test" } } };
    issues_of(of_node, &[with_auths]);
    let below = routes! { public: "a test", "x": { GET: { me, middleware: with_auth(&token) } } };
    issues_of(below, &[with_auths]);
    let optional =
        routes! { "x": { GET: { me, middleware: with_auth(token.optional()), public: "a test" } } };
    issues_of(optional, &[]);

    let own_permission = with_permission(named("own", |_: &Value, _: &Request| true));
    let roles = routes! {
        "x": { GET: { me, public: "a test", middleware: with_role("admin") } },
        "y": {
            auth: token.optional(),
            public: "a test",
            GET: { me, middleware: own_permission },
        },
    };
    issues_of(
        roles,
        &[
            "the route is `public`, but `with_role` needs the user",
            "the route is `public`, but `with_permission` needs the user",
        ],
    );
}

#[test]
fn rejects_empty_reasons_at_each_level() {
    let missing = "`public` requires a reason";
    let auth = token();
    issues_of(routes! { auth: &auth, "x": { GET: { me, public: "" } } }, &[missing]);
    issues_of(routes! { auth: &auth, "x": { public: " \t", GET: me } }, &[missing]);
    issues_of(routes! { "x": { GET: { me, public: true } } }, &[missing]);
    let options = RouterOptions::new().public(String::new());
    issues(create_router(routes! { GET: me }, options), &[missing]);
    let rest = routes! { "x": { GET: { me, auth: auth.optional(), public: "" } } };
    issues_of(rest, &[missing]);
}

#[test]
fn errors_of_auth_are_reported_with_their_location() {
    let scheme = Auth::bearer(|_: String| None::<Value>).scheme("not a scheme");
    let found = create_router(routes! { "x": { GET: { me, auth: scheme } } }, RouterOptions::new());
    let error = found.build().unwrap_err();
    let [issue] = error.issues() else { panic!("{error}") };
    assert!(issue.message().starts_with("with_auth: "), "{issue}");
    assert_eq!(issue.route(), Some("GET /x"));
}

#[test]
fn methods_of_json_rpc_have_the_authentication_of_their_route() {
    let rpc = Rpc::new()
        .method("own", own)
        .method("open", RpcMethod::new(me).public("a test"))
        .method("strict", RpcMethod::new(own).auth(token()));
    let router = |auth: Auth| {
        let tree = routes! { "rpc": { auth: auth, ..rpc.routes() } };
        create_router(tree, RouterOptions::new().rate_limit(false))
    };
    let app = app(router(token().optional()));
    let call = |method: &str, token: &str| {
        let head = with_token("POST /rpc\ncontent-type: application/json", token);
        let body = json!({ "jsonrpc": "2.0", "method": method, "id": 1 });
        let answer = block_on(call(&app, &format!("{head}\n\n{body}")));
        let json: Value = stockade::serde_json::from_str(&answer[4..]).unwrap();
        json.get("result").cloned().unwrap_or_else(|| json["error"]["code"].clone())
    };
    assert_eq!(call("own", "ada"), json!("own ada"));
    assert_eq!(call("open", "forged"), json!("nobody"));
    assert_eq!(call("strict", "ada"), json!("own ada"));
    assert_eq!(call("strict", "forged"), json!(-32001));
    let map = app.route_map();
    let needs = |name: &str| {
        let route = map.routes.iter().find(|route| route.label() == format!("RPC /rpc#{name}"));
        route.map(|route| !route.is_open())
    };
    assert_eq!(
        [needs("own"), needs("open"), needs("strict")],
        [Some(true), Some(false), Some(true)]
    );
    issues(router(token()), &["RPC /rpc#open: the route is `public`, but `with_auth` requires"]);
}

#[test]
fn map_policy_lock_document_and_explanation_show_the_effective_auth() {
    let token = token();
    let line = line!() + 2;
    let tree = |is_open: bool| {
        routes! { auth: &token, "a": { GET: me }, "b": { public: "totals", GET: async || "x" },
            "c": { GET: { me, auth: token.optional(), public: "totals" } },
            "d": { auth: token.optional(), ..if is_open { routes! { GET: me } } else { RouteTree::new() } },
        }
    };
    let app_with = |is_open: bool| app(create_router(tree(is_open), RouterOptions::new()));
    let app = app_with(false);
    let map = app.route_map();
    let found = map.routes.iter().map(|route| {
        let access = &route.access;
        (route.is_open(), access.schemes.len(), access.public.as_deref())
    });
    let expected = [(false, 1, None), (true, 0, Some("totals")), (true, 1, Some("totals"))];
    assert_eq!(found.collect::<Vec<_>>(), expected);
    let places = map.routes.iter().map(|route| {
        let found = route.middleware.iter().find(|it| it.name == "with_auth")?;
        let level = found.level.map(|level| format!("{level:?}"));
        Some((level.unwrap_or_default(), found.location.as_ref()?.line))
    });
    let places: Vec<_> = places.collect();
    assert_eq!(places[0], Some(("Node".to_owned(), line)));
    assert_eq!(places[1], None);
    assert_eq!(places[2], Some(("Entry".to_owned(), line + 1)));

    assert_eq!(
        Policy::recommended().check(&map).len(),
        0,
        "{:#?}",
        Policy::recommended().check(&map)
    );
    let undeclared = Policy::recommended().check(&app_with(true).route_map());
    assert_eq!(undeclared.len(), 1);
    assert_eq!(
        (undeclared[0].subject.as_str(), undeclared[0].rule.as_str()),
        ("GET /d", "access-declared")
    );

    let explained = app.explain("GET /a").unwrap().to_string();
    assert!(explained.contains(&format!("with_auth  {}:{line}", file!())), "{explained}");
    assert!(explained.contains("  access   user by bearer\n"), "{explained}");
    let explained = app.explain("GET /b").unwrap().to_string();
    assert!(!explained.contains("with_auth"), "{explained}");
    assert!(explained.contains("  access   open: totals\n"), "{explained}");
    let explained = app.explain("GET /c").unwrap().to_string();
    assert!(explained.contains("  access   user? by bearer: totals\n"), "{explained}");

    let document = open_api(&app, &OpenApiOptions::new("Test", "1")).unwrap();
    let operation = |path: &str| document["paths"][path]["get"].clone();
    assert_eq!(operation("/a")["security"], json!([{ "bearer": [] }]));
    assert!(operation("/a")["responses"].get("401").is_some());
    assert_eq!(operation("/b")["security"], json!([]));
    assert!(operation("/b")["responses"].get("401").is_none());
    assert_eq!(operation("/c")["security"], json!([{}, { "bearer": [] }]));
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");

    let lock = |tree: RouteTree| {
        let map = app_built(create_router(tree, RouterOptions::new())).route_map();
        Lock::of(&map).unwrap()
    };
    let of_level = lock(routes! { auth: &token, "x": { GET: me } });
    let of_route = lock(routes! { "x": { GET: { me, auth: &token } } });
    let opened = lock(routes! { auth: &token, "x": { GET: { me, public: "a test" } } });
    let now = std::time::SystemTime::UNIX_EPOCH;
    assert!(!of_level.changes_to(&of_route, now).is_weakening());
    assert!(of_level.changes_to(&opened, now).is_weakening());
}

#[tokio::test]
async fn routes_that_borrow_an_auth_share_it() {
    let calls = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let counted = std::sync::Arc::clone(&calls);
    let auth = Auth::bearer(move |token: String| {
        counted.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Some(token)
    });
    let tree = routes! { auth: &auth, "a": { GET: async || "a" }, "b": { GET: { async || "b", auth: &auth } } };
    let client = TestClient::new(create_router(tree, RouterOptions::new()));
    client.get("/a").bearer("x").await.assert_text("a");
    client.get("/b").bearer("x").await.assert_text("b");
    // The route's `auth` replaces the node's `auth`.
    assert_eq!(calls.load(std::sync::atomic::Ordering::Relaxed), 2);
}
