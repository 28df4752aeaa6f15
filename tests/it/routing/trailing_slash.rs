//! Trailing slashes: the `trailing_slash` option of a router.

use std::net::SocketAddr;

use stockade::TrailingSlash;
use stockade::prelude::*;
use stockade::testing::TestClient;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::support::{app, call, check, header_of};

async fn echo(req: Request) -> String {
    let params: Vec<String> = req.params().map(|(name, value)| format!("{name}={value}")).collect();
    format!("{} {}", req.route().unwrap_or("-"), params.join(","))
}

fn options(slash: TrailingSlash) -> RouterOptions {
    RouterOptions::new().rate_limit(false).trailing_slash(slash)
}

fn api() -> RouteTree {
    routes! {
        GET: echo,
        "users": { GET: echo, POST: { echo, name: "users" }, ":id": { GET: echo, PUT: echo } },
        "docs/": { GET: { echo, name: "docs" } },
        "caf\u{e9}": { GET: echo },
        "files/**": { GET: echo },
        "a/:b?": { GET: echo },
        ":x-:y/": { GET: echo },
    }
}

fn router(slash: TrailingSlash) -> Router {
    create_router(api(), options(slash))
}

/// Returns the status, with the location of a redirect or the body of a
/// success.
fn outcome(app: &App, request: &str) -> String {
    let status = crate::support::block_on(call(app, request));
    match header_of(app, request, "location") {
        location if location != "-" => format!("{} {location}", &status[..3]),
        _ if status.starts_with("200") => status,
        _ => status[..3].to_owned(),
    }
}

#[test]
fn paths_are_strict_by_default() {
    for app in [app(router(TrailingSlash::Strict)), app(create_router(api(), RouterOptions::new()))]
    {
        for path in ["/users/", "/users/7/", "/docs", "/caf%C3%A9/"] {
            assert_eq!(outcome(&app, &format!("GET {path}")), "404", "{path}");
        }
    }
}

#[test]
fn redirects_lead_to_the_declared_path() {
    let app = app(router(TrailingSlash::Redirect));
    for (request, expected) in [
        ("GET /users/", "308 /users"),
        ("HEAD /users/", "308 /users"),
        ("POST /users/?a=1&b=%2F", "308 /users?a=1&b=%2F"),
        ("GET /users/7/", "308 /users/7"),
        ("GET /users/%20/", "308 /users/%20"),
        ("GET /docs", "308 /docs/"),
        ("GET /docs?", "308 /docs/?"),
        ("GET /caf%c3%a9/", "308 /caf%C3%A9"),
        ("GET /caf\u{e9}/", "308 /caf%C3%A9"),
        ("GET /a/", "308 /a"),
        ("GET /a/1/", "308 /a/1"),
        ("GET /1-2", "308 /1-2/"),
        ("GET http://evil.example/users/?x", "308 /users?x"),
        // The declared path returns the 405.
        ("DELETE /users/", "308 /users"),
        ("DELETE /users", "405"),
        ("OPTIONS /users/", "308 /users"),
        ("GET /users", "200 /users "),
        ("GET /files/", "200 /files/** splat="),
        ("GET /files/a/", "200 /files/** splat=a/"),
        ("GET /files", "404"),
        ("GET /nothing/", "404"),
        ("GET /", "200 / "),
    ] {
        assert_eq!(outcome(&app, request), expected, "{request}");
    }
}

#[test]
fn redirects_never_leave_the_host() {
    let mut router = router(TrailingSlash::Redirect);
    router.get("/:a", echo);
    router.get("/:a/:b", echo);
    router.get("//evil.example", echo);
    router.get("/a//b", echo);
    let app = app(router);
    for path in [
        "//",
        "//evil.example/",
        "//evil.example/users/",
        "//users/",
        "///users/",
        "/a//b/",
        "/users//",
        "/\\evil.example/",
        "/users\\/",
        "/%0d%0aset-cookie:a=b/",
        "/users/%0a/",
        "/%7f/",
    ] {
        let found = outcome(&app, &format!("GET {path}"));
        assert!(["404", "400"].contains(&&*found), "{path}: {found}");
    }
    // The value stays encoded.
    assert_eq!(outcome(&app, "GET /%5Cevil.example/"), "308 /%5Cevil.example");
    assert_eq!(outcome(&app, "GET /%2F%2Fevil.example/"), "308 /%2F%2Fevil.example");
}

