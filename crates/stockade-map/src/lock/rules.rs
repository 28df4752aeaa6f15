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
    ROUTE_ADDED "route-added" COMPATIBLE "a route or a method of a path is new";
    ROUTE_REMOVED "route-removed" BREAKING "a route or a method of a path is gone";
    ROUTE_SUNSET "route-removed-after-sunset" COMPATIBLE "a route is gone whose `sunset` had passed";
    ROUTE_HIDDEN "route-hidden" BREAKING "documents no longer list the route";
    ROUTE_SHOWN "route-shown" COMPATIBLE "documents list the route again";
    ROUTE_DEPRECATED "route-deprecated" COMPATIBLE "the mark or the date of the deprecation differs";
    SUNSET_EARLIER "sunset-earlier" BREAKING "`sunset` is earlier, or new and already past";
    SUNSET_LATER "sunset-later" COMPATIBLE "`sunset` is later, gone, or new and still to come";
    OPERATION_ID "operation-id-changed" BREAKING "the name of the operation differs, by which generated clients call it";
    ROUTE_TEXT "route-text-changed" TEXT "the summary, description, groups or examples differ";

    PARAM_RENAMED "path-param-renamed" COMPATIBLE "a parameter of the path has another name, which no request shows";
    PARAM_REQUIRED "path-param-required" BREAKING "a parameter of the path may no longer be absent";
    PARAM_OPTIONAL "path-param-optional" COMPATIBLE "a parameter of the path may be absent now";
    CONSTRAINT_ADDED "path-constraint-added" BREAKING "a parameter of the path has to match an expression now";
    CONSTRAINT_REMOVED "path-constraint-removed" WEAKENING "a parameter of the path need not match an expression any more";
    CONSTRAINT_CHANGED "path-constraint-changed" BOTH "the expression of a parameter of the path is another one";
    FIELD_READ "request-header-added" COMPATIBLE "a header or cookie is read that may be absent";
    FIELD_DEMANDED "request-header-required" BREAKING "a header or cookie has to be there now";
    FIELD_OPTIONAL "request-header-optional" COMPATIBLE "a header or cookie may be absent now";
    FIELD_IGNORED "request-header-removed" BREAKING "a header or cookie is no longer read";
    BODY_ADDED "request-body-added" COMPATIBLE "a body is read that may be absent";
    BODY_REQUIRED "request-body-required" BREAKING "a body has to be there now";
    BODY_OPTIONAL "request-body-optional" COMPATIBLE "the body may be absent now";
    BODY_REMOVED "request-body-removed" BREAKING "the body is no longer read";
    BODY_TYPE_ADDED "request-media-type-added" COMPATIBLE "a media type of the body is new";
    BODY_TYPE_KNOWN "request-media-type-described" COMPATIBLE "the media type of the body was not described, and is now";
    BODY_TYPE_REMOVED "request-media-type-removed" BREAKING "a media type of the body is gone";

    IN_FIELD_ADDED "request-field-added" COMPATIBLE "a field or parameter is new that may be absent";
    IN_FIELD_DEMANDED "request-field-added-required" BREAKING "a field or parameter is new that has to be there";
    IN_FIELD_REMOVED "request-field-removed" BREAKING "a field or parameter is no longer read";
    IN_FIELD_REQUIRED "request-field-required" BREAKING "a field or parameter has to be there now";
    IN_FIELD_OPTIONAL "request-field-optional" COMPATIBLE "a field or parameter may be absent now";
    IN_DEFAULT "request-default-changed" BREAKING "the value of an absent field is another one";
    IN_TYPE_NARROWED "request-type-narrowed" BREAKING "values of a type are no longer taken";
    IN_TYPE_WIDENED "request-type-widened" COMPATIBLE "values of another type, or null, are taken too";
    IN_TYPE_CHANGED "request-type-changed" BREAKING "values of another type are taken instead";
    IN_TYPE_REMOVED "request-type-removed" WEAKENING "any value is taken now";
    IN_VALUE_REMOVED "request-value-removed" BREAKING "a listed value is no longer taken";
    IN_VALUE_ADDED "request-value-added" COMPATIBLE "a listed value is new";
    IN_VALUES_LISTED "request-values-listed" BREAKING "listed values alone are taken now";
    IN_VALUES_FREE "request-values-free" WEAKENING "other values than listed ones are taken now";
    IN_BOUND_TIGHTER "request-bound-tightened" BREAKING "a bound is new or tighter";
    IN_BOUND_LOOSER "request-bound-loosened" WEAKENING "a bound is gone or looser";
    IN_PATTERN_ADDED "request-pattern-added" BREAKING "a text has to match an expression or a format now";
    IN_PATTERN_REMOVED "request-pattern-removed" WEAKENING "a text need not match an expression or a format any more";
    IN_PATTERN_CHANGED "request-pattern-changed" BOTH "the expression or the format of a text is another one";
    IN_CLOSED "request-unknown-fields-refused" BREAKING "fields that are not listed are refused, or judged, now";
    IN_OPEN "request-unknown-fields-allowed" WEAKENING "fields that are not listed are no longer refused, or judged";
    IN_VARIANT_REMOVED "request-variant-removed" BREAKING "a variant is no longer taken";
    IN_VARIANT_ADDED "request-variant-added" COMPATIBLE "a variant is new";
    IN_CONDITION_ADDED "request-condition-added" BREAKING "a value has to fit one schema more";
    IN_CONDITION_REMOVED "request-condition-removed" WEAKENING "a value has to fit one schema less";

    STATUS_ADDED "success-added" COMPATIBLE "an answer that is no error is new";
    STATUS_REMOVED "success-removed" BREAKING "an answer that is no error is gone";
    ERROR_ADDED "error-added" COMPATIBLE "an error is new";
    ERROR_REMOVED "error-removed" COMPATIBLE "an error is gone";
    REPLY_TYPE_ADDED "reply-media-type-added" COMPATIBLE "a media type of an answer is new";
    REPLY_TYPE_KNOWN "reply-media-type-described" COMPATIBLE "the media type of an answer was not described, and is now";
    REPLY_TYPE_REMOVED "reply-media-type-removed" BREAKING "a media type of an answer is gone";
    REPLY_KNOWN "reply-described" COMPATIBLE "an answer of which nothing was known is described";
    REPLY_UNKNOWN "reply-not-described" BOTH "nothing is known any more of an answer";
    ERROR_BODY "error-form-changed" BREAKING "the form of an error is another one";
    ERROR_FIELDS "error-fields-listed" COMPATIBLE "an error lists the fields that failed";
    PROBLEM_ADDED "problem-type-added" COMPATIBLE "a problem type of an error is new";
    PROBLEM_REMOVED "problem-type-removed" BREAKING "an error no longer has a problem type, or its members";
    REPLY_HEADER_ADDED "reply-header-added" COMPATIBLE "a header of an answer is new, or always there";
    REPLY_HEADER_REMOVED "reply-header-removed" BREAKING "a header of an answer is gone, or not always there";

    OUT_FIELD_ADDED "reply-field-added" COMPATIBLE "a field is new";
    GRAPHQL_REMOVED "graphql-removed" BREAKING "a field, an argument or a value of a GraphQL schema is gone";
    GRAPHQL_TYPE "graphql-type-changed" BREAKING "a field or an argument of a GraphQL schema has another type, or a field may be null now";
    GRAPHQL_REQUIRED "graphql-required" BREAKING "an argument or an input field of a GraphQL schema must be given now";
    GRAPHQL_RELAXED "graphql-relaxed" COMPATIBLE "an argument may be left out that had to be given, or a field is never null that could be";
    GRAPHQL_ADDED "graphql-added" COMPATIBLE "a field, an argument or a value of a GraphQL schema is new";
    OUT_SECRET_ADDED "reply-secret-added" WEAKENING "a field is new whose name says that it holds a secret, such as `token` or `password_hash`";
    OUT_FIELD_REMOVED "reply-field-removed" BREAKING "a field is gone";
    OUT_FIELD_REQUIRED "reply-field-required" COMPATIBLE "a field is always there now";
    OUT_FIELD_OPTIONAL "reply-field-optional" BREAKING "a field may be absent now";
    OUT_TYPE_NARROWED "reply-type-narrowed" COMPATIBLE "values of a type no longer come";
    OUT_TYPE_WIDENED "reply-type-widened" BREAKING "values of another type, or null, may come";
    OUT_TYPE_CHANGED "reply-type-changed" BREAKING "values of another type come instead";
    OUT_VALUE_REMOVED "reply-value-removed" COMPATIBLE "a listed value no longer comes";
    OUT_VALUE_ADDED "reply-value-added" BREAKING "a listed value is new";
    OUT_VALUES_LISTED "reply-values-listed" COMPATIBLE "listed values alone come now";
    OUT_VALUES_FREE "reply-values-free" BREAKING "other values than listed ones may come";
    OUT_BOUND_TIGHTER "reply-bound-tightened" COMPATIBLE "a bound is new or tighter";
    OUT_BOUND_LOOSER "reply-bound-loosened" BREAKING "a bound is gone or looser";
    OUT_PATTERN_ADDED "reply-pattern-added" COMPATIBLE "a text matches an expression or a format now";
    OUT_PATTERN_REMOVED "reply-pattern-removed" BREAKING "a text need not match an expression or a format any more";
    OUT_PATTERN_CHANGED "reply-pattern-changed" BREAKING "the expression or the format of a text is another one";
    OUT_CLOSED "reply-unknown-fields-refused" COMPATIBLE "fields that are not listed no longer come, or have a schema";
    OUT_OPEN "reply-unknown-fields-allowed" COMPATIBLE "fields that are not listed may come, or have no schema any more";
    OUT_VARIANT_REMOVED "reply-variant-removed" COMPATIBLE "a variant no longer comes";
    OUT_VARIANT_ADDED "reply-variant-added" BREAKING "a variant is new";
    OUT_CONDITION_ADDED "reply-condition-added" COMPATIBLE "a value fits one schema more";
    OUT_CONDITION_REMOVED "reply-condition-removed" BREAKING "a value fits one schema less";
    SCHEMA_UNKNOWN "schema-unknown-changed" BOTH "a keyword differs of which nothing is known here";
    SCHEMA_RENAMED "schema-renamed" TEXT "a schema has another name in documents";
    SCHEMA_TEXT "schema-text-changed" TEXT "a title, description, example or default of a reply differs";

    USER_REQUIRED "user-required" BREAKING "a user is demanded now";
    USER_FOUND "user-found" COMPATIBLE "a user is found where there is one";
    USER_WEAKER "user-not-required" WEAKENING "a user is no longer demanded, or no longer looked for";
    SCHEME_ADDED "scheme-added" WEAKENING "another method may find the user";
    SCHEME_REMOVED "scheme-removed" BREAKING "a method no longer finds the user";
    SCHEME_CHANGED "scheme-changed" BOTH "a method to find the user is another one under the same name";
    SCHEME_ORDER "scheme-order-changed" BOTH "the methods that find the user are tried in another order";
    ROLE_DEMANDED "role-required" BREAKING "a role is demanded that was not";
    ROLE_WEAKER "role-not-required" WEAKENING "users with other roles, or with none, are let through";
    PERMISSION_DEMANDED "permission-required" BREAKING "a permission is demanded that was not";
    PERMISSION_GONE "permission-not-required" WEAKENING "a permission is no longer demanded";
    PERMISSION_UNNAMED "permission-unnamed-changed" BOTH "the number of permissions without a name differs";
    EARLIER_USER "earlier-user-judged" WEAKENING "a role or a permission is asked of another user than the handler gets";
    EARLIER_USER_GONE "earlier-user-not-judged" COMPATIBLE "roles and permissions are asked of the user that the handler gets";
    PUBLIC_ADDED "public-added" WEAKENING "the route says that it is open to everybody";
    PUBLIC_REMOVED "public-removed" COMPATIBLE "the route no longer says that it is open to everybody";
    PUBLIC_TEXT "public-text-changed" TEXT "the reason for being open to everybody has other words";
    OUTLIVES_ADDED "outlives-user-added" WEAKENING "connections of the route may outlive the login of their user";
    OUTLIVES_REMOVED "outlives-user-removed" BREAKING "connections of the route end with the login of their user";
    OUTLIVES_TEXT "outlives-user-text-changed" TEXT "the reason for outliving the login of the user has other words";
    GUARD_ADDED "middleware-added" COMPATIBLE "a middleware is new that describes itself";
    GUARD_REMOVED "middleware-removed" WEAKENING "a named middleware is gone";
    GUARD_OPAQUE "middleware-opaque-changed" BOTH "middleware is new or gone that does not describe itself";
    GUARD_ORDER "middleware-order-changed" BOTH "named middleware runs in another order";

    RATE_LOWER "rate-limit-lowered" BREAKING "fewer requests are let through, or a rate limit is new";
    RATE_HIGHER "rate-limit-raised" WEAKENING "more requests are let through, or a rate limit is gone";
    RATE_CHANGED "rate-limit-changed" BOTH "the window and the number of a rate limit, or their function, differ";
    BODY_LOWER "max-body-lowered" BREAKING "the largest body is smaller";
    BODY_HIGHER "max-body-raised" WEAKENING "the largest body is larger";
    TIMEOUT_LOWER "timeout-lowered" BREAKING "a route may take less time";
    TIMEOUT_HIGHER "timeout-raised" WEAKENING "a route may take more time, or any";
    TIMEOUT_STATUS "timeout-status-changed" COMPATIBLE "the status of an answer that takes too long is another one";
    ACCEPTS_FEWER "accepts-fewer" BREAKING "the types that a body may have are fewer";
    ACCEPTS_MORE "accepts-more" WEAKENING "the types that a body may have are more";

    KEYS_ADDED "idempotency-added" COMPATIBLE "requests with an idempotency key run once";
    KEYS_REMOVED "idempotency-removed" WEAKENING "requests with an idempotency key run as often as they come";
    KEYS_OPTIONAL "idempotency-optional" WEAKENING "requests without an idempotency key run, as often as they come";
    KEYS_SHORTER "idempotency-shortened" WEAKENING "an idempotency key, or the lease of one, is free again earlier";
    KEYS_LONGER "idempotency-extended" COMPATIBLE "an idempotency key, or the lease of one, is kept for longer";
    KEYS_LOOSER "idempotency-loosened" WEAKENING "after a crash, after an error, or while the store is down, a request may run twice";
    KEYS_STRICTER "idempotency-tightened" BREAKING "after a crash, after an error, or while the store is down, a request no longer runs twice";
    KEYS_UNQUOTED "idempotency-unquoted" COMPATIBLE "idempotency keys without quotes are accepted";
    KEYS_QUOTED "idempotency-quoted-only" BREAKING "idempotency keys without quotes are rejected";
    KEYS_CHANGED "idempotency-scope-changed" BOTH "idempotency keys belong to other users or clients";

    ORIGIN_ADDED "origin-added" WEAKENING "pages of more origins read answers, or connect";
    ORIGIN_REMOVED "origin-removed" BREAKING "pages of fewer origins read answers, or connect";
    CREDENTIALS_ON "credentials-allowed" WEAKENING "pages of other origins may send credentials";
    CREDENTIALS_OFF "credentials-refused" BREAKING "pages of other origins may no longer send credentials";
    MESSAGE_LARGER "message-size-raised" WEAKENING "the largest message is larger, or more come in a second";
    MESSAGE_SMALLER "message-size-lowered" BREAKING "the largest message is smaller, or fewer come in a second";
    SUBPROTOCOL_ADDED "subprotocol-added" COMPATIBLE "a subprotocol is new";
    SUBPROTOCOL_REMOVED "subprotocol-removed" BREAKING "a subprotocol is gone";
    SECURITY_HEADER_ADDED "security-header-added" COMPATIBLE "a header of security is new";
    SECURITY_HEADER_REMOVED "security-header-removed" WEAKENING "a header of security is gone";
    SECURITY_HEADER_CHANGED "security-header-changed" BOTH "a header of security has another value";
    EXPOSE_CHANGED "expose-errors-changed" WEAKENING "other clients get the messages of errors";
    PROXY_CHANGED "trust-proxy-changed" WEAKENING "other proxies say who the client is";
    PROBLEMS_CHANGED "problem-details-changed" BREAKING "all errors have another form";
    SLASH_OPTIONAL "trailing-slash-optional" COMPATIBLE "paths with or without a slash at the end reach more routes";
    SLASH_REQUIRED "trailing-slash-required" BREAKING "paths with or without a slash at the end no longer reach the route, or are redirected";
    FALLBACK_ADDED "fallback-added" WEAKENING "a handler takes the requests that no route takes";
    FALLBACK_REMOVED "fallback-removed" BREAKING "no handler takes the requests that no route takes";
    WEB_SOCKETS_ON "web-sockets-enabled" COMPATIBLE "the router may have WebSockets";
    WEB_SOCKETS_OFF "web-sockets-disabled" BREAKING "the router may no longer have WebSockets";
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
