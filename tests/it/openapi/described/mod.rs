//! Descriptions of routes, held against what the routes do.
//!
//! A row is a route, a request that is sent to it, and the answer that it must
//! get. The answer is looked up in the description of the route, and each answer
//! that a helper describes must have a row.

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

/// A route that is described, and a request to it.
struct Row {
    app: App,
    /// `METHOD target`, then `name: value` for each header, then after an empty
    /// line the body.
    request: String,
    /// A body that is no text.
    bytes: Option<Vec<u8>>,
}

/// The options of a router whose stages add as little as can be.
fn quiet() -> RouterOptions {
    RouterOptions::new().rate_limit(false).expose_errors(false).max_body_size(100)
}

/// A quiet router with a value for `State<T>`.
fn with_state<T: Send + Sync + 'static>(value: T) -> Router {
    Router::with_options(quiet()).state(value)
}

/// Options of a router, or the router.
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

/// Makes a row of middleware around a handler at `/x/:id`.
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

    /// Holds an answer against the document of the application.
    fn check_document(&self, response: &TestResponse) {
        let faults = self.document_faults(response);
        assert!(faults.is_empty(), "{faults:#?}");
    }

    /// Returns the differences between an answer and the document.
    fn document_faults(&self, response: &TestResponse) -> Vec<String> {
        let (method, status) = (method_of(&self.request), response.status().as_u16());
        let faults = match Documented::of(&self.app, method.as_str(), "/x/{id}", status) {
            Some(documented) => documented.faults(&self.app, response),
            None => vec!["it is not in the document".to_owned()],
        };
        let line = self.request.lines().next().unwrap();
        faults.into_iter().map(|fault| format!("{line}, {status}: {fault}")).collect()
    }

    /// Sends the request as a client does.
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

/// Returns true if a description of this status is true of an answer with that
/// one.
fn covers(described: StatusDoc, status: u16) -> bool {
    match described {
        StatusDoc::Exact(exact) => exact == status,
        StatusDoc::Class(class) => u16::from(class) == status / 100,
        _ => true,
    }
}

/// Returns true if a body is as it was described.
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
