//! Conduit loses one defense at a time, and a guard names the fault, the file and the line.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::SystemTime;

use stockade::auth::verify_token_as;
use stockade::description::SecurityScheme;
use stockade::middleware::{ErrorReply, SecurityHeaders, TrustProxy};
use stockade::openapi::lock::Lock;
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::map::{RouteInfo, RouteMap};
use stockade::testing::{AccountRequest, Hardening, assert_posture};

use super::Conduit;
use crate::users::Viewer;
use crate::{options, policy_from, users, without_policy};

/// The defense that Conduit loses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    RateLimit,
    BodyLimit,
    ExposedErrors,
    AnyProxy,
    OpenWrite,
    OpenWriteWithReason,
    CachedResponses,
    MoreRequests,
    Policy,
    PolicyRule,
    AnyScheme,
    EndlessToken,
    UserFromHeader,
    ErrorSource,
    LoginWithoutLimit,
    SecretInResponse,
    FollowWithoutUser,
}

/// The guard that notices the fault.
#[derive(Clone, Copy, Debug)]
enum Guard {
    Policy,
    Lock,
    Attacks,
}

/// A fault, the guard that notices it, and the parts of its message.
type Row = (Fault, Guard, &'static [&'static str]);

/// The file of the routes, and the file of the routes of this test.
const MAIN: &str = "src/main.rs:";
const HERE: &str = "src/tests/mutations.rs:";

const ROWS: &[Row] = &[
    (Fault::RateLimit, Guard::Policy, &["router: [rate-limited]", MAIN]),
    (Fault::BodyLimit, Guard::Policy, &["router: [body-bounded]", "1024 MiB", MAIN]),
    (Fault::ExposedErrors, Guard::Policy, &["router: [errors-hidden]", MAIN]),
    (Fault::AnyProxy, Guard::Policy, &["router: [proxies-known]", "0.0.0.0/0", MAIN]),
    (Fault::OpenWrite, Guard::Policy, &["POST /import: [access-declared]", HERE]),
    (Fault::OpenWriteWithReason, Guard::Policy, &["POST /import: [writes-need-user]", HERE]),
    (Fault::CachedResponses, Guard::Lock, &["security-header-removed", "cache-control", MAIN]),
    (Fault::MoreRequests, Guard::Lock, &["rate-limit-raised", "\"limit\":60000", MAIN]),
    (Fault::Policy, Guard::Lock, &["policy-removed", MAIN]),
    (Fault::PolicyRule, Guard::Lock, &["policy-rule-removed", "writes-need-user", MAIN]),
    (Fault::AnyScheme, Guard::Lock, &["scheme-added", "DELETE /api/articles/:slug", MAIN]),
    (
        Fault::EndlessToken,
        Guard::Attacks,
        &["sign-outs: PUT /api/user", "after the change of the password", MAIN],
    ),
    (Fault::UserFromHeader, Guard::Attacks, &["detours: ", "x-webauth-user", MAIN]),
    (Fault::ErrorSource, Guard::Attacks, &["responses: ", "source of an error 500", MAIN]),
    (Fault::LoginWithoutLimit, Guard::Lock, &["rate-limit-raised", "POST /api/users/login", MAIN]),
    (Fault::SecretInResponse, Guard::Lock, &["reply-secret-added", "session_token", MAIN]),
    (Fault::FollowWithoutUser, Guard::Policy, &["POST /api/profiles/:username/follow: ", MAIN]),
];

/// Verifies a token, but not its session.
async fn authenticate(token: String, key: State<Secret>) -> Option<Viewer> {
    verify_token_as::<Viewer>(&token, &*key)
}

/// Trusts a header that every client can send.
fn user_from_header(req: &Request) -> Option<Value> {
    let name = req.headers().get("x-webauth-user")?.to_str().ok()?;
    Some(json!({ "id": 1, "session": name }))
}

/// Sends the source of an error to the client.
fn with_source(error: &mut ErrorReply) {
    let source = error.source().map(ToString::to_string);
    error.set_json(json!({ "errors": { "body": [error.message(), source] } }));
}

fn program(conduit: &Conduit, fault: Fault) -> Router {
    let token = match fault {
        Fault::EndlessToken => Auth::bearer(authenticate),
        _ => Auth::bearer(users::authenticate),
    };
    let token = token.documented_as(SecurityScheme::jwt());
    let token = match fault {
        Fault::AnyScheme => token,
        Fault::UserFromHeader => token.scheme("Token").or(Auth::verify(user_from_header)),
        _ => token.scheme("Token"),
    };
    let options = match fault {
        Fault::RateLimit => options().rate_limit(false),
        Fault::MoreRequests => options().rate_limit(60_000 / MINUTE),
        Fault::BodyLimit => options().max_body(1024 * 1024 * 1024),
        Fault::ExposedErrors => options().expose_errors(true),
        Fault::AnyProxy => options().trust_proxy(TrustProxy::networks(["0.0.0.0/0"]).unwrap()),
        Fault::CachedResponses => options().security_headers(SecurityHeaders::new()),
        Fault::ErrorSource => options().error_handling(with_source),
        _ => options(),
    };
    let mut router = without_policy(&token, options, conduit.secret.clone());
    if fault == Fault::OpenWrite || fault == Fault::OpenWriteWithReason {
        let import = router.post("/import", async || "imported");
        if fault == Fault::OpenWriteWithReason {
            import.public("only we know the address");
        }
    }
    router.state(conduit.db.clone())
}

