//! Mounted tower services, and tower layers as middleware.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

use futures_util::StreamExt as _;
use stockade::extract::Headers;
use stockade::middleware::{
    ErrorHandlerOptions, layered, with_auth, with_error_handling, with_sanitization, with_timeout,
};
use stockade::prelude::*;
use stockade::server::FromTower;
use stockade::testing::TestClient;
use stockade::{HttpBody, OriginalUri, PeerAddr, RouteEntry, http};
use tower::service_fn;
use tower_http::compression::CompressionLayer;
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::normalize_path::NormalizePathLayer;
use tower_http::services::ServeDir;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;
use tower_http::trace::TraceLayer;

use crate::support::{app, app_of, block_on, call, check, header_of, request, text_of};

/// A temporary folder with a few files, and a secret next to the folder.
struct Folder {
    root: PathBuf,
}

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let root =
            std::env::temp_dir().join(format!("stockade-tower-{}-{number}", std::process::id()));
        let public = root.join("public");
        std::fs::create_dir_all(public.join("css")).unwrap();
        std::fs::write(public.join("a.txt"), "0123456789").unwrap();
        std::fs::write(public.join("css/a.css"), "a {}").unwrap();
        std::fs::write(public.join("index.html"), "<p>").unwrap();
        std::fs::write(root.join("secret.txt"), "secret").unwrap();
        Self { root }
    }

    fn serve(&self) -> ServeDir {
        ServeDir::new(self.root.join("public"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // If this fails, the files remain in the temporary folder.
        let _ = std::fs::remove_dir_all(&self.root);
    }
}

fn secret() -> stockade::auth::Secret {
    stockade::auth::Secret::new("a secret of at least thirty-two bytes").unwrap()
}

/// Responds with the request that the service receives.
async fn seen(request: http::Request<HttpBody>) -> Result<Response, Infallible> {
    let (head, body) = request.into_parts();
    let original = head.extensions.get::<OriginalUri>().map(|uri| uri.0.to_string());
    let peer = head.extensions.get::<PeerAddr>().map(|peer| peer.0.to_string());
    let text = format!(
        "{} {} of {} for {} with {:?}",
        head.method,
        head.uri,
        original.unwrap_or_default(),
        peer.unwrap_or_default(),
        text_of(body).await,
    );
    Ok(Response::new(text.into()))
}

#[test]
fn a_folder_is_served() {
    let folder = Folder::new();
    let app = app_of(routes! {
        "assets": {
            mount: FromTower(folder.serve()),
            "version": { GET: async || "1.0" },
        },
    });
    check(&app, "GET /assets/a.txt", "200 0123456789");
    check(&app, "GET /assets/css/a.css", "200 a {}");
    check(&app, "GET /assets", "308");
    assert_eq!(header_of(&app, "GET /assets", "location"), "/assets/");
    check(&app, "GET /assets/", "200 <p>");
    check(&app, "GET /assets/version", "200 1.0");
    assert_eq!(header_of(&app, "GET /assets/css", "location"), "/assets/css/");
    check(&app, "GET /assets/a.txt\nrange: bytes=2-4", "206 234");
    check(&app, "GET /assets/none", "404");
    check(&app, "POST /assets/a.txt", "405");
    check(&app, "GET /assetsx", r#"404 {"error":"Not Found"}"#);
    assert_eq!(header_of(&app, "GET /assets/css/a.css", "content-type"), "text/css");
    // HEAD has the same length as GET, and our stages run first.
    assert_eq!(header_of(&app, "HEAD /assets/a.txt", "content-length"), "10");
    check(&app, "HEAD /assets/a.txt", "200");
    assert_eq!(header_of(&app, "GET /assets/none", "x-content-type-options"), "nosniff");
    let changed = header_of(&app, "GET /assets/a.txt", "last-modified");
    check(&app, &format!("GET /assets/a.txt\nif-modified-since: {changed}"), "304");
}

/// Follows the redirects of a GET and returns the final path and the body.
async fn followed(client: &TestClient, path: &str) -> String {
    let mut path = path.to_owned();
    for _ in 0..3 {
        let response = client.get(&path).await;
        let Some(location) = response.header("location") else {
            return format!("{} {path} {}", response.status().as_u16(), response.text());
        };
        assert!(response.status().is_redirection() && location.starts_with('/'), "{location}");
        path = location;
    }
    panic!("too many redirects to {path}")
}

#[tokio::test]
async fn redirects_and_relative_links_of_a_folder_stay_in_its_mount() {
    let folder = Folder::new();
    std::fs::write(folder.root.join("public/css/index.html"), "<i>").unwrap();
    let files = || folder.serve();
    let inner = app_of(routes! {
        "files": { mount: FromTower(files()) },
        "deep": { "er": { mount: files() } },
    });
    let mut router = Router::with_options(RouterOptions::new().prefix("/api").rate_limit(false));
    router.mount("/assets", files());
    router.mount("/by/:id", files());
    router.group("/group", (), |group| {
        group.mount("/in", files());
    });
    router.mount("/app", inner.clone());
    let mut outer = Router::with_options(RouterOptions::new().rate_limit(false));
    outer.mount("/outer", app(router));
    outer.mount("/root", app_of(routes! { mount: files() }));
    let client = TestClient::new(outer);
    for mount in [
        "/outer/api/assets",
        "/outer/api/by/a%20b",
        "/outer/api/group/in",
        "/outer/api/app/files",
        "/outer/api/app/deep/er",
        "/root",
    ] {
        for query in ["", "?x=1&y=%2F"] {
            let start = followed(&client, &format!("{mount}{query}")).await;
            assert_eq!(start, format!("200 {mount}/{query} <p>"));
            let css = followed(&client, &format!("{mount}/css{query}")).await;
            assert_eq!(css, format!("200 {mount}/css/{query} <i>"));
        }
        client.head(mount).await.assert_status(308);
        client.get(format!("{mount}/a.txt")).await.assert_status(200);
        client.post(mount).await.assert_status(405);
    }
    client.get("/root//css").await.assert_status(400);
    client.get("/root/%2f%2fevil.example").await.assert_status(404);
}

#[test]
fn a_mount_changes_no_other_response() {
    async fn respond(request: http::Request<HttpBody>) -> Result<Response, Infallible> {
        let header = |name: &str| request.headers().get(name).cloned();
        let mut response = Response::new("<p>".into());
        let status = header("x-status").map(|it| it.to_str().unwrap().parse().unwrap());
        *response.status_mut() = StatusCode::from_u16(status.unwrap_or(200)).unwrap();
        for (name, copied) in [("content-type", "x-type"), ("location", "x-location")] {
            header(copied).map(|value| response.headers_mut().insert(name, value));
        }
        response.headers_mut().insert("vary", "accept".parse().unwrap());
        Ok(response)
    }
    let app = app_of(routes! {
        "m": { mount: service_fn(respond) },
        "any": { ":name": { mount: service_fn(respond) } },
        "page": { GET: async || Html("<p>") },
    });
    let html = "x-type: Text/HTML;charset=utf-8";
    check(&app, &format!("GET /m\n{html}"), "308");
    assert_eq!(header_of(&app, &format!("GET /m?a=//b\n{html}"), "location"), "/m/?a=//b");
    assert_eq!(header_of(&app, &format!("GET /m\n{html}"), "vary"), "accept");
    for same in [
        format!("GET /m/\n{html}"),
        format!("GET /m/x\n{html}"),
        format!("POST /m\n{html}"),
        "GET /m\nx-type: application/json".to_owned(),
        "GET /m".to_owned(),
        "GET /page".to_owned(),
    ] {
        check(&app, &same, "200 <p>");
    }
    check(&app, &format!("GET /m\nx-status: 404\n{html}"), "404 <p>");
    for location in [
        "//evil.example/",
        "https://evil.example/x/",
        "http://localhost/x/",
        "/login",
        "/m/x/",
        "/x/?a=1",
        "x/",
        "../x/",
    ] {
        let get = format!("GET /m/x\nx-status: 307\nx-location: {location}");
        assert_eq!(header_of(&app, &get, "location"), location);
    }
    let get = "GET /m/x\nx-status: 302\nx-location: /x/";
    assert_eq!(header_of(&app, get, "location"), "/m/x/");
    // Browsers treat a backslash as a slash.
    check(&app, &format!("GET /any/\\evil.example\n{html}"), r#"400 {"error":"Bad Request"}"#);
}

#[test]
fn a_response_to_head_without_a_body_has_no_length() {
    // Like axum with a stream: HEAD does not have a body, and the length is
    // unknown.
    async fn streams(request: http::Request<HttpBody>) -> Result<Response, Infallible> {
        let pieces = futures_util::stream::iter([Ok::<_, BoxError>("a piece")]);
        let is_head = request.method() == Method::HEAD;
        let body = if is_head { HttpBody::empty() } else { HttpBody::stream(pieces) };
        Ok(Response::new(body))
    }
    let app = app_of(routes! {
        "mount": { mount: service_fn(streams) },
        "text": { GET: async || "text" },
    });
    for (request, length) in [("GET /mount", "-"), ("HEAD /mount", "-"), ("HEAD /text", "4")] {
        assert_eq!(header_of(&app, request, "content-length"), length, "{request}");
    }
}

#[test]
fn no_path_leaves_a_mount() {
    let folder = Folder::new();
    let app =
        app_of(routes! { "assets": { mount: folder.serve() }, "**": { GET: async || "rest" } });
    let refused = r#"400 {"error":"Bad Request"}"#;
    for path in [
        "../secret.txt",
        "css/../../secret.txt",
        "%2e%2e/secret.txt",
        "..%2fsecret.txt",
        "%2e%2e%2fsecret.txt",
        "css/%2E%2E/a.txt",
        "./a.txt",
        "..%5csecret.txt",
        "/a.txt",
        "//example.com",
        "..",
        ".",
    ] {
        check(&app, &format!("GET /assets/{path}"), refused);
    }
    check(&app, "GET /assets/..\\secret.txt", refused);
    check(&app, "GET /assets/%00", refused);
    // A service may decode the path a second time.
    check(&app, "GET /assets/%252e%252e/secret.txt", refused);
    check(&app, "GET /assets/....//secret.txt", "404");
}

#[test]
fn a_service_receives_the_path_after_its_mount() {
    let build = |prefix: &str| {
        let options = RouterOptions::new().expose_errors(false).rate_limit(false).prefix(prefix);
        let mut router = Router::with_options(options);
        router.mount("/up/:id", service_fn(seen)).name("up");
        router.group("/group", (), |group| {
            group.mount("/in/", service_fn(seen));
        });
        app(router)
    };
    let plain = build("");
    let peer = "192.0.2.7:4711";
    check(
        &plain,
        "PUT /up/7/a%20b/c?x=1\n\nbody",
        &format!("200 PUT /a%20b/c?x=1 of /up/7/a%20b/c?x=1 for {peer} with \"body\""),
    );
    check(&plain, "GET /up/7", &format!("200 GET / of /up/7 for {peer} with \"\""));
    check(&plain, "GET /up/7?y", &format!("200 GET /?y of /up/7?y for {peer} with \"\""));
    check(&plain, "PURGE /up/7/", &format!("200 PURGE / of /up/7/ for {peer} with \"\""));
    check(
        &plain,
        "OPTIONS /group/in/x",
        &format!("200 OPTIONS /x of /group/in/x for {peer} with \"\""),
    );
    check(&plain, "GET /up", r#"404 {"error":"Not Found"}"#);
    assert_eq!(plain.generate_url("up", [("id", "7"), ("splat", "a/b")]).unwrap(), "/up/7/a/b");
    check(
        &build("/api"),
        "GET /api/up/7/x",
        &format!("200 GET /x of /api/up/7/x for {peer} with \"\""),
    );
    let root = {
        let mut router = Router::new();
        router.mount("/", service_fn(seen));
        router.get("/own", async || "own");
        app(router)
    };
    check(&root, "GET /own", "200 own");
    check(&root, "POST /own", &format!("200 POST /own of /own for {peer} with \"\""));
    check(&root, "GET /", &format!("200 GET / of / for {peer} with \"\""));
    check(&root, "GET /x/y", &format!("200 GET /x/y of /x/y for {peer} with \"\""));
}

#[test]
fn middleware_and_limits_run_before_a_mount() {
    let mut router =
        Router::with_options(RouterOptions::new().expose_errors(false).max_body_size(4));
    router.mount("/small", service_fn(seen));
    router.mount("/large", service_fn(seen)).max_body(8);
    router.mount("/closed", service_fn(seen)).middleware(with_auth(Auth::secret(secret())));
    router
        .mount("/limited", service_fn(seen))
        .rate_limit(1 / stockade::middleware::rate_limit::MINUTE);
    let app = app(router);
    let too_large = r#"413 {"error":"Request body too large"}"#;
    check(&app, "PUT /small\ncontent-length: 5\n\n12345", too_large);
    check(&app, "PUT /large\n\n12345", r#"200 PUT / of /large for 192.0.2.7:4711 with "12345""#);
    check(&app, "PUT /large\ncontent-length: 9\n\n123456789", too_large);
    check(&app, "GET /closed", r#"401 {"error":"Unauthorized"}"#);
    check(&app, "GET /limited/x", r#"200 GET /x of /limited/x for 192.0.2.7:4711 with """#);
    check(&app, "GET /limited/y", r#"429 {"error":"Too Many Requests"}"#);
    // A body without a declared length ends with an error, which the service
    // may return.
    let pieces = futures_util::stream::iter([Ok::<_, Infallible>("123"), Ok("45")]);
    let stream = http::Request::put("/small").body(HttpBody::stream(pieces)).unwrap();
    let answer = block_on(async { text_of(app.handle(stream).await.into_body()).await });
    assert!(answer.ends_with(r#"with "123<error>""#), "{answer}");
}

#[test]
fn errors_of_a_service_are_errors_of_the_request() {
    async fn fails(request: http::Request<HttpBody>) -> Result<Response, BoxError> {
        match request.uri().path() {
            "/own" => Err(ApiError::conflict().into()),
            "/body" => {
                request.into_body().collect(u64::MAX).await?;
                Ok(Response::default())
            }
            "/panic" => panic!("no"),
            _ => Err("the other side hung up".into()),
        }
    }
    let mut router =
        Router::with_options(RouterOptions::new().expose_errors(false).rate_limit(false));
    router.mount("/x", service_fn(fails)).max_body(2);
    let app = app(router);
    check(&app, "GET /x/own", r#"409 {"error":"Resource conflict"}"#);
    check(&app, "GET /x/other", r#"500 {"error":"Internal Server Error"}"#);
    check(&app, "GET /x/panic", r#"500 {"error":"Internal Server Error"}"#);
    let pieces = futures_util::stream::iter([Ok::<_, Infallible>("123")]);
    let stream = http::Request::put("/x/body").body(HttpBody::stream(pieces)).unwrap();
    assert_eq!(block_on(app.handle(stream)).status(), 413);
}

#[test]
fn an_axum_router_can_be_mounted() {
    use axum::extract::Path as AxumPath;
    use axum::routing::{get, post};

    let inside = axum::Router::new()
        .route("/", get(async || "root of axum"))
        .route("/users/{id}", get(async |AxumPath(id): AxumPath<u32>| format!("user {id}")))
        .route("/echo", post(async |body: String| body))
        .route("/uri", get(async |uri: http::Uri| uri.to_string()));
    let app = app_of(routes! {
        "old": { mount: { inside, max_body: 6 } },
        "old/users/me": { GET: async || "me of ours" },
    });
    check(&app, "GET /old", "200 root of axum");
    check(&app, "GET /old/users/7", "200 user 7");
    check(&app, "GET /old/users/me", "200 me of ours");
    check(&app, "POST /old/echo\n\nhello", "200 hello");
    check(&app, "GET /old/echo", "405");
    check(&app, "GET /old/none", "404");
    check(&app, "GET /old/uri", "200 /uri");
    assert_eq!(header_of(&app, "GET /old/none", "x-content-type-options"), "nosniff");
}

#[test]
fn an_app_can_be_mounted_in_another() {
    let inner = app_of(routes! {
        "a": { GET: async || "a", "fails": { GET: async || Err::<(), _>(ApiError::conflict()) } },
    });
    let app =
        app_of(routes! { "v1": { mount: inner.clone() }, "v2": { "deep": { mount: inner } } });
    check(&app, "GET /v1/a", "200 a");
    check(&app, "GET /v2/deep/a", "200 a");
    check(&app, "GET /v1/a/fails", r#"409 {"error":"Resource conflict"}"#);
    check(&app, "POST /v1/a", r#"405 {"error":"Method Not Allowed"}"#);
    check(&app, "GET /v2/a", r#"404 {"error":"Not Found"}"#);
}

#[tokio::test]
async fn web_sockets_of_an_app_work_through_mounts_and_layers() {
    async fn echo(mut socket: WebSocket) -> Result<(), ApiError> {
        while let Some(text) = socket.recv_text().await {
            socket.send(text?).await?;
        }
        Ok(())
    }
    let options = RouterOptions::new().enable_web_sockets(true);
    let inner = app(create_router(routes! { "echo": { ws: echo } }, options));
    let app = app_of(routes! {
        middleware: [layered(TraceLayer::new_for_http()), layered(CompressionLayer::new())],
        "inner": { mount: inner },
    });
    let mut socket = TestClient::new(app).websocket("/inner/echo").connect().await;
    socket.send_text("hello").await;
    assert_eq!(socket.receive_text().await, "hello");
}

#[test]
fn reports_errors_of_mounts() {
    let mut router = Router::new();
    router.mount("/a", service_fn(seen));
    router.any("/a", async || ());
    router.any("/a/**", async || ());
    router.mount("/b/**", service_fn(seen));
    router.get("/a", async || ());
    let error = router.build().unwrap_err();
    let messages: Vec<_> = error.issues().iter().map(ToString::to_string).collect();
    assert_eq!(messages.len(), 3, "{messages:?}");
    assert!(
        messages[0].contains("duplicate route: same method and path as ANY /a/**"),
        "{messages:?}"
    );
    assert!(messages[2].contains("after `**`"), "{messages:?}");
}

#[test]
fn routers_nodes_and_entries_accept_layers() {
    let set = |name: &'static str| {
        let value = http::HeaderValue::from_static("set");
        layered(SetResponseHeaderLayer::overriding(http::HeaderName::from_static(name), value))
    };
    let tree = routes! {
        "node": {
            middleware: [set("x-node")],
            "entry": { GET: { async || "entry", middleware: [set("x-entry"), layered(TraceLayer::new_for_http())] } },
        },
    };
    let options = RouterOptions::new().middleware(set("x-router")).rate_limit(false);
    let app = app(create_router(tree, options));
    for name in ["x-router", "x-node", "x-entry"] {
        assert_eq!(header_of(&app, "GET /node/entry", name), "set");
    }
    check(&app, "GET /node/entry", "200 entry");
}

#[test]
fn extractors_work_behind_layers() {
    #[derive(serde::Deserialize, Schema)]
    struct Input {
        name: String,
    }
    async fn handler(
        Path(id): Path<u32>,
        State(greeting): State<&'static str>,
        headers: Headers,
        user: Option<User<Value>>,
        Body(input): Body<Input>,
    ) -> String {
        let tag = headers.0.contains_key("x-tag");
        let user = user.map(|user| user.0.to_string()).unwrap_or_default();
        format!("{greeting} {id} {} {tag} {user}", input.name)
    }
    fn sets_user(req: &mut Request) {
        req.set_user(Some(json!({ "id": 1 })));
    }
    let name = http::HeaderName::from_static("x-tag");
    let tag = tower_http::set_header::SetRequestHeaderLayer::overriding(
        name,
        http::HeaderValue::from_static("1"),
    );
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false).max_body_size(99))
        .state("hello");
    router.post("/users/:id", handler).middleware((
        sets_user,
        layered(tag),
        layered(CompressionLayer::new()),
    ));
    let app = app(router);
    let post = "POST /users/7\ncontent-type: application/json\n\n{\"name\":\"Ada\"}";
    check(&app, post, r#"200 hello 7 Ada true {"id":1}"#);
    let bad = "POST /users/7\ncontent-type: application/json\n\n{}";
    assert!(block_on(call(&app, bad)).starts_with("400"), "the errors of extractors are answers");
}

#[test]
fn layers_change_bodies_in_both_directions() {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.use_(layered(CompressionLayer::new().gzip(true)));
    router.get("/long", async || "x".repeat(2_000));
    router
        .post("/echo", async |bytes: Bytes| bytes)
        .middleware(layered(RequestDecompressionLayer::new()));
    router
        .post("/limited", async |bytes: Bytes| bytes)
        .middleware(layered(RequestBodyLimitLayer::new(3)));
    let app = app(router);
    let long = "GET /long\naccept-encoding: gzip";
    assert_eq!(header_of(&app, long, "content-encoding"), "gzip");
    assert_eq!(header_of(&app, "GET /long", "content-encoding"), "-");
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut zipped, b"unpacked").unwrap();
    let zipped = http::Request::post("/echo")
        .header("content-type", "text/plain")
        .header("content-encoding", "gzip")
        .body(zipped.finish().unwrap())
        .unwrap();
    let answer = block_on(async { text_of(app.handle(zipped).await.into_body()).await });
    assert_eq!(answer, "unpacked");
    let text = "content-type: text/plain";
    check(&app, &format!("POST /limited\n{text}\n\n123"), "200 123");
    assert!(block_on(call(&app, &format!("POST /limited\n{text}\n\n1234"))).starts_with('4'));
}

#[test]
fn a_parsed_body_stays_as_middleware_changed_it() {
    async fn reads(mut req: Request) -> Result<Value, ApiError> {
        Ok(req.body().await?.take())
    }
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.use_(with_sanitization()).use_(layered(TraceLayer::new_for_http()));
    router.post("/x", reads);
    let app = app(router);
    let json = "content-type: application/json";
    check(&app, &format!("POST /x\n{json}\n\n{{\"a\":\"<b>\"}}"), r#"200 {"a":"&lt;b&gt;"}"#);
}

#[tokio::test(start_paused = true)]
async fn layers_and_inner_services_can_wait_and_fail() {
    let slow = async || {
        tokio::time::sleep(Duration::from_secs(60)).await;
        "late"
    };
    let limit = Duration::from_secs(1);
    let mut router =
        Router::with_options(RouterOptions::new().expose_errors(false).rate_limit(false));
    let timeout = TimeoutLayer::with_status_code(StatusCode::GATEWAY_TIMEOUT, limit);
    router.get("/http", slow).middleware(layered(timeout));
    router.get("/tower", slow).middleware(layered(tower::timeout::TimeoutLayer::new(limit)));
    router
        .get("/ours", slow)
        .middleware((with_timeout(limit), layered(TraceLayer::new_for_http())));
    let shared = layered(tower::limit::ConcurrencyLimitLayer::new(1));
    router.get("/one", slow).middleware(shared.clone());
    router.get("/two", slow).middleware((layered(tower::load_shed::LoadShedLayer::new()), shared));
    let app = app(router);
    assert_eq!(call(&app, "GET /http").await, "504");
    assert_eq!(call(&app, "GET /tower").await, r#"500 {"error":"Internal Server Error"}"#);
    assert_eq!(call(&app, "GET /ours").await, r#"503 {"error":"Service Unavailable"}"#);
    // All requests share one limit: the second waits until the first finishes.
    let began = tokio::time::Instant::now();
    let (one, two) = tokio::join!(call(&app, "GET /one"), call(&app, "GET /one"));
    assert_eq!((one.as_str(), two.as_str()), ("200 late", "200 late"));
    assert_eq!(began.elapsed().as_secs(), 120);
}

#[test]
fn a_mounted_app_formats_its_own_errors() {
    fn form(name: &'static str) -> impl Fn(&mut stockade::ErrorReply) + Clone {
        move |error| error.set_json(json!([name, error.status().as_u16()]))
    }
    let inner = |options: RouterOptions| app(Router::with_options(options.rate_limit(false)));
    let (plain, own) =
        (inner(RouterOptions::new()), inner(RouterOptions::new().error_handling(form("inner"))));
    let tree = routes! {
        "plain": { error_handling: form("node"), mount: plain.clone() },
        "own": { error_handling: form("node"), mount: own.clone() },
        "plain-entry": { mount: { plain, error_handling: form("mount") } },
        "own-entry": { mount: { own, error_handling: form("mount") } },
    };
    let options = RouterOptions::new().rate_limit(false).error_handling(form("router"));
    let app = app(create_router(tree, options));
    check(&app, "GET /nowhere", r#"404 ["router",404]"#);
    check(&app, "GET /plain/x", r#"404 {"error":"Not Found"}"#);
    check(&app, "GET /own/x", r#"404 ["inner",404]"#);
    check(&app, "GET /plain-entry/x", r#"404 ["mount",404]"#);
    check(&app, "GET /own-entry/x", r#"404 ["inner",404]"#);
    // The router handles errors before the service itself.
    check(&app, "GET /plain/../x", r#"400 ["node",400]"#);
}

#[test]
fn outer_middleware_sees_errors_behind_a_layer() {
    let mut router =
        Router::with_options(RouterOptions::new().expose_errors(false).rate_limit(false));
    let statuses = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&statuses);
    let notes = tower::util::MapResponseLayer::new(move |response: Response| {
        noted.lock().unwrap().push(response.status().as_u16());
        response
    });
    let codes = ErrorHandlerOptions::new()
        .transform(|error, _| json!({ "code": error.status(), "text": error.message() }));
    router.use_(with_error_handling(codes)).use_(layered(notes));
    router.get("/conflict", async || Err::<(), _>(ApiError::conflict()));
    router.get("/panic", async || {
        if true {
            panic!("no")
        }
    });
    let app = app(router);
    check(&app, "GET /conflict", r#"409 {"code":409,"text":"Resource conflict"}"#);
    assert_eq!(block_on(app.handle(request("GET /panic"))).status(), 500);
    assert_eq!(*statuses.lock().unwrap(), [409, 500]);
}

#[test]
fn a_layer_can_respond_directly_or_misuse_the_inner_service() {
    #[derive(Clone)]
    struct Twice<S>(S);

    impl<S> tower::Service<http::Request<HttpBody>> for Twice<S>
    where
        S: tower::Service<http::Request<HttpBody>, Response = Response, Error = Infallible>,
    {
        type Response = Response;
        type Error = Infallible;
        type Future = S::Future;

        fn poll_ready(&mut self, cx: &mut std::task::Context<'_>) -> Poll<Result<(), Infallible>> {
            self.0.poll_ready(cx)
        }

        fn call(&mut self, request: http::Request<HttpBody>) -> S::Future {
            let (head, _) = request.into_parts();
            let again = http::Request::from_parts(head.clone(), HttpBody::empty());
            drop(self.0.call(http::Request::from_parts(head, HttpBody::empty())));
            self.0.call(again)
        }
    }

    let answers = tower::layer::layer_fn(|_| {
        service_fn(async |_: http::Request<HttpBody>| {
            Ok::<_, Infallible>(
                http::Response::builder().status(418).body("tea".to_owned()).unwrap(),
            )
        })
    });
    let anew = tower::layer::layer_fn(|rest| {
        tower::ServiceExt::<http::Request<HttpBody>>::map_request(rest, |_| {
            http::Request::new(HttpBody::empty())
        })
    });
    let mut router =
        Router::with_options(RouterOptions::new().expose_errors(false).rate_limit(false));
    router.get("/answers", async || "never").middleware(layered(answers));
    router.get("/anew", async || "never").middleware(layered(anew));
    router.get("/twice", async || "once").middleware(layered(tower::layer::layer_fn(Twice)));
    let app = app(router);
    check(&app, "GET /answers", "418 tea");
    let failed = r#"500 {"error":"Internal Server Error"}"#;
    check(&app, "GET /anew", failed);
    check(&app, "GET /twice", failed);
}

#[test]
fn a_layer_that_changes_the_path_keeps_the_parameters() {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router
        .get("/users/:id/", async |Path(id): Path<String>, req: Request| {
            format!("{id} {}", req.path())
        })
        .middleware(layered(NormalizePathLayer::trim_trailing_slash()));
    router
        .get("/:a/:b", async |Path((a, b)): Path<(String, String)>| format!("{a} {b}"))
        .middleware(layered(tower::util::MapRequestLayer::new(
            |mut request: http::Request<HttpBody>| {
                *request.uri_mut() = "/short".parse().unwrap();
                request
            },
        )));
    let app = app(router);
    check(&app, "GET /users/a%20b/", "200 a b /users/a%20b");
    check(&app, "GET /first/second%20one", "200 first second one");
}

#[test]
fn streams_pass_mounts_and_layers_immediately() {
    let pieces = async |_: http::Request<HttpBody>| {
        let pieces = futures_util::stream::iter(["a", "b"]).map(Ok::<_, Infallible>);
        Ok::<_, Infallible>(Response::new(HttpBody::stream(pieces)))
    };
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.mount("/x", service_fn(pieces)).middleware(layered(TraceLayer::new_for_http()));
    let mut tree = RouteTree::new();
    tree = tree.segment("y", RouteTree::new().mount(RouteEntry::mount(service_fn(pieces))));
    router.routes(tree);
    let app = app(router);
    check(&app, "GET /x", "200 ab");
    check(&app, "GET /y/z", "200 ab");
}
