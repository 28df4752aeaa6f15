//! Faults in the verification of a request: the leeway of tokens, the source of
//! an error, forms of other origins, and headers that pretend to be a user.

use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::time::Duration;

use stockade::auth::{BasicCredentials, KeyRing, SessionId, TokenVerifier};
use stockade::http::header::ACCEPT;
use stockade::middleware::{
    ErrorHandlerOptions, ErrorReply, SessionCookie, with_cross_origin_protection,
    with_error_handling, with_role,
};
use stockade::prelude::*;
use stockade::testing::{
    AccountRequest, AttackFamily, Credentials, Hardening, HardeningReport, TestClient, TestClock,
};
use stockade::{Middleware, RequestHead};

use crate::block_on;

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

fn built(api: RouteTree) -> Router {
    create_router(api, RouterOptions::new())
}

/// Runs the attacks on a router with tokens of the secret.
fn report(router: Router) -> HardeningReport {
    let user = |roles: &[&str]| {
        let claims = json!({ "sub": "7", "role": roles.first().unwrap_or(&"guest") });
        let token = stockade::auth::generate_jwt(claims, "1h", &secret()).unwrap();
        Some(Credentials::bearer(token))
    };
    let hardening = Hardening::new(router).users(user).tokens(secret(), json!({ "sub": "7" }));
    block_on(hardening.allow_reads().run())
}

/// The expected failure.
struct Expected<'t> {
    family: AttackFamily,
    route: &'t str,
    attack: &'t str,
    found: &'t str,
    rule: &'t str,
}

#[track_caller]
fn check(report: &HardeningReport, expected: &Expected<'_>) {
    let mut failures = report.failures.iter();
    let found = failures.find(|it| it.attack == expected.attack);
    let failure = found.unwrap_or_else(|| panic!("{} is not found\n{report}", expected.attack));
    assert_eq!(failure.family, expected.family, "{report}");
    assert_eq!(failure.route.as_deref(), Some(expected.route), "{report}");
    assert!(failure.found.contains(expected.found), "{report}");
    assert!(failure.rule.contains(expected.rule), "{report}");
    let location = failure.location.as_ref().unwrap();
    assert!(location.file.ends_with("guards/claims.rs") && location.line > 0, "{report}");
}

fn with_leeway(verifier: TokenVerifier) -> Router {
    let api = routes! {
        "notes": { auth: Auth::tokens(secret(), verifier), GET: async || "all notes" },
    };
    built(api)
}

#[test]
fn finds_a_token_that_is_accepted_after_its_expiry() {
    let minutes = |minutes: u64| TokenVerifier::new().leeway(Duration::from_secs(60 * minutes));
    check(
        &report(with_leeway(minutes(5))),
        &Expected {
            family: AttackFamily::Credentials,
            route: "GET /notes",
            attack: "a token that expired two minutes ago",
            found: "the response is 200 OK",
            rule: "a token is rejected two minutes after it has expired",
        },
    );
    report(with_leeway(minutes(1))).assert();
}

#[test]
fn expiry_depends_on_the_clock_of_the_application() {
    let attack = "a token that expired two minutes ago";
    // The application lives in 2001, and the system clock is later.
    let clock = TestClock::new();
    let router = || with_leeway(TokenVerifier::new().clock(clock.for_tokens()));
    let unknown = report(router());
    let left = unknown.not_attacked.iter().find(|it| it.attack == attack).unwrap();
    assert!(left.reason.contains("`Hardening::token_clock`"), "{unknown}");
    let claims = json!({ "sub": "7" });
    let hardening = Hardening::new(router()).tokens(secret(), claims);
    let known = block_on(hardening.token_clock(clock.for_tokens()).run());
    known.assert();
    assert!(known.not_attacked.iter().all(|it| it.attack != attack), "{known}");
}

#[derive(serde::Deserialize, Schema)]
struct Note {
    #[schema(max_length = 100)]
    text: String,
}

/// Formats errors with their source.
fn with_source(error: &mut ErrorReply) {
    let source = error.source().map(ToString::to_string);
    error.set_json(json!({ "failed": error.message(), "cause": source }));
}