/// Changes the map as another declaration or type would change it.
fn edit(map: &mut RouteMap, fault: Fault) {
    let mut of = |method: &str, path: &str, change: fn(&mut RouteInfo)| {
        let mut routes = map.routes.iter_mut();
        let route = routes.find(|route| route.method == method && route.path == path);
        change(route.unwrap_or_else(|| panic!("{method} {path}")));
    };
    match fault {
        Fault::LoginWithoutLimit => of("POST", "/api/users/login", |it| it.limits.rate.clear()),
        Fault::FollowWithoutUser => {
            of("POST", "/api/profiles/:username/follow", |it| it.access = Default::default());
        }
        Fault::SecretInResponse => {
            let user = map.schemas.get_mut("CurrentUser").unwrap();
            user["properties"]["session_token"] = json!({ "type": "string" });
        }
        _ => {}
    }
}

fn policy(fault: Fault) -> Option<Policy> {
    let policy = policy_from(Policy::recommended());
    match fault {
        Fault::Policy => None,
        Fault::PolicyRule => Some(policy.without("writes-need-user", "the tests check it")),
        _ => Some(policy),
    }
}

fn map(conduit: &Conduit, fault: Fault) -> RouteMap {
    let mut map = program(conduit, fault).build().unwrap().route_map();
    // The policy may stop the build of the faulty program.
    let guarded = |policy: Policy| program(conduit, Fault::None).policy(policy).build().unwrap();
    map.policy = policy(fault).and_then(|policy| guarded(policy).route_map().policy);
    edit(&mut map, fault);
    map
}

/// Returns the messages of a guard.
async fn messages(fault: Fault, guard: Guard) -> Vec<String> {
    let conduit = Conduit::new().await;
    match guard {
        Guard::Policy => {
            let findings = policy(Fault::None).unwrap().check(&map(&conduit, fault));
            findings.iter().map(ToString::to_string).collect()
        }
        Guard::Lock => {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("routes.lock");
            let before = Lock::read(&fs::read_to_string(path).unwrap()).unwrap();
            let after = Lock::of(&map(&conduit, fault)).unwrap();
            let groups = before.changes_to(&after, SystemTime::UNIX_EPOCH).groups();
            let weaker = groups.iter().filter(|group| group.cause.rule.weakening);
            weaker.map(ToString::to_string).collect()
        }
        Guard::Attacks => {
            conduit.register("ada").await;
            let user = json!({ "email": "ada@example.org", "password": "password1" });
            let sign_in = AccountRequest::new("POST /api/users/login");
            let change = AccountRequest::new("PUT /api/user");
            let report = Hardening::new(program(&conduit, fault))
                .tokens(conduit.secret.clone(), json!({ "id": 1, "session": "" }))
                .sign_in(sign_in.json(json!({ "user": user })))
                .password_change(change.json(json!({ "user": { "password": "bonjour1" } })))
                .run()
                .await;
            let lines = report.failures.iter().map(|it| {
                let place = it.location.as_ref().map(ToString::to_string).unwrap_or_default();
                let route = it.route.as_deref().unwrap_or_default();
                format!("{}: {route}: {}: {} ({place})", it.family, it.attack, it.found)
            });
            lines.collect()
        }
    }
}

#[tokio::test]
async fn each_fault_is_noticed() {
    let mut unnoticed = String::new();
    for (fault, guard, parts) in ROWS {
        let messages = messages(*fault, *guard).await;
        let fits = |message: &String| parts.iter().all(|part| message.contains(part));
        if !messages.iter().any(fits) {
            unnoticed += &format!("{fault:?}: {parts:?}\n{}\n", messages.join("\n"));
        }
    }
    assert!(unnoticed.is_empty(), "{unnoticed}");
}

#[tokio::test]
async fn nothing_is_noticed_without_a_fault() {
    for guard in [Guard::Policy, Guard::Lock, Guard::Attacks] {
        assert_eq!(messages(Fault::None, guard).await, Vec::<String>::new(), "{guard:?}");
    }
}

#[tokio::test]
async fn each_value_of_production_is_checked() {
    let conduit = Conduit::new().await;
    let file = conduit.folder.path().join("production.json");
    let path = file.to_str().unwrap();
    let good =
        "{\n  \"trustProxy\": 1,\n  \"rateLimit\": { \"max\": 600 },\n  \"exposeErrors\": false\n}";
    for (from, to, line, part) in [
        ("\"trustProxy\": 1", "\"trustProxy\": true", 2, "[proxies-known]"),
        ("{ \"max\": 600 }", "false", 3, "[rate-limited]"),
        ("\"exposeErrors\": false", "\"exposeErrors\": true", 4, "[errors-hidden]"),
    ] {
        fs::write(&file, good.replace(from, to)).unwrap();
        let checked = || assert_posture(conduit.router(), path);
        let failed = catch_unwind(AssertUnwindSafe(checked)).expect_err(to);
        let text = *failed.downcast::<String>().unwrap();
        assert!(text.contains(part) && text.contains(&format!("({path}:{line})")), "{text}");
    }
    fs::write(&file, good).unwrap();
    assert_posture(conduit.router(), path);
}
