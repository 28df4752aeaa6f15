//! Settings of routers, groups, nodes and routes, one row per setting.

use std::time::Duration;

use stockade::BoxError;
use stockade::http::StatusCode;
use stockade::middleware::with_cors;
use stockade::path::__internal::route_settings;
use stockade::prelude::*;
use stockade::routing::map::SchemeInfo;
use stockade::validation::ValidationOptions;
use stockade::{ErrorReply, HostOptions, RouteDocs, RouteEntry, serde_json};

use crate::support::{app, app_of, block_on, call, check, header_of};

#[derive(serde::Deserialize, Schema)]
struct Measures {
    height: u8,
    width: u8,
    depth: u8,
    weight: u8,
}

async fn volume(Body(body): Body<Measures>) -> String {
    let Measures { height, width, depth, weight } = body;
    format!("{height}{width}{depth}{weight}")
}

fn built(router: Router) -> Result<App, BoxError> {
    Ok(router.build()?)
}

/// Checks a setting at each level. The values are for a router, a node and a
/// route. The expected texts are for the default, the router, a node in the
/// router, and a route in the node.
macro_rules! settings {
    ($({
        $name:ident($of_router:expr, $of_node:expr, $of_route:expr) => [$default:expr, $router:expr, $node:expr, $route:expr]
            by $probe:expr
            $(; false => $off:expr)?
            $(; in file $json:expr => $read:expr)?
            $(; of host $hosted:expr => $by_host:expr)?
    })*) => {
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        $(#[test]
        fn $name() -> Result<(), BoxError> {
            let (router_value, node_value, route_value) = (|| $of_router, || $of_node, || $of_route);
            let check = |level: &str, app: App, expected: &str| {
                assert_eq!(($probe)(&app), expected, "{level}");
            };
            let options = || RouterOptions::new().$name(router_value());
            let entry = || RouteEntry::new(volume);

            let mut plain = Router::new();
            plain.post("/x", volume);
            check("default", built(plain)?, $default);

            let mut of_router = Router::with_options(options());
            of_router.post("/x", volume);
            check("options of the router", built(of_router)?, $router);

            let mut set_later = Router::new();
            set_later.post("/x", volume);
            set_later.$name(router_value());
            check("method of the router", built(set_later)?, $router);

            let mut grouped = Router::with_options(options());
            grouped.group("/", (), |group| {
                group.post("/x", volume);
                group.$name(node_value());
            });
            check("group", built(grouped)?, $node);

            let node = RouteTree::new().$name(node_value()).key("POST", entry());
            let tree = RouteTree::new().key("x", node);
            check("node of the builder", built(create_router(tree, options()))?, $node);

            let tree = routes! { $name: node_value(), "x": { POST: volume } };
            check("node of the macro", built(create_router(tree, options()))?, $node);

            let tree = routes! { ..routes! { $name: node_value(), "x": { POST: volume } } };
            check("root of a spread tree", built(create_router(tree, options()))?, $node);

            let tree = routes! { $name: node_value(), "x": { $name: route_value(), POST: volume } };
            check("node in a node", built(create_router(tree, options()))?, $route);

            let tree = routes! { $name: node_value(), "x": { POST: { volume, $name: route_value() } } };
            check("entry of the macro", built(create_router(tree, options()))?, $route);

            let mut grouped = Router::with_options(options());
            grouped.group("/", (), |group| {
                group.$name(node_value());
                group.post("/x", volume).$name(route_value());
            });
            check("route in a group", built(grouped)?, $route);

            $(
                let tree = routes! { $name: node_value(), "x": { POST: { volume, $name: false } } };
                check("off at a route", built(create_router(tree, options()))?, $off);
                let tree = routes! { $name: false, "x": { POST: volume } };
                check("off at a node", built(create_router(tree, options()))?, $off);
            )?
            $(
                let read: RouterOptions = serde_json::from_str($json)?;
                let mut of_file = Router::with_options(read);
                of_file.post("/x", volume);
                check("file", built(of_file)?, $read);
            )?
            $(
                let mut of_router = Router::with_options(options());
                of_router.post("/x", volume);
                let app = built(of_router)?.with_options($hosted)?;
                check("host", app, $by_host);
                let tree = routes! { $name: node_value(), "x": { POST: volume } };
                let app = built(create_router(tree, options()))?.with_options($hosted)?;
                check("node below a host", app, $node);
            )?
            Ok(())
        })*
    };
}