/// Formats errors with their source for browsers.
fn with_source_in_html(error: &mut ErrorReply, head: &RequestHead) {
    if head.headers().get(ACCEPT).is_some_and(|it| it == "text/html") {
        let source = error.source().map(ToString::to_string).unwrap_or_default();
        error.set_body("text/html", format!("<h1>{}</h1><p>{source}</p>", error.message()));
    }
}

#[test]
fn finds_the_source_of_an_error_in_each_format() {
    #[track_caller]
    fn find(router: Router, route: &str, attack: &str, found: &str) {
        let family = AttackFamily::Responses;
        let rule = "no error response contains the source of the error";
        check(&report(router), &Expected { family, route, attack, found, rule });
    }
    let json = "an error 500 with a known source, for `*/*`";
    let in_body = "the source of an error 500 is in the body";
    let notes = || routes! { "notes": { GET: async || "all notes" } };
    let options = RouterOptions::new().error_handling(with_source);
    find(create_router(notes(), options), "GET /notes", json, in_body);
    let options = RouterOptions::new().error_handling(with_source_in_html);
    let html = "an error 500 with a known source, for `text/html`";
    find(create_router(notes(), options), "GET /notes", html, in_body);
    let api = routes! {
        "public": { GET: async || "public" },
        "partner": { error_handling: with_source, "notes": { GET: async || "all notes" } },
    };
    find(built(api), "GET /partner/notes", json, in_body);
    let conflict = "an error 409 with a known source, for `*/*`";
    let options = RouterOptions::new().error_handling(with_source);
    let found = "the source of an error 409 is in the body";
    find(create_router(notes(), options), "GET /notes", conflict, found);
    // The message of a 5xx is not for clients either.
    let exposed = ErrorHandlerOptions::new().expose_errors(true);
    let api = routes! { "notes": { error_handling: exposed, GET: async || "all notes" } };
    find(built(api), "GET /notes", json, "the message of an error 500 is in the body");
    // Only errors behind this middleware have its format.
    let api = routes! {
        "notes": {
            POST: {
                async |Body(note): Body<Note>| note.text,
                middleware: with_error_handling(with_source),
            },
        },
    };
    find(built(api), "POST /notes", "the cause of a 5xx", in_body);
}

#[test]
fn reports_nothing_about_a_format_without_the_source() {
    let plain = |error: &mut ErrorReply| error.set_json(json!({ "failed": error.message() }));
    let api = || {
        routes! {
            "notes": { POST: async |Body(note): Body<Note>| note.text, GET: async || "all notes" },
        }
    };
    for options in [RouterOptions::new(), RouterOptions::new().problem_details(true)] {
        report(create_router(api(), options)).assert();
    }
    report(create_router(api(), RouterOptions::new().error_handling(plain))).assert();
}

