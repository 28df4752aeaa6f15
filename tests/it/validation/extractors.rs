//! Extractors of the connection and of middleware, optional arguments, and
//! middleware with extractors.
// Spec: Handler contract; Middleware contract.

use std::sync::atomic::{AtomicU64, Ordering};

use stockade::extract::{ClientIp, Extension, OptionalFromRequest};
use stockade::http::{Method, Uri, Version};
use stockade::middleware::with_sanitization;
use stockade::prelude::*;
use stockade::{HttpBody, PeerAddr};

use crate::support::{app, app_of, block_on, check, request, show};

/// The tenant of a request, set by middleware or by a header.
#[derive(Clone, Debug, PartialEq)]
struct Tenant(String);

impl OptionalFromRequest for Tenant {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        let Some(value) = req.headers().get("x-tenant") else { return Ok(None) };
        let wrong = |_| ApiError::new(400, "x-tenant is no text");
        Ok(Some(Self(value.to_str().map_err(wrong)?.to_owned())))
    }
}

async fn tenant(Extension(Tenant(name)): Extension<Tenant>) -> String {
    name
}

fn find_tenant(req: &mut Request) {
    req.extensions_mut().insert(Tenant("acme".to_owned()));
}

#[test]
fn reads_extensions_set_by_middleware() {
    crate::support::log::watch();
    async fn perhaps(tenant: Option<Extension<Tenant>>) -> String {
        tenant.map_or("nobody".to_owned(), |tenant| tenant.0.0)
    }
    let app = app_of(routes! {
        "with": { middleware: find_tenant, GET: tenant, "perhaps": { GET: perhaps } },
        "without": { GET: tenant, "perhaps": { GET: perhaps } },
    });
    check(&app, "GET /with", "200 acme");
    check(&app, "GET /with/perhaps", "200 acme");
    check(&app, "GET /without/perhaps", "200 nobody");
    check(&app, "GET /without", r#"500 {"error":"Internal Server Error"}"#);
    let lines = crate::support::log::lines_with("no middleware has added a");
    assert!(
        lines.iter().any(|line| line.contains("extractors::Tenant` to the request")),
        "{lines:?}"
    );
}

#[test]
fn a_custom_argument_may_be_absent() {
    let app = app_of(routes! {
        GET: async |tenant: Option<Tenant>| format!("{tenant:?}"),
    });
    check(&app, "GET /", "200 None");
    check(&app, "GET /\nx-tenant: acme", r#"200 Some(Tenant("acme"))"#);
    check(&app, "GET /\nx-tenant: é", r#"400 {"error":"x-tenant is no text"}"#);
}

#[test]
fn the_parts_of_the_head_and_the_peer_are_arguments() {
    let app = app_of(routes! {
        "head": {
            GET: async |method: Method, uri: Uri, version: Version| format!("{method} {uri} {version:?}"),
        },
        "peer": { GET: async |PeerAddr(peer): PeerAddr| peer.to_string() },
        "perhaps": { GET: async |peer: Option<PeerAddr>| peer.is_some().to_string() },
    });
    check(&app, "GET /head?a=1", "200 GET /head?a=1 HTTP/1.1");
    check(&app, "GET /peer", "200 192.0.2.7:4711");
    check(&app, "GET /perhaps", "200 true");
    let unknown = |path: &str| {
        let request = stockade::http::Request::get(path).body(()).unwrap();
        block_on(async { show(app.handle(request).await).await })
    };
    assert_eq!(unknown("/peer"), r#"500 {"error":"Internal Server Error"}"#);
    assert_eq!(unknown("/perhaps"), "200 false");
}

#[derive(Default)]
struct Visits(AtomicU64);

impl Visits {
    fn add(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }
}

async fn around(
    State(visits): State<Visits>,
    Query(query): Query<Option<Value>>,
    req: Request,
    next: Next,
) -> Result<Response, ApiError> {
    let mut response = next.try_run(req).await?;
    let seen = format!("{} {}", visits.add(), query.is_some());
    response.headers_mut().insert("x-seen", seen.parse().map_err(ApiError::internal)?);
    Ok(response)
}

async fn before(
    visits: State<Visits>,
    tenant: Option<Tenant>,
    req: &mut Request,
) -> Result<(), ApiError> {
    visits.add();
    let tenant = tenant.ok_or_else(ApiError::authentication)?;
    req.extensions_mut().insert(tenant);
    Ok(())
}

#[test]
fn both_asynchronous_forms_accept_extractors() {
    let api = routes! {
        "around": { GET: { handler: async || "", middleware: around } },
        "before": { GET: { handler: tenant, middleware: [before, around] } },
        "closures": {
            GET: {
                handler: tenant,
                middleware: [
                    async |tenant: Option<Tenant>, req: &mut Request| {
                        req.extensions_mut().insert(tenant.unwrap());
                    },
                    |_: Method, _: Uri, req: Request, next: Next| async move { next.run(req).await },
                ],
            },
        },
    };
    let app = app(create_router(api, RouterOptions::new()).state(Visits::default()));
    let seen = |text: &str| crate::support::header_of(&app, text, "x-seen");
    assert_eq!(seen("GET /around"), "1 true");
    check(&app, "GET /before", r#"401 {"error":"Authentication required"}"#);
    check(&app, "GET /before\nx-tenant: acme", "200 acme");
    assert_eq!(seen("GET /before\nx-tenant: acme"), "6 true");
    check(&app, "GET /closures\nx-tenant: acme", "200 acme");
}

#[test]
fn middleware_can_have_eight_extractors_and_keeps_the_body() {
    #[derive(serde::Deserialize, Schema)]
    struct Note {
        text: String,
    }
    #[allow(clippy::too_many_arguments, reason = "the most that is allowed")]
    async fn eight(
        _: Method,
        _: Uri,
        _: Version,
        _: PeerAddr,
        _: ClientIp,
        _: Option<Tenant>,
        bytes: Bytes,
        Body(note): Body<Note>,
        req: Request,
        next: Next,
    ) -> Response {
        let mut response = next.run(req).await;
        let seen = format!("{} {}", bytes.len(), note.text);
        response.headers_mut().insert("x-seen", seen.parse().unwrap());
        response
    }
    let app = app_of(routes! {
        POST: { handler: async |Body(note): Body<Note>| note.text, middleware: eight },
    });
    let post = "POST /\ncontent-type: application/json\n\n{\"text\":\"hi\"}";
    check(&app, post, "200 hi");
    assert_eq!(crate::support::header_of(&app, post, "x-seen"), "13 hi");
    let wrong = "POST /\ncontent-type: application/json\n\n{\"text\":1}";
    check(&app, wrong, &block_on(refusal()));
}

/// Returns the response of a handler to the same error.
async fn refusal() -> String {
    #[derive(serde::Deserialize, Schema)]
    #[allow(dead_code, reason = "only its shape counts")]
    struct Note {
        text: String,
    }
    let app = app_of(routes! { POST: async |_: Body<Note>| "" });
    let wrong = "POST /\ncontent-type: application/json\n\n{\"text\":1}";
    show(app.handle(request(wrong)).await).await
}

#[test]
fn an_extractor_error_is_the_response_and_ends_the_chain() {
    async fn needs(_: Extension<Tenant>, _: Request, _: Next) -> Response {
        panic!("must not run")
    }
    async fn needs_before(_: Path<u64>, _: &mut Request) {
        panic!("must not run")
    }
    let app = app_of(routes! {
        "around": { GET: { handler: async || -> () { panic!() }, middleware: needs } },
        ":id": { GET: { handler: async || -> () { panic!() }, middleware: needs_before } },
    });
    check(&app, "GET /around", r#"500 {"error":"Internal Server Error"}"#);
    let answer = block_on(async { show(app.handle(request("GET /x")).await).await });
    assert!(answer.starts_with(r#"400 {"error":"Validation failed""#), "{answer}");
}

#[test]
fn the_build_checks_the_requirements_of_middleware() {
    async fn streams(_: HttpBody, _: &mut Request) {}
    async fn reads(_: Body<Value>, _: &mut Request) {}
    async fn two(_: Path<(u64, u64)>, _: &mut Request) {}
    let line = line!();
    let api = routes! {
        "state": { GET: { handler: async || "", middleware: [with_sanitization(), around] } },
        "stream": { POST: { handler: async || "", middleware: streams } },
        "body": { GET: { handler: async || "", middleware: reads } },
        ":id": { GET: { handler: async || "", middleware: two } },
    };
    let error = create_router(api, RouterOptions::new()).build().unwrap_err();
    let expected = [
        "GET /state: `State<it::validation::extractors::Visits>` was not provided",
        "::streams` takes an argument that only a handler can take",
        "::reads` needs a body, but GET requests have no body",
        "takes 2 parameters, but the path has 1",
    ];
    let mistakes = error.issues();
    assert_eq!(mistakes.len(), expected.len(), "{error}");
    for (index, expected) in expected.into_iter().enumerate() {
        let mistake = &mistakes[index];
        let location = mistake.location().unwrap();
        assert!(location.file().ends_with("extractors.rs"), "{mistake}");
        assert_eq!(location.line(), line + 2 + u32::try_from(index).unwrap());
        let shown = format!("{}: {}", mistake.route().unwrap(), mistake.message());
        assert!(shown.contains(expected), "{shown} does not contain {expected:?}");
    }
}

#[test]
fn middleware_with_a_description_keeps_its_extractors() {
    let described = Middleware::new(around).named("counted").describing(|doc| {
        doc.issue("described too");
    });
    let mut router = Router::new();
    router.get("/x", async || "").middleware([described]);
    let error = router.build().unwrap_err().to_string();
    assert!(error.contains("described too") && error.contains("was not provided"), "{error}");
}

#[test]
fn a_malformed_typed_header_is_named_in_a_400() {
    use stockade::extract::TypedHeader;
    use stockade::extract::headers::authorization::Basic;
    use stockade::extract::headers::{Authorization, ContentLength, Host, UserAgent};

    async fn agent(TypedHeader(agent): TypedHeader<UserAgent>) -> String {
        agent.to_string()
    }
    async fn length(length: Option<TypedHeader<ContentLength>>) -> String {
        length.map_or("none".to_owned(), |TypedHeader(length)| length.0.to_string())
    }
    async fn basic(basic: TypedHeader<Authorization<Basic>>, host: TypedHeader<Host>) -> String {
        format!("{}@{}", basic.username(), host.hostname())
    }
    let app = app_of(routes! {
        "agent": { GET: agent }, "length": { GET: length }, "basic": { GET: basic },
    });
    check(&app, "GET /agent\nuser-agent: curl/8", "200 curl/8");
    check(&app, "GET /agent", r#"400 {"error":"Header 'user-agent' is missing"}"#);
    check(&app, "GET /length\ncontent-length: 0", "200 0");
    check(&app, "GET /length", "200 none");
    let malformed = r#"400 {"error":"Header 'content-length' is malformed"}"#;
    check(&app, "GET /length\ncontent-length: x", malformed);
    check(&app, "GET /length\ncontent-length: 1\ncontent-length: 2", malformed);
    let basic = "GET /basic\nauthorization: Basic YWRhOng=";
    check(&app, &format!("{basic}\nhost: a.example"), "200 ada@a.example");
    check(&app, basic, r#"400 {"error":"Header 'host' is missing"}"#);
    check(
        &app,
        "GET /basic\nauthorization: Basic é",
        r#"400 {"error":"Header 'authorization' is malformed"}"#,
    );
}

#[test]
fn the_session_of_the_user_can_be_an_argument() {
    use stockade::auth::{ApiKeyHash, KeyRing, SessionId};
    use stockade::middleware::{Auth, CurrentSession, SessionCookie};

    let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
    let cookie = SessionCookie::new(KeyRing::new(secret));
    let (id, unknown) = (SessionId::generate().unwrap(), SessionId::generate().unwrap());
    let pair = |id: &SessionId| {
        let set = cookie.issue(id);
        set.to_str().unwrap().split_once(';').unwrap().0.to_owned()
    };
    let (known, forged) = (pair(&id), format!("{}x", pair(&id)));
    let unknown = pair(&unknown);
    let sync = Auth::session(cookie.clone(), move |it: SessionId| (it == id).then_some("ada"))
        .or(Auth::api_key(|_: ApiKeyHash| Some("robot")));
    let waits =
        Auth::session(
            cookie.clone(),
            move |it: SessionId| async move { (it == id).then_some("ada") },
        );
    let tree = move |auth: Auth| {
        let is_own = move |session: CurrentSession| async move { (session.0 == id).to_string() };
        let perhaps = async |session: Option<CurrentSession>| session.is_some().to_string();
        routes! {
            middleware: [with_auth(auth)],
            "own": { GET: is_own },
            "perhaps": { GET: perhaps },
        }
    };
    for auth in [sync.required(false), waits.required(false)] {
        let app = app_of(tree(auth));
        check(&app, &format!("GET /own\ncookie: {known}"), "200 true");
        check(&app, &format!("GET /perhaps\ncookie: {known}"), "200 true");
        for other in [
            "x-other: 1",
            "x-api-key: k",
            &format!("cookie: {forged}"),
            &format!("cookie: {unknown}"),
        ] {
            check(&app, &format!("GET /own\n{other}"), r#"401 {"error":"Unauthorized"}"#);
            check(&app, &format!("GET /perhaps\n{other}"), "200 false");
        }
    }
    check(
        &app_of(routes! { GET: async |_: CurrentSession| "" }),
        "GET /",
        r#"401 {"error":"Unauthorized"}"#,
    );
}
