//! Exceptions: allowances, public routes, disabled rules and custom rules.

use stockade::policy::Finding;
use stockade::prelude::*;

use super::*;

fn api() -> RouteMap {
    let tree = routes! {
        "login": { POST: { handler: async || "", public: "one has no user yet" } },
        "files": { "**": { GET: { handler: async || "", public: "a test" } } },
        "internal": { "a": { GET: async || "" }, GET: async || "" },
        "internals": { GET: { handler: async || "", public: "a test" } },
    };
    map_of(create_router(tree, RouterOptions::new().prefix("/api")))
}

/// Checks the lines of the findings, without file names and line numbers.
#[track_caller]
fn check_lines(policy: &Policy, expected: &[&str]) {
    let findings = policy.check(&api());
    let lines: Vec<String> = findings.iter().map(ToString::to_string).collect();
    let lines: Vec<&str> = lines.iter().map(|line| line.split(" (tests").next().unwrap()).collect();
    let found = lines.iter().zip(expected).all(|(line, start)| line.starts_with(start));
    assert!(found && lines.len() == expected.len(), "{lines:#?}");
    for finding in findings {
        let place = finding.location.unwrap();
        assert!(place.file.ends_with("exceptions.rs"), "{place}");
    }
}

/// Returns a policy without findings.
fn kept() -> Policy {
    Policy::recommended().allow("wildcard-exposed", "GET /api/files/**", "any depth").allow_below(
        "access-declared",
        "/api/internal",
        "the network guards it",
    )
}

#[test]
fn allowances_cover_a_route_or_a_subtree() {
    check_lines(&kept(), &[]);
    check_lines(
        &Policy::recommended(),
        &[
            "GET /api/files/**: [wildcard-exposed] it matches every path below it, at any depth",
            "GET /api/internal: [access-declared] it does not require authentication, and does",
            "GET /api/internal/a: [access-declared]",
        ],
    );
    let one = Policy::new().rule("x", "never", |_| false).allow_below("x", "/", "a test");
    check_lines(&one, &[]);
}

#[test]
fn reports_unused_allowances() {
    let policy = kept()
        .allow("wildcard-exposed", "POST /api/login", "a test")
        .allow("wildcard-exposed", "GET /files/**", "a test")
        .allow("access-declared", "POST /api/internal", "a test")
        .allow("access-declared", "GET /nowhere", "a test")
        .allow("wildcard_exposed", "GET /api/files/**", "a test")
        .allow("errors-hidden", "router", "a test")
        .allow("errors-hidden", "fallback", "a test")
        .allow("wildcard-exposed", "GET /api/files/**", "  ")
        .allow_below("access-declared", "/api/internals", "a test")
        .allow_below("access-declared", "/api/inter", "a test");
    let start = "policy: [allowances] `allow";
    check_lines(
        &policy,
        &[
            &format!("{start}(\"wildcard-exposed\", \"POST /api/login\")` is not needed"),
            &format!(
                "{start}(\"wildcard-exposed\", \"GET /files/**\")` names a route that does not \
                 exist, did you mean \"GET /api/files/**\"?"
            ),
            &format!(
                "{start}(\"access-declared\", \"POST /api/internal\")` names a route that does \
                 not exist, did you mean \"GET /api/internal\"?"
            ),
            &format!(
                "{start}(\"access-declared\", \"GET /nowhere\")` names a route that does not exist"
            ),
            &format!(
                "{start}(\"wildcard_exposed\", \"GET /api/files/**\")` names an unknown rule, \
                 did you mean \"wildcard-exposed\"?"
            ),
            &format!("{start}(\"errors-hidden\", \"router\")` is not needed"),
            &format!("{start}(\"errors-hidden\", \"fallback\")` names a route that does not exist"),
            &format!("{start}(\"wildcard-exposed\", \"GET /api/files/**\")` requires a reason"),
            &format!("{start}_below(\"access-declared\", \"/api/internals\")` is not needed"),
            &format!(
                "{start}_below(\"access-declared\", \"/api/inter\")` names a route that does \
                 not exist"
            ),
        ],
    );
}

#[test]
fn rules_can_be_disabled_with_a_reason() {
    check_lines(
        &Policy::recommended()
            .without("access-declared", "an old API")
            .without("wildcard-exposed", "files everywhere"),
        &[],
    );
    check_lines(
        &kept()
            .without("summary", "a rule of strict")
            .without("errors-hidden", " ")
            .without("cors-open-with-user", "a test")
            .allow("cors-open-with-user", "router", "a test"),
        &[
            "policy: [allowances] `allow(\"cors-open-with-user\", \"router\")` is not needed: `without",
            "policy: [allowances] `without(\"summary\")` names an unknown rule",
            "policy: [allowances] `without(\"errors-hidden\")` requires a reason",
        ],
    );
}

#[test]
fn the_public_routes_must_match_the_list() {
    let all = ["POST /api/login", "GET /api/files/**", "GET /api/internals"];
    let internal = ["GET /api/internal", "GET /api/internal/a"];
    check_lines(&kept().public_routes([all.as_slice(), &internal].concat()), &[]);
    check_lines(
        &kept().public_routes([all.as_slice(), &all[..1], &["GET /login", "POST /login"]].concat()),
        &[
            "GET /api/internal: [public-routes] it is public, but `public_routes` does not list it",
            "GET /api/internal/a: [public-routes]",
            "policy: [public-routes] duplicate \"POST /api/login\" in `public_routes`",
            "policy: [public-routes] `public_routes` lists \"GET /login\", which does not exist",
            "policy: [public-routes] `public_routes` lists \"POST /login\", which does not \
             exist, did you mean \"POST /api/login\"?",
        ],
    );
    let map = map_of_tree(routes! { middleware: [signed_in()], GET: async || "" });
    let findings = Policy::new().public_routes(["GET /"]).check(&map);
    assert!(
        findings[0].message.ends_with("\"GET /\", which requires authentication"),
        "{findings:?}"
    );
}

#[test]
fn custom_rules_have_unique_names() {
    let policy = kept()
        .rule("named", "each route has a name", |route| route.name.is_some())
        .rule_on_map("many", "there are few routes", |map: &RouteMap| {
            let finding = Finding::on(&map.routes[0], "too many").mend("remove one");
            vec![finding, Finding::on_router("too many in all")]
        })
        .allow_below("named", "/", "a test")
        .allow("many", "router", "a test");
    check_lines(&policy, &["POST /api/login: [many] too many: remove one"]);
    check_lines(
        &Policy::new().rule("x", "x", |_| true).rule("x", "x", |_| true).rule(
            "allowances",
            "x",
            |_| true,
        ),
        &[
            "policy: [allowances] duplicate rule id \"x\"",
            "policy: [allowances] a rule cannot have the id \"allowances\"",
        ],
    );
}

#[test]
fn a_custom_policy_checks_the_fallback() {
    let mut router = create_router(RouteTree::new(), RouterOptions::new());
    router.fallback(async || "");
    let policy = Policy::new().rule("user", "a user", |route| !route.is_open());
    assert_eq!(policy.check(&map_of(router))[0].subject, "fallback");
}
