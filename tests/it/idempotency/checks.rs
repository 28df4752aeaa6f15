//! Facts about keys in the route map, and checks that use them: policies,
//! hardening and schemas.

use std::time::Duration;

use stockade::http::HeaderValue;
use stockade::middleware::idempotency::{OnAbandoned, OnStoreError};
use stockade::policy::Policy;
use stockade::testing::{AttackFamily, Hardening, HardeningReport, check_schemas};

use super::*;
use crate::support::block_on;

#[derive(serde::Deserialize, serde::Serialize, Schema)]
struct Payment {
    #[schema(minimum = 1, maximum = 1_000)]
    cents: u32,
}

/// Creates a route that requires a key from every client that `auth` accepts.
fn paying(auth: Middleware, keys: Idempotency) -> Router {
    let middleware = vec![auth, with_idempotency(keys.required(true))];
    let handler = async |Body(payment): Body<Payment>| payment;
    let api = routes! { "pay": { POST: { handler: handler, middleware: middleware } } };
    create_router(api, RouterOptions::new())
}

#[test]
fn the_map_has_the_facts_of_keys() {
    let info = |keys: Idempotency| {
        let map = paying(by_name(), keys).build().unwrap().route_map();
        serde_json::to_value(&map.routes[0].idempotency).unwrap()
    };
    let defaults = json!({
        "required": true,
        "lease_ms": 30_000,
        "ttl_ms": 86_400_000,
        "refuses_after_crash": false,
        "passes_outage": false,
        "own_scope": false,
    });
    assert_eq!(info(in_memory()), defaults);
    let others = in_memory()
        .lease(Duration::from_secs(2))
        .ttl(Duration::from_secs(60))
        .on_abandoned(OnAbandoned::Refuse)
        .on_store_error(OnStoreError::Pass)
        .scope_by(|_| Ok(String::new()));
    let expected = json!({
        "required": true,
        "lease_ms": 2_000,
        "ttl_ms": 60_000,
        "refuses_after_crash": true,
        "passes_outage": true,
        "own_scope": true,
    });
    assert_eq!(info(others), expected);
    let mut expected = defaults;
    expected["unquoted_keys"] = true.into();
    expected["repeats_errors"] = true.into();
    assert_eq!(info(in_memory().unquoted_keys(true).keep_errors(false)), expected);
    let map = create_router(routes! { POST: async || () }, quiet()).build().unwrap().route_map();
    assert_eq!(map.routes[0].idempotency, None);
}

#[test]
fn policies_report_ineffective_keys() {
    let found = |router: Router| {
        let findings = Policy::strict().check(&router.build().unwrap().route_map());
        let rules = findings.into_iter().map(|finding| finding.rule);
        rules.filter(|rule| rule.starts_with("keys-")).collect::<Vec<_>>()
    };
    let user = || with_auth(Auth::bearer(async |name: String| Some(json!({ "sub": name }))));
    assert!(found(paying(user(), in_memory())).is_empty());
    let passing = in_memory().on_store_error(OnStoreError::Pass);
    assert_eq!(found(paying(user(), passing)), ["keys-hold"]);
    assert_eq!(found(paying(by_name(), in_memory())), ["keys-told-apart"]);
    let scoped = in_memory().scope_by(|_| Ok(String::new()));
    assert!(found(paying(by_name(), scoped)).is_empty());
}

fn attack(hardening: &Hardening) -> HardeningReport {
    block_on(hardening.run())
}

#[test]
fn rejects_attacks_on_keys() {
    let report = attack(&Hardening::new(paying(by_name(), in_memory())));
    assert_eq!(report.count(AttackFamily::IdempotencyKeys).passed, 13, "{report}");
    assert_eq!(report.count(AttackFamily::IdempotencyKeys).failed, 0, "{report}");
    // These attacks send a key. Otherwise the missing key would cause the
    // rejection.
    assert!(report.count(AttackFamily::Bodies).passed > 10, "{report}");
    assert!(report.is_hardened(), "{report}");
}

#[test]
fn rejects_attacks_on_unquoted_keys() {
    let report = attack(&Hardening::new(paying(by_name(), in_memory().unquoted_keys(true))));
    assert_eq!(report.count(AttackFamily::IdempotencyKeys).passed, 14, "{report}");
    assert!(report.is_hardened(), "{report}");
}

/// A layer in front of the application adds a key to each request.
#[test]
fn hardening_detects_a_generated_key() {
    let made_up = async |app: App, mut req: Request| {
        req.headers_mut().insert("idempotency-key", HeaderValue::from_static("\"k\""));
        app.handle(req).await
    };
    let report = attack(&Hardening::new(paying(by_name(), in_memory())).through(made_up));
    let mut failures = report.failures.iter();
    let failure = failures.find(|it| it.attack == "no key").unwrap_or_else(|| panic!("{report}"));
    assert_eq!(failure.family, AttackFamily::IdempotencyKeys);
    assert!(failure.found.contains("200 OK"), "{report}");
}

#[tokio::test]
async fn checks_schemas_of_a_route_that_requires_a_key() {
    for unquoted in [false, true] {
        let router = paying(by_name(), in_memory().unquoted_keys(unquoted));
        let report = check_schemas(router).kept_in(None).try_run().await.unwrap();
        let route = &report.routes[0];
        assert!(route.failures.is_empty() && route.not_checked.is_empty(), "{report}");
        assert_eq!(route.replies[&200], route.valid, "{report}");
        assert!(route.valid >= 64 && route.rules >= 2, "{report}");
    }
}