#[test]
fn the_route_runs_for_both_paths_if_the_slash_is_ignored() {
    let app = app(router(TrailingSlash::Ignore));
    for (request, expected) in [
        ("GET /users/", "200 /users "),
        ("HEAD /users/", "200"),
        ("POST /users/", "200 /users "),
        ("GET /users/7/?q", "200 /users/:id id=7"),
        ("GET /users/a%2Fb/", "200 /users/:id id=a/b"),
        ("GET /docs", "200 /docs/ "),
        ("GET /caf%c3%a9/", "200 /caf\u{e9} "),
        ("GET /a/", "200 /a/:b? "),
        ("GET /1-2", "200 /:x-:y/ x=1,y=2"),
        ("GET /users//", "404"),
        ("GET //users/", "404"),
        ("GET /files", "404"),
        ("DELETE /users/", "405"),
    ] {
        assert_eq!(outcome(&app, request), expected, "{request}");
    }
    for path in ["/users", "/users/"] {
        let allow = header_of(&app, &format!("DELETE {path}"), "allow");
        assert_eq!(allow, "GET, HEAD, POST, OPTIONS", "{path}");
        assert_eq!(header_of(&app, &format!("OPTIONS {path}"), "allow"), allow, "{path}");
    }
}

#[test]
fn urls_by_name_have_the_declared_path() {
    for slash in [TrailingSlash::Strict, TrailingSlash::Redirect, TrailingSlash::Ignore] {
        let app = app(router(slash));
        assert_eq!(app.generate_url("users", [("", "")]).unwrap(), "/users");
        assert_eq!(app.generate_url("docs", [("", "")]).unwrap(), "/docs/");
    }
}

#[test]
fn a_route_that_has_the_path_comes_first() {
    for slash in [TrailingSlash::Redirect, TrailingSlash::Ignore] {
        let mut router = Router::with_options(options(slash));
        router.get("/users/", echo);
        router.get("/:name", echo);
        router.post("/:name", echo);
        router.put("/users/", echo);
        let app = app(router);
        check(&app, "GET /users", "200 /:name name=users");
        let expected =
            if slash == TrailingSlash::Redirect { "308 /users/" } else { "200 /users/ " };
        assert_eq!(outcome(&app, "PUT /users"), expected);
    }
}

#[test]
fn both_forms_of_a_path_are_a_configuration_error() {
    let build = |slash, first: &str, second: &str| {
        let mut router = Router::with_options(options(slash));
        router.get(first, echo);
        router.post(second, echo);
        router.build().map(drop).map_err(|error| error.to_string())
    };
    for slash in [TrailingSlash::Redirect, TrailingSlash::Ignore] {
        for (first, second) in
            [("/users", "/users/"), ("/users/:id/", "/users/:name"), ("/caf\u{e9}", "/caf%c3%a9/")]
        {
            let error = build(slash, first, second).unwrap_err();
            assert!(error.contains("`trailing_slash` makes the path equal to GET"), "{error}");
            assert!(error.contains("trailing_slash.rs:"), "{error}");
            assert!(build(TrailingSlash::Strict, first, second).is_ok());
        }
        for (first, second) in
            [("/users", "/users"), ("/", "/**"), ("/a/**", "/a/"), ("/a", "/a//")]
        {
            assert_eq!(build(slash, first, second), Ok(()), "{first} {second}");
        }
    }
}

#[test]
fn guards_limits_and_fallback_apply_as_for_the_declared_path() {
    for slash in [TrailingSlash::Redirect, TrailingSlash::Ignore] {
        let guard = |_: &mut Request| Err::<(), _>(ApiError::new(401, "Unauthorized"));
        let api = routes! {
            "admin": { middleware: guard, GET: echo, POST: { echo, max_body: 3 } },
            ":any": { GET: echo },
        };
        let mut router = create_router(api, options(slash));
        router.fallback(async || "fallback");
        let app = app(router);
        let is_ignored = slash == TrailingSlash::Ignore;
        let expected = if is_ignored { "401" } else { "308 /admin" };
        assert_eq!(outcome(&app, "GET /admin/"), expected);
        assert_eq!(outcome(&app, "GET /admin"), "401");
        // No spelling bypasses the guard.
        for path in ["/%61dmin/", "/%61dmin", "/adm%69n/"] {
            let found = outcome(&app, &format!("GET {path}"));
            let is_safe = found == "400" || found == format!("308 {}", path.trim_end_matches('/'));
            assert!(is_safe, "{path}: {found}");
        }
        assert_eq!(outcome(&app, "GET /x/y"), "200 fallback");
        let length = "POST /admin/\ncontent-length: 4\n\nabcd";
        assert_eq!(outcome(&app, length), if is_ignored { "413" } else { "308 /admin" });
    }
}

