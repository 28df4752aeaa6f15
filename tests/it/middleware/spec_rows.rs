//! Every row of four tables in the specification: Response headers, CORS rules,
//! Limits and Statuses. The module of each subject tests the details.
// Spec: Response headers; Response headers › CORS rules; Limits; Errors ›
// Statuses.

use std::time::Duration;

use stockade::auth::{generate_jwt, hash_password, verify_token};
use stockade::middleware::{
    InputRule, RateLimit, SecurityHeaders, with_input_validation, with_permission, with_role,
    with_validation,
};
use stockade::prelude::*;

use crate::support::{app, block_on, check, header_of, log, map_with, request, socket_of};

const JSON: &str = "content-type: application/json";

fn api() -> RouteTree {
    async fn fails() -> Result<(), ApiError> {
        Err(ApiError::internal("the name of a table"))
    }
    fn somebody(_: &Value, _: &Request) -> bool {
        false
    }
    let nobody = with_auth(Auth::verify(async |_: &mut Request| None::<Value>));
    let ann = with_auth(Auth::verify(async |_: &mut Request| Some(json!({ "role": "guest" }))));
    let rules = with_input_validation([("name", InputRule::new().required())]);
    routes! {
        "text": { GET: async || "text", POST: async |_: Bytes| () },
        "fails": { GET: fails },
        "schema": { POST: {
            handler: async |_: Body<Value>| (),
            validation: schema!({ "mail": { "type": "email" } }),
        } },
        "with-schema": { POST: {
            handler: async || (),
            middleware: [with_validation(schema!({ "mail": { "type": "email" } }))],
        } },
        "input": { POST: { handler: async || (), middleware: [rules] } },
        "auth": { GET: { handler: async || (), middleware: [nobody] } },
        "role": { GET: { handler: async || (), middleware: [unknown(), with_role("admin")] } },
        "permission": {
            GET: { handler: async || (), middleware: [unknown(), with_permission(somebody)] },
        },
        "ann": {
            middleware: [ann],
            "role": { GET: { handler: async || (), middleware: [with_role("admin")] } },
            "permission": { GET: { handler: async || (), middleware: [with_permission(somebody)] } },
        },
        "one": { GET: { handler: async || (), rate_limit: 1 / MINUTE } },
    }
}

/// Creates middleware that finds no user. The router must assume that it might
/// find one.
fn unknown() -> Middleware {
    Middleware::new(|_: &mut Request| ())
}

fn with(options: RouterOptions) -> App {
    app(create_router(api(), options.expose_errors(false)))
}

#[test]
fn rows_of_response_headers() {
    let on = with(RouterOptions::new());
    let off = with(RouterOptions::new().enable_security_headers(false));
    let plain = SecurityHeaders::default();
    for name in [
        "x-frame-options",
        "x-content-type-options",
        "x-xss-protection",
        "strict-transport-security",
        "referrer-policy",
        "content-security-policy",
    ] {
        assert_ne!(header_of(&on, "GET /text", name), "-", "{name}");
        assert_eq!(header_of(&off, "GET /text", name), "-", "{name}");
        let without = with(RouterOptions::new().security_headers(plain.clone().without(name)));
        assert_eq!(header_of(&without, "GET /text", name), "-", "{name}");
    }
    assert_eq!(header_of(&on, "GET /text", "x-frame-options"), "DENY");
    assert_eq!(header_of(&on, "GET /text", "x-content-type-options"), "nosniff");

    let credentials = "access-control-allow-credentials";
    assert_eq!(header_of(&on, "GET /text", credentials), "-");
    let star = with(RouterOptions::new().cors_origin("*"));
    assert_eq!(header_of(&star, "GET /text", credentials), "-");
    let set = with(RouterOptions::new().cors_origin("https://a.example"));
    assert_eq!(header_of(&set, "GET /text", credentials), "true");
    let list = with(RouterOptions::new().cors_origin(["https://a.example", "https://b.example"]));
    let echoed = "GET /text\norigin: https://b.example";
    assert_eq!(header_of(&list, echoed, "vary"), "Origin");
    assert_eq!(header_of(&set, echoed, "vary"), "-");

    let limited = with(RouterOptions::new().rate_limit(1 / MINUTE));
    assert_eq!(header_of(&limited, "GET /text", "retry-after"), "-");
    assert_eq!(header_of(&limited, "GET /text", "retry-after"), "60");
}

#[test]
fn rows_of_cors_rules() {
    log::watch();
    let asked = "GET /text\norigin: https://b.example";
    let allowed = |options| header_of(&with(options), asked, "access-control-allow-origin");
    let development = "http://localhost:3000";
    assert_eq!(allowed(RouterOptions::new()), development);
    let one = RouterOptions::new().cors_origin("https://a.example");
    assert_eq!(allowed(one), "https://a.example");
    let listed = ["https://a.example", "https://b.example"];
    assert_eq!(allowed(RouterOptions::new().cors_origin(listed)), "https://b.example");
    let unlisted = ["https://a.example", "https://c.example"];
    assert_eq!(allowed(RouterOptions::new().cors_origin(unlisted)), "-");
    assert_eq!(allowed(RouterOptions::new().cors_origin("*")), "*");
    assert_eq!(allowed(RouterOptions::new().cors_origin("not-an-origin.example")), development);
    let warned = log::lines_with("not-an-origin.example");
    assert!(warned.iter().any(|line| line.starts_with("WARN ")), "{warned:?}");
}

