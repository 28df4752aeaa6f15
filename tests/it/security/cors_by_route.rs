//! CORS: a preflight allows the headers that its route reads, and a response exposes the
//! headers that its route documents.

use stockade::auth::ApiKeyHash;
use stockade::description::HeaderDoc;
use stockade::extract::{FromRequest, LastEventId};
use stockade::middleware::idempotency::{Idempotency, MemoryIdempotencyStore};
use stockade::middleware::{
    CorsOptions, Preconditions, with_cors, with_etag, with_idempotency, with_request_id,
};
use stockade::prelude::*;
use stockade::reply::Created;
use stockade::routing::HostRoutes;
use stockade::rpc::Rpc;
use stockade::{HostOptions, RouteDescription};

use crate::support::{Answers, app, block_on, header_of, request};

/// A header that an extractor of the application reads.
struct Tenant;

impl FromRequest for Tenant {
    async fn from_request(_: &mut Request) -> Result<Self, ApiError> {
        Ok(Self)
    }

    fn describe(doc: &mut RouteDescription) {
        doc.reads_header("X-Tenant", false);
        // A browser sends these without permission, or forbids them.
        for name in ["Accept", "Cookie", "Origin", "Sec-Fetch-Site", "Host", "content-type"] {
            doc.reads_header(name, false);
        }
        doc.adds_header(HeaderDoc::new("X-Region", "The region of the tenant"), None);
        // A script can read these in any case, or never.
        for name in ["Content-Type", "Set-Cookie", "Vary", "Last-Modified", "retry-after"] {
            doc.adds_header(HeaderDoc::new(name, "A header"), None);
        }
    }
}

fn api() -> RouteTree {
    let keyed = || with_auth(Auth::api_key(async |_: ApiKeyHash| Some("Ada")));
    let once = with_idempotency(Idempotency::new(MemoryIdempotencyStore::new()));
    routes! {
        "plain": { GET: async || "plain" },
        "keyed": { GET: { async || "keyed", middleware: [keyed()] } },
        "orders": {
            POST: { async || Created::new("order").location("/orders/1"), middleware: [once] },
        },
        "tagged": {
            GET: { async || "tagged", middleware: [with_etag()] },
            PUT: async |_: Preconditions| "written",
        },
        "events": { GET: async |_: LastEventId| "events" },
        "tenants": { GET: async |_: Tenant| "tenants" },
    }
}

const PAGE: &str = "http://localhost:3000";
const SENT: &str = "Content-Type, Authorization";
const READ: &str = "RateLimit, RateLimit-Policy, Retry-After, X-Request-Id";

fn preflight(method: &str, path: &str) -> String {
    format!("OPTIONS {path}\norigin: {PAGE}\naccess-control-request-method: {method}")
}

/// Checks the headers that a preflight allows in addition to the default ones.
#[track_caller]
fn allows(app: &impl Answers, method: &str, path: &str, expected: &str) {
    let found = header_of(app, &preflight(method, path), "access-control-allow-headers");
    assert_eq!(found, SENT.to_owned() + expected, "{method} {path}");
}

/// Checks the headers that a response exposes in addition to the default ones.
#[track_caller]
fn exposes(app: &impl Answers, line: &str, expected: &str) {
    let text = format!("{line}\norigin: {PAGE}");
    let found = header_of(app, &text, "access-control-expose-headers");
    assert_eq!(found, READ.to_owned() + expected, "{line}");
}

/// Checks all routes.
#[track_caller]
fn check_all(app: &impl Answers) {
    allows(app, "GET", "/plain", "");
    allows(app, "GET", "/keyed", ", x-api-key");
    allows(app, "POST", "/orders", ", Idempotency-Key");
    allows(app, "PUT", "/tagged", ", If-Match, If-None-Match, If-Unmodified-Since");
    allows(app, "GET", "/events", ", Last-Event-ID");
    allows(app, "GET", "/tenants", ", X-Tenant");
    // The second response uses the headers that the first one prepared.
    for _ in 0..2 {
        exposes(app, "GET /plain", "");
        exposes(app, "GET /keyed", ", WWW-Authenticate");
        exposes(app, "POST /orders", ", Location, Idempotency-Replayed");
        exposes(app, "GET /tagged", ", ETag");
        exposes(app, "GET /tenants", ", X-Region");
    }
}

#[test]
fn a_route_determines_its_allowed_headers() {
    let app = app(create_router(api(), RouterOptions::new()));
    check_all(&app);
    allows(&app, "PUT", "/plain", "");
    allows(&app, "GET", "/nowhere", "");
    exposes(&app, "GET /nowhere", "");
    exposes(&app, "DELETE /tagged", "");
}

#[test]
fn routes_with_their_own_origins_determine_their_allowed_headers() {
    let group = |options: CorsOptions| {
        let mut router = Router::with_options(RouterOptions::new().cors(false));
        router.group("", with_cors(options), |group| {
            group.routes(api());
        });
        router
    };
    check_all(&app(group(CorsOptions::new([PAGE]))));
    let mut router = Router::with_options(RouterOptions::new().cors(false));
    router.get("/tenants", async |_: Tenant| "tenants").cors(CorsOptions::new([PAGE]));
    let app = app(router);
    allows(&app, "GET", "/tenants", ", X-Tenant");
    exposes(&app, "GET /tenants", ", X-Region");
}

