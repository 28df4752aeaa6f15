//! The example shop loses one defense at a time. The shop has the public
//! functions of its program, so each fault is a change of its options, its
//! policy, its routes or its surroundings.
//!
//! The last rows change the route map itself, as the removal of a middleware in
//! the tree would. `edits_are_the_effects_of_real_changes` compares such edits
//! with real changes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::SystemTime;

use futures_util::FutureExt as _;
use shop::{Role, Shop};
use stockade::auth::generate_jwt;
use stockade::middleware::{ErrorReply, Metrics, TrustProxy};
use stockade::openapi::lock::{Changes, Lock};
use stockade::policy::Policy;
use stockade::prelude::*;
use stockade::routing::map::{RouteInfo, RouteMap};
use stockade::testing::{Credentials, Hardening, assert_posture};

use crate::block_on;

/// The defense that the shop loses.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Fault {
    None,
    RateLimit,
    BodyLimit,
    AnyProxy,
    OpenRoute,
    OpenRouteWithReason,
    MoreRequests,
    SecurityHeaders,
    AnySocketOrigin,
    Policy,
    PolicyRule,
    ErrorSource,
    UserOfProxy,
    OverriddenMethod,
    MetricsWithoutRole,
    AccountWithoutPermission,
    StockWithoutRole,
    CheckoutWithoutKey,
    LoginWithoutLimit,
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

/// The files of the shop's routes, and the file of the routes of this test.
const SHOP: &str = "examples/shop/src/lib.rs:";
const PRODUCTS: &str = "examples/shop/src/products.rs:";
const HERE: &str = "guards/example_shop.rs:";

const ROWS: &[Row] = &[
    (Fault::RateLimit, Guard::Policy, &["router: [rate-limited]", "GET / and 45 others", SHOP]),
    (Fault::BodyLimit, Guard::Policy, &["[body-bounded]", "1024 MiB", SHOP]),
    (Fault::AnyProxy, Guard::Policy, &["router: [proxies-known]", "0.0.0.0/0", SHOP]),
    (Fault::OpenRoute, Guard::Policy, &["GET /export: [access-declared]", HERE]),
    (Fault::OpenRouteWithReason, Guard::Lock, &["route-added-open", "GET /export", HERE]),
    (Fault::MoreRequests, Guard::Lock, &["rate-limit-raised", "\"limit\":30000", SHOP]),
    (Fault::SecurityHeaders, Guard::Lock, &["security-header-removed", SHOP]),
    (Fault::AnySocketOrigin, Guard::Lock, &["origin-added", "WS /chat/:topic", SHOP]),
    (Fault::Policy, Guard::Lock, &["policy-removed", SHOP]),
    (Fault::PolicyRule, Guard::Lock, &["policy-rule-removed", "stock-is-guarded", SHOP]),
    (Fault::ErrorSource, Guard::Attacks, &["responses", "source of an error 500", SHOP]),
    (Fault::UserOfProxy, Guard::Attacks, &["detours", "x-forwarded-user: ", SHOP]),
    (Fault::OverriddenMethod, Guard::Attacks, &["detours", "x-http-method-override", SHOP]),
    (Fault::MetricsWithoutRole, Guard::Lock, &["role-not-required", "GET /metrics", SHOP]),
    (Fault::AccountWithoutPermission, Guard::Lock, &["permission-not-required", SHOP]),
    (Fault::StockWithoutRole, Guard::Policy, &["POST /products: [stock-is-guarded]", PRODUCTS]),
    (Fault::CheckoutWithoutKey, Guard::Lock, &["idempotency-removed", "checkout", SHOP]),
    (Fault::LoginWithoutLimit, Guard::Lock, &["rate-limit-raised", "POST /login", SHOP]),
];

const SECRET: &str = "the shop's secret has thirty-two";

fn stocked() -> Shop {
    let secret = Secret::new(SECRET).unwrap();
    let shop = Shop::open(":memory:", secret).now_or_never().unwrap().unwrap();
    for (name, role) in [("dan", Role::Admin), ("ann", Role::Customer), ("cleo", Role::Clerk)] {
        let email = format!("{name}@example.org");
        shop.add_account(name, &email, role, "").now_or_never().unwrap().unwrap();
    }
    shop
}

/// Sends the source of an error to the client.
fn with_source(error: &mut ErrorReply) {
    let source = error.source().map(ToString::to_string);
    error.set_json(json!({ "error": error.message(), "cause": source }));
}

