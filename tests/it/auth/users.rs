//! Authentication and authorization of users.
// Spec: Authentication; Middleware helpers › `withPermission`.

use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};
use stockade::auth::{
    ApiKey, ApiKeyHash, BasicCredentials, KeyRing, PasswordCost, PasswordError, PasswordHasher,
    PublishFuture, QueryFuture, Revocation, RevocationFeed, RevocationKey, RevocationLog,
    Revocations, SessionId, StalePolicy, TokenVerifier, generate_jwt, verify_password,
    verify_token,
};
use stockade::extract::Headers;
use stockade::middleware::{
    SameSite, SessionCookie, hash_password_async, hash_password_with_async, verify_password_async,
    with_permission, with_role,
};
use stockade::prelude::*;
use stockade::reply::Redirect;

use crate::support::{app, app_of, block_on, check, log, request};

fn secret() -> Secret {
    Secret::new("a secret that has thirty-two bytes").unwrap()
}

fn token(claims: Value) -> String {
    generate_jwt(claims, "1h", &secret()).unwrap()
}

/// Returns the `WWW-Authenticate` values, separated by spaces.
fn challenges(app: &App, text: &str) -> String {
    let response = block_on(app.handle(request(text)));
    let values = response.headers().get_all("www-authenticate").into_iter();
    values.map(|value| value.to_str().unwrap()).collect::<Vec<_>>().join(" ")
}

const UNAUTHORIZED: &str = r#"401 {"error":"Unauthorized"}"#;

#[derive(Deserialize, Serialize)]
struct Account {
    id: String,
    role: String,
}

fn guarded() -> App {
    app_of(routes! {
        "own": {
            middleware: [with_auth(Auth::secret(secret()))],
            GET: async |User(account): User<Account>| format!("{} {}", account.id, account.role),
            "admin": { GET: { handler: async || "in", middleware: [with_role(["admin", "owner"])] } },
            ":id": {
                GET: {
                    handler: async || "mine",
                    middleware: [with_permission(|user: &Value, req: &Request| {
                        user["id"].as_str() == req.param("id").as_deref()
                    })],
                },
            },
        },
        "open": {
            middleware: [with_auth(Auth::secret(secret()).required(false))],
            GET: async |user: Option<User<Value>>| json!(user.is_some()),
            "role": { GET: { handler: async || "in", middleware: [with_role("admin")] } },
            "may": { GET: { handler: async || "in", middleware: [with_permission(|_: &Value, _: &Request| true)] } },
        },
    })
}

