//! Fallible functions that find the user, and token schemes.
// Spec: Authentication. `Auth::lookup` and `Auth::scheme` are beyond it.

use stockade::auth::{ApiKeyHash, BasicCredentials, KeyRing, SessionId, generate_jwt};
use stockade::extract::Headers;
use stockade::http::HeaderMap;
use stockade::middleware::SessionCookie;
use stockade::prelude::*;
use stockade::reply::Redirect;

use crate::support::{app, block_on, check, request};

/// A database that may be down.
struct Db {
    is_up: bool,
}

impl Db {
    async fn find(&self, name: &str) -> Result<Option<String>, ApiError> {
        tokio::task::yield_now().await;
        match (self.is_up, name) {
            (false, _) => Err(ApiError::new(503, "no database").with_header("retry-after", "7")),
            (true, "panic") => panic!("boom"),
            (true, "falsy") => Ok(Some(String::new())),
            (true, name) => Ok((name == "ada").then(|| name.to_owned())),
        }
    }
}

async fn by_header(db: State<Db>, headers: Headers) -> Result<Option<String>, ApiError> {
    match headers.get("x-name").and_then(|value| value.to_str().ok()) {
        Some(name) => db.find(name).await,
        None => Ok(None),
    }
}

async fn by_token(token: String, db: State<Db>) -> Result<Option<String>, ApiError> {
    db.find(&token).await
}

async fn by_password(
    sent: BasicCredentials,
    db: State<Db>,
    Path(id): Path<u8>,
) -> Result<Option<String>, ApiError> {
    assert_eq!(id, 7);
    db.find(sent.user()).await
}

async fn by_key(_: ApiKeyHash, db: State<Db>) -> Result<Option<String>, ApiError> {
    db.find("ada").await
}

async fn by_session(_: SessionId, db: State<Db>) -> Result<Option<String>, ApiError> {
    db.find("ada").await
}

fn secret() -> Secret {
    Secret::new("a secret that has thirty-two bytes").unwrap()
}

fn cookie() -> SessionCookie {
    SessionCookie::new(KeyRing::new(secret()))
}

