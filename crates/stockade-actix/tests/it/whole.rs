//! The whole application as a default service: all its stages apply.

use actix_web::middleware::DefaultHeaders;
use actix_web::{App, test, web};
use serde_json::json;
use stockade_actix::{ActixService, ToActix};
use stockade_core::ApiError;
use stockade_core::extract::{Body, Path};
use stockade_routing::{HostOptions, Router, RouterOptions};
use stockade_stages::rate_limit::{MINUTE, RateLimit};

use crate::support::{check, header_of, request};

fn api(options: RouterOptions) -> Router {
    let mut router = Router::with_options(options.expose_errors(false));
    router.get("/users/:id", async |Path(id): Path<u64>| json!({ "id": id }));
    router.post("/echo", async |Body(value): Body<serde_json::Value>| value);
    router.get("/broken", async || Err::<(), _>(ApiError::new(500, "the disk is full")));
    router.get("/files/**", async |Path(splat): Path<String>| splat);
    router.get("/", async || "the root of the api");
    router
}

/// A host with its own page, state and middleware.
macro_rules! host {
    ($api:expr) => {
        test::init_service(
            App::new()
                .app_data(web::Data::new("somebody"))
                .wrap(DefaultHeaders::new().add(("x-host", "1")))
                .route(
                    "/",
                    web::get().to(async |name: web::Data<&str>| format!("the page of {}", **name)),
                )
                .service(web::scope("/api").default_service($api))
                .default_service(web::to(async || "no page")),
        )
        .await
    };
}

fn service(options: RouterOptions) -> ActixService {
    api(options).to_actix_service().unwrap()
}

#[actix_web::test]
async fn service_and_host_serve_their_own_paths() {
    let host = host!(service(RouterOptions::new()));
    check(&host, "GET /", "200 the page of somebody").await;
    check(&host, "GET /nowhere", "200 no page").await;
    check(&host, "GET /api/users/7", r#"200 {"id":7}"#).await;
    check(&host, "GET /api", "200 the root of the api").await;
    check(&host, "GET /api/", "200 the root of the api").await;
    check(&host, "GET /api/nowhere", r#"404 {"error":"Not Found"}"#).await;
    check(&host, "GET /api/files/a%2Fb/c", "200 a/b/c").await;
    check(&host, "GET /%61pi/files/x", "200 x").await;
    check(&host, "GET /api/us%65rs/7", r#"404 {"error":"Not Found"}"#).await;
    check(&host, "PUT /api/users/7", r#"405 {"error":"Method Not Allowed"}"#).await;
    check(&host, "GET /api/broken", r#"500 {"error":"Internal Server Error"}"#).await;
    check(&host, "HEAD /api/users/7", "200").await;
    assert_eq!(header_of(&host, "PUT /api/users/7", "allow").await, "GET, HEAD, OPTIONS");
    let echo = "POST /api/echo\ncontent-type: application/json\n\n[1]";
    check(&host, echo, "200 [1]").await;
}

#[actix_web::test]
async fn built_in_stages_apply_only_to_our_responses() {
    let host = host!(service(RouterOptions::new()));
    for path in ["/api/users/7", "/api/nowhere", "/api/broken"] {
        let line = format!("GET {path}");
        assert_eq!(header_of(&host, &line, "x-frame-options").await, "DENY", "{path}");
        assert_ne!(header_of(&host, &line, "ratelimit").await, "-", "{path}");
        assert_eq!(header_of(&host, &line, "x-host").await, "1", "{path}");
    }
    assert_eq!(header_of(&host, "GET /", "x-frame-options").await, "-");
    let preflight = "OPTIONS /api/users/7\norigin: http://localhost:3000\n\
                     access-control-request-method: GET";
    check(&host, preflight, "204").await;
}

#[actix_web::test]
async fn each_client_has_its_own_limit() {
    let host = host!(service(RouterOptions::new().rate_limit(RateLimit::from(1 / MINUTE))));
    let mut statuses = Vec::new();
    for peer in ["192.0.2.1:1", "192.0.2.1:2", "192.0.2.2:1"] {
        let request = request("GET /api").peer_addr(peer.parse().unwrap());
        let response = test::call_service(&host, request.to_request()).await;
        statuses.push(response.status().as_u16());
    }
    assert_eq!(statuses, [200, 429, 200]);
}

#[actix_web::test]
async fn host_options_override_router_options() {
    let app = api(RouterOptions::new()).build().unwrap();
    let service = ActixService::new(app).with_options(HostOptions::new().max_body_size(2));
    let service = service.unwrap();
    let host = host!(service);
    let echo = "POST /api/echo\ncontent-type: application/json\n\n[1]";
    check(&host, echo, r#"413 {"error":"Request body too large"}"#).await;
}

#[actix_web::test]
async fn response_extensions_contain_the_error() {
    let host = host!(service(RouterOptions::new()));
    let response = test::call_service(&host, request("GET /api/broken").to_request()).await;
    let extensions = response.response().extensions();
    let error = extensions.get::<ApiError>().unwrap();
    assert_eq!((error.status(), error.message()), (500, "the disk is full"));
}
