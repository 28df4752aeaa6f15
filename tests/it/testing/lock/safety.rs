//! Users, limits, origins and router settings.

use std::time::Duration;

use stockade::http::Method;
use stockade::i18n::{Catalogs, ENGLISH};
use stockade::middleware::rate_limit::HOUR;
use stockade::middleware::{
    CorsOptions, RateLimit, SecurityHeaders, TrustProxy, named, with_permission, with_role,
    with_timeout,
};
use stockade::prelude::*;
use stockade::websockets::{WebSocket, WebSocketOptions};
use stockade::{RouteDescription, RouteEntry};

use super::{Mutation, api, mutation, nothing, with};

/// Returns a router with a route behind this middleware.
fn behind(list: Vec<Middleware>) -> Router {
    api(routes! { "x": { GET: { handler: async || (), middleware: list } } })
}

fn user(required: bool) -> Middleware {
    Middleware::new(with_auth(Auth::verify(|_: &Request| None::<String>).required(required)))
}

/// Token authentication, called `bearer` in documents.
fn token() -> Auth {
    Auth::secret(Secret::new("0123456789abcdef0123456789abcdef").unwrap())
}

/// An application's own function, also called `bearer` in documents.
fn own() -> Auth {
    Auth::verify(|_: &Request| None::<String>)
}

fn found_by(methods: Vec<Auth>) -> Middleware {
    Middleware::new(with_auth(methods.into_iter().reduce(Auth::or).unwrap()))
}

fn roles(names: &[&str]) -> Router {
    behind(vec![user(true), Middleware::new(with_role(names))])
}

fn permission(name: &'static str) -> Router {
    let check = named(name, |_: &Value, _: &Request| true);
    behind(vec![user(true), Middleware::new(with_permission(check))])
}

pub fn all() -> Vec<Mutation> {
    let access = access().into_iter().chain(outliving());
    access.chain(guards()).chain(limits()).chain(origins()).chain(router()).collect()
}

fn outliving() -> Vec<Mutation> {
    let events = |reason: Option<&str>| {
        let entry = RouteEntry::new(async || ());
        let entry = reason.into_iter().fold(entry, RouteEntry::outlives_user);
        api(RouteTree::new().segment("x", RouteTree::new().method(Method::GET, entry)))
    };
    let socket = |reason: Option<&str>| {
        let entry = RouteEntry::web_socket(async |_: WebSocket| ());
        let entry = reason.into_iter().fold(entry, RouteEntry::outlives_user);
        let tree = RouteTree::new().segment("x", RouteTree::new().web_socket(entry));
        create_router(tree, RouterOptions::new().rate_limit(false).enable_web_sockets(true))
    };
    let (tickets, prices) = (Some("tickets are valid once"), Some("the prices are public"));
    vec![
        mutation(
            "an event stream may outlive its user",
            (events(None), events(tickets)),
            "W outlives-user-added",
            "B outlives-user-removed",
        ),
        mutation(
            "a WebSocket may outlive its user",
            (socket(None), socket(tickets)),
            "W outlives-user-added",
            "B outlives-user-removed",
        ),
        mutation(
            "the reason for outliving a user has other words",
            (events(tickets), events(prices)),
            "- outlives-user-text-changed",
            "- outlives-user-text-changed",
        ),
    ]
}

