//! Defenses that a program loses one at a time, and the report of `routes.lock`:
//! the fault first, with its place and a fix, and its consequences in the same
//! entry.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;
use std::{env, fs, process, thread};

use stockade::auth::{BasicCredentials, KeyRing};
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore, with_idempotency};
use stockade::middleware::sessions::{MemorySessionStore, Sessions, SetSession};
use stockade::middleware::{
    CurrentSession, SessionCookie, TrustProxy, with_cross_origin_protection, with_role,
};
use stockade::openapi::lock::{ChangeGroup, Changes, Lock, RouterLocks};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::testing::{TestClient, assert_policy, assert_routes_lock};

/// The defense that the program loses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    User,
    Role,
    CrossOrigin,
    Idempotency,
    LogOut,
    OpenRoute,
    OpenRouteWithReason,
    UserFromHeader,
    UserFromDescribedHeader,
    UserFromHiddenHeader,
    Secret,
    Version,
    SecurityHeaders,
    Policy,
    PolicyRule,
    PolicyException,
}

#[derive(serde::Serialize, Schema)]
struct File {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    content_hash: Option<String>,
}

#[derive(serde::Serialize, Schema)]
struct FileName {
    name: String,
}

#[derive(Default, serde::Deserialize, serde::Serialize)]
struct Visit {
    pages: u32,
}

async fn log_out(
    sessions: State<Sessions<Visit>>,
    CurrentSession(id): CurrentSession,
) -> Result<(SetSession, &'static str), ApiError> {
    Ok((sessions.end(&id).await?, "good-bye"))
}

fn secret() -> Secret {
    Secret::new("a secret of tests only, 32 bytes").unwrap()
}

fn token() -> Middleware {
    Middleware::new(with_auth(Auth::secret(secret())))
}

/// Trusts a header that every client can send.
fn user_from_header(req: &mut Request) -> Result<(), ApiError> {
    let user = req.headers().get("x-user").and_then(|user| user.to_str().ok());
    let user = user.map(|user| json!({ "sub": user }));
    req.set_user(user);
    Ok(())
}

fn policy(fault: Option<Fault>) -> Policy {
    let policy = Policy::recommended().allow(
        "wildcard-exposed",
        "GET /pages/**",
        "the pages have any depth",
    );
    match fault {
        Some(Fault::PolicyRule) => policy.without("body-bounded", "uploads are large"),
        Some(Fault::PolicyException) => {
            policy.allow("rate-limited", "GET /health", "monitoring asks often")
        }
        _ => policy,
    }
}

fn program(fault: Option<Fault>) -> Router {
    let is = |it: Fault| fault == Some(it);
    let unless = |it: Fault, guard: Middleware| (!is(it)).then_some(guard);
    let sessions = Sessions::<Visit>::new(
        MemorySessionStore::new(),
        SessionCookie::new(KeyRing::new(secret())),
    );
    let options = RouterOptions::new().enable_security_headers(!is(Fault::SecurityHeaders));
    let mut router = create_router(routes! {}, options);

    let me = router.get("/me", async || "me");
    match is(Fault::User) {
        true => me.public("the name is not a secret"),
        false => me.middleware(token()),
    };
    let list = [Some(token()), unless(Fault::Role, with_role("admin"))];
    router.get("/users", async || "all").middleware(list.into_iter().flatten().collect::<Vec<_>>());
    let csrf = Middleware::new(with_cross_origin_protection());
    let list = [unless(Fault::CrossOrigin, csrf), Some(token())];
    router
        .post("/settings", async || "saved")
        .middleware(list.into_iter().flatten().collect::<Vec<_>>());
    let keys = with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()).required(true));
    let list = [Some(token()), unless(Fault::Idempotency, keys)];
    router
        .post("/orders", async || "ordered")
        .middleware(list.into_iter().flatten().collect::<Vec<_>>());
    match is(Fault::LogOut) {
        true => router.post("/logout", async || "good-bye"),
        false => router.post("/logout", log_out),
    }
    .auth(sessions.auth());
    let health = router.get("/health", async || "ok").public("monitoring asks it");
    if is(Fault::PolicyException) {
        health.rate_limit(false);
    }
    router.get("/pages/**", async |Path(page): Path<String>| page).middleware(token());
    let versions: &[&str] = if is(Fault::Version) { &[] } else { &["/v1/items", "/v2/items"] };
    for path in versions {
        router.get(path, async || "items").middleware(token());
    }
    let list: Vec<Middleware> = match fault {
        Some(Fault::UserFromHeader) => vec![token(), Middleware::new(user_from_header)],
        Some(Fault::UserFromDescribedHeader) => vec![
            token(),
            Middleware::new(user_from_header).describing(|doc| doc.reads_header("X-User", false)),
        ],
        Some(Fault::UserFromHiddenHeader) => {
            // Neither the name nor the description shows what the function does.
            let middleware = Middleware::new(user_from_header).named("with_timing");
            vec![token(), middleware.describing(|_| {})]
        }
        _ => vec![token()],
    };
    router.get("/mail", async || "mail").middleware(list);
    let file = || "a.txt".to_owned();
    match is(Fault::Secret) {
        true => router.get("/file", async move || Json(File { name: file(), content_hash: None })),
        false => router.get("/file", async move || Json(FileName { name: file() })),
    }
    .middleware(token());
    if is(Fault::OpenRoute) || is(Fault::OpenRouteWithReason) {
        let open = router.get("/export", async || "everything");
        if is(Fault::OpenRouteWithReason) {
            open.public("the data is public");
        }
    }
    let router = router.state(sessions);
    match is(Fault::Policy) || is(Fault::OpenRoute) {
        true => router,
        false => router.policy(policy(fault)),
    }
}

