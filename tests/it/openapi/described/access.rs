//! Requirements of routes: users, roles, permissions, quotas, times, headers
//! and schemas.

use std::time::Duration;

use stockade::auth::{ApiKeyHash, BasicCredentials, KeyRing, SessionId, TokenVerifier};
use stockade::description::{DescribedRoute, InputFrom, SecurityScheme};
use stockade::extract::Headers;
use stockade::http::HeaderName;
use stockade::middleware::files::FileRequest;
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::with_rate_limit;
use stockade::middleware::{
    Cookies, ErrorHandlerOptions, ErrorReply, IdempotencyKey, InputRule, InputType, Preconditions,
    RateLimit, SessionCookie, TraceContext, named, with_compression, with_cors,
    with_cross_origin_protection, with_decompression, with_error_handling, with_etag,
    with_idempotency, with_input_validation, with_params_validation, with_permission,
    with_query_validation, with_request_id, with_role, with_timeout, with_validation,
};
use stockade::prelude::*;
use stockade::routing::map::{FieldInfo, Need, QuotaInfo, RouteAccess};
use stockade::validation::ValidationOptions;

use super::{quiet, row};

async fn text() -> &'static str {
    "text"
}

fn secret() -> Secret {
    Secret::new("a secret of thirty-two bytes or more").unwrap()
}

fn user(auth: Auth) -> (RouteAccess, String) {
    let row = row!([with_auth(auth)], text, "GET /x/7");
    let challenge = row.send().header("www-authenticate").unwrap_or_default();
    (row.facts().route.access, challenge)
}

#[test]
fn each_authentication_method_has_its_scheme() {
    fn check(auth: Auth, scheme: SecurityScheme, challenge: &str) {
        let (access, sent) = user(auth);
        assert_eq!((access.schemes, access.user), (vec![scheme.into()], Need::Required));
        assert_eq!(sent, challenge);
    }
    async fn lookup(_: Headers) -> Result<Option<String>, ApiError> {
        Ok(None)
    }
    let cookie = SessionCookie::new(KeyRing::new(secret())).name("s");
    let token =
        |scheme: &'static str| SecurityScheme::Http { scheme: scheme.into(), bearer_format: None };
    let nobody = |_: &Request| None::<String>;
    let text = |_: String| None::<String>;
    let key = |_: ApiKeyHash| None::<String>;
    let verified = || Auth::tokens(secret(), TokenVerifier::new());
    check(Auth::secret(secret()), SecurityScheme::jwt(), "Bearer");
    check(verified(), SecurityScheme::jwt(), "Bearer");
    check(verified().realm("shop"), SecurityScheme::jwt(), "Bearer realm=\"shop\"");
    check(Auth::verify(nobody), SecurityScheme::bearer(), "Bearer");
    check(Auth::lookup(lookup), SecurityScheme::bearer(), "Bearer");
    check(Auth::bearer(text), SecurityScheme::bearer(), "Bearer");
    check(Auth::bearer(text).scheme("Token"), token("Token"), "Token");
    check(Auth::bearer(text).scheme("bearer"), token("Bearer"), "Bearer");
    check(
        Auth::api_key(key),
        SecurityScheme::Header("x-api-key".into()),
        "ApiKey header=\"x-api-key\"",
    );
    check(
        Auth::api_key_in(HeaderName::from_static("x-key"), key).scheme("Key"),
        SecurityScheme::Header("x-key".into()),
        "Key header=\"x-key\"",
    );
    check(
        Auth::basic("shop", |_: BasicCredentials| None::<String>),
        SecurityScheme::basic(),
        "Basic realm=\"shop\", charset=\"UTF-8\"",
    );
    check(
        Auth::session(cookie, |_: SessionId| None::<String>),
        SecurityScheme::Cookie("__Host-s".into()),
        "Session cookie=\"__Host-s\"",
    );
    let certificate = SecurityScheme::Other("client certificate".into());
    check(Auth::verify(nobody).documented_as(certificate.clone()), certificate, "Bearer");
}

