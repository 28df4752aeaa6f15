//! Mutations: the tracker loses one defense at a time, and a guard names the
//! fault, the file and the line.
//!
//! `program` is a copy of the routes. A fault replaces a handler or a setting in
//! it. `leaks` has the handlers of the faults.

mod leaks;
mod program;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::SystemTime;

use stockade::App;
use stockade::openapi::lock::{Changes, RouterLocks};
use stockade::policy::{Policy, parse_json};
use stockade::prelude::*;
use stockade::testing::{HardeningFailure, TestClient, assert_posture};

use self::program::{Fault, admin, policy, public};
use super::World;
use crate::api;

/// The guard that notices the fault.
#[derive(Clone, Copy, Debug)]
enum Guard {
    /// The policy stops the build of the public API.
    Build,
    /// The policy stops the build of the internal API.
    BuildAdmin,
    /// The committed lock differs.
    Lock,
    /// An attack succeeds.
    Attacks,
}

/// A fault, the guard that notices it, and the parts of its message.
type Row = (Fault, Guard, &'static [&'static str]);

const PROGRAM: &str = "src/tests/mutations/program.rs:";
const API: &str = "src/api.rs:";
const ADMIN: &str = "src/admin.rs:";

/// A value that production must not have: the text before and after, the line,
/// and a part of the message.
type Weaker = (&'static str, &'static str, u32, &'static str);

const ROWS: &[Row] = &[
    // Declarations that the policy rejects.
    (
        Fault::SameSite,
        Guard::Build,
        &["POST /projects: [cookies-strict]", "SameSite=None", PROGRAM],
    ),
    (Fault::SessionLifetime, Guard::Build, &["[sessions-bounded]", "365d", PROGRAM]),
    (Fault::LaxOrigins, Guard::Build, &["POST /projects: [cross-origin-protected]", PROGRAM]),
    (Fault::Unsigned, Guard::Build, &["POST /webhooks/payments: [webhooks-signed]", PROGRAM]),
    (Fault::LateSignature, Guard::Build, &["[webhooks-signed]", "1440 minutes", PROGRAM]),
    (Fault::MembersWithoutRole, Guard::Build, &["GET /members: [admins-manage]", PROGRAM]),
    (Fault::OpenRoute, Guard::Build, &["GET /export: [access-declared]", PROGRAM]),
    (Fault::OpenRouteWithReason, Guard::Build, &["GET /export: [public-routes]", PROGRAM]),
    (Fault::RateLimit, Guard::Build, &["router: [rate-limited]", "POST /sign-out", API]),
    (Fault::BodyLimit, Guard::Build, &["router: [body-bounded]", "1024 MiB", API]),
    (Fault::ExposedErrors, Guard::Build, &["router: [errors-hidden]", API]),
    (Fault::AnyProxy, Guard::Build, &["router: [proxies-known]", "0.0.0.0/0", API]),
    (Fault::AnyOrigin, Guard::Build, &["router: [cors-open-with-user]", API]),
    (
        Fault::AdminOrigins,
        Guard::BuildAdmin,
        &["DELETE /companies/:company: [cross-origin-protected]", ADMIN],
    ),
    // Changes that only the lock knows.
    (Fault::Policy, Guard::Lock, &["policy-removed", "router \"public\"", API]),
    (Fault::AdminPolicy, Guard::Lock, &["policy-removed", "router \"admin\"", ADMIN]),
    (Fault::PolicyRule, Guard::Lock, &["policy-rule-removed", "webhooks-signed", API]),
    (Fault::AdminRouter, Guard::Lock, &["router-removed", "admin"]),
    (Fault::SessionOrigins, Guard::Lock, &["cross-origin-allowed", "/hooks/:hook", PROGRAM]),
    (Fault::SecurityHeaders, Guard::Lock, &["security-header-removed", API]),
    (Fault::SignInLimit, Guard::Lock, &["rate-limit-raised", "POST /sign-in", PROGRAM]),
    (Fault::SignInOrigins, Guard::Lock, &["cross-origin-allowed", "POST /sign-in", PROGRAM]),
    (Fault::AnyUrl, Guard::Lock, &["request-pattern-removed", "POST /hooks", PROGRAM]),
    (Fault::ShortPassword, Guard::Lock, &["request-bound-loosened", "POST /members", PROGRAM]),
    (Fault::InlineFile, Guard::Build, &["GET /files/:file: [uploads-downloaded]", PROGRAM]),
    (Fault::InlineFile, Guard::Lock, &["GET /files/:file", "content-disposition", PROGRAM]),
    // Statements that forget the company.
    (Fault::ShowProject, Guard::Attacks, &["tenants: GET /projects/:project", PROGRAM]),
    (Fault::RenameProject, Guard::Attacks, &["tenants: PUT /projects/:project", PROGRAM]),
    (Fault::CreateIssue, Guard::Attacks, &["tenants: POST /projects/:project/issues", PROGRAM]),
    (Fault::SearchIssues, Guard::Attacks, &["tenants: GET /issues", "own objects", PROGRAM]),
    (
        Fault::MoveIssue,
        Guard::Attacks,
        &["tenants: PATCH /projects/:project/issues/:issue", "`projectId`", PROGRAM],
    ),
    (
        Fault::DeleteIssue,
        Guard::Attacks,
        &["tenants: DELETE /projects/:project/issues/:issue", "different afterwards", PROGRAM],
    ),
    (Fault::Download, Guard::Attacks, &["tenants: GET /files/:file", PROGRAM]),
    (Fault::ListHooks, Guard::Attacks, &["tenants: GET /hooks", "own objects", PROGRAM]),
    (Fault::RemoveMember, Guard::Attacks, &["tenants: DELETE /members/:member", PROGRAM]),
    // Logins that do not end.
    (Fault::SignOut, Guard::Attacks, &["sign-outs: POST /sign-out", "after the sign-out", PROGRAM]),
    (
        Fault::SignOutEverywhere,
        Guard::Attacks,
        &["sign-outs: POST /sign-out-everywhere", "on another device", PROGRAM],
    ),
    (
        Fault::NewPassword,
        Guard::Attacks,
        &["sign-outs: PUT /me/password", "on another device", PROGRAM],
    ),
    (Fault::OldPassword, Guard::Attacks, &["sign-outs: PUT /me/password", "old password", PROGRAM]),
    (Fault::Member, Guard::Attacks, &["sign-outs: DELETE /members/:member", PROGRAM]),
    (Fault::Role, Guard::Attacks, &["sign-outs: PUT /members/:member/role", PROGRAM]),
    // Handlers and middleware that look right.
    (
        Fault::AnySignature,
        Guard::Attacks,
        &["credentials: POST /webhooks/payments", "another secret", PROGRAM],
    ),
    (Fault::RoleFromHeader, Guard::Attacks, &["detours: GET /members", "x-user-role", PROGRAM]),
    (Fault::ErrorSource, Guard::Attacks, &["responses: ", "source of an error 500", PROGRAM]),
];

const VALUES: &[Weaker] = &[
    (r#"["https://tracker.example"]"#, r#""*""#, 3, "[cors-open-with-user]"),
    (
        r#"["https://tracker.example"]"#,
        r#"["https://tracker.example", "http://localhost:5173"]"#,
        3,
        "[cors-development-origin]",
    ),
    (r#""trustProxy": 1"#, r#""trustProxy": true"#, 4, "[proxies-known]"),
    (r#"{ "max": 300, "windowMs": 60000 }"#, "false", 5, "[rate-limited]"),
    (r#""trustProxy": 1"#, r#""exposeErrors": true"#, 4, "[errors-hidden]"),
];

/// Returns the committed lock of both APIs.
fn committed() -> RouterLocks {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("routes.lock");
    RouterLocks::read(&fs::read_to_string(path).unwrap()).unwrap()
}

/// Returns the changes of the committed lock.
fn changes(world: &World, fault: Fault) -> Changes {
    let map = |router: Router| {
        let app = router.build().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        app.route_map_with_files(Some(folder), &parse_json).unwrap()
    };
    let mut routers = vec![("public", map(public(world, fault)))];
    // The policy may stop the build of the faulty program.
    let guarded = |policy: Policy| {
        let api = api::routes(&world.parts);
        let router = api::with_parts(api, &world.parts, RouterOptions::new());
        map(router.state(world.db.clone()).policy(policy))
    };
    routers[0].1.policy = policy(fault).and_then(|policy| guarded(policy).policy);
    if fault != Fault::AdminRouter {
        routers.push(("admin", map(admin(world, fault))));
    }
    let locks = RouterLocks::of(routers.iter().map(|(name, map)| (*name, map))).unwrap();
    committed().changes_to(&locks, SystemTime::UNIX_EPOCH)
}

/// Returns the messages of a guard.
async fn messages(fault: Fault, guard: Guard) -> Vec<String> {
    let lines = |built: Result<App, ConfigError>| {
        let text = built.err().map(|error| error.to_string()).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    };
    match guard {
        Guard::Build => {
            let router = public(&World::without_companies().await, fault);
            lines(router.policy(api::policy()).build())
        }
        Guard::BuildAdmin => lines(admin(&World::without_companies().await, fault).build()),
        Guard::Lock => {
            let groups = changes(&World::without_companies().await, fault).groups();
            let weaker = groups.iter().filter(|group| group.cause.rule.weakening);
            weaker.map(ToString::to_string).collect()
        }
        Guard::Attacks => {
            let world = World::new().await;
            let report = world.attacks(public(&world, fault)).await.run().await;
            report.failures.iter().map(shown).collect()
        }
    }
}

/// Returns a failure in one line.
fn shown(failure: &HardeningFailure) -> String {
    let route = failure.route.as_deref().unwrap_or_default();
    let place = failure.location.as_ref().map(ToString::to_string).unwrap_or_default();
    let HardeningFailure { family, attack, found, .. } = failure;
    format!("{family}: {route}: {attack}: {found} ({place})")
}

/// Returns the rows that no message of the guard has.
async fn unnoticed(rows: &[Row]) -> Vec<String> {
    let mut unnoticed = Vec::new();
    for (fault, guard, parts) in rows {
        let messages = messages(*fault, *guard).await;
        let fits = |message: &&String| parts.iter().all(|part| message.contains(part));
        if !messages.iter().any(|message| fits(&message)) {
            unnoticed.push(format!("{fault:?}: {parts:?}\n  {}", messages.join("\n  ")));
        }
    }
    unnoticed
}

#[tokio::test(flavor = "multi_thread")]
async fn each_fault_is_noticed() {
    let parts = ROWS.chunks(ROWS.len().div_ceil(4)).map(|rows| tokio::spawn(unnoticed(rows)));
    let mut wrong = Vec::new();
    for part in parts.collect::<Vec<_>>() {
        wrong.extend(part.await.unwrap());
    }
    assert_eq!(wrong, Vec::<String>::new(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn the_copy_has_the_routes_of_the_tracker() {
    let changes = changes(&World::without_companies().await, Fault::None);
    assert!(changes.iter().all(|change| change.rule.text), "{changes}");
}

/// The responses declare the maximum length of a list, and the contract checks it.
#[tokio::test]
async fn a_statement_without_a_limit_breaks_the_contract() {
    let world = World::new().await;
    let session = world.client("ada@acme.example").await.cookie("__Host-session").unwrap();
    let client = TestClient::new(public(&world, Fault::Unlimited)).with_contract();
    let client = client.with_header("cookie", format!("__Host-session={session}"));
    for _ in 0..101 {
        let add = "INSERT INTO projects (tenant, name) VALUES ('acme', 'one of many')";
        world.db.execute(add).await.unwrap();
    }
    let listed = tokio::spawn(async move { drop(client.get("/projects").await) }).await;
    let text = *listed.unwrap_err().into_panic().downcast::<String>().unwrap();
    assert!(text.contains("GET /projects") && text.contains(PROGRAM), "{text}");
    assert!(text.contains("items"), "{text}");
}

#[tokio::test]
async fn each_value_of_production_is_checked() {
    let world = World::without_companies().await;
    let file = world.folder.path().join("production.json");
    let path = file.to_str().unwrap();
    let good = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("production.json"));
    let good = good.unwrap();
    for (from, to, line, part) in VALUES {
        assert!(good.contains(from), "{from}");
        fs::write(&file, good.replace(from, to)).unwrap();
        let checked = || assert_posture(world.public(), path);
        let failed = catch_unwind(AssertUnwindSafe(checked)).expect_err(to);
        let text = *failed.downcast::<String>().unwrap();
        assert!(text.contains(part), "{text}");
        assert!(text.contains(&format!("({path}:{line})")), "{text}");
    }
}

#[tokio::test]
async fn a_weaker_value_of_production_changes_the_lock() {
    let world = World::without_companies().await;
    let file = world.folder.path().join("production.json");
    let path = file.to_str().unwrap();
    let lock = |text: &str| {
        fs::write(&file, text).unwrap();
        let app = world.public().configuration(path).build().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let map = app.route_map_with_files(Some(folder), &parse_json).unwrap();
        RouterLocks::of([("public", &map)]).unwrap()
    };
    let good = r#"{ "rateLimit": { "max": 300, "windowMs": 60000 } }"#;
    let before = lock(good);
    let changes = before.changes_to(&lock(&good.replace("300", "30000")), SystemTime::UNIX_EPOCH);
    let text = changes.to_string();
    assert!(text.starts_with("[weakening] rate-limit-raised"), "{text}");
    assert!(text.contains(&format!("at {path}:1")), "{text}");
}
