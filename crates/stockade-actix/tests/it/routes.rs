//! Individual routes: actix-web handles the rest.

use actix_web::middleware::{ErrorHandlerResponse, ErrorHandlers};
use actix_web::{App, HttpResponse, http, test, web};
use serde_json::json;
use stockade_actix::{ActixRoutes, HostError, ToActix};
use stockade_core::extract::Body;
use stockade_core::{ApiError, ErrorHandlerOptions, Request};
use stockade_routing::{Router, RouterOptions};
use stockade_stages::rate_limit::MINUTE;
use stockade_stages::{create_error_handler, with_cors, with_logging, with_rate_limit};
use stockade_validation::schema;

use crate::support::{check, header_of, request};

/// Returns the route and its parameters.
async fn params(req: Request) -> String {
    let route = req.route().unwrap_or_default().to_owned();
    let params = req.params().map(|(name, value)| format!(" {name}={value}"));
    params.fold(route, |line, param| line + &param)
}

fn quiet() -> RouterOptions {
    RouterOptions::new().expose_errors(false)
}

/// A host with the routes below `/api`.
macro_rules! host {
    ($routes:expr) => {
        test::init_service(
            App::new()
                .service(web::scope("/api").service($routes))
                .default_service(web::to(async || "the host")),
        )
        .await
    };
}

/// Returns the routes of a valid router.
fn routes(router: Router) -> ActixRoutes {
    router.to_actix_routes().unwrap()
}