fn access() -> Vec<Mutation> {
    let key = || {
        let auth = Auth::verify(|_: &Request| None::<String>);
        let other = Auth::api_key(|_: stockade::auth::ApiKeyHash| None::<String>);
        Middleware::new(with_auth(auth.or(other)))
    };
    let unnamed = || {
        let check = |_: &Value, _: &Request| true;
        behind(vec![user(true), Middleware::new(with_permission(check))])
    };
    let public = |reason: &str| {
        api(routes! { "x": { GET: { handler: async || (), public: reason.to_owned() } } })
    };
    vec![
        mutation(
            "a user is no longer demanded",
            (behind(vec![user(true)]), behind(vec![user(false)])),
            "W check-removed user-not-required",
            "B error-added user-required",
        ),
        mutation(
            "nobody is asked any more",
            (behind(vec![user(true)]), behind(vec![])),
            "W check-removed middleware-removed user-not-required",
            "B error-added middleware-added user-required",
        ),
        mutation(
            "a role more suffices",
            (roles(&["admin"]), roles(&["admin", "clerk"])),
            "W role-not-required",
            "B role-required",
        ),
        mutation(
            "a role is another one",
            (roles(&["admin"]), roles(&["clerk"])),
            "BW role-not-required role-required",
            "BW role-not-required role-required",
        ),
        mutation(
            "a role is not asked for",
            (roles(&["admin"]), behind(vec![user(true)])),
            "W check-removed middleware-removed role-not-required",
            "B error-added middleware-added role-required",
        ),
        mutation(
            "a permission is another one",
            (permission("read"), permission("write")),
            "BW permission-not-required permission-required",
            "BW permission-not-required permission-required",
        ),
        mutation(
            "a permission has no name",
            (unnamed(), behind(vec![user(true)])),
            "BW check-removed middleware-removed permission-unnamed-changed",
            "BW error-added middleware-added permission-unnamed-changed",
        ),
        mutation(
            "another method finds the user",
            (behind(vec![user(true)]), behind(vec![key()])),
            "W scheme-added",
            "B scheme-removed",
        ),
        mutation(
            "a method with the same name finds the user too",
            (behind(vec![found_by(vec![token()])]), behind(vec![found_by(vec![token(), own()])])),
            "W scheme-added",
            "B scheme-removed",
        ),
        mutation(
            "a method with the same facts finds the user too",
            (behind(vec![found_by(vec![own()])]), behind(vec![found_by(vec![own(), own()])])),
            "W scheme-added",
            "B scheme-removed",
        ),
        mutation(
            "another method with the same name finds the user instead",
            (behind(vec![found_by(vec![token()])]), behind(vec![found_by(vec![own()])])),
            "BW scheme-changed",
            "BW scheme-changed",
        ),
        mutation(
            "the methods are tried in another order",
            (
                behind(vec![found_by(vec![token(), own()])]),
                behind(vec![found_by(vec![own(), token()])]),
            ),
            "BW scheme-order-changed",
            "BW scheme-order-changed",
        ),
        mutation(
            "it is open to everybody",
            (api(routes! { "x": { GET: async || () } }), public("it is a greeting")),
            "W public-added",
            "- public-removed",
        ),
        mutation(
            "the reason for being open",
            (public("it is a greeting"), public("it greets")),
            "- public-text-changed",
            "- public-text-changed",
        ),
    ]
}

fn guards() -> Vec<Mutation> {
    let described = |name: &'static str| {
        Middleware::new(nothing).named(name).describing(|_: &mut RouteDescription| {})
    };
    vec![
        mutation(
            "a named guard goes",
            (behind(vec![described("a")]), behind(vec![])),
            "W middleware-removed",
            "- middleware-added",
        ),
        mutation(
            "an opaque guard without a name comes",
            (behind(vec![]), behind(vec![Middleware::new(nothing)])),
            "BW middleware-opaque-changed",
            "BW middleware-opaque-changed",
        ),
        mutation(
            "guards change places",
            (
                behind(vec![described("a"), described("b")]),
                behind(vec![described("b"), described("a")]),
            ),
            "BW middleware-order-changed",
            "BW middleware-order-changed",
        ),
    ]
}

fn limits() -> Vec<Mutation> {
    let rate = |limit: RateLimit| with(RouterOptions::new().rate_limit(limit));
    let own = |limit: RateLimit| {
        api(routes! { "x": { GET: { handler: async || (), rate_limit: limit } } })
    };
    let body = |bytes: u64| {
        api(routes! { "x": { POST: { handler: async |_: Bytes| (), max_body: bytes } } })
    };
    let timeout =
        |seconds: u64| behind(vec![Middleware::new(with_timeout(Duration::from_secs(seconds)))]);
    let exempt = |limited: bool| {
        let tree = routes! { "x": { GET: { handler: async || (), rate_limit: limited } } };
        create_router(tree, RouterOptions::new().rate_limit(10 / MINUTE))
    };
    vec![
        mutation(
            "the rate limit of the router is raised",
            (rate((10 / MINUTE).into()), rate((20 / MINUTE).into())),
            "W rate-limit-raised",
            "B rate-limit-lowered",
        ),
        mutation(
            "the rate limit of the router has a longer window",
            (rate((10 / MINUTE).into()), rate((20 / HOUR).into())),
            "BW rate-limit-changed",
            "BW rate-limit-changed",
        ),
        mutation(
            "the rate limit of a route is lowered",
            (own((10 / MINUTE).into()), own((5 / MINUTE).into())),
            "B rate-limit-lowered",
            "W rate-limit-raised",
        ),
        mutation(
            "a route is taken out of the rate limit",
            (exempt(true), exempt(false)),
            "W error-removed rate-limit-raised",
            "B error-added rate-limit-lowered",
        ),
        mutation(
            "the largest body of a route is larger",
            (body(10), body(20)),
            "W max-body-raised",
            "B max-body-lowered",
        ),
        mutation(
            "the largest body of all routes is larger",
            (
                with(RouterOptions::new().rate_limit(false).max_body_size(10)),
                with(RouterOptions::new().rate_limit(false).max_body_size(20)),
            ),
            "W max-body-raised",
            "B max-body-lowered",
        ),
        mutation(
            "a route may take longer",
            (timeout(1), timeout(2)),
            "W timeout-raised",
            "B timeout-lowered",
        ),
    ]
}