#[test]
fn a_token_identifies_the_user() {
    let app = guarded();
    let ada = token(json!({ "id": "ada", "role": "admin" }));
    check(&app, &format!("GET /own\nauthorization: Bearer {ada}"), "200 ada admin");
    check(&app, &format!("GET /own\nauthorization: bearer {ada}"), "200 ada admin");
    check(&app, &format!("GET /own\nauthorization: Bearer  {ada}"), "200 ada admin");
    check(&app, &format!("GET /own\nauthorization: {ada}"), "200 ada admin");
    for twice in ["Bearer Bearer", "bearer  Bearer", "Bearer Bearer Bearer"] {
        check(&app, &format!("GET /own\nauthorization: {twice} {ada}"), UNAUTHORIZED);
    }
    check(&app, "GET /own", UNAUTHORIZED);
    check(&app, "GET /own\nauthorization: Bearer x.y.z", UNAUTHORIZED);
    check(&app, &format!("GET /own\nauthorization: Bearer {ada}x"), UNAUTHORIZED);
    check(&app, &format!("GET /own\nauthorization: Basic {ada}"), UNAUTHORIZED);
    // Another program might read either of the two headers.
    let twice = format!("GET /own\nauthorization: Bearer {ada}\nauthorization: Bearer {ada}");
    check(&app, &twice, UNAUTHORIZED);
    assert_eq!(challenges(&app, "GET /own"), "Bearer");
    let invalid = challenges(&app, "GET /own\nauthorization: Bearer x");
    assert_eq!(invalid, r#"Bearer error="invalid_token""#);
}

#[test]
fn rejects_a_revoked_token_like_an_expired_one() {
    let revocations = Revocations::in_memory();
    let checked = || Auth::secret(secret()).revocations(revocations.clone());
    let app = app_of(routes! {
        "own": { GET: { async || "own", middleware: [with_auth(checked())] } },
        "open": {
            GET: {
                async |user: Option<User<Value>>| json!(user.is_some()),
                middleware: [with_auth(checked().required(false))],
            },
        },
        "either": {
            GET: {
                async |User(user): User<Value>| user["sub"].clone(),
                middleware: [with_auth(
                    checked().or(Auth::api_key(|_: ApiKeyHash| Some(json!({ "sub": "key" })))),
                )],
            },
        },
    });
    let token = token(json!({ "sub": "ada", "jti": "a" }));
    let get = |path: &str| format!("GET {path}\nauthorization: Bearer {token}");
    check(&app, &get("/own"), "200 own");
    let claims = verify_token(&token, &secret()).unwrap();
    block_on(revocations.revoke(&claims)).unwrap();
    check(&app, &get("/own"), UNAUTHORIZED);
    assert_eq!(challenges(&app, &get("/own")), r#"Bearer error="invalid_token""#);
    check(&app, &get("/open"), "200 false");
    check(&app, &format!("{}\nx-api-key: a_b", get("/either")), "200 \"key\"");
}

#[test]
fn a_token_with_unknown_status_is_503() {
    struct Silent;

    impl RevocationLog for Silent {
        fn attach(&self, _: RevocationFeed) {}

        fn publish(&self, _: Revocation) -> PublishFuture<'_> {
            Box::pin(async { Ok(()) })
        }
    }

    let revocations = Revocations::shared(Arc::new(Silent));
    let auth = |stale| Auth::secret(secret()).revocations(revocations.clone().stale(stale));
    let refuse = StalePolicy::Refuse { after: std::time::Duration::from_secs(30) };
    let app = app_of(routes! {
        "own": { GET: { async || "own", middleware: [with_auth(auth(refuse))] } },
        "open": { GET: { async || "open", middleware: [with_auth(auth(refuse).required(false))] } },
        "trusting": { GET: { async || "trusting", middleware: [with_auth(auth(StalePolicy::Accept))] } },
    });
    let token = token(json!({ "sub": "ada" }));
    let get = |path: &str| format!("GET {path}\nauthorization: Bearer {token}");
    for path in ["/own", "/open"] {
        let response = block_on(app.handle(request(&get(path))));
        assert_eq!(response.status(), 503);
        assert_eq!(response.headers()["retry-after"], "1");
    }
    check(&app, &get("/trusting"), "200 trusting");
    // A missing or invalid token is a 401 without the revocation log.
    check(&app, "GET /own", UNAUTHORIZED);
    check(&app, "GET /own\nauthorization: Bearer x.y.z", UNAUTHORIZED);
    check(&app, "GET /open", "200 open");
    let map = app.route_map();
    let tells = |index: usize| map.routes[index].answers_by_status().contains_key("503");
    assert!(tells(0) && !tells(2));
}

#[test]
fn queries_a_log_with_more_entries_than_the_process() {
    /// A log with one revoked token that does not fit into this process's
    /// memory.
    struct Deep(Mutex<Option<RevocationFeed>>, Revocation);

    impl RevocationLog for Deep {
        fn attach(&self, feed: RevocationFeed) {
            feed.note_contact();
            *self.0.lock().unwrap() = Some(feed);
        }

        fn publish(&self, _: Revocation) -> PublishFuture<'_> {
            Box::pin(async { Ok(()) })
        }

        fn can_query(&self) -> bool {
            true
        }

        fn query<'a>(&'a self, keys: &'a [RevocationKey]) -> QueryFuture<'a> {
            let found = keys.iter().map(|key| Some(self.1).filter(|it| it.key() == *key));
            let found = found.collect();
            Box::pin(async { Ok(found) })
        }
    }

    // Log entries do not contain token ids, so take the entry of an in-memory
    // revocation.
    let (revoked, other) = (token(json!({ "jti": "a" })), token(json!({ "jti": "b" })));
    let capture = Arc::new(Captured::default());
    let claims = verify_token(&revoked, &secret()).unwrap();
    block_on(Revocations::shared(capture.clone()).revoke(&claims)).unwrap();
    let entry = capture.0.lock().unwrap().unwrap();
    let log = Arc::new(Deep(Mutex::default(), entry));
    let auth = Auth::secret(secret()).revocations(Revocations::shared(log.clone()));
    let app = app_of(routes! { "own": { GET: { async || "own", middleware: [with_auth(auth)] } } });
    let get = |token: &str| format!("GET /own\nauthorization: Bearer {token}");
    check(&app, &get(&revoked), "200 own");
    let feed = log.0.lock().unwrap().clone().unwrap();
    assert!(feed.apply([Revocation::beyond(entry.until())]));
    check(&app, &get(&revoked), UNAUTHORIZED);
    check(&app, &get(&other), "200 own");
    check(&app, "GET /own", UNAUTHORIZED);
}