fn program(fault: Fault) -> Router {
    let metrics = Metrics::new();
    let options = shop::options(&metrics);
    let options = match fault {
        Fault::RateLimit => options.rate_limit(false),
        Fault::MoreRequests => options.rate_limit(30_000 / MINUTE),
        Fault::BodyLimit => options.max_body(1024 * 1024 * 1024),
        Fault::AnyProxy => options.trust_proxy(TrustProxy::networks(["0.0.0.0/0"]).unwrap()),
        Fault::SecurityHeaders => options.security_headers(false),
        Fault::AnySocketOrigin => options.ws_allowed_origins(["*"]),
        Fault::ErrorSource => options.error_handling(with_source),
        _ => options,
    };
    let mut router = shop::router_with(stocked(), &metrics, options);
    if fault == Fault::OpenRoute || fault == Fault::OpenRouteWithReason {
        let export = router.get("/export", async || "everything");
        if fault == Fault::OpenRouteWithReason {
            export.public("the data is public");
        }
    }
    router
}

fn policy(fault: Fault) -> Option<Policy> {
    match fault {
        Fault::Policy => None,
        Fault::PolicyRule => {
            Some(shop::policy().without("stock-is-guarded", "the clerks are trusted"))
        }
        _ => Some(shop::policy()),
    }
}

/// Changes the map as the removal of a middleware changes it.
fn edit(map: &mut RouteMap, fault: Fault) {
    let mut of = |method: &str, path: &str, change: fn(&mut RouteInfo)| {
        let mut routes = map.routes.iter_mut();
        let route = routes.find(|route| route.method == method && route.path == path);
        change(route.unwrap_or_else(|| panic!("{method} {path}")));
    };
    match fault {
        Fault::MetricsWithoutRole => of("GET", "/metrics", |it| it.access.roles.clear()),
        Fault::AccountWithoutPermission => {
            of("PATCH", r"/users/:id(\d+)", |it| it.access.permissions.clear());
        }
        Fault::StockWithoutRole => of("POST", "/products", |it| it.access.roles.clear()),
        Fault::CheckoutWithoutKey => {
            of("POST", r"/carts/:cart(\d+)/checkout", |it| it.idempotency = None);
        }
        Fault::LoginWithoutLimit => of("POST", "/login", |it| it.limits.rate.clear()),
        _ => {}
    }
}

fn map(fault: Fault) -> RouteMap {
    let mut map = program(fault).build().unwrap().route_map();
    // The policy may stop the build of the faulty program.
    let guarded = |policy: Policy| program(Fault::None).policy(policy).build().unwrap();
    map.policy = policy(fault).and_then(|policy| guarded(policy).route_map().policy);
    edit(&mut map, fault);
    map
}

fn committed() -> Lock {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop/routes.lock");
    Lock::read(&fs::read_to_string(path).unwrap()).unwrap()
}

fn changes(map: &RouteMap) -> Changes {
    committed().changes_to(&Lock::of(map).unwrap(), SystemTime::UNIX_EPOCH)
}

/// Returns the credentials of a user with these roles.
fn user(roles: &[&str]) -> Option<Credentials> {
    let id = match roles {
        ["admin"] => "1",
        [] => "2",
        ["clerk"] => "3",
        _ => return None,
    };
    let token = generate_jwt(json!({ "sub": id }), "1h", &Secret::new(SECRET).unwrap());
    Some(Credentials::bearer(token.unwrap()))
}

/// Changes a request like a proxy before the shop.
fn by_proxy(fault: Fault, mut req: Request) -> Request {
    let claimed = |name: &str| {
        let value = req.headers().get(name)?.to_str().ok()?;
        Some(value.to_owned())
    };
    match fault {
        Fault::UserOfProxy if claimed("x-forwarded-user").is_some() => {
            let admin = user(&["admin"]).unwrap();
            req.headers_mut().extend(admin.headers().clone());
            req
        }
        Fault::OverriddenMethod => {
            let Some(method) = claimed("x-http-method-override") else { return req };
            let (mut head, body) = req.into_parts();
            head.method = method.parse().unwrap_or(head.method);
            Request::new(head, body)
        }
        _ => req,
    }
}

