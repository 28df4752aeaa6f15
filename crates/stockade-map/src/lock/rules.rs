//! The rules that classify changes: each kind of change has an id and a class.

use serde::Serialize;

/// A kind of change, and its class.
///
/// `breaking` and `weakening` are independent: a change may be both. A change
/// that is neither is compatible, or only affects texts.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LockRule {
    /// The id, such as `route-removed`.
    pub id: &'static str,
    /// The meaning, for readers.
    pub meaning: &'static str,
    /// True if a working client may now fail.
    pub breaking: bool,
    /// True if a client may now do something that was rejected before.
    pub weakening: bool,
    /// True if only texts for readers differ.
    pub text: bool,
}

impl LockRule {
    const fn new(
        id: &'static str,
        meaning: &'static str,
        (breaking, weakening, text): (bool, bool, bool),
    ) -> Self {
        Self { id, meaning, breaking, weakening, text }
    }

    /// Returns the class as text: `breaking`, `weakening`, `breaking,
    /// weakening`, `text` or `compatible`.
    #[must_use]
    pub fn class(&self) -> &'static str {
        match (self.breaking, self.weakening, self.text) {
            (true, true, _) => "breaking, weakening",
            (true, false, _) => "breaking",
            (false, true, _) => "weakening",
            (false, false, true) => "text",
            (false, false, false) => "compatible",
        }
    }
}

const BREAKING: (bool, bool, bool) = (true, false, false);
const WEAKENING: (bool, bool, bool) = (false, true, false);
/// Also the class of changes with unknown effects.
const BOTH: (bool, bool, bool) = (true, true, false);
const COMPATIBLE: (bool, bool, bool) = (false, false, false);
const TEXT: (bool, bool, bool) = (false, false, true);

/// Generates a constant for each rule, and the list of all rules.
macro_rules! rules {
    ($($name:ident $id:literal $class:ident $meaning:literal;)*) => {
        $(pub(super) const $name: LockRule = LockRule::new($id, $meaning, $class);)*

        /// All rules, in the order of the documentation.
        pub const RULES: &[LockRule] = &[$($name),*];
    };
}