/// A log that stores the last entry.
#[derive(Default)]
struct Captured(Mutex<Option<Revocation>>);

impl RevocationLog for Captured {
    fn attach(&self, _: RevocationFeed) {}

    fn publish(&self, entry: Revocation) -> PublishFuture<'_> {
        *self.0.lock().unwrap() = Some(entry);
        Box::pin(async { Ok(()) })
    }
}

#[test]
fn revocations_need_tokens_and_a_short_leeway() {
    let mistake = |auth: Auth| {
        let tree = routes! { "own": { GET: { async || "own", middleware: [with_auth(auth)] } } };
        create_router(tree, RouterOptions::new()).build().unwrap_err().to_string()
    };
    let revocations = Revocations::in_memory;
    let keys = Auth::api_key(|_: ApiKeyHash| None::<Value>);
    assert!(mistake(keys.revocations(revocations())).contains("revocations apply only to tokens"));
    let slow = TokenVerifier::new().leeway(std::time::Duration::from_secs(601));
    let slow = Auth::tokens(secret(), slow).revocations(revocations());
    assert!(mistake(slow).contains("601 seconds"));
}

#[test]
fn a_malformed_lifetime_is_one_hour_with_a_warning() {
    log::watch();
    for lifetime in ["a fortnight", "a fortnight", "two\nlines"] {
        let token = generate_jwt(json!({}), lifetime, &secret()).unwrap();
        let claims = verify_token(&token, &secret()).unwrap();
        assert_eq!(claims["exp"].as_u64(), claims["iat"].as_u64().map(|iat| iat + 3_600));
    }
    let half = std::time::Duration::from_secs(1_800);
    let token = generate_jwt(json!({}), half, &secret()).unwrap();
    let claims = verify_token(&token, &secret()).unwrap();
    assert_eq!(claims["exp"].as_u64(), claims["iat"].as_u64().map(|iat| iat + 1_800));
    for text in
        [r#"WARN the token lifetime "a fortnight""#, r#"WARN the token lifetime "two\nlines""#]
    {
        assert_eq!(log::lines_with(text).len(), 1, "{text}");
    }
}

#[test]
fn the_user_may_be_absent_if_not_required() {
    let app = guarded();
    let ada = token(json!({}));
    check(&app, "GET /open", "200 false");
    check(&app, "GET /open\nauthorization: Bearer x", "200 false");
    check(&app, &format!("GET /open\nauthorization: Bearer {ada}"), "200 true");
}

#[test]
fn the_role_must_be_in_the_list() {
    let app = guarded();
    let forbidden = r#"403 {"error":"Forbidden"}"#;
    let get = |claims| format!("GET /own/admin\nauthorization: Bearer {}", token(claims));
    check(&app, &get(json!({ "role": "admin" })), "200 in");
    check(&app, &get(json!({ "role": "owner" })), "200 in");
    for claims in [
        json!({ "role": "Admin" }),
        json!({ "role": "admins" }),
        json!({ "role": ["admin"] }),
        json!({ "role": null }),
        json!({ "roles": "admin" }),
        json!({}),
    ] {
        check(&app, &get(claims), forbidden);
    }
    check(&app, "GET /own/admin", UNAUTHORIZED);
    check(&app, "GET /open/role", UNAUTHORIZED);
}

#[test]
fn a_function_decides_about_permission() {
    let app = guarded();
    let ada = token(json!({ "id": "ada", "role": "x" }));
    check(&app, &format!("GET /own/ada\nauthorization: Bearer {ada}"), "200 mine");
    check(
        &app,
        &format!("GET /own/eve\nauthorization: Bearer {ada}"),
        r#"403 {"error":"Forbidden","message":"Insufficient permissions"}"#,
    );
    check(
        &app,
        "GET /open/may",
        r#"401 {"error":"Unauthorized","message":"User not authenticated"}"#,
    );
}

#[test]
fn a_permission_check_may_wait_and_may_fail() {
    let mut router = Router::new();
    router.use_(with_auth(Auth::verify(|_: &Request| Some("ada"))));
    async fn may(user: Value, req: &mut Request) -> bool {
        tokio::task::yield_now().await;
        user == "ada" && req.path() == "/waits"
    }
    async fn panics(_: Value, _: &mut Request) -> bool {
        panic!("boom")
    }
    router.get("/waits", async || "in").middleware(with_permission(may));
    let known = String::from("ada");
    let captures = async move |user: Value, _: &mut Request| user == known.as_str();
    router.get("/captures", async || "in").middleware(with_permission(captures));
    router
        .get("/fails", async || "in")
        .middleware(with_permission(|_: &Value, _: &Request| Err::<bool, _>("no database")));
    router
        .get("/panics", async || "in")
        .middleware(with_permission(|_: &Value, _: &Request| -> bool { panic!("boom") }));
    router.get("/panics-later", async || "in").middleware(with_permission(panics));
    let app = app(router);
    let failed = r#"403 {"error":"Forbidden","message":"Permission check failed"}"#;
    check(&app, "GET /waits", "200 in");
    check(&app, "GET /captures", "200 in");
    check(&app, "GET /fails", failed);
    check(&app, "GET /panics", failed);
    check(&app, "GET /panics-later", failed);
}

#[test]
fn verify_uses_a_custom_function() {
    async fn waits(req: &mut Request) -> Option<Account> {
        tokio::task::yield_now().await;
        let id = req.headers().get("x-id")?.to_str().ok()?.to_owned();
        Some(Account { id, role: "guest".into() })
    }
    let mut router = Router::new();
    let show = async |User(user): User<Value>| user.to_string();
    router.get("/waits", show).middleware(with_auth(Auth::verify(waits)));
    router.get("/value", show).middleware(with_auth(Auth::verify(|_: &Request| json!(7))));
    for (path, falsy) in [
        ("/null", json!(null)),
        ("/false", json!(false)),
        ("/zero", json!(0)),
        ("/empty", json!("")),
    ] {
        let verify = move |_: &Request| falsy.clone();
        router.get(path, show).middleware(with_auth(Auth::verify(verify)));
    }
    let failing = |_: &Request| Err::<Option<u8>, BoxError>("no database".into());
    router.get("/fails", show).middleware(with_auth(Auth::verify(failing)));
    let panicking = |_: &Request| -> Option<u8> { panic!("boom") };
    router.get("/panics", show).middleware(with_auth(Auth::verify(panicking)));
    let failing = |_: Headers, Path(_): Path<u8>| Err::<Option<u8>, _>(Redirect::to("/login"));
    router.get("/extracts/:id", show).middleware(with_auth(Auth::verify(failing)));
    let app = app(router);
    check(&app, "GET /waits\nx-id: ada", r#"200 {"id":"ada","role":"guest"}"#);
    check(&app, "GET /waits", UNAUTHORIZED);
    check(&app, "GET /value", "200 7");
    for path in
        ["/null", "/false", "/zero", "/empty", "/fails", "/panics", "/extracts/7", "/extracts/x"]
    {
        check(&app, &format!("GET {path}"), UNAUTHORIZED);
    }
}

#[test]
fn the_401_of_a_token_function_states_the_reason() {
    let mut router = Router::new();
    let known = |token: String| (token == "let me in").then_some(json!({ "name": "ada" }));
    router.get("/now", async |User(user): User<Value>| user).middleware(with_auth(known));
    let later = async |token: String| Ok::<_, ApiError>((token == "let me in").then_some(7));
    router
        .get("/later", async |User(user): User<u8>| user.to_string())
        .middleware(with_auth(later));
    let app = app(router);
    check(&app, "GET /now\nauthorization: Bearer let me in", r#"200 {"name":"ada"}"#);
    check(&app, "GET /later\nauthorization: Bearer let me in", "200 7");
    let missing = r#"401 {"error":"Unauthorized","message":"Missing authorization header"}"#;
    let invalid = r#"401 {"error":"Unauthorized","message":"Invalid token"}"#;
    for path in ["/now", "/later"] {
        check(&app, &format!("GET {path}"), missing);
        for value in ["Bearer no", "Bearer", "Basic YTpi", "Digest x", "no", ""] {
            check(&app, &format!("GET {path}\nauthorization: {value}"), invalid);
        }
        let twice = format!("GET {path}\nauthorization: Bearer no\nauthorization: Bearer no");
        check(&app, &twice, invalid);
    }
    // `invalid_token` is not sent for another scheme (RFC 6750, section 3.1).
    assert_eq!(challenges(&app, "GET /now\nauthorization: Basic YTpi"), "Bearer");
}

#[test]
fn a_function_never_receives_a_second_bearer() {
    let known = |token: String| verify_token(&token, &secret()).map(|_| "ada");
    let mut router = Router::new();
    router.get("/x", async || "in").middleware(with_auth(known));
    let app = app(router);
    let ada = token(json!({}));
    check(&app, &format!("GET /x\nauthorization: Bearer {ada}"), "200 in");
    let invalid = r#"401 {"error":"Unauthorized","message":"Invalid token"}"#;
    check(&app, &format!("GET /x\nauthorization: Bearer Bearer {ada}"), invalid);
}

#[test]
fn api_keys_basic_and_sessions_authenticate() {
    let key = ApiKey::generate("shop").unwrap();
    let stored = key.hash();
    let by_key = Auth::api_key(move |hash: ApiKeyHash| (hash == stored).then_some("robot"));
    let by_name = Auth::basic("the shop", async |it: BasicCredentials| {
        it.matches("ada", "s3cret").then_some("ada")
    });
    let cookie = SessionCookie::new(KeyRing::new(secret())).same_site(SameSite::Lax);
    let id = SessionId::generate().unwrap();
    let by_session =
        Auth::session(cookie.clone(), move |known: SessionId| (known == id).then_some("eve"));
    let mut router = Router::new();
    router
        .get("/x", async |User(name): User<String>| name)
        .middleware(with_auth(by_key.or(by_name).or(by_session)));
    let app = app(router);

    check(&app, &format!("GET /x\nx-api-key: {}", key.reveal()), "200 robot");
    check(&app, "GET /x\nx-api-key: guess", UNAUTHORIZED);
    check(&app, "GET /x\nauthorization: Basic YWRhOnMzY3JldA==", "200 ada");
    check(&app, "GET /x\nauthorization: Basic YWRhOng=", UNAUTHORIZED);
    let set = cookie.issue(&id);
    let set = set.to_str().unwrap();
    let (pair, attributes) = set.split_once("; ").unwrap();
    assert_eq!(attributes, "Path=/; Secure; HttpOnly; SameSite=Lax");
    check(&app, &format!("GET /x\ncookie: a=b; {pair}"), "200 eve");
    check(&app, &format!("GET /x\ncookie: {pair}; {pair}"), UNAUTHORIZED);
    check(&app, &format!("GET /x\ncookie: {}", pair.to_lowercase()), UNAUTHORIZED);
    check(&app, "GET /x", UNAUTHORIZED);
    assert_eq!(
        challenges(&app, "GET /x"),
        r#"ApiKey header="x-api-key" Basic realm="the shop", charset="UTF-8" Session cookie="__Host-session""#
    );
    let clear = cookie.clear();
    let expected = "__Host-session=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax";
    assert_eq!(clear.to_str().unwrap(), expected);
}

#[test]
fn path_spelling_does_not_bypass_authentication() {
    let app = guarded();
    for path in ["/own/", "//own", "/OWN", "/%6Fwn", "/open/../own", "/own/./admin"] {
        check(&app, &format!("GET {path}"), r#"404 {"error":"Not Found"}"#);
    }
    check(&app, "HEAD /own", "401");
}

#[test]
fn a_user_of_another_type_is_401() {
    let mut router = Router::with_options(RouterOptions::new().expose_errors(false));
    router
        .get("/x", async |User(_): User<Account>| ())
        .middleware(with_auth(Auth::verify(|_: &Request| Some(7))));
    check(&app(router), "GET /x", UNAUTHORIZED);
}

#[test]
fn credentials_of_another_scheme_are_not_an_invalid_token() {
    let app = guarded();
    for value in ["Basic YTpi", "Negotiate abc", "Bearer", "Bearer "] {
        let text = format!("GET /own\nauthorization: {value}");
        check(&app, &text, UNAUTHORIZED);
        assert_eq!(challenges(&app, &text), "Bearer", "{value}");
    }
    let either = Auth::secret(secret()).or(Auth::api_key(|_: ApiKeyHash| None::<u8>));
    let mut router = Router::new();
    router.get("/x", async || ()).middleware(with_auth(either));
    let app = crate::support::app(router);
    let expected = r#"Bearer ApiKey header="x-api-key""#;
    assert_eq!(challenges(&app, "GET /x\nx-api-key: guess"), expected);
}

#[test]
fn other_cookies_do_not_hide_the_session() {
    let cookie = SessionCookie::new(KeyRing::new(secret()));
    let id = SessionId::generate().unwrap();
    let set = cookie.issue(&id);
    let pair = set.to_str().unwrap().split_once(';').unwrap().0.to_owned();
    let mut router = Router::new();
    let known = Auth::session(cookie, move |it: SessionId| (it == id).then_some(7));
    router.get("/x", async || "in").middleware(with_auth(known));
    let app = app(router);
    let ask = |cookies: &[&str]| {
        let mut req = request("GET /x");
        for text in cookies {
            let value = header::HeaderValue::from_bytes(text.as_bytes()).unwrap();
            req.headers_mut().append("cookie", value);
        }
        block_on(app.handle(req)).status()
    };
    assert_eq!(ask(&[&format!("city=Zürich; {pair}")]), 200);
    assert_eq!(ask(&["__Host-session=ü", &pair]), 401);
    // Browsers do not see the prefix in this name, so any page of the site may
    // set it.
    assert_eq!(ask(&[&format!("\u{2000}{pair}")]), 401);
    assert_eq!(ask(&[&format!("\u{2000}__Host-session=ü; {pair}")]), 200);
}

#[test]
fn every_401_lists_the_schemes_of_its_route() {
    let key = || Auth::api_key(|_: ApiKeyHash| None::<u8>).required(false);
    let name = || Auth::basic("x", |_: BasicCredentials| None::<u8>).required(false);
    let misfit = |_: &Request| Some(7);
    let tree = routes! {
        "key": {
            middleware: [with_auth(key())],
            "role": { GET: { handler: async || (), middleware: [with_role("admin")] } },
            "may": {
                GET: {
                    handler: async || (),
                    middleware: [with_permission(|_: &Value, _: &Request| true)],
                },
            },
            "waits": { GET: { handler: async || (), middleware: [with_permission(waits)] } },
            "user": { GET: async |_: User<Value>| () },
            "own": {
                GET: {
                    handler: async || (),
                    middleware: [async |req: Request, next: Next| match req.user() {
                        Some(_) => Ok(next.run(req).await),
                        None => Err(req.unauthorized()),
                    }],
                },
            },
            // The inner `with_auth` finds the user again.
            "name": {
                GET: { handler: async |_: User<Value>| (), middleware: [with_auth(name())] },
            },
        },
        "both": { GET: { handler: async |_: User<Value>| (), middleware: [with_auth(key().or(name()))] } },
        "misfit": {
            GET: {
                handler: async |_: User<Account>| (),
                middleware: [with_auth(Auth::verify(misfit).or(key()))],
            },
        },
        "none": {
            // The router must assume that this middleware might find a user.
            middleware: |_: &mut Request| (),
            GET: { handler: async || (), middleware: [with_role("admin")] },
        },
    };
    async fn waits(_: Value, _: &mut Request) -> bool {
        true
    }
    let app = app_of(tree);
    let key = r#"ApiKey header="x-api-key""#;
    let name = r#"Basic realm="x", charset="UTF-8""#;
    for (path, expected) in [
        ("/key/role", key),
        ("/key/may", key),
        ("/key/waits", key),
        ("/key/user", key),
        ("/key/own", key),
        ("/key/name", name),
        ("/both", &format!("{key} {name}")),
        ("/misfit", &format!("Bearer {key}")),
        ("/none", "Bearer"),
    ] {
        assert_eq!(challenges(&app, &format!("GET {path}")), expected, "{path}");
    }
}

#[test]
fn either_method_can_require_a_user() {
    let open = || Auth::api_key(|_: ApiKeyHash| None::<u8>).required(false);
    for auth in [Auth::secret(secret()).or(open()), open().or(Auth::secret(secret()))] {
        let mut router = Router::new();
        router.get("/x", async || ()).middleware(with_auth(auth.clone()));
        router.get("/open", async || ()).middleware(with_auth(auth.required(false)));
        let app = app(router);
        check(&app, "GET /x", UNAUTHORIZED);
        check(&app, "GET /open", "204");
    }
}

#[test]
fn async_functions_hash_and_verify_passwords() {
    block_on(async {
        let stored = hash_password_async("s3cret").await.unwrap();
        assert!(verify_password_async("s3cret", stored.clone()).await.unwrap());
        assert!(!verify_password_async("secret", stored.clone()).await.unwrap());
        assert!(verify_password("s3cret", &stored));

        let hasher = PasswordHasher::from(PasswordCost::pbkdf2(11_000).unwrap());
        assert!(hasher.needs_rehash(&stored));
        let stored = hash_password_with_async("s3cret", hasher).await.unwrap();
        assert!(stored.starts_with("$pbkdf2-sha512$i=11000$") && !hasher.needs_rehash(&stored));
        assert!(verify_password_async("s3cret", stored).await.unwrap());
    });
    // `PasswordError` is a separate type. `?` converts it to a response.
    let error = ApiError::from(PasswordError::Thread(std::io::ErrorKind::WouldBlock));
    assert_eq!(error.status(), 500);
}