#[test]
fn a_panic_with_an_error_shows_only_its_status() {
    let lost = |status| {
        let details = json!({ "host": "db.internal" });
        let error = ApiError::new(status, "the password of the database is wrong");
        error.with_details(details).with_source(std::io::Error::other("the cause"))
    };
    let api = routes! {
        "lost": { GET: async move || -> &'static str { panic_any(lost(503)) } },
        "gone": { GET: async move || -> &'static str { panic_any(lost(404)) } },
    };
    let client = TestClient::new(built(api));
    for (path, status) in [("/lost", 503), ("/gone", 500)] {
        let sent = block_on(async { client.get(path).await });
        sent.assert_status(status);
        let text = sent.text();
        for hidden in ["password", "db.internal", "cause"] {
            assert!(!text.contains(hidden), "{text}");
        }
    }
}

fn with_cookie(cookie: SessionCookie) -> Router {
    let id = SessionId::generate().unwrap();
    let issued = cookie.clone();
    let known = Auth::session(cookie, move |known: SessionId| (known == id).then_some("ada"));
    let log_in = async move || {
        let set = (stockade::http::header::SET_COOKIE, issued.issue(&id));
        (stockade::http::HeaderMap::from_iter([set]), "welcome")
    };
    let api = routes! {
        "login": { POST: log_in },
        "notes": { auth: known, POST: async |Body(note): Body<Note>| note.text },
    };
    built(api)
}

fn with_basic(guards: Vec<Middleware>) -> Router {
    let auth = Auth::basic("notes", |it: BasicCredentials| {
        it.matches("ada", "correct horse").then_some("ada")
    });
    let api = routes! {
        "notes": {
            auth: auth,
            POST: { async |Body(note): Body<Note>| note.text, middleware: guards },
        },
    };
    built(api)
}

#[test]
fn finds_forms_of_other_origins() {
    let family = AttackFamily::Origins;
    let rule = "a page of another origin cannot change data";
    let attack = "a form from https://evil.test with the login of a user, and \
                  `Sec-Fetch-Site: cross-site`";
    let expected =
        Expected { family, route: "POST /notes", attack, found: "the response is 200 OK", rule };

    let cookie = || SessionCookie::new(KeyRing::new(secret()));
    let signed_in = |router: Router| {
        block_on(Hardening::new(router).sign_in(AccountRequest::new("POST /login")).run())
    };
    check(&signed_in(with_cookie(cookie().cross_origin_protection(None))), &expected);
    let guarded = signed_in(with_cookie(cookie()));
    guarded.assert();
    assert!(guarded.not_attacked.iter().all(|it| !it.attack.contains("forms")), "{guarded}");

    let basic = |router: Router| {
        let ada = Credentials::header("authorization", "Basic YWRhOmNvcnJlY3QgaG9yc2U=");
        block_on(Hardening::new(router).users(move |_| Some(ada.clone())).run())
    };
    check(&basic(with_basic(Vec::new())), &expected);
    let guarded = basic(with_basic(vec![Middleware::new(with_cross_origin_protection())]));
    guarded.assert();
    assert!(guarded.count(family).passed >= 4, "{guarded}");
}

#[test]
fn reports_an_unknown_cookie() {
    let report = report(with_cookie(SessionCookie::new(KeyRing::new(secret()))));
    let mut left = report.not_attacked.iter();
    let forms = left.find(|it| it.attack == "forms of other origins with the login of a user");
    assert!(forms.unwrap().reason.contains("`Hardening::sign_in`"), "{report}");
}

/// Middleware that trusts a header of a proxy.
fn trusting(name: &'static str) -> Middleware {
    Middleware::new(move |req: &mut Request| {
        let user = req.headers().get(name).and_then(|value| value.to_str().ok());
        if let Some(user) = user.map(|user| json!({ "sub": user, "role": user })) {
            req.set_user(Some(user));
        }
    })
}

#[derive(serde::Deserialize)]
struct Member {
    sub: String,
}

#[test]
fn finds_headers_that_pretend_to_be_a_user() {
    #[track_caller]
    fn find(api: RouteTree, route: &str, attack: &str, found: &str) {
        let family = AttackFamily::Detours;
        let rule = "no header sets the user or the role of a request";
        check(&report(built(api)), &Expected { family, route, attack, found, rule });
    }
    // A function of the program accepts the name of any user.
    let by_header = |req: &Request| {
        let name = req.headers().get("x-webauth-user")?.to_str().ok()?;
        Some(json!({ "sub": name }))
    };
    let by_token = |req: &Request| {
        let name = req.headers().get("authorization")?.to_str().ok()?;
        (name == "Bearer x").then(|| json!({ "sub": name }))
    };
    let api = routes! {
        "me": {
            auth: Auth::verify(by_token).or(Auth::verify(by_header)),
            GET: async |User(me): User<Member>| me.sub,
        },
    };
    find(api, "GET /me", "the header `x-webauth-user: admin`", "the response is 200 OK");
    // Only known users are accepted; the claims of the test have one.
    let known = |req: &Request| {
        let id = req.headers().get("x-user-id")?.to_str().ok()?;
        (id == "7").then(|| json!({ "sub": id }))
    };
    let api = routes! {
        "me": { auth: Auth::verify(known), GET: async |User(me): User<Member>| me.sub },
    };
    find(api, "GET /me", "the header `x-user-id: 7`", "the response is 200 OK");
    // The header replaces the user of the token.
    let api = routes! {
        "log": {
            auth: Auth::secret(secret()),
            GET: { async || "log", middleware: [trusting("x-user-role"), with_role("admin")] },
        },
    };
    find(api, "GET /log", "the header `x-user-role: admin`", "the response is 200 OK");
    // A route for anybody shows the notes of the user in the header.
    let greet = async |user: Option<User<Member>>| match user {
        Some(User(me)) => format!("the notes of {}", me.sub),
        None => "public notes".to_owned(),
    };
    let api = routes! {
        "notes": { GET: { greet, middleware: trusting("x-forwarded-email") } },
    };
    let attack = "the header `x-forwarded-email: admin@example.org`";
    find(api, "GET /notes", attack, "with another body than without the header");
}

/// Middleware with a harmless name and description, which reads the user from a
/// header that no list of names contains.
fn timing(req: &mut Request) {
    let user = req.headers().get("x-q7f-19").and_then(|value| value.to_str().ok());
    if let Some(user) = user.map(|user| json!({ "sub": user })) {
        req.set_user(Some(user));
    }
}

#[test]
fn finds_a_user_from_a_header_that_nobody_can_guess() {
    let api = |timing: Vec<Middleware>| {
        routes! {
            auth: Auth::secret(secret()),
            "me": { GET: { async |User(me): User<Member>| me.sub, middleware: timing } },
        }
    };
    let detours = |middleware: Vec<Middleware>| {
        let hardening = Hardening::new(built(api(middleware)));
        block_on(hardening.only([AttackFamily::Detours]).run())
    };
    let hidden = || Middleware::new(timing).named("with_timing").describing(|_| {});
    let found = detours(vec![hidden()]);
    let expected = Expected {
        family: AttackFamily::Detours,
        route: "GET /me",
        attack: "the header `x-q7f-19: admin`",
        found: "the middleware `with_timing` (",
        rule: "no middleware takes the user of a request from a header",
    };
    check(&found, &expected);
    let line = "guards/claims.rs:";
    assert!(found.failures.iter().all(|it| it.found.contains(line)), "{found}");
    // A check that does not set the user is not a finding.
    let counts = |req: &mut Request| drop(req.headers().get("x-q7f-19").cloned());
    let passed = detours(vec![Middleware::new(counts).named("with_timing")]);
    passed.assert();
    // The user of a later authentication replaces the user of the header.
    let later = Middleware::new(with_auth(Auth::secret(secret())));
    detours(vec![hidden(), later]).assert();
}

#[test]
fn a_partial_run_sends_only_its_families() {
    let api = || routes! { "notes": { auth: Auth::secret(secret()), GET: async || "all" } };
    let attacks = || {
        let hardening = Hardening::new(built(api()));
        hardening.skip("*", AttackFamily::Bodies, "not sent in this run")
    };
    let partial = block_on(attacks().only([AttackFamily::Credentials]).run());
    partial.assert();
    let families: Vec<_> = partial.families.iter().map(|it| it.family).collect();
    assert_eq!(families, [AttackFamily::Credentials]);
    assert!(partial.left_out.contains(&AttackFamily::Responses), "{partial}");
    assert_eq!(partial.count(AttackFamily::Responses).passed, 0, "{partial}");
    let text = partial.to_string();
    assert!(text.contains("a partial run: only credentials (`Hardening::only`)"), "{text}");
    let whole = block_on(attacks().run());
    assert!(whole.left_out.is_empty() && !whole.to_string().contains("partial"), "{whole}");
    assert_eq!(whole.failures[0].attack, "a skip", "{whole}");
}

#[test]
fn a_run_without_a_family_is_rejected() {
    let hardening = AssertUnwindSafe(|| drop(Hardening::new(built(routes! {})).only([])));
    let text = *catch_unwind(hardening).unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("needs at least one attack family"), "{text}");
}

#[test]
fn reports_nothing_if_headers_do_not_matter() {
    let api = routes! {
        "me": { auth: Auth::secret(secret()), GET: async |User(me): User<Member>| me.sub },
        "log": { auth: Auth::secret(secret()), GET: { async || "log", middleware: with_role("admin") } },
        "notes": { GET: async || "public notes" },
    };
    let report = report(built(api));
    report.assert();
    assert!(report.count(AttackFamily::Detours).passed > 20, "{report}");
}
