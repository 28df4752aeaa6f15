//! Attacks of `Hardening`. The shop resists them, and the report names the
//! missing defense of any other application.

use std::time::Duration;

use stockade::auth::{TokenVerifier, verify_token};
use stockade::http::HeaderValue;
use stockade::middleware::{ErrorHandlerOptions, RateLimit, create_error_handler, with_rate_limit};
use stockade::testing::{AttackFamily, Credentials, Hardening, HardeningReport};
use stockade::websockets::WebSocketOptions;
use stockade::{HttpBody, prelude::*};

use crate::shop;
use crate::support::block_on;

const SECRET: &str = "a secret of tests only, 32 bytes";

fn secret() -> Secret {
    Secret::new(SECRET).unwrap()
}

fn run(hardening: &Hardening) -> HardeningReport {
    block_on(hardening.run())
}

/// Checks that a report contains exactly the failures of one family: the attack
/// and the finding.
#[track_caller]
fn check(report: &HardeningReport, family: AttackFamily, attack: &str, found: &str) {
    let text = report.to_string();
    let failure = report.failures.iter().find(|it| it.family == family && it.attack == attack);
    let failure = failure.unwrap_or_else(|| panic!("{attack} got not through\n{text}"));
    assert!(failure.found.contains(found), "{text}");
    assert!(!report.is_hardened() && !failure.rule.is_empty() && !failure.mend.is_empty());
    assert!(failure.exchange.as_ref().is_none_or(|exchange| !exchange.contains(SECRET)), "{text}");
}

/// Returns a route that requires a user from this authentication.
fn guarded(auth: Auth) -> Router {
    create_router(
        routes! { "notes": { GET: { handler: async || "mine", middleware: [with_auth(auth)] } } },
        RouterOptions::new(),
    )
}