#[test]
fn routes_of_another_host_determine_their_allowed_headers() {
    struct Hosted(HostRoutes);
    impl Answers for Hosted {
        fn answer(&self, request: Request) -> impl Future<Output = Response> {
            self.0.handle(request)
        }
    }
    let mut router = Router::new();
    router.group("", with_cors([PAGE]), |group| {
        group.routes(api());
    });
    check_all(&Hosted(HostRoutes::build(router).unwrap()));
}

#[test]
fn a_configured_list_replaces_the_headers_of_the_route() {
    let allowed = CorsOptions::new([PAGE]).allowed_headers(["X-A"]);
    let exposed = CorsOptions::new([PAGE]).exposed_headers(["X-B"]);
    let none = CorsOptions::new([PAGE])
        .allowed_headers(Vec::<String>::new())
        .exposed_headers(Vec::<String>::new());
    for (options, sent, read) in [(allowed, "X-A", ""), (exposed, "", "X-B"), (none, "-", "-")] {
        let app = app(create_router(api(), RouterOptions::new().cors(options)));
        let found = header_of(&app, &preflight("GET", "/keyed"), "access-control-allow-headers");
        let by_route = format!("{SENT}, x-api-key");
        assert_eq!(found, if sent.is_empty() { &by_route } else { sent });
        let line = format!("GET /tagged\norigin: {PAGE}");
        let found = header_of(&app, &line, "access-control-expose-headers");
        let by_route = format!("{READ}, ETag");
        assert_eq!(found, if read.is_empty() { &by_route } else { read });
    }
}

#[test]
fn an_unlisted_origin_gets_no_header_list() {
    let app = app(create_router(api(), RouterOptions::new().cors_origin(["https://a.example"])));
    for line in [preflight("GET", "/keyed"), format!("GET /tagged\norigin: {PAGE}")] {
        let response = block_on(app.handle(request(&line)));
        for name in ["access-control-allow-headers", "access-control-expose-headers"] {
            assert!(!response.headers().contains_key(name), "{line}: {name}");
        }
    }
}

#[test]
fn a_fallback_determines_its_allowed_headers() {
    let mut router = Router::with_options(RouterOptions::new().fallback(async |_: Tenant| "other"));
    router.routes(api());
    let app = app(router);
    allows(&app, "GET", "/nowhere", ", X-Tenant");
    exposes(&app, "GET /nowhere", ", X-Region");
    allows(&app, "GET", "/plain", "");
    // The response to another method is a 405 and does not come from the fallback.
    allows(&app, "PUT", "/plain", "");
    exposes(&app, "PUT /plain", "");
}

#[test]
fn allows_the_headers_that_the_stages_read() {
    let options = RouterOptions::new().request_id(with_request_id().begin_traces(true));
    let app = app(create_router(api(), options));
    allows(&app, "GET", "/plain", ", X-Request-Id, traceparent, tracestate");
    allows(&app, "GET", "/keyed", ", x-api-key, X-Request-Id, traceparent, tracestate");
    exposes(&app, "GET /plain", ", traceparent");
    exposes(&app, "GET /tagged", ", ETag, traceparent");
}

#[test]
fn host_options_keep_the_lists() {
    let app = app(create_router(api(), RouterOptions::new()));
    let call = HostOptions::new().cors_origin([PAGE]).rate_limit(false);
    check_all(&app.with_options(call).unwrap());
}

#[test]
fn many_different_lists_are_possible() {
    struct Named<const N: usize>;
    impl<const N: usize> FromRequest for Named<N> {
        async fn from_request(_: &mut Request) -> Result<Self, ApiError> {
            Ok(Self)
        }

        fn describe(doc: &mut RouteDescription) {
            doc.adds_header(HeaderDoc::new(format!("X-{N}"), "A header"), None);
        }
    }
    let mut router = Router::new();
    macro_rules! add {
        ($($number:literal)*) => {
            $(router.get(concat!("/", $number), async |_: Named<$number>| "");)*
        };
    }
    add!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
        33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62
        63 64 65 66 67 68 69);
    let app = app(router);
    // With twenty origins, the headers of a dozen lists are prepared.
    let origins = (0..20).map(|number| format!("https://{number}.example")).chain([PAGE.into()]);
    let call = HostOptions::new().cors_origin(origins.collect::<Vec<_>>()).rate_limit(false);
    for app in [app.with_options(call).unwrap(), app] {
        for number in 0..70 {
            exposes(&app, &format!("GET /{number}"), &format!(", X-{number}"));
        }
    }
}

#[test]
fn a_route_of_methods_allows_the_headers_of_its_methods() {
    async fn method(_: Tenant) -> Result<(), ApiError> {
        Ok(())
    }
    let rpc = Rpc::new().method("guarded", method);
    let app = app(create_router(routes! { "rpc": { ..rpc.routes() } }, RouterOptions::new()));
    allows(&app, "POST", "/rpc", ", X-Tenant");
    exposes(&app, "POST /rpc", "");
}
