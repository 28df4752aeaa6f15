//! Compares the descriptions of routes with their behavior.
//!
//! A row contains a route, a request to it, and the expected response. The test
//! looks up the response in the route's description. Every response that a
//! helper describes must have a row.

mod access;
mod answers;
mod document;
mod extractors;
mod headers;
mod impls;
mod keys;
mod mistakes;
mod opaque;
mod parts;
mod places;
mod replies;
mod sessions;
mod stages;
mod web_sockets;
mod webhooks;

use stockade::description::{BodyDoc, DescribedRoute, ResponseDoc, StatusDoc};
use stockade::http::Method;
use stockade::prelude::*;
use stockade::testing::{TestClient, TestResponse};

use self::document::Documented;
use crate::support::block_on;

/// A described route, and a request to it.
struct Row {
    app: App,
    /// `METHOD target`, then a `name: value` line for each header, then the
    /// body after an empty line.
    request: String,
    /// A body that is not text.
    bytes: Option<Vec<u8>>,
}

/// Returns router options with stages that add as little as possible.
fn quiet() -> RouterOptions {
    RouterOptions::new().rate_limit(false).expose_errors(false).max_body_size(100)
}

/// Returns a quiet router with a value for `State<T>`.
fn with_state<T: Send + Sync + 'static>(value: T) -> Router {
    Router::with_options(quiet()).state(value)
}

/// A router or its options.
trait IntoRouter {
    fn into_router(self) -> Router;
}

impl IntoRouter for RouterOptions {
    fn into_router(self) -> Router {
        Router::with_options(self)
    }
}

impl IntoRouter for Router {
    fn into_router(self) -> Router {
        self
    }
}

/// Creates a row with middleware around a handler at `/x/:id`.
macro_rules! row {
    ([$($middleware:expr),*], $handler:expr, $request:expr) => {
        row!(super::quiet(), [$($middleware),*], $handler, $request)
    };
    ($options:expr, [$($middleware:expr),*], $handler:expr, $request:expr) => {{
        let request: String = $request.into();
        let mut router = super::IntoRouter::into_router($options);
        $(router.use_(Middleware::new($middleware));)*
        router.route(super::method_of(&request), "/x/:id", $handler);
        super::Row { app: router.build().unwrap(), request, bytes: None }
    }};
}
use row;

fn method_of(request: &str) -> Method {
    request.split_once(' ').unwrap().0.parse().unwrap()
}

impl Row {
    fn facts(&self) -> DescribedRoute {
        self.app.routes()[0].facts()
    }

    /// Checks a response against the application's document.
    fn check_document(&self, response: &TestResponse) {
        let faults = self.document_faults(response);
        assert!(faults.is_empty(), "{faults:#?}");
    }

    /// Returns the differences between a response and the document.
    fn document_faults(&self, response: &TestResponse) -> Vec<String> {
        let (method, status) = (method_of(&self.request), response.status().as_u16());
        let faults = match Documented::of(&self.app, method.as_str(), "/x/{id}", status) {
            Some(documented) => documented.faults(&self.app, response),
            None => vec!["it is not in the document".to_owned()],
        };
        let line = self.request.lines().next().unwrap();
        faults.into_iter().map(|fault| format!("{line}, {status}: {fault}")).collect()
    }

    /// Sends the request as a client.
    fn send(&self) -> TestResponse {
        let (head, body) = self.request.split_once("\n\n").unwrap_or((&self.request, ""));
        let mut lines = head.lines();
        let target = lines.next().unwrap().split_once(' ').unwrap().1;
        let client = TestClient::new(self.app.clone()).with_contract();
        let mut request = client.request(method_of(head), target);
        for line in lines {
            let (name, value) = line.split_once(": ").unwrap();
            request = request.header(name, value);
        }
        let body = self.bytes.clone().unwrap_or_else(|| body.as_bytes().to_vec());
        block_on(async { request.body(body).await })
    }
}

/// Returns true if the described status covers the actual one.
fn covers(described: StatusDoc, status: u16) -> bool {
    match described {
        StatusDoc::Exact(exact) => exact == status,
        StatusDoc::Class(class) => u16::from(class) == status / 100,
        _ => true,
    }
}

/// Returns true if the body matches its description.
fn has_form(answer: &ResponseDoc, response: &TestResponse) -> bool {
    let media = response.header("content-type").unwrap_or_default();
    let is_error = || media == "application/json" && response.json::<Value>()["error"].is_string();
    let lists_fields = || response.json::<Value>()["details"]["errors"][0]["field"].is_string();
    match &answer.body {
        BodyDoc::None => response.bytes().is_empty(),
        BodyDoc::Error => is_error() && !lists_fields(),
        BodyDoc::ValidationError => is_error() && lists_fields(),
        BodyDoc::Content(contents) => contents
            .iter()
            .any(|content| content.media_type == "*/*" || media.starts_with(&*content.media_type)),
        _ => true,
    }
}