/// Tests a layer in front of a correctly guarded application.
fn behind<F>(around: impl Fn(App, Request) -> F + Send + Sync + 'static) -> HardeningReport
where
    F: Future<Output = Response> + Send + 'static,
{
    run(&Hardening::new(guarded(Auth::secret(secret()))).through(around))
}

#[test]
fn the_shop_is_hardened() {
    let user = |roles: &[&str]| {
        Some(Credentials::bearer(shop::token(match roles {
            [] => shop::ANN,
            ["clerk"] => shop::CLEO,
            ["admin"] => shop::DAN,
            _ => return None,
        })))
    };
    let secret = Secret::new(shop::SECRET).unwrap();
    let hardening = Hardening::new(shop::router())
        .anew(shop::router)
        .users(user)
        .tokens(secret, json!({ "sub": shop::DAN.to_string() }))
        .public_key("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n")
        .allow_reads();
    let report = run(&hardening);
    report.assert();
    // They need two users, a login, uploads, or tools.
    let others =
        [AttackFamily::Tenants, AttackFamily::SignOuts, AttackFamily::Tools, AttackFamily::Uploads];
    for family in AttackFamily::ALL.iter().filter(|family| !others.contains(family)) {
        assert!(report.count(*family).passed > 10, "{report}");
    }
    let json = serde_json::to_value(&report).unwrap();
    assert_eq!(json["failures"], json!([]));
    let left: Vec<&str> = report.not_attacked.iter().map(|left| &*left.attack).collect();
    assert!(left.contains(&"the permission in addition to a role"), "{report}");
    assert!(report.to_string().starts_with("No attack got through."));
}

#[tokio::test]
async fn assert_hardened_needs_no_options() {
    stockade::testing::assert_hardened(shop::router()).await;
}

#[test]
fn detects_accepted_forged_tokens() {
    let family = AttackFamily::Credentials;
    let unsigned = Auth::verify(|req: &Request| {
        let token = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
        let is_unsigned = token.contains("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.");
        (is_unsigned || verify_token(token, &secret()).is_some()).then_some("somebody")
    });
    let report = run(&Hardening::new(guarded(unsigned)));
    check(&report, family, "a token with alg: none", "200 OK");
    assert_eq!(report.count(family).failed, 2, "{report}");

    let century = TokenVerifier::new().leeway(Duration::from_secs(u64::MAX / 4));
    let expired = guarded(Auth::verify(move |req: &Request| {
        let token = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
        century.verify(token, &secret()).ok().map(|_| "somebody")
    }));
    let report = run(&Hardening::new(expired).tokens(secret(), json!({ "sub": "7" })));
    check(&report, family, "an expired token", "200 OK");
    check(&report, family, "a token that is not valid yet", "200 OK");
    assert_eq!(report.count(family).failed, 2, "{report}");

    const PUBLIC: &str = "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n";
    let confused = guarded(Auth::secret(Secret::new(PUBLIC).unwrap()));
    let report = run(&Hardening::new(confused).public_key(PUBLIC));
    check(&report, family, "a token signed with HS256 and the public key", "200 OK");
}

#[test]
fn detects_accepted_tampered_tokens() {
    let token = stockade::auth::generate_jwt(json!({ "sub": "7" }), "1h", &secret()).unwrap();
    let signature = token.rsplit_once('.').unwrap().1.to_owned();
    // It compares the signature without checking the signed content.
    let careless = Auth::verify(move |req: &Request| {
        let token = req.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
        token.ends_with(&signature).then_some("somebody")
    });
    let hardening = Hardening::new(guarded(careless));
    let report = run(&hardening.users(move |_| Some(Credentials::bearer(&token))));
    let attack = "a token with changed claims, for a user";
    check(&report, AttackFamily::Credentials, attack, "200 OK");
}

#[test]
fn detects_a_handler_before_the_guard() {
    let family = AttackFamily::Credentials;
    let early =
        Middleware::new(async |_: Request, _: Next| -> Response { Response::new("all".into()) });
    let api = routes! {
        "notes": {
            GET: { handler: async || "", middleware: [early, with_auth(Auth::secret(secret()))] },
        },
    };
    let report = run(&Hardening::new(create_router(api, RouterOptions::new())));
    check(&report, family, "no credentials", "200 OK");

    let bare = behind(async |app: App, req: Request| {
        let mut response = app.handle(req).await;
        response.headers_mut().remove(header::WWW_AUTHENTICATE);
        response
    });
    check(&bare, family, "no credentials", "a 401 without `WWW-Authenticate`");
}

#[test]
fn detects_unchecked_roles() {
    let promised = Middleware::new(|_: &mut Request| Ok::<(), ApiError>(()))
        .named("promised")
        .describing(|doc| doc.needs_role(&["admin".to_owned()]));
    let auth = Auth::verify(|req: &Request| req.headers().get("x-user").map(|_| "somebody"));
    let api = routes! {
        "log": { GET: { handler: async || "all", middleware: [with_auth(auth), promised] } },
    };
    let hardening = Hardening::new(create_router(api, RouterOptions::new()));
    let report = run(&hardening.users(|_| Some(Credentials::header("x-user", "7"))));
    check(&report, AttackFamily::Roles, "a user without a role", "200 OK");
}

#[test]
fn detects_other_paths_to_a_route() {
    let family = AttackFamily::Detours;
    let careless = |passes: fn(&Request) -> bool| {
        let auth = Auth::verify(move |req: &Request| passes(req).then_some("somebody"));
        run(&Hardening::new(guarded(auth)))
    };
    let report = careless(|req| req.method() == Method::HEAD);
    check(&report, family, "the method HEAD", "200 OK");
    let report = careless(|req| req.headers().contains_key("x-forwarded-user"));
    check(&report, family, "the header `x-forwarded-user: admin`", "200 OK");
    let report = careless(|req| req.uri().host() == Some("localhost"));
    check(&report, family, "an absolute target", "200 OK");

    // A guard that compares the text of a path, and an inner layer that changes
    // paths.
    let report = behind(async |app: App, req: Request| {
        let changed = req.path().replace("//", "/").to_ascii_lowercase();
        match req.path() != "/notes" && changed == "/notes" {
            true => Response::new("mine".into()),
            false => app.handle(req).await,
        }
    });
    check(&report, family, "two slashes at the start (`//x`)", "200 OK");
    check(&report, family, "different letter case", "200 OK");
    assert_eq!(report.count(family).failed, 2, "{report}");

    let report = behind(async |app: App, req: Request| {
        let (mut head, body) = req.into_parts();
        if let Some(method) = head.headers.get("x-http-method-override") {
            head.method = Method::from_bytes(method.as_bytes()).unwrap();
        }
        app.handle(Request::new(head, body)).await
    });
    let attack = "POST with `x-http-method-override: GET`";
    check(&report, family, attack, "the response is 401 Unauthorized, but 405");

    let report = behind(async |app: App, req: Request| match *req.method() {
        Method::TRACE => Response::new("TRACE /notes".into()),
        _ => app.handle(req).await,
    });
    check(&report, family, "the method TRACE", "200 OK");
}

#[derive(serde::Deserialize, Schema)]
struct Note {
    #[allow(dead_code, reason = "it is not read")]
    text: String,
}

#[test]
fn detects_accepted_bodies() {
    let family = AttackFamily::Bodies;
    let swallowed = async |mut body: HttpBody| {
        while let Ok(Some(_)) = body.chunk().await {}
        "thanks"
    };
    let api = routes! {
        "files": { POST: swallowed },
        "notes": { POST: async |Body(_): Body<Note>| "noted" },
    };
    let router = || create_router(api_of(), RouterOptions::new());
    fn api_of() -> RouteTree {
        routes! { "notes": { POST: async |Body(_): Body<Note>| "noted" } }
    }
    let report = run(&Hardening::new(create_router(api, RouterOptions::new())));
    let attack = "a body above the limit, without a length";
    check(&report, family, attack, "200 OK");
    let route = report.failures.iter().find(|failure| failure.attack == attack).unwrap();
    assert_eq!(route.route.as_deref(), Some("POST /files"));
    assert!(route.location.as_ref().unwrap().file.ends_with("hardened.rs"));
    run(&Hardening::new(router())).assert();

    // A response before the body is read is not a failure.
    fn closed(_: &mut Request) -> Result<(), ApiError> {
        Err(ApiError::not_found())
    }
    let early = routes! {
        "uploads": { POST: async |_: HttpBody| Err::<(), _>(ApiError::not_found()) },
        "first": { POST: async |mut body: HttpBody| body.chunk().await.map(|_| "enough") },
        "closed": {
            middleware: [closed],
            POST: async |Body(_): Body<Note>| "noted",
        },
    };
    let report = run(&Hardening::new(create_router(early, RouterOptions::new())));
    assert!(report.failures.is_empty(), "{report}");
    let unread = |route: &str, attack: &str| {
        let mut left = report.not_attacked.iter();
        let it = left.find(|it| it.route.as_deref() == Some(route) && it.attack == attack);
        it.is_some_and(|it| it.reason.contains("before the body was read"))
    };
    for route in ["POST /uploads", "POST /first", "POST /closed"] {
        assert!(unread(route, attack), "{route}: {report}");
    }
    assert!(unread("POST /closed", "truncated JSON"), "{report}");

    // A layer that turns a client error into a server error.
    let clumsy = Hardening::new(router()).through(async |app: App, req: Request| {
        let mut response = app.handle(req).await;
        if response.status() == 400 {
            *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        }
        response
    });
    let report = run(&clumsy);
    check(&report, family, "truncated JSON", "500");
    check(&report, family, "a byte order mark", "500");
    check(&report, AttackFamily::Responses, "the body of a 5xx", "a message of");

    // Another layer does not know these limits.
    let vast = Hardening::new(router()).through(async |app: App, mut req: Request| {
        req.headers_mut().remove(header::CONTENT_LENGTH);
        app.handle(req).await
    });
    check(&run(&vast), family, "an announced length above the limit", "400 Bad Request");
}

/// Tests an application with CORS rules and changed responses.
fn with_cors_behind(around: fn(&str, &mut Response)) -> HardeningReport {
    let auth = with_auth(Auth::secret(secret()));
    let api = routes! { "notes": { GET: { handler: async || "mine", middleware: [auth] } } };
    let options = RouterOptions::new().cors_origin(["https://app.example"]);
    let hardening = Hardening::new(create_router(api, options));
    run(&hardening.through(move |app: App, req: Request| async move {
        let origin = req.headers().get(header::ORIGIN).cloned();
        let mut response = app.handle(req).await;
        if let Some(origin) = origin {
            around(origin.to_str().unwrap(), &mut response);
        }
        response
    }))
}

#[test]
fn detects_accepted_foreign_origins() {
    let family = AttackFamily::Origins;
    let allow = |origin: &str, response: &mut Response| {
        let origin = HeaderValue::try_from(origin).unwrap();
        response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    };
    with_cors_behind(|_, _| {}).assert();
    let report = with_cors_behind(allow);
    check(&report, family, "a preflight from null", "`Access-Control-Allow-Origin: null`");
    check(&report, family, "a request from https://evil.test", "https://evil.test");
    let report = with_cors_behind(|origin, response| {
        if origin.starts_with("https://app.example") {
            let origin = HeaderValue::try_from(origin).unwrap();
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    });
    check(&report, family, "a preflight from https://app.example.evil.test", "evil.test`");
    let report = with_cors_behind(|origin, response| {
        if origin.ends_with("app.example") {
            let origin = HeaderValue::try_from(origin).unwrap();
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        }
    });
    check(&report, family, "a preflight from https://evilapp.example", "evilapp.example`");
    check(&report, family, "a preflight from http://app.example", "http://app.example`");

    let report = with_cors_behind(|_, response| {
        *response.status_mut() = StatusCode::UNAUTHORIZED;
    });
    let attack = "a preflight from https://app.example, which is listed";
    check(&report, family, attack, "401 Unauthorized");
}

#[test]
fn detects_accepted_foreign_handshakes() {
    let router = || {
        let options = WebSocketOptions::new().allowed_origins(["https://app.example"]);
        let api = routes! {
            "chat": { ws: { handler: async |_: WebSocket| {}, options: options } },
        };
        create_router(api, RouterOptions::new().enable_web_sockets(true))
    };
    let report = run(&Hardening::new(router()));
    report.assert();
    assert!(report.count(AttackFamily::Origins).passed > 8, "{report}");
    let blind = Hardening::new(router()).through(async |app: App, mut req: Request| {
        req.headers_mut().remove(header::ORIGIN);
        app.handle(req).await
    });
    let attack = "a handshake from https://app.example.evil.test";
    check(&run(&blind), AttackFamily::Origins, attack, "101 Switching Protocols");
}

#[test]
fn detects_ineffective_limits() {
    let family = AttackFamily::RateLimits;
    let open = || {
        create_router(
            routes! { GET: async || "hello" },
            RouterOptions::new().rate_limit(9 / MINUTE),
        )
    };
    run(&Hardening::new(open())).assert();

    let by_header = RateLimit::from(9 / MINUTE).key_generator(|req| {
        let claimed = req.headers().get("x-forwarded-for").ok_or(ApiError::new(400, ""))?;
        Ok(claimed.to_str().unwrap_or_default().to_owned())
    });
    let api = routes! { GET: async || "hello" };
    let router = create_router(api, RouterOptions::new().rate_limit(by_header));
    let report = run(&Hardening::new(router));
    let attack = "the header `x-forwarded-for: 203.0.113.77` above the quota default";
    check(&report, family, attack, "404 Not Found");

    let none = Hardening::new(open()).through(async |app: App, req: Request| {
        let peer = stockade::PeerAddr("192.0.2.1:1".parse().unwrap());
        let response = app.handle(req.with_peer(peer)).await;
        match response.status().as_u16() {
            429 => Response::default(),
            _ => response,
        }
    });
    let attack = "more requests than the rate limit default allows";
    check(&run(&none), family, attack, "the response to request 10 is 200 OK");

    // The clock of a built app cannot be stopped, so its limits are not tested.
    let report = run(&Hardening::new(open().build().unwrap()));
    assert_eq!(report.count(family).passed, 0);
    assert_eq!(report.count(family).not_attacked, 1, "{report}");
    assert!(report.to_string().contains("its clock cannot be stopped"), "{report}");
    let own =
        routes! { GET: { handler: async || "hello", middleware: [with_rate_limit(9 / MINUTE)] } };
    let own = Hardening::new(create_router(own, RouterOptions::new().rate_limit(false)));
    assert_eq!(run(&own).count(family).not_attacked, 1);
    let report = run(&own.allow_reads());
    assert_eq!(report.count(family).passed, 8, "{report}");
}

#[test]
fn detects_responses_that_reveal_internals() {
    let family = AttackFamily::Responses;
    let changed = |change: fn(&str, &mut Response)| {
        behind(move |app: App, req: Request| async move {
            let target = req.uri().to_string();
            let mut response = app.handle(req).await;
            change(&target, &mut response);
            response
        })
    };
    let report = changed(|_, response| {
        response.headers_mut().remove("x-content-type-options");
    });
    check(&report, family, "security headers", "without `x-content-type-options`");
    assert!(report.failures.iter().all(|failure| failure.times > 1), "{report}");
    let report = changed(|_, response| {
        response.headers_mut().insert(header::SERVER, HeaderValue::from_static("stockade/0.1"));
    });
    check(&report, family, "program names", "`server`");
    let report = changed(|_, response| {
        *response.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        *response.body_mut() = "no connection to 10.0.0.7:5432".into();
    });
    check(&report, family, "the body of a 5xx", "a text of the application");
    let report = changed(|target, response| {
        // This layer decodes a target and writes its lines as headers.
        let text = target.replace("%0d%0a", "\n");
        for (name, value) in text.lines().skip(1).filter_map(|line| line.split_once(':')) {
            if let (Ok(name), Ok(value)) = (name.parse::<header::HeaderName>(), value.parse()) {
                response.headers_mut().insert(name, value);
            }
        }
    });
    check(&report, family, "line breaks in values", "a header from a value");

    let exposed = create_router(RouteTree::new(), RouterOptions::new().expose_errors(true));
    let report = run(&Hardening::new(exposed));
    check(&report, family, "the messages of 5xx errors", "`expose_errors` is on");
}

#[test]
fn a_skip_needs_a_reason_and_must_be_used() {
    let router = || guarded(Auth::verify(|_: &Request| Some("anybody")));
    let reason = "it stands behind a gateway";
    let skipped = Hardening::new(router())
        .skip("GET /notes", AttackFamily::Credentials, reason)
        .skip("GET /notes", AttackFamily::Detours, reason);
    let report = run(&skipped);
    report.assert();
    assert_eq!(report.count(AttackFamily::Credentials).passed, 0);
    assert_eq!(report.skipped.len(), 2);
    assert!(report.skipped.iter().all(|skip| skip.reason == reason && skip.attacks > 5));

    // An intended header appears on every response.
    let named = |hardening: Hardening| {
        run(&hardening.through(async |app: App, req: Request| {
            let mut response = app.handle(req).await;
            response.headers_mut().insert(header::SERVER, HeaderValue::from_static("notes"));
            response
        }))
    };
    let hardening = || Hardening::new(guarded(Auth::secret(secret())));
    assert!(!named(hardening()).is_hardened());
    named(hardening().skip("*", AttackFamily::Responses, "it is the name")).assert();

    let needless = Hardening::new(guarded(Auth::secret(secret())));
    let report = run(&needless.skip("GET /note", AttackFamily::Credentials, reason));
    check(&report, AttackFamily::Credentials, "a skip", "it does not match any attack");
}

#[test]
fn rebuilds_the_application_after_a_successful_attack() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let router = || {
        guarded(Auth::verify(|req: &Request| {
            req.headers().contains_key("x-user").then_some("somebody")
        }))
    };
    let hardening = Hardening::new(router()).anew(move || {
        count.fetch_add(1, Ordering::Relaxed);
        router()
    });
    let report = run(&hardening);
    check(&report, AttackFamily::Detours, "the header `x-user: admin`", "200 OK");
    assert_eq!(made.load(Ordering::Relaxed), 1);
}

/// Correct routes of every kind.
#[test]
fn reports_nothing_for_correct_routes() {
    use stockade::auth::{ApiKeyHash, BasicCredentials, KeyRing, SessionId};
    use stockade::middleware::{SessionCookie, with_timeout};

    #[derive(serde::Deserialize, Schema)]
    #[allow(dead_code, reason = "they are not read")]
    struct Loose {
        a: Option<u8>,
        #[serde(default)]
        b: Vec<String>,
    }

    let by_token = || with_auth(Auth::secret(secret()));
    let sessions = SessionCookie::new(KeyRing::new(secret()));
    let by_session = with_auth(Auth::session(sessions, |_: SessionId| None::<&str>));
    let by_key = with_auth(Auth::api_key(|_: ApiKeyHash| None::<&str>));
    let by_password = with_auth(Auth::basic("notes", |_: BasicCredentials| None::<&str>));
    let by_any = with_auth(Auth::secret(secret()).or(Auth::api_key(|_: ApiKeyHash| None::<&str>)));
    let options = WebSocketOptions::new();
    let api = routes! {
        "token/:id?/:page(\\d+)?": { GET: { handler: async || "", middleware: [by_token()] } },
        "session": { POST: { handler: async || "", middleware: [by_session] } },
        "key": { GET: { handler: async || "", middleware: [by_key] } },
        "password": { GET: { handler: async || "", middleware: [by_password] } },
        "any": { DELETE: { handler: async || "", middleware: [by_any] } },
        "optional": {
            GET: {
                handler: async || "",
                middleware: [with_auth(Auth::secret(secret()).required(false))],
            },
        },
        "chat": { ws: { handler: async |_: WebSocket| {}, options: options, middleware: [by_token()] } },
        "loose": { POST: async |Body(_): Body<Loose>| "" },
        "raw": { POST: async |body: Bytes| body },
        "value": { PUT: async |Body(value): Body<Value>| value },
        "text": { PUT: async |Body(value): Body<String>| value },
        "strange/:name([^/]{3})-:n(\\d{2,})": {
            GET: { handler: async || "", middleware: [by_token(), with_timeout(Duration::from_secs(9))] },
        },
        "open": { GET: { handler: async || "", cors: "*" } },
    };
    let mut router = create_router(api, RouterOptions::new().enable_web_sockets(true));
    router.any("/every/:thing", async || "").middleware(by_token());
    let inside = create_router(routes! { GET: async || "" }, RouterOptions::new());
    router.mount("/inside", inside.build().unwrap()).middleware(by_token());
    router.fallback(async || "nothing");
    let report = run(&Hardening::new(router));
    report.assert();
    for family in [AttackFamily::Credentials, AttackFamily::Detours, AttackFamily::Bodies] {
        assert!(report.count(family).passed > 50, "{report}");
    }
}

#[test]
fn detects_an_error_handler_that_reveals_the_cause() {
    let router = |tells: bool| {
        let api = routes! {
            "notes": {
                POST: {
                    handler: async |Body(note): Body<Value>| note,
                    error_handling: create_error_handler(ErrorHandlerOptions::new().transform(
                        move |error, mut body| {
                            if tells {
                                body["cause"] = error.message().into();
                            }
                            body
                        },
                    )),
                },
            },
        };
        create_router(api, RouterOptions::new())
    };
    let report = run(&Hardening::new(router(true)));
    let attack = "the cause of a 5xx";
    let found = "the message of an error 500 is in the body";
    check(&report, AttackFamily::Responses, attack, found);
    assert!(run(&Hardening::new(router(false))).is_hardened());
}
