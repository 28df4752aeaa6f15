//! Rows that involve more than a route's handler: router limits, tower layers,
//! mounts, the fallback, and routes of another host.

use std::convert::Infallible;
use std::future::{Future as _, pending};
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};

use stockade::middleware::{RateLimit, layered};
use stockade::openapi::{OpenApiOptions, with_open_api};
use stockade::prelude::*;
use stockade::routing::HostRoutes;
use stockade::routing::map::{RouteInfo, RouteKind, RouteMap};
use stockade::testing::{Contract, TestClient};
use stockade::{HttpBody, http};
use tower::service_fn;

use super::document::UNNAMED;
use super::{Row, quiet, row};
use crate::support::{block_on, request};

const GET: &str = "GET /x/7";

async fn text() -> &'static str {
    "text"
}

/// Returns the statuses that the map lists for a route and attributes to
/// `part`.
fn listed(route: &RouteInfo, part: &str) -> Vec<String> {
    let given = route.answers.iter().filter(|answer| answer.by == part);
    given.map(|answer| answer.status.to_string()).collect()
}

#[test]
fn the_concurrency_limit_of_a_router_and_of_an_entry() {
    let of_router = row!(quiet().concurrency_limit(1), [], pending::<&'static str>, GET);
    let mut router = Router::with_options(quiet());
    router.get("/x/:id", pending::<&'static str>).concurrency_limit(1);
    let of_entry = Row { app: router.build().unwrap(), request: GET.to_owned(), bytes: None };
    for row in [of_router, of_entry] {
        let mut first = pin!(row.app.handle(request(GET)));
        assert!(first.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        let response = row.send();
        assert_eq!(response.status(), 503);
        assert!(response.header("retry-after").is_some());
        row.check_document(&response);
        let map = row.app.route_map();
        assert_eq!(listed(&map.routes[0], "with_concurrency_limit"), ["503"]);
    }
}

#[test]
fn tower_layers_are_opaque_until_described() {
    let teapot = || {
        let answer = |_: http::Request<HttpBody>| async {
            let mut response = Response::new("short and stout".into());
            *response.status_mut() = StatusCode::IM_A_TEAPOT;
            Ok::<_, Infallible>(response)
        };
        layered(tower::layer::layer_fn(move |_| service_fn(answer))).named("teapot")
    };
    let opaque = row!([teapot()], text, GET);
    let response = opaque.send();
    assert_eq!(response.status(), 418);
    // The response is unknown, and the map reports it as unknown.
    assert_eq!(opaque.document_faults(&response).len(), 1);
    assert!(opaque.app.route_map().routes[0].middleware[0].is_opaque);
    let described = teapot().describing(|doc| {
        doc.responds(stockade::description::ResponseDoc::unknown(418));
    });
    let described = row!([described], text, GET);
    described.check_document(&described.send());
    let map = described.app.route_map();
    assert_eq!(listed(&map.routes[0], "teapot"), ["418"]);
    assert!(!map.routes[0].middleware[0].is_opaque);
}

#[test]
fn mounts_document_their_rejections_and_an_unknown_rest() {
    let answer = |_: http::Request<HttpBody>| async {
        let mut response = Response::new("gone".into());
        *response.status_mut() = StatusCode::GONE;
        Ok::<_, Infallible>(response)
    };
    let mut router = Router::with_options(quiet());
    router.mount("/files", service_fn(answer)).name("files");
    let app = router.build().unwrap();
    let map = app.route_map();
    for route in &map.routes {
        assert_eq!(route.kind, RouteKind::Mount);
        assert_eq!(listed(route, "handler"), ["400", "413", "default"]);
    }
    let client = TestClient::new(app.clone()).with_contract();
    block_on(async {
        client.get("/files/a").await.assert_status(410);
        client.get("/files/a%2f..%2fb").await.assert_status(400);
        client.post("/files/a").body("a".repeat(200)).await.assert_status(413);
    });
    // Its methods are unknown, so documents omit it.
    let document = stockade::openapi::open_api(&app, &OpenApiOptions::new("Test", "1")).unwrap();
    assert_eq!(document["paths"], json!({}));
}

#[test]
fn the_fallback_is_described_like_a_route() {
    let options = quiet().rate_limit(RateLimit::from(2 / MINUTE));
    let fallback = async |Query(page): Query<Page>| format!("{}", page.number);
    let app = Router::with_options(options.fallback(fallback)).build().unwrap();
    let map = app.route_map();
    let route = map.fallback.as_ref().unwrap();
    let statuses = route.answers_by_status();
    block_on(async {
        for (line, status) in
            [("GET /none?number=1", 200), ("GET /none?number=x", 400), ("GET /none", 429)]
        {
            let response = app.handle(request(line)).await;
            assert_eq!(response.status().as_u16(), status, "{line}");
            let listed = &statuses[&status.to_string()];
            let told = listed.iter().flat_map(|answer| &answer.headers);
            for header in told.filter(|header| header.always) {
                assert!(response.headers().contains_key(&*header.name), "{line}: {}", header.name);
            }
            let media = response.headers()["content-type"].to_str().unwrap();
            assert_eq!(media.starts_with("text/plain"), status == 200, "{line}");
        }
    });
    assert_eq!(statuses.keys().collect::<Vec<_>>(), ["200", "400", "429", "500"]);
}

#[derive(serde::Deserialize, Schema)]
struct Page {
    number: u8,
}

#[test]
fn routes_of_another_host_are_described_without_the_stages() {
    let api = routes! {
        "x": { ":id": { POST: async |_: Path<u8>, _: Body<Page>| "x" } },
    };
    let options = quiet().rate_limit(RateLimit::from(1 / MINUTE)).cors_origin("*");
    let served = OpenApiOptions::new("Test", "1").public("a test");
    let mut router = with_open_api(create_router(api, options), served);
    let seen = Arc::new(Mutex::new(None::<RouteMap>));
    let kept = Arc::clone(&seen);
    router.inspect(move |map| {
        *kept.lock().unwrap() = Some(map.clone());
        Ok(())
    });
    let host = HostRoutes::build(router).unwrap();
    let map = seen.lock().unwrap().take().unwrap();
    assert!(map.router.is_hosted && map.router.security_headers.is_empty());
    let route = map.routes.iter().find(|route| route.path == "/x/:id").unwrap();
    let answers = route.answers_by_status();
    let json = "content-type: application/json\n\n";
    let document = block_on(async {
        for (line, status) in [
            (format!("POST /x/7\n{json}{{\"number\":1}}"), 200),
            // If the router's limit applied, a second request would be too
            // many.
            (format!("POST /x/256\n{json}{{\"number\":1}}"), 400),
            (format!("POST /x/7\n{json}{}", "a".repeat(200)), 413),
            ("POST /x/7\ncontent-type: a/b\n\nx".to_owned(), 415),
        ] {
            let response = host.handle(request(&line)).await;
            assert_eq!(response.status().as_u16(), status, "{line}");
            let told = answers[&status.to_string()].iter().flat_map(|answer| &answer.headers);
            let told: Vec<&str> = told.map(|header| &*header.name).collect();
            let names = response.headers().keys().map(|name| name.as_str());
            let untold: Vec<&str> = names.filter(|name| !UNNAMED.contains(name)).collect();
            assert!(told.is_empty() && untold.is_empty(), "{line}: {told:?} {untold:?}");
        }
        let response = host.handle(request("GET /openapi.json")).await;
        let text = crate::support::text_of(response.into_body()).await;
        stockade::serde_json::from_str::<Value>(&text).unwrap()
    });
    let statuses: Vec<&String> = answers.keys().collect();
    assert_eq!(statuses, ["200", "400", "408", "413", "415", "500"]);
    let responses = document["paths"]["/x/{id}"]["post"]["responses"].as_object().unwrap();
    assert_eq!(responses.keys().collect::<Vec<_>>(), statuses);
    // The same routes with their own stages have the limit.
    assert!(Contract::of(&app_of_two()).app().route_map().routes[0].limits.rate.len() == 1);
}

fn app_of_two() -> App {
    let options = quiet().rate_limit(RateLimit::from(1 / MINUTE));
    create_router(routes! { "x": { GET: text } }, options).build().unwrap()
}
