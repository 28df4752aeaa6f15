//! Cross-origin requests that pages send on behalf of their visitors.

use stockade::auth::{KeyRing, SessionId};
use stockade::middleware::{SessionCookie, with_cors, with_cross_origin_protection};
use stockade::prelude::*;
use stockade::{HostOptions, Router};

use crate::support::{app, block_on, check, header_of, request, show};

const REFUSED: &str = r#"403 {"error":"Forbidden","message":"Cross-origin request"}"#;
const UNAUTHORIZED: &str = r#"401 {"error":"Unauthorized"}"#;
const PAGE: &str = "https://app.example";

/// A session method, with the `name: value` header of its cookie.
struct Session {
    auth: Auth,
    cookie: String,
}

fn session(change: impl FnOnce(SessionCookie) -> SessionCookie) -> Session {
    let keys = KeyRing::new(Secret::new("a secret that has thirty-two bytes").unwrap());
    let cookie = change(SessionCookie::new(keys));
    let id = SessionId::generate().unwrap();
    let set = cookie.issue(&id);
    let pair = set.to_str().unwrap().split_once(';').unwrap().0.to_owned();
    let auth = Auth::session(cookie, move |known: SessionId| (known == id).then_some("ada"));
    Session { auth, cookie: format!("\ncookie: {pair}") }
}

/// Returns a router with `/x` behind this authentication.
fn guarded(options: RouterOptions, auth: Auth) -> Router {
    let mut router = Router::with_options(options.rate_limit(false));
    router.use_(with_auth(auth));
    router.get("/x", async || "read");
    router.post("/x", async || "changed");
    router.delete("/x", async || "changed");
    router.route("QUERY".parse().unwrap(), "/x", async || "changed");
    router
}

#[test]
fn another_origin_cannot_use_a_session_for_changes() {
    let Session { auth, cookie } = session(|cookie| cookie);
    let app = app(guarded(RouterOptions::new(), auth));
    for sent in [
        "\nsec-fetch-site: cross-site",
        "\nsec-fetch-site: same-site\norigin: https://other.example.com",
        "\nhost: example.com\norigin: https://evil.example",
        "\nhost: example.com\norigin: null",
    ] {
        check(&app, &format!("POST /x{cookie}{sent}"), REFUSED);
        check(&app, &format!("DELETE /x{cookie}{sent}"), REFUSED);
        check(&app, &format!("GET /x{cookie}{sent}"), "200 read");
        check(&app, &format!("HEAD /x{cookie}{sent}"), "200");
        // The request is never authenticated as the user.
        check(&app, &format!("POST /x{sent}"), UNAUTHORIZED);
        check(&app, &format!("POST /x\ncookie: __Host-session=forged{sent}"), UNAUTHORIZED);
    }
    for sent in [
        "",
        "\nsec-fetch-site: same-origin",
        "\nsec-fetch-site: none",
        "\nhost: example.com\norigin: https://example.com",
    ] {
        check(&app, &format!("POST /x{cookie}{sent}"), "200 changed");
    }
}

#[test]
fn origins_that_cors_allows_with_credentials_can_use_a_session() {
    #[track_caller]
    fn check_with(options: RouterOptions, origin: &str, passes: bool) {
        let Session { auth, cookie } = session(|cookie| cookie);
        let app = app(guarded(options, auth));
        let expected = if passes { "200 changed" } else { REFUSED };
        for method in ["POST", "QUERY"] {
            let sent = format!("{method} /x{cookie}\nsec-fetch-site: cross-site\norigin: {origin}");
            check(&app, &sent, expected);
        }
    }
    let options = RouterOptions::new;
    check_with(options().cors_origin([PAGE]), PAGE, true);
    check_with(options().cors_origin([PAGE, "https://b.example"]), PAGE, true);
    check_with(options().cors_origin(PAGE), PAGE, true);
    check_with(options().cors_origin([PAGE]), "https://evil.example", false);
    check_with(options().cors_origin(PAGE), "https://evil.example", false);
    check_with(options().cors_origin([PAGE]), "null", false);
    check_with(options().cors_origin("*"), PAGE, false);
    check_with(options(), "http://localhost:3000", false);
    check_with(options().cors_origin([PAGE]).cors(false), PAGE, false);
}

