//! The table of requests and responses against every host: in process and the
//! built-in server as in `it`, and axum and actix-web in both ways.
// Spec: Use inside a host framework; Router construction and members ›
// toHostRouter.

mod differences;
mod mounts;
mod paths;
mod serve;
mod sites;
mod spellings;

#[path = "../it/routing/hosts/mod.rs"]
mod hosts;

use stockade::http;
use stockade::prelude::*;
use stockade::testing::TestClient;

use self::hosts::{Host, api, ask, run};
use self::serve::{actix, axum};

/// A host that listens on a port.
struct Listening<const HANDED_OVER: bool>(TestClient);

/// The whole application.
type Whole = Listening<false>;

/// Individual routes.
type Routes = Listening<true>;

impl<const HANDED_OVER: bool> Host for Listening<HANDED_OVER> {
    const NAME: &'static str = if HANDED_OVER { "routes of the host" } else { "whole in the host" };
    const HANDED_OVER: bool = HANDED_OVER;

    async fn send(&self, request: http::Request<Bytes>) -> http::Response<Bytes> {
        ask(&self.0, request).await
    }
}

#[tokio::test]
async fn a_whole_application_in_axum_matches_the_table() {
    for place in ["", "/api"] {
        run(&Whole::new(&axum::whole(api::router(), place).await)).await;
    }
}

#[tokio::test]
async fn routes_in_axum_match_the_table() {
    for place in ["", "/api"] {
        run(&Routes::new(&axum::routes(api::router(), place).await)).await;
    }
}

#[actix_web::test]
async fn a_whole_application_in_actix_matches_the_table() {
    for place in ["", "/api"] {
        run(&Whole::new(&actix::whole(api::router(), place))).await;
    }
}

#[actix_web::test]
async fn routes_in_actix_match_the_table() {
    for place in ["", "/api"] {
        run(&Routes::new(&actix::routes(api::router(), place))).await;
    }
}

impl<const HANDED_OVER: bool> Listening<HANDED_OVER> {
    /// Creates a host at an address such as `http://127.0.0.1:3000/api`.
    fn new(address: &str) -> Self {
        Self(TestClient::live(address))
    }
}