fn lock(fault: Option<Fault>) -> Lock {
    Lock::of(&program(fault).build().unwrap().route_map()).unwrap()
}

fn changes(fault: Fault) -> Changes {
    lock(None).changes_to(&lock(Some(fault)), SystemTime::UNIX_EPOCH)
}

/// Returns the entries of a report. The program without a policy has more
/// entries, and so has the route of the exception.
fn entries(fault: Fault) -> Vec<ChangeGroup> {
    let mut groups = changes(fault).groups();
    let is_of_policy = |group: &ChangeGroup| group.cause.rule.id.starts_with("policy-");
    match fault {
        Fault::OpenRoute => groups.retain(|group| !is_of_policy(group)),
        Fault::PolicyException => groups.retain(is_of_policy),
        _ => {}
    }
    groups
}

#[test]
fn names_fault_place_and_fix_first() {
    /// Checks the rule of the first entry, the number of entries, and parts of
    /// the text of the first entry.
    #[track_caller]
    fn check(fault: Fault, rule: &str, count: usize, parts: &[&str]) {
        let entries = entries(fault);
        let text = entries.iter().map(ToString::to_string).collect::<Vec<_>>().join("");
        let first = &entries[0];
        assert_eq!((first.cause.rule.id, entries.len()), (rule, count), "{text}");
        assert!(first.cause.rule.weakening, "{text}");
        let shown = first.to_string();
        assert!(shown.contains("    fix: "), "{shown}");
        for part in parts {
            assert!(shown.contains(part), "{part} is missing in\n{shown}");
        }
        let place = first.cause.locations.first().map(|place| place.file.as_str());
        assert!(place.is_some_and(|file| file.ends_with("lock.rs")), "{text}");
    }
    let set_auth = "set `auth` at the route, its node or the router";
    check(Fault::User, "user-not-required", 2, &["GET /me\n", "middleware-removed", set_auth]);
    check(Fault::Role, "role-not-required", 1, &["GET /users", "check-removed", "with_role"]);
    let csrf = ["add `with_cross_origin_protection`", "request-check-removed", "check-removed"];
    check(Fault::CrossOrigin, "cross-origin-allowed", 1, &csrf);
    let keys = ["POST /orders", "request-guard-removed", "add `with_idempotency`"];
    check(Fault::Idempotency, "idempotency-removed", 1, &keys);
    let cookie = ["POST /logout", "set-cookie"];
    check(Fault::LogOut, "reply-guard-removed", 1, &cookie);
    check(Fault::OpenRoute, "route-added-open", 1, &["without a reason", set_auth]);
    check(Fault::OpenRouteWithReason, "route-added-open", 1, &["the data is public"]);
    let header = ["GET /mail", "reads the user from a header that clients can send"];
    check(Fault::UserFromHeader, "middleware-opaque-changed", 1, &header);
    let own = ["GET /mail", "(described)", "may set the user", "declare it with `finds_user`"];
    check(Fault::UserFromDescribedHeader, "middleware-own-added", 2, &own);
    let second = entries(Fault::UserFromDescribedHeader)[1].to_string();
    for part in ["request-identity-added", "headers/x-user", "authenticate the user with `auth`"] {
        assert!(second.contains(part), "{second}");
    }
    let own = ["GET /mail", "with_timing", "may set the user", "declare it with `finds_user`"];
    check(Fault::UserFromHiddenHeader, "middleware-own-added", 1, &own);
    check(Fault::Secret, "reply-secret-added", 3, &["body.content_hash", "Policy::not_secret"]);
    let headers = ["router/security_headers", "lock.rs:"];
    check(Fault::SecurityHeaders, "security-header-removed", 8, &headers);
    check(Fault::Policy, "policy-removed", 2, &["add `.policy(…)` to the router"]);
    check(Fault::PolicyRule, "policy-rule-removed", 1, &["body-bounded", "uploads are large"]);
    let exception = ["rate-limited GET /health", "monitoring asks often", "remove the exception"];
    check(Fault::PolicyException, "policy-exception-added", 1, &exception);
}