/// Creates two routes for each method: one that requires a user, and an open
/// one.
fn router(ways: impl IntoIterator<Item = (&'static str, Auth)>, is_up: bool) -> Router {
    let options = RouterOptions::new().expose_errors(false).rate_limit(false);
    let mut router = Router::with_options(options).state(Db { is_up });
    let show = async |user: Option<User<String>>| user.map_or("anybody".into(), |it| it.0);
    for (name, auth) in ways {
        let open = auth.clone().required(false);
        router.get(&format!("/{name}/:id"), show).middleware(with_auth(auth));
        router.get(&format!("/open/{name}/:id"), show).middleware(with_auth(open));
    }
    router
}

fn ways() -> Vec<(&'static str, Auth)> {
    let fallback = || Auth::verify(|_: &Request| Some("fallback"));
    vec![
        ("lookup", Auth::lookup(by_header)),
        ("bearer", Auth::bearer(by_token)),
        ("token", Auth::bearer(by_token).scheme("Token")),
        ("basic", Auth::basic("x", by_password)),
        ("key", Auth::api_key(by_key)),
        ("session", Auth::session(cookie(), by_session)),
        ("either", Auth::lookup(by_header).or(fallback())),
    ]
}

#[test]
fn a_lookup_error_is_the_response_even_if_no_user_is_required() {
    let id = SessionId::generate().unwrap();
    let set = cookie().issue(&id);
    let session = format!("cookie: {}", set.to_str().unwrap().split_once(';').unwrap().0);
    let (up, down) = (app(router(ways(), true)), app(router(ways(), false)));
    // The method, the request header, and the user that is found if the
    // database is up.
    for (way, sent, expected) in [
        ("lookup", "x-name: ada", Some("ada")),
        ("lookup", "x-name: eve", None),
        ("lookup", "x-name: falsy", None),
        ("bearer", "authorization: Bearer ada", Some("ada")),
        ("bearer", "authorization: ada", Some("ada")),
        ("bearer", "authorization: Bearer eve", None),
        ("token", "authorization: Token ada", Some("ada")),
        ("token", "authorization: tOKEN  ada", Some("ada")),
        ("token", "authorization: Token eve", None),
        ("basic", "authorization: Basic YWRhOnB3", Some("ada")),
        ("basic", "authorization: Basic ZXZlOnB3", None),
        ("key", "x-api-key: k", Some("ada")),
        ("session", session.as_str(), Some("ada")),
        ("either", "x-name: eve", Some("fallback")),
    ] {
        let (own, open) = (format!("GET /{way}/7\n{sent}"), format!("GET /open/{way}/7\n{sent}"));
        let unauthorized = r#"401 {"error":"Unauthorized"}"#.to_owned();
        check(&up, &own, &expected.map_or(unauthorized, |user| format!("200 {user}")));
        check(&up, &open, &format!("200 {}", expected.unwrap_or("anybody")));
        for text in [own, open] {
            let response = block_on(down.handle(request(&text)));
            assert_eq!(response.status(), 503, "{text}");
            assert_eq!(response.headers()["retry-after"], "7", "{text}");
            assert!(!response.headers().contains_key("www-authenticate"), "{text}");
            check(&down, &text, r#"503 {"error":"Service Unavailable"}"#);
        }
    }
}

/// A database outage does not affect requests without credentials.
#[test]
fn requests_without_credentials_cause_no_lookup() {
    let down = app(router(ways(), false));
    for (way, sent) in [
        ("lookup", ""),
        ("bearer", ""),
        ("bearer", "authorization: Basic YWRhOnB3"),
        ("token", "authorization: Bearer ada"),
        ("token", "authorization: ada"),
        ("token", "authorization: Token Bearer ada"),
        ("token", "authorization: Token"),
        ("basic", "authorization: Bearer ada"),
        ("key", "authorization: Bearer ada"),
        ("session", "cookie: __Host-session=forged"),
    ] {
        let line = if sent.is_empty() { String::new() } else { format!("\n{sent}") };
        check(&down, &format!("GET /{way}/7{line}"), r#"401 {"error":"Unauthorized"}"#);
        check(&down, &format!("GET /open/{way}/7{line}"), "200 anybody");
    }
}

#[test]
fn lookup_panics_and_invalid_arguments_act_as_in_a_handler() {
    let up = app(router(ways(), true));
    let failed = r#"500 {"error":"Internal Server Error"}"#;
    check(&up, "GET /open/lookup/7\nx-name: panic", failed);
    check(&up, "GET /open/token/7\nauthorization: Token panic", failed);
    let text = "GET /open/basic/x\nauthorization: Basic YWRhOnB3";
    assert_eq!(block_on(up.handle(request(text))).status(), 400);
}

/// Also if the function takes only credentials and returns an arbitrary error
/// type.
#[test]
fn an_error_of_a_credentials_function_is_the_response() {
    fn unavailable() -> ApiError {
        ApiError::new(503, "no database")
    }
    let ways = [
        ("sync", Auth::api_key(|_: ApiKeyHash| Err::<Option<u8>, _>(unavailable())), "503"),
        ("waits", Auth::api_key(async |_: ApiKeyHash| Err::<Option<u8>, _>(unavailable())), "503"),
        (
            "other",
            Auth::api_key(|_: ApiKeyHash| Err::<Option<u8>, BoxError>("no database".into())),
            "500",
        ),
        (
            "boxed",
            Auth::api_key(|_: ApiKeyHash| Err::<Option<u8>, BoxError>(unavailable().into())),
            "503",
        ),
        ("panic", Auth::api_key(|_: ApiKeyHash| -> Option<u8> { panic!("boom") }), "500"),
        (
            "waits-panic",
            Auth::api_key(async |_: ApiKeyHash| -> Option<u8> { panic!("boom") }),
            "500",
        ),
        // Spec: Authentication › rule 3.
        ("verify", Auth::verify(|_: &Request| Err::<Option<u8>, _>(unavailable())), "401"),
    ];
    for (name, auth, expected) in ways {
        let app = app(router([(name, auth)], true));
        for (path, expected) in [
            (name.to_owned(), expected),
            (format!("open/{name}"), if expected == "401" { "200" } else { expected }),
        ] {
            let text = format!("GET /{path}/7\nx-api-key: k");
            assert_eq!(block_on(app.handle(request(&text))).status().as_str(), expected, "{text}");
        }
    }
}

/// A lookup can fail with a status, an application's error type or a response.
#[test]
fn a_lookup_fails_like_a_handler() {
    #[derive(Debug, ApiError)]
    #[status(429, "too often")]
    struct TooOften;

    let ways = [
        (
            "status",
            Auth::lookup(async |_: Headers| Err::<Option<u8>, _>(StatusCode::SERVICE_UNAVAILABLE)),
            r#"503 {"error":"Service Unavailable"}"#,
        ),
        (
            "text",
            Auth::api_key(async |_: ApiKeyHash, _: State<Db>| {
                Err::<Option<u8>, _>((StatusCode::CONFLICT, "two users"))
            }),
            r#"409 {"error":"two users"}"#,
        ),
        (
            "own",
            Auth::lookup(async |_: Headers| Err::<Option<u8>, _>(TooOften)),
            r#"429 {"error":"too often"}"#,
        ),
        (
            "redirect",
            Auth::lookup(async |_: Headers| Err::<Option<u8>, _>(Redirect::to("/login"))),
            "303",
        ),
        (
            "alone",
            Auth::api_key(|_: ApiKeyHash| Err::<Option<u8>, _>(StatusCode::SERVICE_UNAVAILABLE)),
            r#"503 {"error":"Service Unavailable"}"#,
        ),
        (
            "own-alone",
            Auth::api_key(|_: ApiKeyHash| Err::<Option<u8>, _>(TooOften)),
            r#"429 {"error":"too often"}"#,
        ),
        (
            "own-waits",
            Auth::api_key(async |_: ApiKeyHash| Err::<Option<u8>, _>(TooOften)),
            r#"429 {"error":"too often"}"#,
        ),
        (
            "redirect-alone",
            Auth::api_key(|_: ApiKeyHash| Err::<Option<u8>, _>(Redirect::to("/login"))),
            "303",
        ),
    ];
    for (name, auth, expected) in ways {
        let fallback = Auth::verify(|_: &Request| Some("fallback"));
        let app = app(router([(name, auth.or(fallback))], true));
        check(&app, &format!("GET /{name}/7\nx-api-key: k"), expected);
        check(&app, &format!("GET /open/{name}/7\nx-api-key: k"), expected);
    }
}

#[test]
fn accepts_every_form_of_function() {
    fn name(headers: &HeaderMap) -> Option<String> {
        Some(headers.get("x-name")?.to_str().ok()?.to_owned())
    }
    let known = String::from("ada");
    let is_known = move |token: &str| (token == known).then(|| known.clone());
    let (now, later, state) = (is_known.clone(), is_known.clone(), is_known);
    let ways = [
        ("sync", Auth::bearer(move |token: String| now(&token))),
        ("captures", Auth::bearer(async move |token: String| later(&token))),
        (
            "state",
            Auth::bearer(move |token: String, db: State<Db>| {
                if db.is_up { Ok(state(&token)) } else { Err(StatusCode::SERVICE_UNAVAILABLE) }
            }),
        ),
        (
            "option",
            Auth::bearer(async |token: String, _: State<Db>| (token == "ada").then_some(token)),
        ),
        (
            "value",
            Auth::bearer(async |token: String, _: State<Db>| match token.as_str() {
                "ada" => json!("ada"),
                _ => Value::Null,
            }),
        ),
        (
            "request",
            Auth::bearer(async |token: String, req: &mut Request| {
                (req.path() == "/request/7" && token == "ada").then_some(token)
            }),
        ),
        ("extractors", Auth::lookup(|headers: Headers, _: State<Db>| name(&headers))),
        ("borrows", Auth::lookup(|req: &Request| Ok::<_, ApiError>(name(req.headers())))),
        ("borrows-later", Auth::lookup(async |req: &mut Request| name(req.headers()))),
        ("verify", Auth::verify(async |headers: Headers| name(&headers))),
    ];
    let names = ways.each_ref().map(|(name, _)| *name);
    let app = app(router(ways, true));
    for way in names {
        let sent = |name| format!("GET /{way}/7\nauthorization: Bearer {name}\nx-name: {name}");
        check(&app, &sent("ada"), "200 ada");
        check(&app, &sent(""), r#"401 {"error":"Unauthorized"}"#);
    }
}

#[test]
fn reports_missing_state_of_a_synchronous_function() {
    let find = |_: ApiKeyHash, _: State<u64>| None::<u8>;
    let mut router = Router::new();
    router.get("/x", async || "in").middleware(with_auth(Auth::api_key(find)));
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("`State<u64>` was not provided"), "{error}");
}

#[test]
fn a_challenge_has_scheme_and_realm() {
    #[track_caller]
    fn check(auth: Auth, sent: &str, expected: &str) {
        let app = app(router([("x", auth)], true));
        let response = block_on(app.handle(request(&format!("GET /x/7{sent}"))));
        assert_eq!(response.status(), 401);
        let values = response.headers().get_all("www-authenticate").into_iter();
        let values: Vec<_> = values.map(|value| value.to_str().unwrap()).collect();
        assert_eq!(values.join(" "), expected);
    }
    let token = || Auth::secret(secret()).scheme("Token");
    let key = || Auth::api_key(|_: ApiKeyHash| None::<u8>);
    check(token(), "", "Token");
    check(token(), "\nauthorization: Token x.y.z", r#"Token error="invalid_token""#);
    check(token(), "\nauthorization: Bearer x.y.z", "Token");
    check(token().realm("the shop"), "", r#"Token realm="the shop""#);
    check(
        token().realm("the shop").or(key()),
        "\nauthorization: token x",
        r#"Token realm="the shop", error="invalid_token" ApiKey header="x-api-key""#,
    );
    check(key().scheme("Key").realm("r"), "", r#"Key realm="r", header="x-api-key""#);
    check(
        Auth::basic("x", |_: BasicCredentials| None::<u8>).realm("y"),
        "",
        r#"Basic realm="y", charset="UTF-8""#,
    );
    check(Auth::lookup(by_header).scheme("Ticket"), "", "Ticket");
    check(Auth::secret(secret()).scheme("bearer"), "", "Bearer");
    // `scheme` applies only to the methods before it.
    check(
        key().or(token()).or(Auth::secret(secret())),
        "",
        r#"ApiKey header="x-api-key" Token Bearer"#,
    );
}

#[test]
fn the_scheme_precedes_its_tokens() {
    let auth = || Auth::secret(secret());
    let ways = [("token", auth().scheme("Token")), ("bearer", auth().scheme("BEARER"))];
    let app = app(router(ways.map(|(name, auth)| (name, auth.required(false))), true));
    let token = generate_jwt(json!({ "sub": "7" }), "1h", &secret()).unwrap();
    for (path, words, is_user) in [
        ("token", "Token ", true),
        ("token", "token  ", true),
        ("token", "Bearer ", false),
        ("token", "", false),
        ("token", "Token Bearer ", false),
        ("token", "Token Token ", false),
        ("bearer", "Bearer ", true),
        ("bearer", "", true),
        ("bearer", "Token ", false),
    ] {
        let text = format!("GET /{path}/7\nauthorization: {words}{token}");
        // The claims do not deserialize to `String`, so the user does not
        // match.
        let expected = if is_user { 401 } else { 200 };
        assert_eq!(block_on(app.handle(request(&text))).status(), expected, "{words:?}");
    }
}

#[test]
fn the_build_reports_configuration_errors() {
    async fn takes_request(_: Request) -> Result<Option<u8>, ApiError> {
        Ok(None)
    }
    async fn takes_stream(_: String, _: stockade::HttpBody) -> Result<Option<u8>, ApiError> {
        Ok(None)
    }
    async fn reads_state(_: ApiKeyHash, _: State<u64>) -> Result<Option<u8>, ApiError> {
        Ok(None)
    }
    let basic = || Auth::basic("x", |_: BasicCredentials| None::<u8>);
    let taken = "the function of `with_auth` takes an argument that only a handler can take";
    for (auth, expected) in [
        (
            Auth::lookup(async |_: State<u64>| Ok::<_, ApiError>(None::<u8>)),
            "`State<u64>` was not provided",
        ),
        (Auth::api_key(reads_state).or(basic()), "`State<u64>` was not provided"),
        (Auth::lookup(takes_request), taken),
        (Auth::bearer(takes_stream), taken),
        (basic().scheme("Token"), "with_auth: names and passwords use the scheme Basic"),
        (
            Auth::secret(secret()).scheme("a b").or(basic()),
            r#"with_auth: "a b" is not an authentication scheme"#,
        ),
        (
            basic().or(Auth::lookup(by_header).scheme("")),
            r#"with_auth: "" is not an authentication scheme"#,
        ),
    ] {
        let mut router = Router::new().state(Db { is_up: true });
        let line = line!() + 1;
        router.get("/x", async || "in").middleware(with_auth(auth));
        let error = router.build().unwrap_err();
        let mistake = error.issues().iter().find(|it| it.message().contains(expected));
        let mistake = mistake.unwrap_or_else(|| panic!("{expected:?} is not in {error}"));
        assert_eq!(mistake.route(), Some("GET /x"));
        let place = mistake.location().unwrap();
        assert!(place.file().ends_with("auth/lookups.rs") && place.line() == line, "{mistake}");
    }
}
