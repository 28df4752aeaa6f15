//! The OWASP API Security Top 10, with the tools that cover each risk.

/// A risk, and the tools that cover it in addition to the rules of a policy.
pub(super) struct Risk {
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    /// The rules of `routes.lock` that report a weaker protection.
    pub(super) lock: &'static [&'static str],
    /// The attack families of `Hardening`.
    pub(super) probes: &'static [&'static str],
    /// Other tests.
    pub(super) tests: &'static [&'static str],
    /// The faults that no tool can find.
    pub(super) unseen: &'static str,
}

/// Source: OWASP API Security Top 10, 2023.
pub(super) const RISKS: [Risk; 10] = [
    Risk {
        id: "API1",
        title: "Broken object level authorization",
        lock: &["permission-not-required", "idempotency-scope-changed"],
        probes: &["tenants", "idempotency keys"],
        tests: &["Hardening::tenants"],
        unseen: "A handler that forgets the owner of an object that the probe cannot create, \
                 list or guess.",
    },
    Risk {
        id: "API2",
        title: "Broken authentication",
        lock: &[
            "user-not-required",
            "route-added-open",
            "scheme-added",
            "token-life-raised",
            "revocations-removed",
            "cookie-weakened",
            "session-extended",
            "recheck-extended",
            "middleware-own-added",
            "password-cost-lowered",
            "signature-not-required",
            "mcp-authorization-changed",
        ],
        probes: &["credentials", "sign-outs", "tools"],
        tests: &["Hardening::tokens", "Hardening::sign_in"],
        unseen: "A login that accepts a wrong password, passwords that are easy to guess, stolen \
                 tokens, and the cost of password hashes without a `PasswordHasher` in the state.",
    },
    Risk {
        id: "API3",
        title: "Broken object property level authorization",
        lock: &["reply-secret-added", "reply-field-added", "request-unknown-fields-allowed"],
        probes: &["bodies"],
        tests: &["Contract", "check_schemas"],
        unseen: "A field that only some users may read or write, if the schema is the same for \
                 all users.",
    },
    Risk {
        id: "API4",
        title: "Unrestricted resource consumption",
        lock: &[
            "rate-limit-raised",
            "max-body-raised",
            "timeout-raised",
            "message-size-raised",
            "request-bound-loosened",
        ],
        probes: &["bodies", "rate limits"],
        tests: &["check_schemas", "assert_posture"],
        unseen: "A slow statement, or a paid service, behind a valid request.",
    },
    Risk {
        id: "API5",
        title: "Broken function level authorization",
        lock: &[
            "role-not-required",
            "permission-not-required",
            "check-removed",
            "middleware-removed",
            "earlier-user-judged",
            "tool-added",
            "mcp-added",
        ],
        probes: &["roles", "detours", "tools"],
        tests: &["Hardening::users"],
        unseen: "A user that has too many roles, and a mistake in the code of a permission.",
    },
    Risk {
        id: "API6",
        title: "Unrestricted access to sensitive business flows",
        lock: &[
            "idempotency-removed",
            "idempotency-optional",
            "rate-limit-raised",
            "tool-hint-loosened",
            "tool-text-changed",
        ],
        probes: &["idempotency keys", "rate limits"],
        tests: &[],
        unseen: "Valid requests of a robot, such as a purchase of all tickets, and calls of an agent \
                 that follows a text in a result.",
    },
    Risk {
        id: "API7",
        title: "Server side request forgery",
        lock: &["request-pattern-removed", "request-pattern-changed"],
        probes: &[],
        tests: &[],
        unseen: "Outgoing requests: handlers send them, and the map does not contain them. Send \
                 requests to addresses of users through `OutgoingGuard`. `Hardening` only lists \
                 the tools with an address as an argument.",
    },
    Risk {
        id: "API8",
        title: "Security misconfiguration",
        lock: &[
            "origin-added",
            "credentials-allowed",
            "cross-origin-allowed",
            "policy-rule-removed",
            "configuration-setting-changed",
            "security-header-removed",
            "expose-errors-changed",
            "trust-proxy-changed",
        ],
        probes: &["origins", "responses", "tools", "uploads"],
        tests: &["assert_posture"],
        unseen: "The settings of a proxy, a database, a network or a container, and variables of \
                 the environment that `Configuration::environment` does not contain.",
    },
    Risk {
        id: "API9",
        title: "Improper inventory management",
        lock: &["route-added", "fallback-added", "route-hidden", "sunset-later", "tool-added"],
        probes: &[],
        tests: &["assert_routes_lock"],
        unseen: "Old versions of the program, and other programs, that still run.",
    },
    Risk {
        id: "API10",
        title: "Unsafe consumption of APIs",
        lock: &[],
        probes: &[],
        tests: &[],
        unseen: "Responses of other services. Validate them with a schema, as the input of a \
                 client.",
    },
];

#[cfg(all(test, feature = "lock"))]
mod tests {
    use super::*;
    use crate::lock::RULES;

    #[test]
    fn each_lock_rule_of_a_risk_exists() {
        for id in RISKS.iter().flat_map(|risk| risk.lock) {
            assert!(RULES.iter().any(|rule| rule.id == *id), "{id}");
        }
    }
}
