//! The fix of a change: how to undo it, for changes that need a decision.

use serde_json::Value;

use super::change::{Change, shown};
use super::rules::EARLIER_USER;

/// The fixes by rule. `{before}` and `{after}` are the values, `{name}` is the
/// last part of the place.
const FIXES: &[(&str, &str)] = &[
    ("user-not-required", "set `auth` at the route, its node or the router again"),
    ("scheme-added", "remove the method {after}, unless its users may call the route"),
    ("scheme-changed", "use the former method again: {before}"),
    ("role-not-required", "require the roles {before} again with `with_role`"),
    ("permission-not-required", "add `with_permission(named({before}, …))` again"),
    ("permission-unnamed-changed", "name each permission with `named`, and keep the former ones"),
    (EARLIER_USER.id, "move the check after the last `with_auth`"),
    ("public-added", "remove `public` and set `auth`, unless everybody may call the route"),
    ("outlives-user-added", "remove `outlives_user`; the connection then ends with the login"),
    (
        "middleware-own-added",
        "check that it does not set the user from a header that clients can send, then accept \
         the change; if it authenticates users, declare it with `finds_user`",
    ),
    ("middleware-removed", "add {before} to the middleware again"),
    (
        "middleware-order-changed",
        "restore the order {before}, so each guard runs before a response",
    ),
    (
        "route-added-open",
        "set `auth` at the route, its node or the router; if everybody may call it, declare \
         `public: \"the reason\"`",
    ),
    ("fallback-added", "remove the fallback, or require a user for it"),
    ("check-removed", "restore the check that rejects requests with {before}"),
    (
        "request-identity-added",
        "do not take the user from `{name}`, which every client can send: authenticate the user \
         with `auth`",
    ),
    ("request-check-removed", "restore the check that reads `{name}`"),
    ("request-guard-removed", "restore the part of the route that reads `{name}`"),
    ("reply-guard-removed", "send `{name}` with each of these responses again"),
    (
        "reply-secret-added",
        "remove the field from the response; if it is not a secret, declare it with \
         `Policy::not_secret`",
    ),
    ("reply-not-described", "describe the response again: return a type with a schema"),
    ("rate-limit-raised", "set the rate limit to {before} again"),
    ("max-body-raised", "set the maximum body size to {before} bytes again"),
    ("timeout-raised", "set the timeout to {before} milliseconds again"),
    ("idempotency-removed", "add `with_idempotency` to the route again"),
    ("origin-added", "list only the former origins: {before}"),
    ("credentials-allowed", "do not allow credentials, or list fewer origins"),
    ("security-header-removed", "send the header `{name}` with {before} again"),
    (
        "expose-errors-changed",
        "remove `expose_errors(true)`; development shows the messages anyway",
    ),
    (
        "trust-proxy-changed",
        "set `trust_proxy` to {before} again, or compare with the configuration that wrote the \
         lock",
    ),
    ("policy-removed", "add `.policy(…)` to the router again"),
    ("policy-rule-removed", "add the rule {before} to the policy again"),
    ("policy-exception-added", "remove the exception, and fix the violation"),
    ("policy-field-not-secret", "remove `not_secret`, unless everybody may know the field"),
    ("schema-unknown-changed", "restore {before}, or check which values are valid now"),
    ("unexplained-change", "restore {before}, or check the effect on clients"),
    ("route-removed", "keep the route until a `sunset`: `RouteDocs::deprecated_since`, `sunset`"),
    ("route-hidden", "remove `hidden`"),
    ("sunset-earlier", "set the `sunset` to {before} again"),
    ("operation-id-changed", "set `name` to {before}"),
    ("request-field-added-required", "make the field optional, or give it a default"),
    ("request-field-required", "make the field optional, or give it a default"),
    ("request-header-required", "accept requests without `{name}`"),
    ("request-body-required", "accept requests without a body"),
    ("configuration-removed", "declare {before} again: `Router::configuration`"),
    ("configuration-setting-changed", "set `{name}` to {before} again, or check its effect"),
    ("router-removed", "compare the router again: add it to the list of the test"),
    ("web-sockets-disabled", "set `enable_web_sockets(true)` again"),
    ("token-rules-loosened", "set `{name}` of the tokens to {before} again"),
    ("revocations-removed", "add `Auth::revocations` again"),
    ("cookie-weakened", "set the attribute `{name}` of the cookie to {before} again"),
    ("session-extended", "set `{name}` of the session to {before} again"),
    (
        "password-cost-lowered",
        "set the cost of the `PasswordHasher` in the state to {before} again",
    ),
    ("recheck-extended", "set `recheck_every` of the `Auth` to {before} milliseconds again"),
    (
        "cross-origin-allowed",
        "add `with_cross_origin_protection` again, and trust only the former origins",
    ),
    ("signature-not-required", "read the body of the webhook with `Signed` again"),
    ("tool-added", "remove `tool` from the route, unless agents may call it"),
    ("tool-removed", "add `tool` to the route again"),
    ("tool-renamed", "set the name {before} at the tool: `.name(…)`"),
    ("tool-hint-loosened", "set the hint `{name}` of the tool to {before} again"),
    ("tool-argument-renamed", "name the argument {before} again: `.rename(…)`"),
    ("mcp-added", "remove the endpoint, unless agents may call the tools of the router"),
    ("mcp-authorization-changed", "list only the former authorization servers: {before}"),
    ("mcp-legacy-disabled", "remove `.legacy(false)` from the endpoint"),
    ("signature-age-raised", "set `{name}` of the signature to {before} again"),
];

/// Returns the fix of a change; empty for a change that is neither breaking nor
/// weakening.
pub(super) fn fix_of(change: &Change) -> String {
    let rule = change.rule;
    let template = match FIXES.iter().find(|(id, _)| *id == rule.id) {
        _ if !rule.breaking && !rule.weakening => return String::new(),
        _ if rule.id == "middleware-opaque-changed" => opaque(change),
        _ if change.at == "limits/rate_exempt" => "remove `rate_limit: false`",
        Some((_, fix)) => *fix,
        None if change.before.is_null() && rule.weakening => "remove {after}",
        None if change.before.is_null() => {
            "keep accepting requests as before, or add a new version"
        }
        None if rule.weakening => "restore {before}",
        None => "keep {before}, or add a new version of the route",
    };
    let name = change.at.rsplit('/').next().unwrap_or_default();
    let text = template.replace("{name}", name);
    text.replace("{before}", &shown(&change.before)).replace("{after}", &shown(&change.after))
}

fn opaque(change: &Change) -> &'static str {
    match change.after {
        Value::Null => "add {before} to the middleware again",
        _ => {
            "remove it if it reads the user from a header that clients can send; otherwise \
             describe it: `.named(…).describing(…)`, with `finds_user` if it sets the user"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rules::RULES;
    use super::*;

    #[test]
    fn each_fix_belongs_to_a_rule() {
        for (id, _) in FIXES {
            let rule = RULES.iter().find(|rule| rule.id == *id);
            assert!(rule.is_some_and(|rule| rule.breaking || rule.weakening), "{id}");
        }
    }
}