#[test]
fn routes_of_several_versions_are_one_entry() {
    let entries = entries(Fault::Version);
    assert_eq!(entries.len(), 1);
    assert_eq!(entries[0].cause.routes, ["GET /v1/items", "GET /v2/items"]);
    let back = lock(Some(Fault::Version)).changes_to(&lock(None), SystemTime::UNIX_EPOCH);
    assert_eq!(back.groups().len(), 1, "{back}");
}

#[test]
fn declared_fields_are_not_secrets() {
    let with = |policy: Policy| {
        let app = program(Some(Fault::Secret)).policy(policy).build().unwrap();
        lock(None).changes_to(&Lock::of(&app.route_map()).unwrap(), SystemTime::UNIX_EPOCH)
    };
    let ids = |changes: &Changes| changes.iter().map(|it| it.rule.id).collect::<Vec<_>>();
    let declared = with(policy(None).not_secret("contentHash", "everybody may read the file"));
    assert_eq!(
        ids(&declared),
        ["policy-field-not-secret", "reply-field-added", "schema-renamed"],
        "{declared}"
    );
    assert!(declared.to_string().contains("everybody may read the file"), "{declared}");
    assert!(ids(&with(policy(None))).contains(&"reply-secret-added"));
    let error = program(None).policy(policy(None).not_secret("contentHash", "no such field"));
    let error = error.build().unwrap_err().to_string();
    assert!(error.contains("`not_secret(\"contentHash\")` is not needed"), "{error}");
    assert!(error.contains("lock.rs:"), "{error}");
}

#[test]
fn the_order_of_trusted_networks_does_not_matter() {
    let lock = |networks: [&str; 2]| {
        let trust = TrustProxy::networks(networks).unwrap();
        let options = RouterOptions::new().trust_proxy(trust);
        let router = create_router(routes! {}, options);
        Lock::of(&router.build().unwrap().route_map()).unwrap()
    };
    let (one, other) = (["10.0.0.0/8", "192.168.0.0/16"], ["192.168.0.0/16", "10.0.0.0/8"]);
    let changes = lock(one).changes_to(&lock(other), SystemTime::UNIX_EPOCH);
    assert!(changes.iter().all(|change| change.rule.id != "trust-proxy-changed"), "{changes}");
}

#[test]
fn an_older_lock_does_not_compare_the_policy() {
    let text = lock(None).to_string();
    let start = text.find("  \"policy\": ").unwrap();
    let end = text.find("  \"router\": ").unwrap();
    let older = Lock::read(&format!("{}{}", &text[..start], &text[end..])).unwrap();
    assert!(older.changes_to(&lock(None), SystemTime::UNIX_EPOCH).iter().all(|it| it.rule.text));
}

#[test]
fn an_open_wildcard_needs_a_guard_first() {
    let api = routes! {
        "files": { "**": { GET: { async |Path(name): Path<String>| name, public: "all files" } } },
    };
    let router = create_router(api, RouterOptions::new()).policy(Policy::recommended());
    let error = router.build().unwrap_err().to_string();
    let (guard, list) = (error.find("require a user with `auth`"), error.find(".allow("));
    assert!(guard.is_some() && guard < list, "{error}");
    assert!(error.contains("lock.rs:"), "{error}");
}