#[test]
fn warns_once_per_process_of_an_untrusted_proxy() {
    // Another test may already have caused the warning, so this test runs
    // itself in a new process.
    let name = "middleware::spec_rows::warns_once_per_process_of_an_untrusted_proxy";
    if std::env::var_os("ALONE").is_none() {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([name, "--exact"])
            .env("ALONE", "1")
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && text.contains("1 passed"), "{text}");
        return;
    }
    log::watch();
    let ask = |options: RouterOptions, headers: &str| {
        drop(block_on(with(options).handle(request(&format!("GET /text{headers}")))));
        log::lines_with("trust_proxy is not set")
    };
    let behind = "\nx-forwarded-for: 1.1.1.1";
    assert_eq!(ask(RouterOptions::new(), ""), [""; 0]);
    assert_eq!(ask(RouterOptions::new().trust_proxy(1), behind), [""; 0]);
    let warning = "WARN a request arrived through a proxy, but trust_proxy is not set: all \
                   clients of the proxy count as one";
    for _ in 0..3 {
        assert_eq!(ask(RouterOptions::new(), behind), [warning]);
    }
}

#[test]
fn rows_of_limits() {
    let defaults = map_with(RouterOptions::new().enable_web_sockets(true));
    assert_eq!(defaults.router.max_body, 1_048_576);
    assert_eq!(socket_of(&defaults).max_payload, 1_048_576);
    let policy = |options| header_of(&with(options), "GET /text", "ratelimit-policy");
    assert_eq!(policy(RouterOptions::new()), r#""default";q=100;w=60"#);
    let own = RateLimit::new().window(Duration::from_secs(5)).max_requests(7);
    assert_eq!(policy(RouterOptions::new().rate_limit(own)), r#""default";q=7;w=5"#);
    assert_eq!(policy(RouterOptions::new().rate_limit(false)), "-");

    // The sources of the client identity: the peer, the trusted hop and the key
    // generator.
    let left = |app: &App, headers: &str| {
        header_of(app, &format!("GET /text{headers}"), "ratelimit").contains(";r=0")
    };
    let one = || RouterOptions::new().rate_limit(2 / MINUTE);
    let peer = with(one());
    assert!(!left(&peer, "\nx-forwarded-for: 1.1.1.1"));
    assert!(left(&peer, "\nx-forwarded-for: 2.2.2.2"), "all behind a proxy share");
    for trusted in [with(one().trust_proxy(1)), with(one().trust_proxy(true))] {
        assert!(!left(&trusted, "\nx-forwarded-for: 1.1.1.1"));
        assert!(!left(&trusted, "\nx-forwarded-for: 2.2.2.2"));
        assert!(left(&trusted, "\nx-forwarded-for: 9.9.9.9, 1.1.1.1"));
    }
    let keyed = RateLimit::from(2 / MINUTE).key_generator(|req: &Request| {
        let key = req.headers().get("x-key").and_then(|key| key.to_str().ok());
        key.map(str::to_owned).ok_or_else(|| ApiError::new(400, "no key"))
    });
    let keyed = with(RouterOptions::new().rate_limit(keyed));
    assert!(!left(&keyed, "\nx-key: a"));
    assert!(!left(&keyed, "\nx-key: b"));
    assert!(left(&keyed, "\nx-key: a"));

    let small = with(RouterOptions::new().max_body_size(4));
    check(&small, "POST /text\n\n1234", "204");
    let too_large = r#"413 {"error":"Request body too large"}"#;
    check(&small, "POST /text\n\n12345", too_large);
    check(&small, "POST /text\ncontent-length: 5\n\n1", too_large);

    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let token = generate_jwt(json!({}), "whenever", &secret).unwrap();
    let claims = verify_token(&token, &secret).unwrap().into_value();
    assert_eq!(claims["exp"].as_u64().unwrap() - claims["iat"].as_u64().unwrap(), 3_600);
    let hash = hash_password("correct horse").unwrap();
    assert_eq!(hash.split(':').map(str::len).collect::<Vec<_>>(), [32, 128]);

    let routes = with(RouterOptions::new());
    check(&routes, "GET /one", "204");
    check(&routes, "GET /one", r#"429 {"error":"Too Many Requests"}"#);
    check(&routes, "GET /text", "200 text");
}

#[test]
fn rows_of_statuses() {
    let app = with(RouterOptions::new().max_body_size(64));
    let failed = r#"400 {"error":"Validation failed","details":{"errors":[{"field":"mail","message":"Invalid email format","rule":"email"}]}}"#;
    for path in ["/schema", "/with-schema"] {
        check(&app, &format!("POST {path}\n{JSON}\n\n{{\"mail\":\"x\"}}"), failed);
    }
    let failed = r#"400 {"error":"Validation failed","details":["name is required"]}"#;
    check(&app, &format!("POST /input\n{JSON}\n\n{{}}"), failed);
    for path in ["/auth", "/role"] {
        check(&app, &format!("GET {path}"), r#"401 {"error":"Unauthorized"}"#);
    }
    let unknown = r#"401 {"error":"Unauthorized","message":"User not authenticated"}"#;
    check(&app, "GET /permission", unknown);
    check(&app, "GET /ann/role", r#"403 {"error":"Forbidden"}"#);
    let denied = r#"403 {"error":"Forbidden","message":"Insufficient permissions"}"#;
    check(&app, "GET /ann/permission", denied);
    check(&app, "GET /nowhere", r#"404 {"error":"Not Found"}"#);
    let large = format!("POST /text\n\n{}", "x".repeat(65));
    check(&app, &large, r#"413 {"error":"Request body too large"}"#);
    check(&app, "GET /fails", r#"500 {"error":"Internal Server Error"}"#);
    let limited = with(RouterOptions::new().rate_limit(1 / MINUTE));
    drop(block_on(limited.handle(request("GET /text"))));
    let refused = block_on(limited.handle(request("GET /text")));
    assert_eq!(refused.status(), 429);
    assert!(refused.headers().contains_key("retry-after"));
}