/// Returns the messages of a guard.
fn messages(fault: Fault, guard: Guard) -> Vec<String> {
    match guard {
        Guard::Policy => {
            let mut map = program(fault).build().unwrap().route_map();
            edit(&mut map, fault);
            shop::policy().check(&map).iter().map(ToString::to_string).collect()
        }
        Guard::Lock => {
            let groups = changes(&map(fault)).groups();
            let weaker = groups.iter().filter(|group| group.cause.rule.weakening);
            weaker.map(ToString::to_string).collect()
        }
        Guard::Attacks => {
            let around =
                move |app: App, req: Request| async move { app.handle(by_proxy(fault, req)).await };
            let hardening = Hardening::new(program(fault)).users(user).allow_reads();
            let hardening = hardening.anew(move || program(fault)).through(around);
            let report = block_on(hardening.run());
            let lines = report.failures.iter().map(|it| {
                let place = it.location.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{}: {}: {} ({place})", it.family, it.attack, it.found)
            });
            lines.collect()
        }
    }
}

#[test]
fn each_fault_is_noticed() {
    let unnoticed = ROWS.iter().filter_map(|(fault, guard, parts)| {
        let messages = messages(*fault, *guard);
        let fits = |message: &String| parts.iter().all(|part| message.contains(part));
        let is_noticed = messages.iter().any(fits);
        (!is_noticed).then(|| format!("{fault:?}: {parts:?}\n{}\n", messages.join("\n")))
    });
    let unnoticed: String = unnoticed.collect();
    assert!(unnoticed.is_empty(), "{unnoticed}");
}

#[test]
fn nothing_is_noticed_without_a_fault() {
    for guard in [Guard::Policy, Guard::Lock, Guard::Attacks] {
        let messages = messages(Fault::None, guard);
        assert_eq!(messages, Vec::<String>::new(), "{guard:?}");
    }
}

/// An edit of the map has the same report as the real change.
#[test]
fn edits_are_the_effects_of_real_changes() {
    #[track_caller]
    fn check(fault: Fault, edit: fn(&mut RouteMap)) {
        let mut edited = map(Fault::None);
        edit(&mut edited);
        let real = map(fault);
        let of = |map: &RouteMap| {
            let changes = changes(map);
            let lines = changes.iter().map(|it| {
                (it.rule.id, it.routes.clone(), it.at.clone(), it.before.clone(), it.after.clone())
            });
            lines.collect::<Vec<_>>()
        };
        assert!(!of(&real).is_empty(), "{fault:?}");
        assert_eq!(of(&edited), of(&real), "{fault:?}");
    }
    check(Fault::MoreRequests, |map| {
        for quota in map.routes.iter_mut().flat_map(|it| &mut it.limits.rate) {
            if quota.name == "default" {
                quota.limit = Some(30_000);
            }
        }
        map.router.rate_limit.as_mut().unwrap().limit = Some(30_000);
    });
    check(Fault::AnySocketOrigin, |map| {
        for socket in map.routes.iter_mut().filter_map(|it| it.web_socket.as_mut()) {
            socket.allowed_origins = vec!["*".to_owned()];
            socket.same_origin = false;
        }
    });
    check(Fault::Policy, |map| map.policy = None);
}

/// A configuration file of the shop.
const PRODUCTION: &str = r#"{
  "corsOrigin": ["https://shop.example"],
  "trustProxy": 1,
  "rateLimit": { "max": 300, "windowMs": 60000 },
  "exposeErrors": false
}
"#;

#[test]
fn each_value_of_production_is_checked() {
    let folder = std::env::temp_dir().join(format!("stockade-shop-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("production.json");
    let path = file.to_str().unwrap();
    let router = || program(Fault::None).policy(shop::policy());
    let posture = |text: &str| {
        fs::write(&file, text).unwrap();
        let outcome = catch_unwind(AssertUnwindSafe(|| assert_posture(router(), path)));
        outcome.map_err(|panic| *panic.downcast::<String>().unwrap())
    };
    assert_eq!(posture(PRODUCTION), Ok(()));
    for (from, to, line, part) in [
        (r#"["https://shop.example"]"#, r#""*""#, 2, "[cors-open-with-user]"),
        (r#""trustProxy": 1"#, r#""trustProxy": true"#, 3, "[proxies-known]"),
        (r#"{ "max": 300, "windowMs": 60000 }"#, "false", 4, "[rate-limited]"),
        (r#""exposeErrors": false"#, r#""exposeErrors": true"#, 5, "[errors-hidden]"),
    ] {
        assert!(PRODUCTION.contains(from), "{from}");
        let text = posture(&PRODUCTION.replace(from, to)).expect_err(to);
        assert!(text.contains(part) && text.contains(&format!("({path}:{line})")), "{text}");
    }
    fs::remove_dir_all(folder).unwrap();
}