#[test]
fn the_check_uses_the_cors_rules_of_the_response() {
    let from = |origin: &str| format!("\nsec-fetch-site: cross-site\norigin: {origin}");
    let (own, other) = (from(PAGE), from("https://router.example"));
    let Session { auth, cookie } = session(|cookie| cookie);
    let mut router = guarded(RouterOptions::new().cors_origin(["https://router.example"]), auth);
    router.post("/own", async || "changed").cors([PAGE]);
    let app = app(router);
    check(&app, &format!("POST /own{cookie}{own}"), "200 changed");
    check(&app, &format!("POST /own{cookie}{other}"), REFUSED);
    check(&app, &format!("POST /x{cookie}{own}"), REFUSED);
    check(&app, &format!("POST /x{cookie}{other}"), "200 changed");

    let app = app.with_options(HostOptions::new().cors_origin([PAGE])).unwrap();
    let call = |text: String| block_on(async { show(app.handle(request(&text)).await).await });
    assert_eq!(call(format!("POST /x{cookie}{own}")), "200 changed");
    assert_eq!(call(format!("POST /x{cookie}{other}")), REFUSED);
}

#[test]
fn with_cors_before_the_session_lists_its_origins() {
    let Session { auth, cookie } = session(|cookie| cookie);
    let mut router = Router::new();
    router.use_(with_cors([PAGE]));
    router.use_(with_auth(auth));
    router.post("/x", async || "changed");
    let app = app(router);
    let from =
        |origin: &str| format!("POST /x{cookie}\nsec-fetch-site: cross-site\norigin: {origin}");
    check(&app, &from(PAGE), "200 changed");
    check(&app, &from("https://evil.example"), REFUSED);
}

#[test]
fn the_innermost_with_cors_lists_the_origins() {
    use stockade::routing::HostRoutes;

    let Session { auth, cookie } = session(|cookie| cookie);
    let router = || {
        let api = routes! {
            middleware: [with_cors(["https://wide.example"]), with_auth(auth.clone())],
            "wide": { POST: async || "changed" },
            "narrow": { middleware: [with_cors([PAGE])], "x": { POST: async || "changed" } },
            "any": { middleware: [with_cors("*")], "x": { POST: async || "changed" } },
        };
        create_router(api, RouterOptions::new().rate_limit(false))
    };
    let app = app(router());
    let routes = HostRoutes::build(router()).unwrap();
    for (path, origin, passes) in [
        ("/wide", "https://wide.example", true),
        ("/wide", PAGE, false),
        ("/narrow/x", PAGE, true),
        ("/narrow/x", "https://wide.example", false),
        ("/any/x", "https://wide.example", false),
    ] {
        let sent = format!("POST {path}{cookie}\nsec-fetch-site: cross-site\norigin: {origin}");
        let expected = if passes { "200 changed" } else { REFUSED };
        check(&app, &sent, expected);
        let hosted = block_on(async { show(routes.handle(request(&sent)).await).await });
        assert_eq!(hosted, expected, "inside a host, {sent}");
        // The preflight allows an origin that may send the request.
        let asked =
            format!("OPTIONS {path}\norigin: {origin}\naccess-control-request-method: POST");
        let credentials = header_of(&app, &asked, "access-control-allow-credentials");
        assert_eq!(credentials == "true", passes, "{asked}");
    }
}

