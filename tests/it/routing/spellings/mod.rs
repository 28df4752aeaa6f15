//! Encoded paths: no spelling of a guarded path reaches another route.
//!
//! Source: RFC 3986, section 6.2.2.2.

mod attacks;
mod model;

use std::convert::Infallible;
use std::path::PathBuf;

use stockade::prelude::*;
use stockade::websockets::{WebSocket, WebSocketOptions};
use stockade::{HttpBody, http};
use stockade_errors::random::Random;
use tower::service_fn;
use tower_http::services::ServeDir;

use self::model::{Route, expected, spelled};
use crate::support::{app, block_on, call, check, long_or};

/// Returns the number of paths in each test.
fn cases() -> usize {
    long_or(2_500, 500)
}

/// Builds an application whose handlers respond with the path of their route.
fn echo(routes: &[Route]) -> App {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    for (path, is_mount) in routes.iter().copied() {
        if is_mount {
            router.mount(path, service_fn(move |_| answer(path)));
        } else {
            router.get(path, async move || path);
        }
    }
    app(router)
}

async fn answer(text: &'static str) -> Result<Response, Infallible> {
    Ok(Response::new(HttpBody::from(text)))
}

/// Sends spellings of `paths` and compares the responses with the model.
#[track_caller]
fn compare(routes: &[Route], paths: &[&str]) {
    let app = echo(routes);
    let mut random = Random::new(routes.len() as u64);
    let (mut found, mut rejected) = (0, 0);
    block_on(async {
        for _ in 0..cases() {
            let path = spelled(random.pick(paths), &mut random);
            let actual = call(&app, &format!("GET {path}")).await;
            // The body of an error is not compared.
            let actual = if actual.starts_with("200") { &actual } else { &actual[..3] };
            assert_eq!(actual, expected(routes, &path), "{path}");
            found += usize::from(actual.starts_with("200"));
            rejected += usize::from(actual == "400");
        }
    });
    assert!(found > cases() / 10 && rejected > cases() / 50, "{found} found, {rejected} rejected");
}

#[test]
fn routes_agree_with_the_model() {
    let routes = [
        ("/users/me", false),
        ("/users/:id", false),
        ("/users/:id/posts", false),
        ("/users/~root/posts", false),
        ("/:any/:id", false),
        ("/caf%C3%A9/:id", false),
        ("/a%2Fb/:id", false),
        ("/a/b/:id", false),
        ("/%7e/:id", false),
    ];
    let paths = [
        "/users/me",
        "/users/7",
        "/users/a.b-c",
        "/users/~root/posts",
        "/users/7/posts",
        "/caf\u{e9}/x",
        "/a/b/x",
        "/~/x",
        "/other/x",
    ];
    compare(&routes, &paths);
}

#[test]
fn wildcards_agree_with_the_model() {
    let routes = [
        ("/w/**", false),
        ("/w/admin/**", false),
        ("/w/:id/secret", false),
        ("/w/*", false),
        ("/w/one/two", false),
        ("/v/*/end", false),
        ("/v/mid/end", false),
        ("/v/mid", false),
        ("/caf%C3%A9/**", false),
        ("/caf\u{e9}/own/**", false),
    ];
    let paths = [
        "/w/admin/x",
        "/w/open/x",
        "/w/open",
        "/w/7/secret",
        "/w/one/two",
        "/v/mid/end",
        "/v/other/end",
        "/caf\u{e9}/x",
        "/caf\u{e9}/own/x",
        "/w/",
    ];
    compare(&routes, &paths);
    let with_rest: Vec<Route> = routes.into_iter().chain([("/**", false)]).collect();
    compare(&with_rest, &paths);
}

#[test]
fn mounts_agree_with_the_model() {
    let routes = [
        ("/files", true),
        ("/files/admin/**", false),
        ("/files/deep/admin/**", false),
        ("/files/:id/meta", false),
        ("/files/inner", true),
        ("/files/inner/own", false),
        ("/files/a%20b", true),
        ("/files/a%20b/own", false),
    ];
    let paths = [
        "/files/admin/x",
        "/files/deep/admin/x",
        "/files/open/x",
        "/files/7/meta",
        "/files/inner/x",
        "/files/inner/own",
        "/files/a b/x",
        "/files/a b/own",
        "/files",
    ]
    .map(|path| path.replace(' ', "%20"));
    let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
    compare(&routes, &paths);
    let with_root: Vec<Route> = routes.into_iter().chain([("/", true)]).collect();
    compare(&with_root, &paths);
}

/// Returns middleware that rejects every request.
fn guard() -> Middleware {
    Middleware::new(|_: &mut Request| -> Result<(), ApiError> { Err(ApiError::new(401, "guard")) })
}

/// Returns an application with a mount, and with guarded routes, a guarded
/// group and a guarded mount below it.
fn guarded(service: impl stockade::middleware::TowerService) -> App {
    let mut router = Router::with_options(RouterOptions::new().rate_limit(false));
    router.mount("/files", service.clone());
    router.group("/files/admin", guard(), |admin| {
        admin.get("/**", async || "a guarded wildcard");
    });
    router.group("/files/deep", (), |deep| {
        deep.group("/vault", guard(), |vault| {
            vault.mount("/", service);
        });
        deep.get("/one/:id", async || "a guarded route").middleware(guard());
    });
    app(router)
}

/// The guarded paths of [`guarded`].
const SECRETS: [&str; 3] =
    ["/files/admin/secret.txt", "/files/deep/vault/secret.txt", "/files/deep/one/secret.txt"];

