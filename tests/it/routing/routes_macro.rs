//! `routes!` through the facade crate.
// Spec: Route tree (object router); Route entry object.

use stockade::extract::Headers;
use stockade::prelude::*;

use crate::support::{app_of, check};

async fn hello() -> &'static str {
    "hello"
}

async fn show(Path(id): Path<String>) -> String {
    format!("user {id}")
}

async fn flight(Path((from, to)): Path<(String, String)>) -> String {
    format!("{from} to {to}")
}

async fn echo(Body(body): Body<Value>) -> Value {
    body
}

/// Middleware that appends a letter, which shows the execution order.
fn mark(letter: &'static str) -> impl Fn(&mut Request) + Send + Sync + 'static {
    move |req: &mut Request| {
        let trail = req.headers().get("trail").and_then(|value| value.to_str().ok());
        let trail = format!("{}{letter}", trail.unwrap_or_default());
        req.headers_mut().insert("trail", trail.parse().unwrap());
    }
}

async fn trail(Headers(headers): Headers) -> String {
    headers.get("trail").map_or("", |value| value.to_str().unwrap()).to_owned()
}

/// Returns `METHOD pattern` for each route, with its name if it has one,
/// sorted.
fn listing(tree: RouteTree) -> Vec<String> {
    let app = app_of(tree);
    let lines = app.routes().iter().map(|route| match route.name() {
        Some(name) => format!("{} {} {name}", route.method(), route.pattern()),
        None => format!("{} {}", route.method(), route.pattern()),
    });
    let mut lines: Vec<String> = lines.collect();
    lines.sort();
    lines
}

#[test]
fn the_tree_has_its_visible_structure() {
    let tree = routes! {
        GET: hello,
        "health": { get: async || json!({ "ok": true }), },
        "users": {
            Post: { handler: hello, name: "users.create" },
            ":id": { DELETE: hello, PATCH: { handler: hello }, "posts": { PUT: hello } },
            "by/:from-:to": { GET: flight },
        },
        "files/**": { GET: hello },
        "else": { GET: { handler: hello, path: "/other", name: "other" } },
        "empty": {},
    };
    let expected = [
        "DELETE /users/:id",
        "GET /",
        "GET /files/**",
        "GET /health",
        "GET /other other",
        "GET /users/by/:from-:to",
        "PATCH /users/:id",
        "POST /users users.create",
        "PUT /users/:id/posts",
    ];
    assert_eq!(listing(tree), expected);
}

#[test]
fn an_empty_tree_has_no_routes() {
    assert!(listing(routes! {}).is_empty());
}

#[test]
fn handlers_can_be_any_expression() {
    let greeting = String::from("hi");
    let shared = greeting.clone();
    let app = app_of(routes! {
        "closure": { ":id": { GET: async |Path(id): Path<u8>| id.to_string() } },
        "block": { GET: { use self::hello as chosen; chosen } },
        "captured": { GET: move || { let greeting = shared.clone(); async move { greeting } } },
        "generic": { GET: named::<u8> },
    });
    check(&app, "GET /closure/7", "200 7");
    check(&app, "GET /block", "200 hello");
    check(&app, "GET /captured", &format!("200 {greeting}"));
    check(&app, "GET /generic", "200 u8");
}

async fn named<T>() -> &'static str {
    std::any::type_name::<T>()
}

#[test]
fn the_handler_receives_parameters() {
    let app = app_of(routes! {
        "users": { ":id": { GET: show }, "by/:from-:to": { GET: flight } },
    });
    check(&app, "GET /users/7", "200 user 7");
    check(&app, "GET /users/by/OSL-LHR", "200 OSL to LHR");
}

#[test]
fn middleware_runs_from_the_outside_in() {
    let app = app_of(routes! {
        middleware: [mark("a"), mark("b")],
        GET: { handler: trail, middleware: [mark("c"), mark("d")] },
        "x": { middleware: mark("e"), GET: { handler: trail, middleware: mark("f") } },
        "y": { GET: trail },
    });
    check(&app, "GET /", "200 abcd");
    check(&app, "GET /x", "200 abef");
    check(&app, "GET /y", "200 ab");
}

#[test]
fn one_list_can_contain_all_kinds_of_middleware() {
    fn before(_: &mut Request) -> Option<&'static str> {
        None
    }
    async fn before_async(_: &mut Request) -> Result<(), ApiError> {
        Ok(())
    }
    async fn around(req: Request, next: Next) -> Response {
        next.run(req).await
    }
    let app = app_of(routes! {
        middleware: [
            before,
            before_async,
            around,
            |_: &mut Request| {},
            async |_: &mut Request| {},
            async |req: Request, next: Next| next.run(req).await,
            Middleware::new(mark("m")),
            vec![Middleware::new(before)],
        ],
        GET: trail,
    });
    check(&app, "GET /", "200 m");
}