#[test]
fn several_methods_are_alternatives() {
    let auth = Auth::api_key(|_: ApiKeyHash| None::<String>).or(Auth::secret(secret()));
    let (access, _) = user(auth.required(false));
    let schemes = [SecurityScheme::Header("x-api-key".into()), SecurityScheme::jwt()];
    assert_eq!((access.schemes, access.user), (schemes.map(Into::into).to_vec(), Need::Optional));
}

#[test]
fn a_second_authentication_does_not_hide_the_first() {
    let first = with_auth(Auth::secret(secret()));
    let second = with_auth(Auth::api_key(|_: ApiKeyHash| None::<String>).required(false));
    let row = row!([first, second], text, "GET /x/7");
    row.send().assert_status(401);
    let facts = row.facts();
    assert_eq!(facts.route.access.schemes, [SecurityScheme::Header("x-api-key".into()).into()]);
    assert_eq!(facts.earlier_schemes, [SecurityScheme::jwt().into()]);
    assert_eq!(row.app.route_map().routes[0].access.user, Need::Required);
}

#[test]
fn documents_permissions() {
    let nobody = |_: &Value, _: &Request| false;
    async fn later(_: Value, _: &mut Request) -> bool {
        false
    }
    let row = row!(
        [
            with_auth(Auth::secret(secret())),
            with_role(["admin", "editor"]),
            with_role("admin"),
            with_permission(nobody),
            with_permission(named("own account", nobody)),
            with_permission(named("later", later))
        ],
        text,
        "GET /x/7"
    );
    let access = row.facts().route.access;
    assert_eq!(
        access.roles,
        [vec!["admin".to_owned(), "editor".to_owned()], vec!["admin".to_owned()]]
    );
    let named = |name: &str| Some(name.to_owned());
    assert_eq!(access.permissions, [None, named("own account"), named("later")]);
}

#[test]
fn documents_limits() {
    let day = Duration::from_secs(86_400);
    let limits = [
        Middleware::new(with_rate_limit(5 / MINUTE)),
        Middleware::new(with_rate_limit(RateLimit::new().max_requests(7).window(day).name("day"))),
    ];
    let times = [3, 1, 2]
        .map(|seconds| Middleware::new(with_timeout(Duration::from_secs(seconds)).status(504)));
    let mut router = Router::with_options(quiet());
    router.use_(limits);
    router.use_(times);
    router.get("/x/:id", text);
    let limits = router.build().unwrap().routes()[0].facts().route.limits;
    let minute = Duration::from_secs(60);
    let quotas = [("route", 5, minute), ("day", 7, day)];
    let quotas = quotas.map(|(name, limit, window)| QuotaInfo::new(name, Some((limit, window))));
    assert_eq!(limits.rate, quotas);
    assert_eq!(limits.timeout, Some((1_000, 504)));
}

#[test]
fn a_route_can_reuse_the_name_of_a_removed_router_limit() {
    let build = |is_charged: bool| {
        let options = RouterOptions::new().rate_limit(RateLimit::new().name("all"));
        let mut router = Router::with_options(options);
        let own = with_rate_limit(RateLimit::from(1 / MINUTE).name("all"));
        let route = router.get("/x", text).middleware(own);
        if !is_charged {
            route.rate_limit(false);
        }
        router.build()
    };
    let error = build(true).unwrap_err().to_string();
    assert!(error.contains("duplicate rate limit name \"all\""), "{error}");
    assert!(build(false).is_ok());
}

/// Returns the headers and cookies that a route reads: `name`, or `name!` if
/// required.
fn reads(facts: &DescribedRoute) -> String {
    assert_eq!(facts.route.cookies, []);
    let field =
        |field: &FieldInfo| format!("{}{}", field.name, if field.required { "!" } else { "" });
    facts.route.headers.iter().map(field).collect::<Vec<_>>().join(" ")
}