#[actix_web::test]
async fn all_forms_of_paths_mean_the_same() {
    let mut api = Router::new();
    for path in [
        "/",
        "/users/:id",
        "/users/me",
        "/flights/:from-:to",
        "/search/:query?/:page(\\d+)?",
        "/files/**",
        "/one/*/end",
        "/v:major.:minor",
    ] {
        api.get(path, params);
    }
    let host = host!(routes(api));
    for (path, expected) in [
        ("", "/"),
        ("/users/me", "/users/me"),
        ("/users/a%20b", "/users/:id id=a b"),
        ("/users/%7A", "/users/:id id=z"),
        ("/users/a%2Fb", "/users/:id id=a/b"),
        ("/flights/OSL-LHR", "/flights/:from-:to from=OSL to=LHR"),
        ("/search", "/search/:query?/:page(\\d+)?"),
        ("/search/cats/2", "/search/:query?/:page(\\d+)? query=cats page=2"),
        ("/files/", "/files/** splat="),
        ("/files/a/b%2Fc", "/files/** splat=a/b/c"),
        ("/one/x/end", "/one/*/end splat=x"),
        ("/v1.2", "/v:major.:minor major=1 minor=2"),
    ] {
        check(&host, &format!("GET /api{path}"), &format!("200 {expected}")).await;
    }
    // The decoded path belongs to another route.
    check(&host, "GET /api/users/%6De", r#"400 {"error":"Bad Request"}"#).await;
    // Paths that stockade rejects continue to the host.
    for path in ["/nowhere", "/users", "/us%65rs/1", "/flights/OSL", "/search/cats/two", "/files"] {
        check(&host, &format!("GET /api{path}"), "200 the host").await;
    }
}

#[actix_web::test]
async fn the_host_handles_unmatched_requests() {
    let mut api = Router::new();
    api.get("/users/:id", async || "get");
    api.delete("/users/:name", async || "delete");
    api.post("/users/me", async || "post me");
    let host = test::init_service(
        App::new()
            .service(
                web::scope("/api")
                    .service(routes(api))
                    .route("/own", web::get().to(async || "own")),
            )
            .route("/", web::get().to(async || "the page")),
    )
    .await;
    check(&host, "GET /", "200 the page").await;
    check(&host, "GET /api/own", "200 own").await;
    check(&host, "GET /api/users/1", "200 get").await;
    check(&host, "GET /api/users/me", "200 get").await;
    check(&host, "POST /api/users/me", "200 post me").await;
    check(&host, "DELETE /api/users/1", "200 delete").await;
    check(&host, "HEAD /api/users/1", "200").await;
    check(&host, "GET /api/nowhere", "404").await;
    check(&host, "PATCH /api/users/1", r#"405 {"error":"Method Not Allowed"}"#).await;
    assert_eq!(header_of(&host, "PATCH /api/users/1", "allow").await, "GET, HEAD, DELETE, OPTIONS");
    for header in ["x-frame-options", "access-control-allow-origin", "ratelimit"] {
        assert_eq!(header_of(&host, "GET /api/users/1", header).await, "-", "{header}");
    }
    let response = test::call_service(&host, request("GET /api/users/1").to_request()).await;
    assert_eq!(response.request().match_pattern().as_deref(), Some("/api/users/{id}"));
}

#[actix_web::test]
async fn middleware_and_validation_work_the_same() {
    fn friends(req: &mut Request) -> Result<(), ApiError> {
        match req.headers().contains_key("x-friend") {
            true => Ok(()),
            false => Err(ApiError::authentication()),
        }
    }
    let mut api = Router::with_options(quiet());
    api.group("/notes", friends, |notes| {
        notes
            .post("/", async |Body(note): Body<serde_json::Value>| note)
            .validation(schema!({ "text": { "type": "string", "required": true, "trim": true } }));
    });
    let host = host!(routes(api));
    let json = "content-type: application/json";
    check(&host, "POST /api/notes", r#"401 {"error":"Authentication required"}"#).await;
    let good = format!("POST /api/notes\nx-friend: 1\n{json}\n\n{{\"text\":\" hi \"}}");
    check(&host, &good, r#"200 {"text":"hi"}"#).await;
    let bad = format!("POST /api/notes\nx-friend: 1\n{json}\n\n{{\"text\":7}}");
    check(&host, &bad, r#"400 {"error":"Validation failed","details":{"errors":[{"field":"text","message":"Expected string, got number","rule":"type"}]}}"#).await;
}

#[actix_web::test]
async fn middleware_of_the_host_shapes_our_errors() {
    fn shape<B>(
        response: actix_web::dev::ServiceResponse<B>,
    ) -> actix_web::Result<ErrorHandlerResponse<B>> {
        let (request, response) = response.into_parts();
        let error = response.error().and_then(|error| error.as_error::<HostError>());
        let status = response.status();
        let text = error.map_or("nothing", |error| error.api_error().message()).to_owned();
        let response = HttpResponse::build(status).body(format!("oops: {text}"));
        let response = actix_web::dev::ServiceResponse::new(request, response);
        Ok(ErrorHandlerResponse::Response(response.map_into_right_body()))
    }
    let mut api = Router::with_options(quiet());
    api.get("/conflict", async || Err::<(), _>(ApiError::conflict()));
    api.get("/broken", async || Err::<(), _>(ApiError::new(500, "the disk is full")));
    let api = routes(api);
    let host = host!(api.clone());
    check(&host, "GET /api/conflict", r#"409 {"error":"Resource conflict"}"#).await;
    check(&host, "GET /api/broken", r#"500 {"error":"Internal Server Error"}"#).await;

    let handlers = ErrorHandlers::new()
        .handler(http::StatusCode::CONFLICT, shape)
        .handler(http::StatusCode::INTERNAL_SERVER_ERROR, shape);
    let shaped = App::new().wrap(handlers).service(web::scope("/api").service(api));
    let host = test::init_service(shaped).await;
    check(&host, "GET /api/conflict", "409 oops: Resource conflict").await;
    check(&host, "GET /api/broken", "500 oops: the disk is full").await;
}

#[actix_web::test]
async fn with_cors_handles_preflights_and_sets_headers() {
    fn nobody(_: &mut Request) -> Result<(), ApiError> {
        Err(ApiError::authentication())
    }
    let mut api = Router::new();
    api.put("/open/:id", async || "put").middleware((nobody, with_cors(["https://app.example"])));
    let host = host!(routes(api));
    let preflight = |origin: &str| {
        format!("OPTIONS /api/open/1\norigin: {origin}\naccess-control-request-method: PUT")
    };
    let allowed = "access-control-allow-origin";
    let ours = preflight("https://app.example");
    check(&host, &ours, "204").await;
    assert_eq!(header_of(&host, &ours, allowed).await, "https://app.example");
    assert_eq!(header_of(&host, &preflight("https://evil.example"), allowed).await, "-");
}

#[actix_web::test]
async fn logging_error_handler_and_rate_limit_work_in_actix() {
    let handler = create_error_handler(
        ErrorHandlerOptions::new()
            .transform(|error, body| json!({ "code": error.status(), "why": body["error"] })),
    );
    let mut api = Router::with_options(quiet());
    api.group("", (with_logging(), handler), |api| {
        api.get("/broken", async || Err::<(), _>(ApiError::new(500, "the disk is full")));
        api.get("/login", async || "in").middleware(with_rate_limit(1 / MINUTE));
    });
    let host = host!(routes(api));
    check(&host, "GET /api/broken", r#"500 {"code":500,"why":"Internal Server Error"}"#).await;
    let mut statuses = Vec::new();
    for peer in ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"] {
        let request = request("GET /api/login").peer_addr(peer.parse().unwrap());
        let response = test::call_service(&host, request.to_request()).await;
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses, [200, 429, 200]);
}

#[actix_web::test]
async fn reports_configuration_errors_before_actix_runs() {
    let mut api = Router::new();
    api.get("/a/:x:y", async || ());
    api.get("/b", async || ());
    api.get("/b", async || ());
    let error = api.to_actix_routes().unwrap_err();
    assert_eq!(error.issues().len(), 2, "{error}");
}