/// The internal router. Its login is Basic, which browsers send automatically.
fn admin(is_protected: bool) -> Router {
    let auth = Auth::basic("operators", |login: BasicCredentials| {
        (login.user() == "operator").then_some("operator")
    });
    let auth = Middleware::new(with_auth(auth));
    let csrf = is_protected.then(|| Middleware::new(with_cross_origin_protection()));
    let mut router = create_router(routes! {}, RouterOptions::new());
    router
        .delete("/users", async || ())
        .middleware(csrf.into_iter().chain([auth]).collect::<Vec<_>>());
    router
}

#[test]
fn several_routers_have_one_file_and_one_report() {
    let path = env::temp_dir().join(format!("stockade-guards-{}.lock", process::id()));
    let of = |is_protected: bool| {
        let routers =
            [program(None), admin(is_protected)].map(|it| it.build().unwrap().route_map());
        RouterLocks::of([("public", &routers[0]), ("admin", &routers[1])]).unwrap()
    };
    fs::write(&path, of(true).to_string()).unwrap();
    assert_routes_lock([("public", program(None)), ("admin", admin(true))], &path);
    let routers = || [("public", program(None)), ("admin", admin(false))];
    let failed = catch_unwind(AssertUnwindSafe(|| assert_routes_lock(routers(), &path)));
    let text = failed.unwrap_err().downcast::<String>().unwrap();
    let entry = "[weakening] cross-origin-allowed: requests of other origins are no longer \
                 rejected, or more origins are trusted\n    router \"admin\"\n    DELETE \
                 /users\n    at ";
    assert!(text.contains(entry), "{text}");
    assert!(!text.contains("router \"public\""), "{text}");

    // The file of one router becomes the file of several.
    let single = RouterLocks::read(&lock(None).to_string()).unwrap();
    let changes = single.changes_to(&of(true), SystemTime::UNIX_EPOCH);
    let found: Vec<_> = changes.iter().map(|it| (it.rule.id, it.router.as_str())).collect();
    assert_eq!(found, [("router-added", "admin"), ("route-added", "admin")], "{changes}");
    let one = RouterLocks::of([("public", &program(None).build().unwrap().route_map())]).unwrap();
    let changes = of(true).changes_to(&one, SystemTime::UNIX_EPOCH);
    assert!(changes.to_string().contains("router-removed") && changes.is_weakening(), "{changes}");
    let error = RouterLocks::read(r#"{"format": 1, "routers": {"a": 5}}"#).unwrap_err();
    assert!(error.to_string().starts_with("router \"a\": it is not a lock: "), "{error}");
    let error = Lock::read(&of(true).to_string()).unwrap_err().to_string();
    assert!(error.contains("routers admin, public"), "{error}");
    fs::remove_file(path).unwrap();
}

#[test]
fn several_routers_have_one_policy() {
    let policy = policy(None).public_routes(["GET /health"]);
    assert_policy([("public", program(None)), ("admin", admin(true))], &policy);
    let mut open = admin(true);
    open.get("/metrics", async || "numbers");
    let failed = catch_unwind(AssertUnwindSafe(|| {
        assert_policy([("public", program(None)), ("admin", open)], &policy);
    }));
    let text = failed.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("admin: GET /metrics: [access-declared]"), "{text}");
    let wrong = policy.allow("no-limit", "GET /nowhere", "a reason");
    let maps = [program(None), admin(true)].map(|it| it.build().unwrap().route_map());
    let findings = wrong.check_all([("public", &maps[0]), ("admin", &maps[1])]);
    assert_eq!(findings.len(), 1, "{findings:?}");
}

#[test]
fn only_one_test_shows_a_configuration_error() {
    let broken = || {
        let mut router = create_router(routes! {}, RouterOptions::new());
        router.get("/broken/:id", async |Path(_): Path<(u64, u64)>| ());
        router.get("/broken", async |_: State<String>| ());
        router
    };
    let fail = move || {
        let failed = catch_unwind(AssertUnwindSafe(|| drop(TestClient::new(broken()))));
        *failed.unwrap_err().downcast::<String>().unwrap()
    };
    let first =
        thread::Builder::new().name("first".to_owned()).spawn(fail).unwrap().join().unwrap();
    assert!(first.contains("2 configuration errors:\n") && first.contains("lock.rs:"), "{first}");
    let second = fail();
    assert!(second.ends_with("see the test `first`") && second.lines().count() == 1, "{second}");
}