#[test]
fn documents_headers_that_are_read() {
    let check = |row: super::Row, expected: &str| {
        assert_eq!(reads(&row.facts()), expected, "{}", row.request);
    };
    let tags = "If-Match If-None-Match If-Unmodified-Since";
    let dates = &format!("{tags} If-Modified-Since");
    let site = "Sec-Fetch-Site Origin";
    check(row!([with_etag()], text, "GET /x/7"), dates);
    check(row!([with_etag()], text, "POST /x/7"), "");
    check(row!([], async |_: Preconditions| (), "PUT /x/7"), tags);
    check(row!([], async |_: Preconditions| (), "GET /x/7"), dates);
    check(row!([], async |_: FileRequest| (), "GET /x/7"), &format!("{dates} Range If-Range"));
    check(row!([], async |_: FileRequest| (), "POST /x/7"), "");
    check(row!([], async |_: Cookies| (), "GET /x/7"), "Cookie");
    check(row!([], async |_: TraceContext| (), "GET /x/7"), "traceparent tracestate");
    check(row!([with_cross_origin_protection()], text, "POST /x/7"), site);
    check(row!([with_compression()], text, "GET /x/7"), "Accept-Encoding");
    check(row!([with_decompression()], text, "POST /x/7"), "Content-Encoding");
    let once = || Idempotency::new(MemoryIdempotencyStore::new());
    let post = "POST /x/7";
    check(row!([with_idempotency(once())], text, post), "Idempotency-Key");
    check(row!([with_idempotency(once().required(true))], text, post), "Idempotency-Key!");
    check(row!([], async |_: IdempotencyKey| (), post), "Idempotency-Key!");
    check(row!([], async |_: Option<IdempotencyKey>| (), post), "Idempotency-Key");
    check(row!([with_cors("*")], text, "GET /x/7"), "");
    check(row!([with_cors(["https://a.example"])], text, "GET /x/7"), "Origin");
    let id = "X-Request-Id traceparent tracestate";
    check(row!([with_request_id()], text, "GET /x/7"), id);
    let strangers = with_request_id().believe_client(false);
    check(row!([strangers], text, "GET /x/7"), "traceparent tracestate");
}

#[test]
fn collects_schemas_of_middleware() {
    let name = || schema!({ "name": { "type": "string", "required": true } });
    let closed = ValidationOptions::new().allow_unknown(false);
    let rule = InputRule::new().required().kind(InputType::String).max_length(3);
    let row = row!(
        [
            with_params_validation(schema!({ "id": { "type": "number" } })),
            with_query_validation(name()),
            with_validation(name()).options(closed.clone()),
            with_input_validation([("name", rule)])
        ],
        text,
        "POST /x/7"
    );
    let inputs = row.facts().inputs;
    let told = inputs.iter().map(|input| (input.from, &*input.by));
    assert_eq!(
        told.collect::<Vec<_>>(),
        [
            (InputFrom::Params, "with_params_validation"),
            (InputFrom::Query, "with_query_validation"),
            (InputFrom::Body, "with_validation"),
            (InputFrom::Body, "with_input_validation"),
        ]
    );
    assert_eq!(inputs[0].schema.to_json_schema()["properties"]["id"]["type"], "number");
    assert_eq!(inputs[1].schema.to_json_schema()["required"], json!(["name"]));
    assert_eq!(inputs[2].options.allow_unknown, Some(false));
    assert_eq!(inputs[1].options.allow_unknown, None);
    let rules = inputs[3].schema.to_json_schema();
    assert_eq!(rules["properties"]["name"]["maxLength"], 3, "{rules}");
    assert_eq!(rules["properties"]["name"]["minLength"], 1, "{rules}");
}

#[test]
fn documents_custom_error_formats() {
    let form = |middleware: Middleware| {
        !row!([middleware], text, "GET /x/7").facts().error_forms.is_empty()
    };
    let own = || ErrorHandlerOptions::new();
    assert!(!form(with_error_handling(own())));
    assert!(!form(with_error_handling(own().expose_errors(true).logger(|_, _| ()))));
    assert!(form(with_error_handling(own().transform(|_, body| body))));
    assert!(form(with_error_handling(own().include_stack(true))));
    assert!(form(with_error_handling(|_: &mut ErrorReply| ())));
}