#[test]
fn entries_can_have_validation_and_limits() {
    let user = json!({ "name": { "type": "string", "required": true, "message": "is missing" } });
    let app = app_of(routes! {
        "users": { POST: { handler: echo, validation: user, max_body: 8 + 8 } },
    });
    let post = "POST /users\ncontent-type: application/json\n\n";
    check(&app, &format!("{post}{{\"name\":\"Ada\"}}"), r#"200 {"name":"Ada"}"#);
    check(
        &app,
        &format!("{post}{{}}"),
        r#"400 {"error":"Validation failed","details":{"errors":[{"field":"name","message":"is missing","rule":"required"}]}}"#,
    );
    let long = format!("{post}{{\"name\":\"Augusta\"}}");
    check(&app, &long, r#"413 {"error":"Request body too large"}"#);
}

#[test]
fn middleware_of_spread_trees_applies_only_to_them() {
    fn other() -> RouteTree {
        routes! {
            middleware: mark("o"),
            "other": { GET: trail },
        }
    }
    let app = app_of(routes! {
        middleware: mark("r"),
        "own": { GET: trail },
        ..other(),
        "deep": { ..other() },
    });
    check(&app, "GET /own", "200 r");
    check(&app, "GET /other", "200 ro");
    check(&app, "GET /deep/other", "200 ro");
}

#[test]
fn names_of_the_caller_do_not_clash_with_the_expansion() {
    #[allow(dead_code, reason = "only their names count")]
    mod clash {
        use crate::routing::routes_macro::hello;
        pub struct RouteTree;
        pub struct RouteEntry;
        pub struct Method;
        pub mod stockade {}
        pub fn tree() -> ::stockade::RouteTree {
            ::stockade::routes! { GET: hello, "x": { PUT: { handler: hello, name: "x" } } }
        }
    }
    assert_eq!(listing(clash::tree()).len(), 2);
}

#[test]
fn a_macro_of_the_caller_can_generate_the_tree() {
    macro_rules! crud {
        ($name:literal, $list:expr, $show:expr) => {
            routes! { $name: { GET: $list, ":id": { GET: $show } } }
        };
    }
    assert_eq!(listing(crud!("users", hello, show)), ["GET /users", "GET /users/:id"]);
}

#[test]
fn later_errors_have_the_line_of_the_entry() {
    let other = || routes! { "users": { GET: { handler: hello, name: "users" } } };
    let line = line!();
    let tree = routes! {
        "users": {
            GET: show,
            POST: {
                name: "users",
                handler: hello,
            },
        },
        ..other(),
    };
    let error = create_router(tree, RouterOptions::new()).build().expect_err("it has mistakes");
    let mut lines: Vec<u32> = error
        .issues()
        .iter()
        .map(|mistake| {
            let place = mistake.location().expect("every mistake has a place");
            assert!(place.file().ends_with("routes_macro.rs"), "{mistake}");
            place.line()
        })
        .collect();
    lines.sort_unstable();
    // `show` reads a parameter that is missing from its path. The spread tree
    // repeats both the route and the name.
    assert!(lines.contains(&(line + 3)), "{error}");
    assert!(lines.contains(&(line - 1)), "{error}");
    assert!(!lines.contains(&(line + 1)), "not the line of `routes!`: {error}");
}

#[test]
fn a_tree_of_many_entries_compiles_and_runs() {
    let app = app_of(wide());
    check(&app, "GET /s63/a", "200 hello");
}

fn wide() -> RouteTree {
    macro_rules! wide {
        ($($segment:literal)*) => {
            routes! { $($segment: { "a": { GET: hello }, "b": { GET: hello, PUT: hello } },)* }
        };
    }
    wide! {
        "s00" "s01" "s02" "s03" "s04" "s05" "s06" "s07" "s08" "s09" "s10" "s11" "s12" "s13" "s14"
        "s15" "s16" "s17" "s18" "s19" "s20" "s21" "s22" "s23" "s24" "s25" "s26" "s27" "s28" "s29"
        "s30" "s31" "s32" "s33" "s34" "s35" "s36" "s37" "s38" "s39" "s40" "s41" "s42" "s43" "s44"
        "s45" "s46" "s47" "s48" "s49" "s50" "s51" "s52" "s53" "s54" "s55" "s56" "s57" "s58" "s59"
        "s60" "s61" "s62" "s63"
    }
}