settings! {
    { max_body(1, 2, 3) => ["1048576", "1", "2", "3"]
        by |app: &App| app.route_map().routes[0].limits.max_body.to_string();
        in file r#"{ "maxBodySize": 5 }"# => "5";
        of host HostOptions::new().max_body(9) => "9" }
    { accepts(json_and("text/a"), json_and("text/b"), json_and("text/c")) => ["", "text/a", "text/b", "text/c"]
        by |app: &App| {
            let accepts = app.routes()[0].accepts();
            accepts.and_then(|it| it.types().last()).unwrap_or_default().to_owned()
        };
        false => "";
        in file r#"{ "accepts": ["application/json", "text/d"] }"# => "text/d" }
    { max_json_values(1, 2, 3) => ["100000", "1", "2", "3"]
        by |app: &App| app.routes()[0].max_json_values().to_string();
        in file r#"{ "maxJsonValues": 5 }"# => "5" }
    { validation_status(401, 402, 403) => ["400", "401", "402", "403"]
        by |app: &App| answer(app).split(' ').next().unwrap_or_default().to_owned();
        in file r#"{ "validationStatus": 422 }"# => "422" }
    { run_to_completion(seconds(1), seconds(2), seconds(3)) => ["None", "Some(1s)", "Some(2s)", "Some(3s)"]
        by |app: &App| format!("{:?}", app.routes()[0].run_to_completion());
        false => "None" }
    { validation_options(at_most(1), at_most(2), at_most(3)) => ["4", "1", "2", "3"]
        by |app: &App| answer(app).matches("\"field\"").count().to_string() }
    { error_handling(with_status(501), with_status(502), with_status(503)) => ["400", "501", "502", "503"]
        by |app: &App| answer(app).split(' ').next().unwrap_or_default().to_owned();
        false => "400" }
    { rate_limit(1 / MINUTE, 2 / MINUTE, 3 / MINUTE) => ["100", "1", "1+2", "1+2+3"]
        by rates;
        false => "off";
        in file r#"{ "rateLimit": { "maxRequests": 5 } }"# => "5" }
    { concurrency_limit(1, 2, 3) => ["0", "1", "2", "3"]
        by |app: &App| {
            let facts = app.routes()[0].facts();
            let limits = facts.route.middleware.iter().filter(|it| it.name == "with_concurrency_limit");
            limits.count().to_string()
        };
        false => "0";
        in file r#"{ "concurrencyLimit": 5 }"# => "1" }
    { timeout(seconds(1), seconds(2), seconds(3)) => ["None", "Some((1000, 503))", "Some((2000, 503))", "Some((3000, 503))"]
        by |app: &App| format!("{:?}", app.route_map().routes[0].limits.timeout);
        false => "None" }
    { cors("https://a.example", "https://b.example", "https://c.example")
            => ["http://localhost:3000", "https://a.example", "https://b.example", "https://c.example"]
        by |app: &App| {
            let map = app.route_map();
            let rules = map.routes[0].cors.as_ref().or(map.router.cors.as_ref());
            rules.map(|rules| rules.origins.join(" ")).unwrap_or_default()
        };
        false => "";
        in file r#"{ "cors": { "origin": "https://d.example" } }"# => "https://d.example" }
    { auth(by("a"), by("b"), by("c")) => ["", "a", "b", "c"]
        by |app: &App| {
            let map = app.route_map();
            let schemes = map.routes[0].access.schemes.iter().map(|it| match it {
                SchemeInfo::Http { scheme, .. } => scheme.clone(),
                other => format!("{other:?}"),
            });
            schemes.collect::<Vec<_>>().join("+")
        } }
    { public("a", "b", "c") => ["", "a", "b", "c"]
        by |app: &App| app.routes()[0].public_reason().unwrap_or_default().to_owned();
        false => "" }
    { outlives_user("a", "b", "c") => ["", "a", "b", "c"]
        by |app: &App| app.routes()[0].outlives_user_reason().unwrap_or_default().to_owned();
        false => "" }
    { tag("a", "b", "c") => ["", "a", "b", "c"]
        by |app: &App| {
            let docs = app.route_map().routes[0].docs.clone();
            docs.tag.map(|tag| tag.name).unwrap_or_default()
        } }
    { docs(described("a"), described("b"), described("c")) => ["", "a", "b", "c"]
        by |app: &App| app.route_map().routes[0].docs.description.clone().unwrap_or_default() }
    { deprecated_since("2026-01-01", "2026-01-02", "2026-01-03")
            => ["-", "@1767225600", "@1767312000", "@1767398400"]
        by |app: &App| header_of(app, "POST /x", "deprecation");
        false => "-" }
    { sunset("2027-01-01", "2027-01-02", "2027-01-03")
            => ["-", "Fri, 01 Jan 2027 00:00:00 GMT", "Sat, 02 Jan 2027 00:00:00 GMT", "Sun, 03 Jan 2027 00:00:00 GMT"]
        by |app: &App| header_of(app, "POST /x", "sunset");
        false => "-" }
}

macro_rules! names {
    (
        ()
        endpoint {$(
            $(#[$meta:meta])* [$($serde:tt)*]
            $name:ident $args:tt -> $field:ty $convert:block = $default:expr;
        )*}
        routing {$(
            $(#[$its_meta:meta])* [$($its_serde:tt)*]
            $its_name:ident $(<$generic:ident>)? ($($its_args:tt)*) -> $its_field:ty $its_convert:block = $its_default:expr;
        )*}
    ) => {
        const DECLARED: &[&str] = &[$(stringify!($name),)* $(stringify!($its_name),)*];
    };
}

route_settings!(names!);

#[test]
fn each_setting_has_a_row() {
    assert_eq!(TESTED, DECLARED);
}

/// Checks the configuration error of a tree.
#[track_caller]
fn check_error(tree: RouteTree, expected: &str) {
    let error = create_router(tree, RouterOptions::new()).build().unwrap_err().to_string();
    assert_eq!(error, expected);
}

#[test]
fn a_limit_of_a_node_counts_all_its_routes() {
    let app = app_of(routes! {
        "counted": { rate_limit: 2 / MINUTE, "a": { GET: async || "a" }, "b": { GET: async || "b" } },
        "free": { GET: async || "free" },
    });
    check(&app, "GET /counted/a", "200 a");
    check(&app, "GET /counted/b", "200 b");
    check(&app, "GET /counted/a", r#"429 {"error":"Too Many Requests"}"#);
    check(&app, "GET /free", "200 free");
}

#[test]
fn a_limit_of_a_group_runs_after_the_middleware_around_the_group() {
    let refuse = |_: &mut Request| Err::<(), _>(ApiError::new(403, "Forbidden"));
    let mut router = Router::new();
    router.use_(refuse);
    router.group("/a", (), |group| {
        group.rate_limit(1 / MINUTE);
        group.get("/", async || "a");
    });
    let app = app(router);
    for _ in 0..3 {
        check(&app, "GET /a", r#"403 {"error":"Forbidden"}"#);
    }
}

#[test]
fn a_route_without_cors_sends_no_headers_of_cors() {
    let app = app_of(routes! {
        GET: async || "with",
        "without": { cors: false, GET: async || "without" },
    });
    let allowed = |path: &str| header_of(&app, path, "access-control-allow-origin");
    assert_eq!(allowed("GET /\norigin: https://a.example"), "http://localhost:3000");
    for name in ["access-control-allow-origin", "access-control-expose-headers", "vary"] {
        assert_eq!(header_of(&app, "GET /without\norigin: https://a.example", name), "-");
    }
}

#[test]
fn rejects_different_cors_rules_of_a_node_and_its_middleware() {
    let tree = routes! {
        cors: "https://a.example",
        "x": { middleware: with_cors("https://b.example"), GET: async || "x" },
    };
    let line = line!() - 2;
    check_error(
        tree,
        &format!(
            "GET /x: the node's `cors` and the middleware `with_cors` are both set: remove one \
             of them, or use the route's `cors` ({}:{line})",
            file!()
        ),
    );
}

#[test]
fn reports_an_error_of_a_node_once_with_its_line() {
    let tree = routes! {
        "x": {
            accepts: ["json"],
            "a": { POST: volume },
            "b": { POST: volume },
        },
    };
    let line = line!() - 5;
    let place = format!("{}:{line}", file!());
    check_error(
        tree,
        &format!(r#"/x: accepts: "json" is not a media type such as "application/json" ({place})"#),
    );
    let tree = routes! { "x": { public: " ", GET: async || "x" } };
    let place = format!("{}:{}", file!(), line!() - 1);
    check_error(tree, &format!("/x: `public` requires a reason ({place})"));
}

#[test]
fn a_socket_and_a_get_ignore_the_body_settings_of_their_node() {
    let tree = routes! {
        max_body: 1,
        accepts: ["application/json"],
        max_json_values: 1,
        GET: async || "x",
        ws: async |_socket: WebSocket| {},
    };
    let app = app(create_router(tree, RouterOptions::new().enable_web_sockets(true)));
    check(&app, "GET /", "200 x");
    assert!(app.routes().iter().all(|route| route.accepts().is_none()));
}

#[test]
fn errors_of_routes_without_a_handler_have_the_default_body() {
    fn refuse(req: &mut Request) -> Result<(), ApiError> {
        match req.headers().contains_key("x-refused") {
            true => Err(ApiError::new(403, "refused")),
            false => Ok(()),
        }
    }
    let own = |error: &mut ErrorReply| error.set_json(json!("own"));
    let options = RouterOptions::new().error_handling(own).middleware(Middleware::new(refuse));
    let tree = routes! {
        "with": { POST: volume },
        "off": {
            error_handling: false,
            POST: volume,
            "again": { POST: { volume, error_handling: with_status(418) } },
            "restored": { error_handling: true, POST: volume },
        },
        "route": { POST: { volume, error_handling: false, accepts: ["application/json"], max_body: 3 } },
    };
    let app = app(create_router(tree, options));
    let json =
        |path: &str, body: &str| format!("POST {path}\ncontent-type: application/json\n\n{body}");
    check(&app, &json("/with", "{"), r#"400 "own""#);
    check(&app, "POST /nowhere", r#"404 "own""#);
    check(&app, &json("/off/again", "{"), r#"418 {"error":"Invalid JSON body"}"#);
    for path in ["/off", "/off/restored", "/route"] {
        check(&app, &json(path, "{"), r#"400 {"error":"Invalid JSON body"}"#);
        let refused = format!("POST {path}\nx-refused: 1");
        check(&app, &refused, r#"403 {"error":"refused"}"#);
    }
    // These errors happen before all middleware.
    check(
        &app,
        "POST /route\ncontent-type: text/csv\n\na",
        r#"415 {"error":"Unsupported Media Type"}"#,
    );
    let too_large = block_on(call(&app, &json("/route", "[1,2]")));
    assert!(too_large.starts_with(r#"413 {"error":"#), "{too_large}");
    // Documents do not cover the handler.
    let routes = app.route_map().routes;
    let has_handler = |path: &str| {
        let route = routes.iter().find(|route| route.path == path).unwrap();
        route.answers.iter().any(|answer| answer.by == "error_handling")
    };
    assert!(has_handler("/with") && !has_handler("/off") && !has_handler("/route"));
}

#[test]
fn a_list_of_media_types_is_removed_in_code_and_in_a_file() {
    for text in [r#"{ "accepts": false }"#, r#"{ "accepts": true }"#, r#"{ "accepts": null }"#] {
        let options: RouterOptions = serde_json::from_str(text).unwrap();
        let mut router = Router::with_options(options);
        router.post("/x", volume);
        assert!(app(router).routes()[0].accepts().is_none(), "{text}");
    }
    let error = serde_json::from_str::<RouterOptions>(r#"{ "accepts": 7 }"#).unwrap_err();
    assert!(error.to_string().starts_with("a list of strings, true or false"), "{error}");
    // A route without a body may disable options that need a body.
    let tree = routes! { accepts: ["text/csv"], GET: { async || "x", accepts: false } };
    check(&app_of(tree), "GET /", "200 x");
}

fn json_and(media_type: &str) -> [&str; 2] {
    ["application/json", media_type]
}

fn at_most(errors: usize) -> ValidationOptions {
    let mut options = ValidationOptions::default();
    options.max_errors = errors;
    options
}

fn with_status(status: u16) -> impl Fn(&mut ErrorReply) + Send + Sync + 'static {
    move |reply| reply.set_status(StatusCode::from_u16(status).unwrap_or_default())
}

fn described(description: &str) -> RouteDocs {
    RouteDocs::default().description(description)
}

/// Authenticates with a token after this scheme.
fn by(scheme: &str) -> Auth {
    Auth::bearer(|_: String| None::<Value>).scheme(scheme)
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

/// Returns the response to a body without any of the four fields.
fn answer(app: &App) -> String {
    block_on(call(app, "POST /x\ncontent-type: application/json\n\n{}"))
}

fn rates(app: &App) -> String {
    let limits = &app.route_map().routes[0].limits;
    if limits.rate_exempt {
        return "off".to_owned();
    }
    let rates = limits.rate.iter().map(|quota| quota.limit.unwrap_or_default().to_string());
    rates.collect::<Vec<_>>().join("+")
}