#[test]
fn checks_only_users_of_a_session() {
    let Session { auth, cookie } = session(|cookie| cookie);
    let token = |token: &str| format!("\nauthorization: Bearer {token}");
    let bearer = || {
        Auth::verify(|req: &Request| {
            (req.headers().get("authorization")? == "Bearer good").then_some("eve")
        })
    };
    for auth in [auth.clone().or(bearer()), bearer().or(auth.clone())] {
        let app = app(guarded(RouterOptions::new(), auth));
        let sent = "\nsec-fetch-site: cross-site";
        check(&app, &format!("POST /x{cookie}{}{sent}", token("good")), "200 changed");
        check(&app, &format!("POST /x{}{sent}", token("good")), "200 changed");
        check(&app, &format!("POST /x{cookie}{}{sent}", token("bad")), REFUSED);
        check(&app, &format!("POST /x{cookie}{sent}"), REFUSED);
        check(&app, &format!("POST /x{sent}"), UNAUTHORIZED);
    }
    // The request does not run unauthenticated either: the page must not choose
    // the user.
    let app = app(guarded(RouterOptions::new(), auth.required(false)));
    check(&app, &format!("POST /x{cookie}\nsec-fetch-site: cross-site"), REFUSED);
    check(&app, "POST /x\nsec-fetch-site: cross-site", "200 changed");
}

#[test]
fn a_session_can_trust_more_origins_or_all() {
    let sent = format!("\nsec-fetch-site: cross-site\norigin: {PAGE}");
    let trusting = |cookie: SessionCookie| {
        cookie.cross_origin_protection(with_cross_origin_protection().trust(PAGE))
    };
    let Session { auth, cookie } = session(trusting);
    let app_of_one = app(guarded(RouterOptions::new(), auth));
    check(&app_of_one, &format!("POST /x{cookie}{sent}"), "200 changed");
    check(&app_of_one, &format!("POST /x{cookie}\nsec-fetch-site: cross-site"), REFUSED);
    let Session { auth, cookie } = session(|cookie| cookie.cross_origin_protection(None));
    let app_of_all = app(guarded(RouterOptions::new(), auth));
    check(&app_of_all, &format!("POST /x{cookie}\nsec-fetch-site: cross-site"), "200 changed");
}

#[test]
fn middleware_protects_routes_without_a_session() {
    let by_cookie = |req: &Request| {
        (req.headers().get("cookie")?.to_str().ok()? == "name=ada").then_some("ada")
    };
    let api = routes! {
        middleware: [with_cross_origin_protection().trust(PAGE), with_auth(Auth::verify(by_cookie))],
        "x": { POST: async || "changed", GET: async || "read" },
        "listed": { POST: { handler: async || "changed", cors: ["https://listed.example"] } },
    };
    let app = app(create_router(api, RouterOptions::new()));
    let from = |origin: &str| format!("\ncookie: name=ada\nhost: a.example\norigin: {origin}");
    check(&app, &format!("POST /x{}", from("https://evil.example")), REFUSED);
    check(&app, &format!("POST /x{}", from("https://listed.example")), REFUSED);
    check(&app, &format!("POST /listed{}", from("https://listed.example")), "200 changed");
    check(&app, &format!("POST /x{}", from(PAGE)), "200 changed");
    check(&app, &format!("POST /x{}", from("https://a.example")), "200 changed");
    check(&app, &format!("GET /x{}", from("https://evil.example")), "200 read");
    check(&app, "POST /x\ncookie: name=ada", "200 changed");
}

#[test]
fn rejects_malformed_trusted_origins() {
    let trust = |origin: &str| with_cross_origin_protection().trust(origin);
    let mut router = Router::new();
    for (path, origin) in [("/a", "*"), ("/b", "null"), ("/c", "app.example"), ("/d", "https://a/")]
    {
        router.post(path, async || ()).middleware(trust(origin));
    }
    let Session { auth, .. } = session(|it| it.cross_origin_protection(trust("https://a b")));
    router.post("/e", async || ()).middleware(with_auth(auth));
    let error = router.build().unwrap_err();
    let mistakes: Vec<&str> = error.issues().iter().map(|mistake| mistake.message()).collect();
    assert_eq!(mistakes.len(), 5, "{mistakes:?}");
    for (mistake, origin) in
        mistakes.iter().zip(["*", "null", "app.example", "https://a/", "https://a b"])
    {
        let expected = format!(
            "with_cross_origin_protection: {origin:?} is not an origin such as \"https://app.example\""
        );
        assert_eq!(**mistake, *expected);
    }
}
