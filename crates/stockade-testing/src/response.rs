//! [`TestResponse`]: a complete response.

use std::fmt;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use stockade_hardening::difference::{Extent, differences};
use stockade_hardening::exchange::Exchange;
use stockade_hardening::fail::fail;

/// A complete response.
///
/// Getters return its parts. Assertions return the response, so you can chain
/// them. A failed assertion prints the whole exchange, with credentials
/// redacted.
#[derive(Clone)]
pub struct TestResponse {
    pub(crate) exchange: Exchange,
}

/// A status, such as `200` or a [`StatusCode`].
pub trait IntoStatus {
    /// Returns the code, such as 404.
    fn into_status(self) -> u16;
}

impl IntoStatus for u16 {
    fn into_status(self) -> u16 {
        self
    }
}

impl IntoStatus for StatusCode {
    fn into_status(self) -> u16 {
        self.as_u16()
    }
}

impl TestResponse {
    /// Returns the status.
    #[must_use]
    pub fn status(&self) -> StatusCode {
        self.exchange.status
    }

    /// Returns the headers.
    #[must_use]
    pub fn headers(&self) -> &HeaderMap {
        &self.exchange.headers
    }

    /// Returns the value of a header, or `None` if it is missing. Repeated
    /// headers are joined with a comma and a space.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<String> {
        self.exchange.header(name)
    }

    /// Returns the value of a cookie that the response sets.
    #[must_use]
    pub fn cookie(&self, name: &str) -> Option<&str> {
        let lines = self.headers().get_all(header::SET_COOKIE).iter();
        let pairs = lines.filter_map(|line| line.to_str().ok()?.split(';').next()?.split_once('='));
        pairs.filter(|(found, _)| found.trim() == name).map(|(_, value)| value).next_back()
    }

    /// Returns the body.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.exchange.body
    }

    /// Returns the body as text.
    ///
    /// # Panics
    /// Panics if the body is not UTF-8.
    #[track_caller]
    #[must_use]
    pub fn text(&self) -> &str {
        match std::str::from_utf8(self.bytes()) {
            Ok(text) => text,
            Err(error) => self.fail(format_args!("the body is not text: {error}")),
        }
    }

    /// Deserializes the body from JSON.
    ///
    /// # Panics
    /// Panics if the body is not JSON of this type.
    #[track_caller]
    #[must_use]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        match serde_json::from_slice(self.bytes()) {
            Ok(value) => value,
            Err(error) => {
                let wanted = std::any::type_name::<T>();
                self.fail(format_args!("cannot parse the body as JSON of {wanted}: {error}"))
            }
        }
    }

    /// Asserts the status, such as `200` or `StatusCode::OK`.
    ///
    /// # Panics
    /// Panics if the status differs.
    #[track_caller]
    pub fn assert_status(&self, expected: impl IntoStatus) -> &Self {
        self.exchange.assert_status(expected.into_status());
        self
    }

    /// Asserts the value of a header, as [`header`](Self::header) returns it.
    ///
    /// # Panics
    /// Panics if the header is missing or the value differs.
    #[track_caller]
    pub fn assert_header(&self, name: &str, expected: &str) -> &Self {
        self.exchange.assert_header(name, expected);
        self
    }

    /// Asserts that a header is missing.
    ///
    /// # Panics
    /// Panics if the header exists.
    #[track_caller]
    pub fn assert_no_header(&self, name: &str) -> &Self {
        if self.headers().contains_key(name) {
            self.fail(format_args!("found the header {name}, expected none"));
        }
        self
    }

    /// Asserts that the body is this JSON value, with members in any order.
    ///
    /// # Panics
    /// Panics if the body differs; the message lists the differences.
    #[track_caller]
    pub fn assert_json(&self, expected: impl Serialize) -> &Self {
        self.assert_json_as(&expected, Extent::Whole)
    }

    /// Asserts that the body is JSON with these members; objects may have more
    /// members at any depth. Arrays must have the same length.
    ///
    /// # Panics
    /// Panics if the body differs; the message lists the differences.
    #[track_caller]
    pub fn assert_json_contains(&self, expected: impl Serialize) -> &Self {
        self.assert_json_as(&expected, Extent::Part)
    }

    /// Asserts that the body is exactly this text.
    ///
    /// # Panics
    /// Panics if the body differs.
    #[track_caller]
    pub fn assert_text(&self, expected: &str) -> &Self {
        if self.text() != expected {
            self.fail(format_args!("the body is not {expected:?}"));
        }
        self
    }

    /// Asserts that the body contains this text.
    ///
    /// # Panics
    /// Panics if the body does not contain the text.
    #[track_caller]
    pub fn assert_text_contains(&self, expected: &str) -> &Self {
        if !self.text().contains(expected) {
            self.fail(format_args!("the body does not contain {expected:?}"));
        }
        self
    }

    /// Asserts that the body is empty.
    ///
    /// # Panics
    /// Panics if the body is not empty.
    #[track_caller]
    pub fn assert_empty(&self) -> &Self {
        if !self.bytes().is_empty() {
            self.fail("found a body, expected none");
        }
        self
    }

    /// Asserts an error with this message. The status must be 4xx or 5xx. The
    /// body must be `{"error": message, …}`, or problem details with this
    /// message as `detail` or `title`.
    ///
    /// # Panics
    /// Panics if the response is not this error.
    // Spec: Errors › Response rules.
    #[track_caller]
    pub fn assert_error(&self, message: &str) -> &Self {
        if !(self.status().is_client_error() || self.status().is_server_error()) {
            self.fail("expected an error status");
        }
        let body: Value = self.json();
        let found = ["error", "detail", "title"].map(|name| body.get(name));
        if !found.into_iter().flatten().any(|found| found == message) {
            self.fail(format_args!("the error message is not {message:?}"));
        }
        self
    }

    /// Asserts that validation rejected this field with this rule, such as
    /// `("email", "required")`. Other fields may have failed too.
    ///
    /// The status must be 400, or the `validation_status` of the application.
    ///
    /// # Panics
    /// Panics if validation did not reject the field with this rule.
    // Spec: Errors › Statuses produced by the framework, 400.
    #[track_caller]
    pub fn assert_field_error(&self, field: &str, rule: &str) -> &Self {
        let body: Option<Value> = serde_json::from_slice(self.bytes()).ok();
        let errors = body.as_ref().and_then(|body| body.pointer("/details/errors")?.as_array());
        if errors.is_none() || !self.status().is_client_error() {
            self.assert_status(400);
            let _: Value = self.json();
        }
        let is_it = |error: &Value| error["field"] == field && error["rule"] == rule;
        if !errors.is_some_and(|errors| errors.iter().any(is_it)) {
            self.fail(format_args!("the rule {rule:?} did not reject the field {field:?}"));
        }
        self
    }

    #[track_caller]
    fn assert_json_as(&self, expected: &impl Serialize, extent: Extent) -> &Self {
        let expected = match serde_json::to_value(expected) {
            Ok(expected) => expected,
            Err(error) => {
                fail(format_args!("cannot serialize the expected value as JSON: {error}"))
            }
        };
        let lines = differences(&expected, &self.json(), extent);
        if !lines.is_empty() {
            self.fail(format_args!("the body differs:\n  {}", lines.join("\n  ")));
        }
        self
    }

    #[track_caller]
    fn fail(&self, message: impl fmt::Display) -> ! {
        self.exchange.fail(message)
    }
}

impl fmt::Debug for TestResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.exchange, f)
    }
}