#[test]
fn preflights_get_the_rules_of_the_declared_path() {
    for slash in [TrailingSlash::Redirect, TrailingSlash::Ignore] {
        let api = routes! { "own": { cors: "https://own.example", GET: echo } };
        let app = app(create_router(api, options(slash)));
        let origin = "\norigin: https://own.example";
        let preflight = format!("OPTIONS /own/{origin}\naccess-control-request-method: GET");
        assert_eq!(outcome(&app, &preflight), "204");
        let allowed = header_of(&app, &preflight, "access-control-allow-origin");
        assert_eq!(allowed, "https://own.example");
        // A page from another origin may follow the redirect.
        let get = format!("GET /own/{origin}");
        assert_eq!(header_of(&app, &get, "access-control-allow-origin"), "https://own.example");
    }
}

#[test]
fn redirects_are_charged_and_have_security_headers() {
    let limited = options(TrailingSlash::Redirect).rate_limit(1 / MINUTE);
    let app = app(create_router(api(), limited));
    assert_eq!(header_of(&app, "GET /users/", "x-content-type-options"), "nosniff");
    assert_eq!(outcome(&app, "GET /users/"), "429");
}

#[test]
fn a_mounted_application_redirects_below_its_mount() {
    let inner = app(router(TrailingSlash::Redirect));
    let mut outer = Router::with_options(options(TrailingSlash::Redirect));
    outer.mount("/v1", inner);
    let app = app(outer);
    assert_eq!(outcome(&app, "GET /v1/users/?a"), "308 /v1/users?a");
    assert_eq!(outcome(&app, "GET /v1/docs"), "308 /v1/docs/");
    assert_eq!(outcome(&app, "GET /v1/users/7"), "200 /users/:id id=7");
}

#[test]
fn files_and_the_map_have_the_option() {
    for (text, slash) in [
        ("strict", TrailingSlash::Strict),
        ("redirect", TrailingSlash::Redirect),
        ("ignore", TrailingSlash::Ignore),
    ] {
        for key in ["trailingSlash", "trailing_slash"] {
            let options: RouterOptions =
                serde_json::from_value(json!({ key: text, "rateLimit": false })).unwrap();
            let map = app(create_router(api(), options)).route_map();
            assert_eq!(map.router.trailing_slash, slash);
            let shown = serde_json::to_value(&map.router).unwrap();
            let expected = (slash != TrailingSlash::Strict).then(|| json!(text));
            assert_eq!(shown.get("trailing_slash"), expected.as_ref());
        }
    }
    let wrong = serde_json::from_str::<RouterOptions>(r#"{ "trailingSlash": "maybe" }"#);
    assert!(wrong.unwrap_err().to_string().contains("`strict`, `redirect`, `ignore`"));
    let app = app(router(TrailingSlash::Redirect));
    let explained = app.explain("GET /users/").unwrap();
    assert_eq!((explained.status, explained.redirect.as_deref()), (Some(308), Some("/users")));
    assert!(explained.to_string().contains("redirected to /users: 308"), "{explained}");
}

#[tokio::test]
async fn redirects_work_on_a_socket() {
    let mut router = router(TrailingSlash::Redirect);
    router.get("/:a", echo);
    let server = router.create_server().unwrap().bind(0).await.unwrap();
    let (address, handle) = (server.local_addr(), server.handle());
    let served = tokio::spawn(async { server.serve().await.unwrap() });

    let client = TestClient::live(&format!("http://{address}"));
    let response = client.get("/users/?page=2").await;
    response.assert_status(308).assert_header("location", "/users?page=2");
    assert!(response.text().is_empty());
    client.get("/users?page=2").await.assert_status(200);
    for target in ["//evil.example/", "/\\evil.example/", "/%0d%0ax:y/", "http://evil.example//x/"]
    {
        let response = exchange(address, target).await;
        assert!(response.starts_with("HTTP/1.1 4"), "{target}: {response}");
        assert!(!response.to_ascii_lowercase().contains("location:"), "{target}: {response}");
    }
    let absolute = exchange(address, "http://a.example/users/").await;
    assert!(absolute.contains("\r\nlocation: /users\r\n"), "{absolute}");
    handle.shutdown();
    served.await.unwrap();
}

/// Sends a request for a target and reads until the connection closes.
async fn exchange(address: SocketAddr, target: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("GET {target} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut read = Vec::new();
    let _ = stream.read_to_end(&mut read).await;
    String::from_utf8_lossy(&read).into_owned()
}
