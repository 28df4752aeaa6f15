//! Individual routes: axum handles the rest.

use axum::Json;
use axum::extract::{MatchedPath, Request as TheirRequest};
use axum::middleware::{Next, from_fn, map_response};
use axum::response::IntoResponse as _;
use axum::routing::get;
use http::{Method, StatusCode};
use serde_json::json;
use stockade_axum::ToAxum;
use stockade_core::extract::{Body as Parsed, Path};
use stockade_core::{ApiError, ErrorHandlerOptions, Request};
use stockade_routing::{Router, RouterOptions};
use stockade_stages::rate_limit::MINUTE;
use stockade_stages::{create_error_handler, with_cors, with_logging, with_rate_limit};
use stockade_validation::schema;

use crate::support::{call, check, header_of, request, request_from, send, show};

/// Returns the route and its parameters.
async fn params(req: Request) -> String {
    let route = req.route().unwrap_or_default().to_owned();
    let params = req.params().map(|(name, value)| format!(" {name}={value}"));
    params.fold(route, |line, param| line + &param)
}

fn small() -> RouterOptions {
    RouterOptions::new().expose_errors(false).max_body_size(8)
}

#[tokio::test]
async fn all_forms_of_paths_mean_the_same() {
    let mut api = Router::new();
    for path in [
        "/users/me",
        "/users/:id",
        "/flights/:from-:to",
        "/search/:query?/:page(\\d+)?",
        "/files/**",
        "/one/*/end",
        "/v:major.:minor",
    ] {
        api.get(path, params);
    }
    let host: axum::Router =
        axum::Router::new().fallback(async || "the host").merge(api.to_host_router().unwrap());
    for (path, expected) in [
        ("/users/me", "/users/me"),
        ("/users/a%20b", "/users/:id id=a b"),
        ("/users/%7A", "/users/:id id=z"),
        ("/flights/OSL-LHR", "/flights/:from-:to from=OSL to=LHR"),
        ("/search", "/search/:query?/:page(\\d+)?"),
        ("/search/cats/2", "/search/:query?/:page(\\d+)? query=cats page=2"),
        ("/files/", "/files/** splat="),
        ("/files/a/b%2Fc", "/files/** splat=a/b/c"),
        ("/one/x/end", "/one/*/end splat=x"),
        ("/v1.2", "/v:major.:minor major=1 minor=2"),
        ("/one/x/y", "the host"),
        ("/a/b", "the host"),
    ] {
        check(&host, &format!("GET {path}"), &format!("200 {expected}")).await;
    }
    // The decoded path belongs to another route.
    check(&host, "GET /users/%6De", r#"400 {"error":"Bad Request"}"#).await;
    // axum's paths match these requests, but the stockade routes do not.
    check(&host, "GET /search/cats/two", r#"404 {"error":"Not Found"}"#).await;
    check(&host, "GET /flights/OSL", r#"404 {"error":"Not Found"}"#).await;
    check(&host, "GET /v1", r#"404 {"error":"Not Found"}"#).await;
}

#[tokio::test]
async fn the_host_handles_unmatched_requests() {
    let mut api = Router::new();
    api.get("/users/:id", async || "get");
    api.delete("/users/:name", async || "delete");
    api.route(Method::from_bytes(b"QUERY").unwrap(), "/search", async || "query");
    let own = axum::Router::new().route("/users/{id}", axum::routing::put(async || "their put"));
    let host: axum::Router = own.merge(api.to_host_router().unwrap());
    check(&host, "GET /users/1", "200 get").await;
    check(&host, "HEAD /users/1", "200").await;
    check(&host, "DELETE /users/1", "200 delete").await;
    check(&host, "PUT /users/1", "200 their put").await;
    check(&host, "QUERY /search", "200 query").await;
    check(&host, "GET /nowhere", "404").await;
    check(&host, "PATCH /users/1", "405").await;
    assert_eq!(header_of(&host, "HEAD /users/1", "content-length").await, "3");
    for header in ["x-frame-options", "access-control-allow-origin", "ratelimit"] {
        assert_eq!(header_of(&host, "GET /users/1", header).await, "-", "{header}");
    }
}

#[tokio::test]
async fn middleware_and_validation_work_the_same() {
    fn friends(req: &mut Request) -> Result<(), ApiError> {
        match req.headers().contains_key("x-friend") {
            true => Ok(()),
            false => Err(ApiError::authentication()),
        }
    }
    let mut api = Router::with_options(RouterOptions::new().prefix("/api"));
    api.group("/notes", friends, |notes| {
        notes
            .post("/", async |Parsed(note): Parsed<serde_json::Value>| note)
            .validation(schema!({ "text": { "type": "string", "required": true, "trim": true } }));
    });
    let host: axum::Router = api.to_host_router().unwrap();
    let json = "content-type: application/json";
    check(&host, "POST /api/notes", r#"401 {"error":"Authentication required"}"#).await;
    let good = format!("POST /api/notes\nx-friend: 1\n{json}\n\n{{\"text\":\" hi \"}}");
    check(&host, &good, r#"200 {"text":"hi"}"#).await;
    let bad = format!("POST /api/notes\nx-friend: 1\n{json}\n\n{{\"text\":7}}");
    check(&host, &bad, r#"400 {"error":"Validation failed","details":{"errors":[{"field":"text","message":"Expected string, got number","rule":"type"}]}}"#).await;
}

#[tokio::test]
async fn reads_the_body_on_demand_and_within_the_limit() {
    let mut api = Router::with_options(small());
    api.post("/read", async |Parsed(value): Parsed<serde_json::Value>| value);
    api.post("/large", async |Parsed(value): Parsed<serde_json::Value>| value).max_body(16);
    api.post("/deaf", async || "not read");
    let host: axum::Router = api.to_host_router().unwrap();
    let post = |path: &str, body: &str| {
        format!(
            "POST {path}\ncontent-type: application/json\ncontent-length: {}\n\n{body}",
            body.len()
        )
    };
    let too_large = r#"413 {"error":"Request body too large"}"#;
    check(&host, &post("/read", "[1,2,3]"), "200 [1,2,3]").await;
    check(&host, &post("/read", "[1,2,3,4]"), too_large).await;
    check(&host, &post("/large", "[1,2,3,4]"), "200 [1,2,3,4]").await;
    check(&host, &post("/large", "[1,2,3,4,5,6,7,8]"), too_large).await;
    check(&host, &post("/deaf", "[1,2,3,4]"), "200 not read").await;
    // A length above the limit is rejected without waiting.
    let mut endless = request("POST /read\ncontent-type: application/json\ncontent-length: 9");
    let never = futures_util::stream::pending::<Result<&str, std::io::Error>>();
    *endless.body_mut() = axum::body::Body::from_stream(never);
    assert_eq!(show(send(&host, endless).await).await, too_large);
    // The body is counted as it arrives if its length is unknown.
    let mut chunked = request("POST /read\ncontent-type: application/json");
    let pieces = ["[1,2,", "3,4]"].map(Ok::<_, std::io::Error>);
    *chunked.body_mut() = axum::body::Body::from_stream(futures_util::stream::iter(pieces));
    assert_eq!(send(&host, chunked).await.status(), 413);
}

#[tokio::test]
async fn layers_of_the_host_shape_our_errors() {
    async fn shape(response: axum::response::Response) -> axum::response::Response {
        let Some(error) = response.extensions().get::<ApiError>() else { return response };
        let body = Json(json!({ "oops": error.public_message(false) }));
        (response.status(), body).into_response()
    }
    let mut api = Router::with_options(small());
    api.get("/conflict", async || Err::<(), _>(ApiError::conflict()));
    api.get("/broken", async || Err::<(), _>(ApiError::new(500, "the disk is full")));
    api.get("/fine", async || "fine");
    let host: axum::Router = api.to_host_router().unwrap();
    check(&host, "GET /conflict", r#"409 {"error":"Resource conflict"}"#).await;
    check(&host, "GET /broken", r#"500 {"error":"Internal Server Error"}"#).await;

    let host = host.layer(map_response(shape));
    check(&host, "GET /conflict", r#"409 {"oops":"Resource conflict"}"#).await;
    check(&host, "GET /broken", r#"500 {"oops":"Internal Server Error"}"#).await;
    check(&host, "GET /fine", "200 fine").await;
}

#[tokio::test]
async fn state_and_nesting_of_the_host_are_preserved() {
    async fn tell(request: TheirRequest, next: Next) -> axum::response::Response {
        let path = request.extensions().get::<MatchedPath>().map(|path| path.as_str().to_owned());
        let mut response = next.run(request).await;
        response.headers_mut().insert("x-path", path.unwrap_or_default().parse().unwrap());
        response
    }
    let mut api = Router::new();
    api.get("/users/:id", async |Path(id): Path<u64>| format!("user {id}"));
    api.get("/", async || "root");
    let host: axum::Router = axum::Router::<u64>::new()
        .route(
            "/",
            get(async |axum::extract::State(seven): axum::extract::State<u64>| seven.to_string()),
        )
        .nest("/v1", api.to_host_router().unwrap())
        .layer(from_fn(tell))
        .with_state(7);
    check(&host, "GET /", "200 7").await;
    check(&host, "GET /v1/users/3", "200 user 3").await;
    check(&host, "GET /v1", "200 root").await;
    assert_eq!(header_of(&host, "GET /v1/users/3", "x-path").await, "/v1/users/{id}");
}

#[tokio::test]
async fn with_cors_handles_preflights_and_sets_headers() {
    fn nobody(_: &mut Request) -> Result<(), ApiError> {
        Err(ApiError::authentication())
    }
    let mut api = Router::new();
    // The middleware is found by its type, regardless of its name.
    let rules = with_cors(["https://app.example"]).named("rules");
    api.put("/open/:id", async || "put").middleware((with_cors("*"), nobody, rules));
    api.get("/closed", async || "closed");
    let host: axum::Router = api.to_host_router().unwrap();
    let preflight = |path: &str, origin: &str| {
        format!("OPTIONS {path}\norigin: {origin}\naccess-control-request-method: PUT")
    };
    let allowed = "access-control-allow-origin";
    // A preflight needs no authentication.
    let ours = preflight("/open/1", "https://app.example");
    check(&host, &ours, "204").await;
    assert_eq!(header_of(&host, &ours, allowed).await, "https://app.example");
    assert_ne!(header_of(&host, &ours, "access-control-allow-methods").await, "-");
    let foreign = preflight("/open/1", "https://evil.example");
    assert_eq!(header_of(&host, &foreign, allowed).await, "-");
    assert!(call(&host, &preflight("/closed", "https://app.example")).await.starts_with("405"));
}

#[tokio::test]
async fn logging_error_handler_and_rate_limit_work_in_axum() {
    let handler = create_error_handler(
        ErrorHandlerOptions::new()
            .transform(|error, body| json!({ "code": error.status(), "why": body["error"] })),
    );
    let mut api = Router::with_options(small());
    api.group("", (with_logging(), handler), |api| {
        api.get("/broken", async || Err::<(), _>(ApiError::new(500, "the disk is full")));
        api.get("/login", async || "in").middleware(with_rate_limit(1 / MINUTE));
    });
    let host: axum::Router = api.to_host_router().unwrap();
    check(&host, "GET /broken", r#"500 {"code":500,"why":"Internal Server Error"}"#).await;
    let mut statuses = Vec::new();
    for peer in ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"] {
        statuses.push(send(&host, request_from(peer, "GET /login")).await.status());
    }
    let limited = StatusCode::TOO_MANY_REQUESTS;
    assert_eq!(statuses, [StatusCode::OK, limited, StatusCode::OK]);
    let again = send(&host, request_from("192.0.2.1:3", "GET /login")).await;
    assert!(again.headers().contains_key("retry-after"));
}

#[test]
fn reports_configuration_errors_before_axum_runs() {
    let mut api = Router::new();
    api.get("/a/:x:y", async || ());
    api.get("/b", async || ());
    api.get("/b", async || ());
    let error = api.to_host_router::<()>().unwrap_err();
    assert_eq!(error.issues().len(), 2, "{error}");
}
