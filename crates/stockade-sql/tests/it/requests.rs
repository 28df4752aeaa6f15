//! Sends in-process requests to the routes of a resource.

use http::header::{CONTENT_TYPE, LOCATION};
use http::{Method, StatusCode};
use serde_json::Value;
use stockade_core::Request;
use stockade_routing::App;

/// A response with its body as JSON, or `null` without a body.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: StatusCode,
    pub(crate) location: Option<String>,
    pub(crate) body: Value,
}

impl Response {
    #[track_caller]
    pub(crate) fn assert(&self, status: u16, body: &Value) {
        assert_eq!((self.status.as_u16(), &self.body), (status, body));
    }

    /// Checks that validation rejected this field with this rule.
    #[track_caller]
    pub(crate) fn assert_field_error(&self, status: u16, field: &str, rule: &str) {
        assert_eq!(self.status.as_u16(), status, "{self:?}");
        let errors = self.body["details"]["errors"].as_array().unwrap();
        let is_it = |error: &Value| error["field"] == field && error["rule"] == rule;
        assert!(errors.iter().any(is_it), "{self:?}");
    }
}

/// Sends a request without a body.
pub(crate) async fn send(app: &App, method: Method, target: &str) -> Response {
    exchange(app, method, target, Vec::new()).await
}

/// Sends a request with a JSON body.
pub(crate) async fn send_json(app: &App, method: Method, target: &str, body: &Value) -> Response {
    exchange(app, method, target, body.to_string().into_bytes()).await
}

async fn exchange(app: &App, method: Method, target: &str, body: Vec<u8>) -> Response {
    let mut request = http::Request::builder().method(method).uri(target);
    if !body.is_empty() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    let response = app.handle(Request::from(request.body(body).unwrap())).await;
    let (head, body) = response.into_parts();
    let body = body.collect(1_000_000).await.unwrap();
    let location = head.headers.get(LOCATION).map(|it| it.to_str().unwrap().to_owned());
    // A response without a body is `null`.
    let body = serde_json::from_slice(&body).unwrap_or_default();
    Response { status: head.status, location, body }
}

/// Returns a target with a query pair. Every byte of the pair is escaped.
pub(crate) fn with_query(path: &str, name: &str, value: &str) -> String {
    let value: String = value.bytes().map(|byte| format!("%{byte:02X}")).collect();
    format!("{path}?{name}={value}")
}