fn origins() -> Vec<Mutation> {
    const A: &str = "https://a.example";
    const B: &str = "https://b.example";
    let options = || RouterOptions::new().rate_limit(false);
    let cors = |origins: &[&str]| with(options().cors_origin(origins.to_vec()));
    let route = |origin: &'static str| {
        api(routes! { "x": { GET: { handler: async || (), cors: CorsOptions::new(origin) } } })
    };
    let socket = |options: WebSocketOptions| {
        let tree = routes! { "x": { WS: { handler: async |_: WebSocket| (), options: options } } };
        create_router(tree, RouterOptions::new().rate_limit(false).enable_web_sockets(true))
    };
    let ws = WebSocketOptions::new;
    vec![
        mutation(
            "pages of another origin read answers",
            (cors(&[A]), cors(&[A, B])),
            "W origin-added",
            "B origin-removed",
        ),
        mutation(
            "a route has another origin",
            (route(A), route(B)),
            "BW origin-added origin-removed",
            "BW origin-added origin-removed",
        ),
        mutation(
            "pages may send credentials",
            (with(options()), with(options().cors_origin("http://localhost:3000"))),
            "W credentials-allowed",
            "B credentials-refused",
        ),
        mutation(
            "pages of any origin connect",
            (socket(ws().allowed_origins([A])), socket(ws().allowed_origins(["*"]))),
            "W origin-added",
            "B origin-removed",
        ),
        mutation(
            "messages are larger",
            (socket(ws().max_payload(10)), socket(ws().max_payload(20))),
            "W message-size-raised",
            "B message-size-lowered",
        ),
        mutation(
            "a subprotocol goes",
            (socket(ws().protocols(["a", "b"])), socket(ws().protocols(["a"]))),
            "B subprotocol-removed",
            "- subprotocol-added",
        ),
        mutation(
            "messages are compressed",
            (socket(ws()), socket(ws().compression(true))),
            "- compression-changed reply-header-added request-header-added",
            "B compression-changed reply-header-removed request-header-removed",
        ),
        mutation(
            "a route has rules for origins of its own",
            (api(routes! { "x": { GET: async || () } }), route(A)),
            "BW credentials-allowed origin-added origin-removed",
            "BW credentials-refused origin-added origin-removed",
        ),
    ]
}

/// Returns options with messages in these languages, the default first.
fn languages(tags: &[&str]) -> RouterOptions {
    let texts =
        tags.iter().fold(Catalogs::builtin(), |texts, tag| texts.add(tag, ENGLISH).unwrap());
    let texts = texts.default_language(tags[0]).unwrap();
    RouterOptions::new().rate_limit(false).languages(texts)
}

fn router() -> Vec<Mutation> {
    let options = || RouterOptions::new().rate_limit(false);
    let headers = |headers: SecurityHeaders| with(options().security_headers(headers));
    vec![
        mutation(
            "no headers of security",
            (with(options()), with(options().enable_security_headers(false))),
            "W security-header-removed",
            "- security-header-added",
        ),
        mutation(
            "a header of security has another value",
            (
                headers(SecurityHeaders::default()),
                headers(SecurityHeaders::default().set("referrer-policy", "origin").unwrap()),
            ),
            "BW security-header-changed",
            "BW security-header-changed",
        ),
        mutation(
            "errors are shown",
            (with(options()), with(options().expose_errors(true))),
            "W expose-errors-changed",
            "W expose-errors-changed",
        ),
        mutation(
            "a proxy is believed",
            (with(options()), with(options().trust_proxy(TrustProxy::from(1)))),
            "W trust-proxy-changed",
            "W trust-proxy-changed",
        ),
        mutation(
            "errors are problem details",
            (with(options()), with(options().problem_details(true))),
            "B problem-details-changed",
            "B problem-details-changed",
        ),
        mutation(
            "a slash at the end is optional",
            (with(options()), with(options().trailing_slash(stockade::TrailingSlash::Redirect))),
            "- trailing-slash-optional",
            "B trailing-slash-required",
        ),
        mutation(
            "messages have a language more",
            (with(languages(&["en", "de"])), with(languages(&["en", "de", "fr"]))),
            "- language-added",
            "B language-removed",
        ),
        mutation(
            "messages have another default language",
            (with(languages(&["en", "de"])), with(languages(&["de", "en"]))),
            "B language-default-changed",
            "B language-default-changed",
        ),
        mutation(
            "a fallback comes",
            (with(options()), with(options().fallback(async || "nothing here"))),
            "W fallback-added",
            "B fallback-removed",
        ),
        mutation(
            "WebSockets are enabled",
            (with(options()), with(options().enable_web_sockets(true))),
            "- web-sockets-enabled",
            "B web-sockets-disabled",
        ),
    ]
}