rules! {
    ROUTE_ADDED "route-added" COMPATIBLE "a route, or a method of a path, is new";
    ROUTE_ADDED_OPEN "route-added-open" WEAKENING "a route that does not require a user is new";
    ROUTE_REMOVED "route-removed" BREAKING "a route, or a method of a path, was removed";
    ROUTE_SUNSET "route-removed-after-sunset" COMPATIBLE "a route was removed after its `sunset`";
    ROUTE_HIDDEN "route-hidden" BREAKING "the documentation no longer lists the route";
    ROUTE_SHOWN "route-shown" COMPATIBLE "the documentation lists the route again";
    ROUTE_DEPRECATED "route-deprecated" COMPATIBLE "the deprecation flag or its date changed";
    SUNSET_EARLIER "sunset-earlier" BREAKING "`sunset` is earlier, or new and already past";
    SUNSET_LATER "sunset-later" COMPATIBLE "`sunset` is later, removed, or new and in the future";
    OPERATION_ID "operation-id-changed" BREAKING "the operation name changed, which generated clients call";
    ROUTE_TEXT "route-text-changed" TEXT "the summary, description, groups or examples changed";

    PARAM_RENAMED "path-param-renamed" COMPATIBLE "a path parameter has another name, which requests do not contain";
    PARAM_REQUIRED "path-param-required" BREAKING "a path parameter became required";
    PARAM_OPTIONAL "path-param-optional" COMPATIBLE "a path parameter became optional";
    CONSTRAINT_ADDED "path-constraint-added" BREAKING "a path parameter must now match an expression";
    CONSTRAINT_REMOVED "path-constraint-removed" WEAKENING "a path parameter no longer has to match an expression";
    CONSTRAINT_CHANGED "path-constraint-changed" BOTH "the expression of a path parameter changed";
    FIELD_READ "request-header-added" COMPATIBLE "an optional header or cookie is new";
    FIELD_DEMANDED "request-header-required" BREAKING "a header or cookie became required";
    FIELD_OPTIONAL "request-header-optional" COMPATIBLE "a header or cookie became optional";
    FIELD_IGNORED "request-header-removed" BREAKING "a header or cookie is no longer read";
    IDENTITY_READ "request-identity-added" WEAKENING "a header that may claim to be a user, such as `X-User`, is read";
    CHECK_IGNORED "request-check-removed" WEAKENING "the header of a check, such as `Origin` or `Authorization`, is no longer read";
    GUARD_IGNORED "request-guard-removed" BOTH "a cookie, an idempotency key or a precondition such as `If-Match` is no longer read";
    BODY_ADDED "request-body-added" COMPATIBLE "an optional body is new";
    BODY_REQUIRED "request-body-required" BREAKING "a body became required";
    BODY_OPTIONAL "request-body-optional" COMPATIBLE "the body became optional";
    BODY_REMOVED "request-body-removed" BREAKING "the body is no longer read";
    BODY_TYPE_ADDED "request-media-type-added" COMPATIBLE "a media type of the body is new";
    BODY_TYPE_KNOWN "request-media-type-described" COMPATIBLE "the media type of the body is now described";
    BODY_TYPE_REMOVED "request-media-type-removed" BREAKING "a media type of the body was removed";

    IN_FIELD_ADDED "request-field-added" COMPATIBLE "an optional field or parameter is new";
    IN_FIELD_DEMANDED "request-field-added-required" BREAKING "a required field or parameter is new";
    IN_FIELD_REMOVED "request-field-removed" BREAKING "a field or parameter is no longer read";
    IN_FIELD_REQUIRED "request-field-required" BREAKING "a field or parameter became required";
    IN_FIELD_OPTIONAL "request-field-optional" COMPATIBLE "a field or parameter became optional";
    IN_DEFAULT "request-default-changed" BREAKING "the default of an absent field changed";
    IN_TYPE_NARROWED "request-type-narrowed" BREAKING "values of a type are no longer accepted";
    IN_TYPE_WIDENED "request-type-widened" COMPATIBLE "values of another type, or null, are also accepted";
    IN_TYPE_CHANGED "request-type-changed" BREAKING "values of another type are accepted instead";
    IN_TYPE_REMOVED "request-type-removed" WEAKENING "any value is accepted";
    IN_VALUE_REMOVED "request-value-removed" BREAKING "a listed value is no longer accepted";
    IN_VALUE_ADDED "request-value-added" COMPATIBLE "a listed value is new";
    IN_VALUES_LISTED "request-values-listed" BREAKING "only listed values are accepted";
    IN_VALUES_FREE "request-values-free" WEAKENING "unlisted values are also accepted";
    IN_BOUND_TIGHTER "request-bound-tightened" BREAKING "a bound is new or tighter";
    IN_BOUND_LOOSER "request-bound-loosened" WEAKENING "a bound was removed or is looser";
    IN_PATTERN_ADDED "request-pattern-added" BREAKING "a string must now match an expression or a format";
    IN_PATTERN_REMOVED "request-pattern-removed" WEAKENING "a string no longer has to match an expression or a format";
    IN_PATTERN_CHANGED "request-pattern-changed" BOTH "the expression or the format of a string changed";
    IN_CLOSED "request-unknown-fields-refused" BREAKING "unlisted fields are now rejected or validated";
    IN_OPEN "request-unknown-fields-allowed" WEAKENING "unlisted fields are no longer rejected or validated";
    IN_VARIANT_REMOVED "request-variant-removed" BREAKING "a variant is no longer accepted";
    IN_VARIANT_ADDED "request-variant-added" COMPATIBLE "a variant is new";
    IN_CONDITION_ADDED "request-condition-added" BREAKING "a value must match an additional schema";
    IN_CONDITION_REMOVED "request-condition-removed" WEAKENING "a value no longer has to match an additional schema";

    STATUS_ADDED "success-added" COMPATIBLE "a success status is new";
    STATUS_REMOVED "success-removed" BREAKING "a success status was removed";
    ERROR_ADDED "error-added" COMPATIBLE "an error is new";
    ERROR_REMOVED "error-removed" COMPATIBLE "an error was removed";
    CHECK_REMOVED "check-removed" WEAKENING "a route no longer rejects requests with 401 or 403";
    REPLY_TYPE_ADDED "reply-media-type-added" COMPATIBLE "a media type of a response is new";
    REPLY_TYPE_KNOWN "reply-media-type-described" COMPATIBLE "the media type of a response is now described";
    REPLY_TYPE_REMOVED "reply-media-type-removed" BREAKING "a media type of a response was removed";
    REPLY_KNOWN "reply-described" COMPATIBLE "an unknown response is now described";
    REPLY_UNKNOWN "reply-not-described" BOTH "a response is no longer described";
    ERROR_BODY "error-form-changed" BREAKING "the format of an error changed";
    ERROR_FIELDS "error-fields-listed" COMPATIBLE "an error now lists the failing fields";
    PROBLEM_ADDED "problem-type-added" COMPATIBLE "a problem type of an error is new";
    PROBLEM_REMOVED "problem-type-removed" BREAKING "an error no longer has a problem type, or its members";
    REPLY_HEADER_ADDED "reply-header-added" COMPATIBLE "a response header is new, or now always present";
    REPLY_HEADER_REMOVED "reply-header-removed" BREAKING "a response header was removed, or is not always present";

    REPLY_GUARD_REMOVED "reply-guard-removed" BOTH "a response header that protects users, such as `Set-Cookie` or `Cache-Control`, was removed, or is not always present";

    OUT_FIELD_ADDED "reply-field-added" COMPATIBLE "a field is new";
    GRAPHQL_REMOVED "graphql-removed" BREAKING "a field, an argument or a value of a GraphQL schema was removed";
    GRAPHQL_TYPE "graphql-type-changed" BREAKING "a field or an argument of a GraphQL schema has another type, or a field became nullable";
    GRAPHQL_REQUIRED "graphql-required" BREAKING "an argument or an input field of a GraphQL schema became required";
    GRAPHQL_RELAXED "graphql-relaxed" COMPATIBLE "an argument became optional, or a field is no longer nullable";
    GRAPHQL_ADDED "graphql-added" COMPATIBLE "a field, an argument or a value of a GraphQL schema is new";
    OUT_SECRET_ADDED "reply-secret-added" WEAKENING "a new field has the name of a secret, such as `token` or `password_hash`";
    OUT_FIELD_REMOVED "reply-field-removed" BREAKING "a field was removed";
    OUT_FIELD_REQUIRED "reply-field-required" COMPATIBLE "a field is now always present";
    OUT_FIELD_OPTIONAL "reply-field-optional" BREAKING "a field may now be absent";
    OUT_TYPE_NARROWED "reply-type-narrowed" COMPATIBLE "values of a type no longer appear";
    OUT_TYPE_WIDENED "reply-type-widened" BREAKING "values of another type, or null, may appear";
    OUT_TYPE_CHANGED "reply-type-changed" BREAKING "values of another type appear instead";
    OUT_VALUE_REMOVED "reply-value-removed" COMPATIBLE "a listed value no longer appears";
    OUT_VALUE_ADDED "reply-value-added" BREAKING "a listed value is new";
    OUT_VALUES_LISTED "reply-values-listed" COMPATIBLE "only listed values appear now";
    OUT_VALUES_FREE "reply-values-free" BREAKING "unlisted values may also appear";
    OUT_BOUND_TIGHTER "reply-bound-tightened" COMPATIBLE "a bound is new or tighter";
    OUT_BOUND_LOOSER "reply-bound-loosened" BREAKING "a bound was removed or is looser";
    OUT_PATTERN_ADDED "reply-pattern-added" COMPATIBLE "a string now matches an expression or a format";
    OUT_PATTERN_REMOVED "reply-pattern-removed" BREAKING "a string no longer has to match an expression or a format";
    OUT_PATTERN_CHANGED "reply-pattern-changed" BREAKING "the expression or the format of a string changed";
    OUT_CLOSED "reply-unknown-fields-refused" COMPATIBLE "unlisted fields no longer appear, or now have a schema";
    OUT_OPEN "reply-unknown-fields-allowed" COMPATIBLE "unlisted fields may appear, or no longer have a schema";
    OUT_VARIANT_REMOVED "reply-variant-removed" COMPATIBLE "a variant no longer appears";
    OUT_VARIANT_ADDED "reply-variant-added" BREAKING "a variant is new";
    OUT_CONDITION_ADDED "reply-condition-added" COMPATIBLE "a value matches an additional schema";
    OUT_CONDITION_REMOVED "reply-condition-removed" BREAKING "a value no longer has to match an additional schema";
    SCHEMA_UNKNOWN "schema-unknown-changed" BOTH "an unknown schema keyword changed";
    SCHEMA_RENAMED "schema-renamed" TEXT "a schema has another name in the documentation";
    SCHEMA_TEXT "schema-text-changed" TEXT "a title, description, example or default of a reply changed";

    USER_REQUIRED "user-required" BREAKING "authentication became required";
    USER_FOUND "user-found" COMPATIBLE "optional authentication is new";
    USER_WEAKER "user-not-required" WEAKENING "authentication became optional, or was removed";
    SCHEME_ADDED "scheme-added" WEAKENING "an authentication method is new";
    SCHEME_REMOVED "scheme-removed" BREAKING "an authentication method was removed";
    SCHEME_CHANGED "scheme-changed" BOTH "an authentication method changed but kept its name";
    SCHEME_ORDER "scheme-order-changed" BOTH "the authentication methods are tried in another order";
    AUTH_KNOWN "auth-described" COMPATIBLE "the lock now contains how requests are authenticated";
    AUTH_KIND "auth-kind-changed" BOTH "an authentication method has another kind but kept its scheme";
    AUTH_HEADER "auth-header-changed" BOTH "an authentication method reads another header but kept its scheme";
    TOKEN_LOOSER "token-rules-loosened" WEAKENING "tokens with other algorithms, issuers or audiences, or with fewer claims, are accepted";
    TOKEN_STRICTER "token-rules-tightened" BREAKING "tokens with fewer algorithms, issuers or audiences are accepted, or more claims are required";
    TOKEN_LONGER "token-life-raised" WEAKENING "tokens may have a longer life, or are accepted longer after they expire";
    TOKEN_SHORTER "token-life-lowered" BREAKING "tokens must have a shorter life, or are accepted less long after they expire";
    REVOCATIONS_REMOVED "revocations-removed" WEAKENING "revoked tokens are accepted, always or while processes are disconnected";
    REVOCATIONS_ADDED "revocations-added" COMPATIBLE "revoked tokens are rejected";
    COOKIE_WEAKER "cookie-weakened" WEAKENING "a cookie is not `Secure` or `HttpOnly`, has a weaker `SameSite`, or reaches more hosts or paths";
    COOKIE_STRICTER "cookie-tightened" BREAKING "a cookie is `Secure` or `HttpOnly`, has a stricter `SameSite`, or reaches fewer hosts or paths";
    COOKIE_CHANGED "cookie-changed" BOTH "a cookie has another name, path or domain";
    SESSION_LONGER "session-extended" WEAKENING "sessions or their cookies last longer, or their times are not known";
    SESSION_SHORTER "session-shortened" BREAKING "sessions or their cookies end earlier";
    RECHECK_LONGER "recheck-extended" WEAKENING "connections of a user stay open longer after the login ends";
    RECHECK_SHORTER "recheck-shortened" COMPATIBLE "connections of a user end earlier after the login ends";
    CROSS_ALLOWED "cross-origin-allowed" WEAKENING "requests of other origins are no longer rejected, or more origins are trusted";
    CROSS_REFUSED "cross-origin-refused" BREAKING "requests of other origins are rejected, or fewer origins are trusted";
    ROLE_DEMANDED "role-required" BREAKING "an additional role is required";
    ROLE_WEAKER "role-not-required" WEAKENING "users with other roles, or without roles, are accepted";
    PERMISSION_DEMANDED "permission-required" BREAKING "an additional permission is required";
    PERMISSION_GONE "permission-not-required" WEAKENING "a permission is no longer required";
    PERMISSION_UNNAMED "permission-unnamed-changed" BOTH "the number of permissions without a name changed";
    EARLIER_USER "earlier-user-judged" WEAKENING "a role or permission check uses a different user than the handler";
    EARLIER_USER_GONE "earlier-user-not-judged" COMPATIBLE "role and permission checks now use the user of the handler";
    PUBLIC_ADDED "public-added" WEAKENING "the route is declared public";
    PUBLIC_REMOVED "public-removed" COMPATIBLE "the route is no longer declared public";
    PUBLIC_TEXT "public-text-changed" TEXT "the reason for being public has a new wording";
    OUTLIVES_ADDED "outlives-user-added" WEAKENING "connections of the route may outlive the login of their user";
    OUTLIVES_REMOVED "outlives-user-removed" BREAKING "connections of the route end with the login of their user";
    OUTLIVES_TEXT "outlives-user-text-changed" TEXT "the reason for outliving the login of the user has a new wording";
    GUARD_ADDED "middleware-added" COMPATIBLE "a middleware that describes itself is new";
    GUARD_OWN "middleware-own-added" WEAKENING "middleware of the program is new on a route that authenticates users: it may set the user, whatever its description says";
    GUARD_REMOVED "middleware-removed" WEAKENING "a named middleware was removed";
    GUARD_OPAQUE "middleware-opaque-changed" BOTH "middleware that does not describe itself was added or removed";
    GUARD_ORDER "middleware-order-changed" BOTH "named middleware runs in another order";

    RATE_LOWER "rate-limit-lowered" BREAKING "a rate limit allows fewer requests, or is new";
    RATE_HIGHER "rate-limit-raised" WEAKENING "a rate limit allows more requests, or was removed";
    RATE_CHANGED "rate-limit-changed" BOTH "both the window and the number of a rate limit changed, or its function";
    BODY_LOWER "max-body-lowered" BREAKING "the maximum body size is smaller";
    BODY_HIGHER "max-body-raised" WEAKENING "the maximum body size is larger";
    TIMEOUT_LOWER "timeout-lowered" BREAKING "the timeout of a route is shorter";
    TIMEOUT_HIGHER "timeout-raised" WEAKENING "the timeout of a route is longer, or was removed";
    TIMEOUT_STATUS "timeout-status-changed" COMPATIBLE "the status of a timeout changed";
    ACCEPTS_FEWER "accepts-fewer" BREAKING "fewer media types of a body are accepted";
    ACCEPTS_MORE "accepts-more" WEAKENING "more media types of a body are accepted";

    KEYS_ADDED "idempotency-added" COMPATIBLE "requests with an idempotency key run once";
    KEYS_REMOVED "idempotency-removed" WEAKENING "every request with an idempotency key runs, even a repeated one";
    KEYS_OPTIONAL "idempotency-optional" WEAKENING "every request without an idempotency key runs, even a repeated one";
    KEYS_SHORTER "idempotency-shortened" WEAKENING "an idempotency key, or its lease, expires earlier";
    KEYS_LONGER "idempotency-extended" COMPATIBLE "an idempotency key, or its lease, expires later";
    KEYS_LOOSER "idempotency-loosened" WEAKENING "after a crash, after an error, or while the store is down, a request may run twice";
    KEYS_STRICTER "idempotency-tightened" BREAKING "after a crash, after an error, or while the store is down, a request no longer runs twice";
    KEYS_UNQUOTED "idempotency-unquoted" COMPATIBLE "idempotency keys without quotes are accepted";
    KEYS_QUOTED "idempotency-quoted-only" BREAKING "idempotency keys without quotes are rejected";
    KEYS_CHANGED "idempotency-scope-changed" BOTH "idempotency keys belong to other users or clients";

    SIGNATURE_ADDED "signature-required" BREAKING "requests must have a valid signature";
    SIGNATURE_REMOVED "signature-not-required" WEAKENING "requests without a valid signature are accepted";
    SIGNATURE_CHANGED "signature-changed" BOTH "signatures of another sender or in another format are accepted";
    SIGNATURE_OLDER "signature-age-raised" WEAKENING "older signatures are accepted, so a recorded request can be sent again for longer";
    SIGNATURE_YOUNGER "signature-age-lowered" BREAKING "only younger signatures are accepted";

    TOOL_ADDED "tool-added" WEAKENING "agents may call a route as a tool";
    TOOL_REMOVED "tool-removed" BREAKING "agents may no longer call a route as a tool";
    TOOL_RENAMED "tool-renamed" BREAKING "a tool has another name, which agents and their rules contain";
    TOOL_TEXT "tool-text-changed" WEAKENING "a model reads other texts: the title or the description of a tool, the texts of its arguments, or the texts of the endpoint";
    TOOL_HINT_LOOSER "tool-hint-loosened" WEAKENING "a hint makes clients less careful, so they may call a tool before the user agrees";
    TOOL_HINT_STRICTER "tool-hint-tightened" COMPATIBLE "a hint makes clients more careful before they call a tool";
    TOOL_ARGUMENT_ADDED "tool-argument-added" COMPATIBLE "a tool has a new argument";
    TOOL_ARGUMENT_RENAMED "tool-argument-renamed" BREAKING "an argument of a tool has another name";
    TOOL_ARGUMENT_REMOVED "tool-argument-removed" BREAKING "a tool no longer has an argument";
    TOOL_OUTPUT "tool-output-changed" BREAKING "the results of a tool have structured content, or no longer have it";
    MCP_ADDED "mcp-added" WEAKENING "an endpoint offers the tools of the router to agents";
    MCP_REMOVED "mcp-removed" BREAKING "no endpoint offers tools to agents";
    MCP_URL "mcp-url-changed" BOTH "the endpoint of tools has another URL, which tokens name as their audience";
    MCP_AUTHORIZATION "mcp-authorization-changed" BOTH "the endpoint of tools sends users to other authorization servers";
    MCP_LEGACY_ON "mcp-legacy-enabled" COMPATIBLE "the endpoint of tools serves clients of earlier protocol versions";
    MCP_LEGACY_OFF "mcp-legacy-disabled" BREAKING "the endpoint of tools rejects clients of earlier protocol versions";

    ORIGIN_ADDED "origin-added" WEAKENING "more origins can read responses, or connect";
    ORIGIN_REMOVED "origin-removed" BREAKING "fewer origins can read responses, or connect";
    CREDENTIALS_ON "credentials-allowed" WEAKENING "other origins may send credentials";
    CREDENTIALS_OFF "credentials-refused" BREAKING "other origins may no longer send credentials";
    MESSAGE_LARGER "message-size-raised" WEAKENING "larger messages, or more messages a second, are allowed";
    MESSAGE_SMALLER "message-size-lowered" BREAKING "only smaller messages, or fewer messages a second, are allowed";
    SUBPROTOCOL_ADDED "subprotocol-added" COMPATIBLE "a subprotocol is new";
    SUBPROTOCOL_REMOVED "subprotocol-removed" BREAKING "a subprotocol was removed";
    COMPRESSION_CHANGED "compression-changed" COMPATIBLE "compression of messages was turned on or off";
    SECURITY_HEADER_ADDED "security-header-added" COMPATIBLE "a security header is new";
    SECURITY_HEADER_REMOVED "security-header-removed" WEAKENING "a security header was removed";
    SECURITY_HEADER_CHANGED "security-header-changed" BOTH "a security header has another value";
    EXPOSE_CHANGED "expose-errors-changed" WEAKENING "other clients get the messages of errors";
    PROXY_CHANGED "trust-proxy-changed" WEAKENING "other proxies determine the address of the client";
    PROBLEMS_CHANGED "problem-details-changed" BREAKING "all errors have another format";
    SLASH_OPTIONAL "trailing-slash-optional" COMPATIBLE "more routes accept paths with or without a trailing slash";
    SLASH_REQUIRED "trailing-slash-required" BREAKING "paths with or without a trailing slash no longer reach the route, or are redirected";
    LANGUAGE_ADDED "language-added" COMPATIBLE "error messages have a new language";
    LANGUAGE_REMOVED "language-removed" BREAKING "error messages no longer have a language";
    LANGUAGE_DEFAULT "language-default-changed" BREAKING "the default language of error messages changed";
    ROUTER_ADDED "router-added" COMPATIBLE "the program has another router";
    ROUTER_REMOVED "router-removed" BOTH "a router of the program was removed, or is no longer compared";
    POLICY_ADDED "policy-added" COMPATIBLE "the router has a policy";
    POLICY_REMOVED "policy-removed" WEAKENING "the router no longer has a policy";
    POLICY_RULE_ADDED "policy-rule-added" COMPATIBLE "the policy has a new rule";
    POLICY_RULE_REMOVED "policy-rule-removed" WEAKENING "the policy no longer has a rule, or disables it";
    EXCEPTION_ADDED "policy-exception-added" WEAKENING "the policy allows a violation of a rule";
    EXCEPTION_REMOVED "policy-exception-removed" COMPATIBLE "the policy no longer has an exception";
    EXCEPTION_TEXT "policy-exception-text-changed" TEXT "the reason of an exception has a new wording";
    HARMLESS_ADDED "policy-field-not-secret" WEAKENING "the policy declares that a field is not a secret";
    FALLBACK_ADDED "fallback-added" WEAKENING "a handler now receives requests that match no route";
    FALLBACK_REMOVED "fallback-removed" BREAKING "no handler receives requests that match no route";
    WEB_SOCKETS_ON "web-sockets-enabled" COMPATIBLE "the router may have WebSockets";
    WEB_SOCKETS_OFF "web-sockets-disabled" BREAKING "the router may no longer have WebSockets";
    PASSWORDS_WEAKER "password-cost-lowered" WEAKENING "new password hashes are easier to guess, or their cost is no longer known";
    PASSWORDS_STRONGER "password-cost-raised" COMPATIBLE "new password hashes are harder to guess, or their cost is now known";
    CONFIGURATION_ADDED "configuration-added" COMPATIBLE "a configuration file is new";
    CONFIGURATION_REMOVED "configuration-removed" WEAKENING "a configuration file is no longer checked";
    CONFIGURATION_SETTING "configuration-setting-changed" WEAKENING "a configuration file has another value";
    FORM "form-changed" TEXT "the same routes are written in another way, such as a list in another order";
    UNEXPLAINED "unexplained-change" BOTH "a difference that no other rule explains";
}

/// The members of a route that are compared as a whole. Each place has the
/// rules for a member that is new, removed or changed.
pub(super) const AS_A_WHOLE: &[(&str, [LockRule; 3])] = &[
    ("access/public", [PUBLIC_ADDED, PUBLIC_REMOVED, PUBLIC_TEXT]),
    ("access/outlives_user", [OUTLIVES_ADDED, OUTLIVES_REMOVED, OUTLIVES_TEXT]),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn ids_are_unique() {
        let ids: BTreeSet<&str> = RULES.iter().map(|rule| rule.id).collect();
        assert_eq!(ids.len(), RULES.len());
    }
}