/// Sends spellings of guarded paths. The service of the outer mount must never
/// respond with the content of a guarded path.
#[track_caller]
fn keep_out(app: &App, is_leak: impl Fn(&str) -> bool) {
    let mut random = Random::new(7);
    let mut statuses = [0; 600];
    block_on(async {
        for _ in 0..cases() {
            // Another spelling of the mount itself would not match any route.
            let below = random.pick(&SECRETS).strip_prefix("/files").unwrap();
            let path = format!("/files{}", spelled(below, &mut random));
            let response = call(app, &format!("GET {path}")).await;
            assert!(!is_leak(&response), "{path}: {response}");
            statuses[response[..3].parse::<usize>().unwrap()] += 1;
        }
    });
    let [ok, bad, guarded, unknown] = [200, 400, 401, 404].map(|status| statuses[status]);
    let counts = format!("{ok} x 200, {bad} x 400, {guarded} x 401, {unknown} x 404");
    assert!(bad > cases() / 3 && guarded > cases() / 10 && ok + unknown > 0, "{counts}");
}

#[test]
fn a_tower_service_never_sees_a_guarded_path() {
    for decodings in 0..3 {
        let service = service_fn(move |request: http::Request<HttpBody>| async move {
            let mut path = request.uri().path().to_owned();
            for _ in 0..decodings {
                path = model::once(&path);
            }
            Ok::<_, Infallible>(Response::new(HttpBody::from(model::cleaned(&path))))
        });
        let app = guarded(service);
        check(&app, "GET /files/open/x", "200 open/x");
        keep_out(&app, |response| {
            let secrets = SECRETS.map(|path| path.replacen("/files/", "200 ", 1));
            secrets.iter().any(|secret| response == *secret)
        });
    }
}

#[test]
fn serve_dir_never_serves_a_guarded_file() {
    let root = Folder::new("all");
    let app = guarded(ServeDir::new(&root.0));
    check(&app, "GET /files/open.txt", "200 open");
    check(&app, "GET /files/%6fpen%2Etxt", "200 open");
    check(&app, "GET /files/admin/secret.txt", r#"401 {"error":"guard"}"#);
    keep_out(&app, |response| response.contains("secret"));
}

/// A temporary folder with a file for each guarded path.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("stockade-spellings-{name}-{}", std::process::id());
        let root = std::env::temp_dir().join(name);
        for path in SECRETS {
            let path = root.join(path.strip_prefix("/files/").unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "secret").unwrap();
        }
        std::fs::write(root.join("open.txt"), "open").unwrap();
        Self(root)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_parameter_with_an_encoded_slash_stays_one_value() {
    async fn show(Path(id): Path<String>) -> String {
        id
    }
    let mut router = Router::new();
    router.get("/users/:id", show);
    router.get("/users/:id/posts", async || "posts");
    router.get("/**", async || "rest");
    let app = app(router);
    check(&app, "GET /users/a%2Fb", "200 a/b");
    check(&app, "GET /users/7%2fposts", "200 7/posts");
    check(&app, "GET /users/a%40b%5C%252F", "200 a@b\\%2F");
    check(&app, "GET /users/%61", "200 a");
    check(&app, "GET /users%2F7", BAD);
    check(&app, "GET /other%2F7", "200 rest");
}

const BAD: &str = r#"400 {"error":"Bad Request"}"#;

#[test]
fn the_rule_applies_to_each_method_and_to_websockets() {
    async fn socket(mut socket: WebSocket) -> Result<(), ApiError> {
        while socket.recv_text().await.is_some() {}
        Ok(())
    }
    let options = RouterOptions::new().rate_limit(false).enable_web_sockets(true);
    let mut router = Router::with_options(options);
    router.mount("/files", service_fn(|_| answer("mount")));
    router.post("/files/admin", async || "post");
    router.add_web_socket_route("/files/chat", socket, WebSocketOptions::new());
    let app = app(router);
    check(&app, "POST /files/%61dmin", BAD);
    check(&app, "GET /files/%61dmin", "200 mount");
    check(&app, "HEAD /files/%63hat", "200");
    let handshake = "connection: upgrade\nupgrade: websocket\nsec-websocket-version: 13\n\
                     sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==";
    check(&app, &format!("GET /files/%63hat\n{handshake}"), BAD);
    check(&app, &format!("GET /files/open\n{handshake}"), "200 mount");
    assert_eq!(app.explain("POST /files/%61dmin").unwrap().status, Some(400));
    assert_eq!(app.explain("WS /files/chat").unwrap().status, None);
}

#[test]
fn the_rule_applies_to_a_fallback() {
    let options = RouterOptions::new().rate_limit(false).fallback(async || "fallback");
    let mut router = Router::with_options(options);
    router.get("/admin/:id", async || "admin");
    let app = app(router);
    check(&app, "GET /a%20b", "200 fallback");
    check(&app, "GET /100%", "200 fallback");
    check(&app, "GET /%61dmin/7", BAD);
    check(&app, "GET /admin%2F7", BAD);
    check(&app, "GET /%2561dmin/7", BAD);
    check(&app, "GET /x/%2e%2e/admin/7", BAD);
    // The path has a different method, and the fallback must not replace its
    // 405 either.
    check(&app, "DELETE /%61dmin/7", BAD);
    assert_eq!(app.explain("GET /%61dmin/7").unwrap().status, Some(400));
}

#[test]
fn a_path_without_a_route_stays_unknown() {
    let app = echo(&[("/users", false), ("/users/:id", false)]);
    check(&app, "GET /us%65rs", r#"404 {"error":"Not Found"}"#);
    check(&app, "GET /us%65rs/7", r#"404 {"error":"Not Found"}"#);
}

#[test]
fn empty_segments_reach_no_guarded_path_of_a_mount() {
    let app = echo(&[("/files", true), ("/files/deep/admin/**", false)]);
    check(&app, "GET /files/deep//admin/x", BAD);
    check(&app, "GET /files/deep//other/x", "200 /files");
}
