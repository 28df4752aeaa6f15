//! [`ErrorObject`]: the error object of a call.

use std::borrow::Cow;

use http::StatusCode;
use serde::Serialize;
use serde_json::{Map, Value, json};
use stockade_core::__internal::is_not_json;
use stockade_core::error_settings::Settings;
use stockade_errors::{ApiError, ErrorKind, FieldError};

use crate::error::RpcError;

/// The error object of a call.
///
/// Source: the specification of JSON-RPC 2.0, section 5.1.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ErrorObject {
    code: i32,
    message: Cow<'static, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Value>,
}

impl ErrorObject {
    const fn plain(code: i32, message: &'static str) -> Self {
        Self { code, message: Cow::Borrowed(message), data: None }
    }

    /// The message is not valid JSON.
    pub(crate) const PARSE: Self = Self::plain(-32700, "Parse error");
    /// The JSON is not a call.
    pub(crate) const REQUEST: Self = Self::plain(-32600, "Invalid Request");
    /// The method does not exist.
    pub(crate) const METHOD: Self = Self::plain(-32601, "Method not found");
    /// The program failed; details are hidden from the client.
    pub(crate) const INTERNAL: Self = Self::plain(-32603, "Internal error");

    /// Creates the error for a JSON message that is not a call, with this
    /// reason.
    pub(crate) fn request(reason: &str) -> Self {
        Self { data: Some(json!({ "reason": reason })), ..Self::REQUEST }
    }

    /// Creates the error for parameters that violate this rule of the method.
    pub(crate) fn params(rule: &'static str, message: impl Into<Cow<'static, str>>) -> Self {
        Self::of_params(&ApiError::validation(vec![FieldError::new("", message, rule)]))
    }

    /// Creates the error for parameters with text that no type can represent.
    pub(crate) fn unreadable_params() -> Self {
        Self::params("type", "cannot be read")
    }

    fn of_params(error: &ApiError) -> Self {
        // The member `errors` of the details lists the fields.
        Self { data: error.public_details().cloned(), ..Self::plain(-32602, "Invalid params") }
    }

    /// Creates an error with an application-defined code, message and data.
    pub(crate) fn own(code: i32, message: Cow<'static, str>, data: Option<Value>) -> Self {
        Self { code, message, data }
    }

    /// Creates the error of a response object above the size limit.
    pub(crate) fn too_large() -> Self {
        Self { data: Some(json!({ "reason": "the response is too large" })), ..Self::INTERNAL }
    }

    /// Creates the error of a call from the error that a route would send. The
    /// status may differ from the status of the error.
    pub(crate) fn of_error(error: &ApiError, status: StatusCode, settings: Settings) -> Self {
        let retry_after = error.headers().find(|(name, _)| name.eq_ignore_ascii_case(RETRY_AFTER));
        let retry_after = retry_after.and_then(|(_, value)| value.parse::<u64>().ok());
        if error.kind() == ErrorKind::Validation {
            return Self::of_params(error);
        }
        if let Some(own) = RpcError::error_object_of(error) {
            return own;
        }
        if is_not_json(error) {
            // The message is valid JSON, but deserializers accept less. For
            // example, they reject an unpaired surrogate.
            return Self::unreadable_params();
        }
        // An error handler may respond with 200, but here it is still an error.
        let is_error = status.is_client_error() || status.is_server_error();
        let status = if is_error { status.as_u16() } else { error.status() };
        let mut object = Self::of_status(status, error.public_details().cloned(), retry_after);
        object.add_problem(error, settings);
        if status < 500 || settings.expose_errors {
            object.message = error.public_message(settings.expose_errors).to_owned().into();
        }
        object
    }

    /// Adds the problem type and the members of an error to the data, except
    /// members that the data already has.
    fn add_problem(&mut self, error: &ApiError, settings: Settings) {
        let Some(Value::Object(data)) = &mut self.data else { return };
        let (uri, members) = settings.problem(error);
        let uri = uri.map(|uri| ("type", Value::from(uri)));
        let members = members.map(|(name, value)| (name, value.clone()));
        for (name, value) in uri.into_iter().chain(members) {
            data.entry(name).or_insert(value);
        }
    }

    /// Creates the error of a call from the status and the details of its
    /// response.
    pub(crate) fn of_status(status: u16, details: Option<Value>, retry_after: Option<u64>) -> Self {
        let mut data = Map::new();
        data.insert("status".to_owned(), status.into());
        data.extend(details.filter(|_| status < 500).map(|it| ("details".to_owned(), it)));
        data.extend(retry_after.map(|seconds| ("retry_after".to_owned(), seconds.into())));
        let data = Some(Value::Object(data));
        if status >= 500 {
            return Self { data, ..Self::INTERNAL };
        }
        // -32000 to -32099 are server error codes: section 5.1.
        let code = -32000 - i32::from(status.saturating_sub(400));
        let text = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        Self { code, message: text.unwrap_or("Error").into(), data }
    }
}

const RETRY_AFTER: &str = "retry-after";

#[cfg(test)]
mod tests {
    use stockade_errors::ProblemBase;

    use super::*;

    #[track_caller]
    fn check(error: &ApiError, expected: &Value) {
        let status = StatusCode::from_u16(error.status()).unwrap();
        let object = ErrorObject::of_error(error, status, Settings::default());
        assert_eq!(serde_json::to_value(object).unwrap(), *expected);
    }

    #[test]
    fn maps_each_status_to_a_code() {
        check(
            &ApiError::validation(vec![FieldError::new("name", "is required", "required")]),
            &json!({ "code": -32602, "message": "Invalid params",
                     "data": { "errors": [{ "field": "name", "message": "is required",
                                           "rule": "required" }] } }),
        );
        check(
            &ApiError::new(409, "the name is taken").with_details(json!({ "name": "tea" })),
            &json!({ "code": -32009, "message": "the name is taken",
                     "data": { "status": 409, "details": { "name": "tea" } } }),
        );
        check(
            &ApiError::new(429, "Too Many Requests").with_header("Retry-After", "7"),
            &json!({ "code": -32029, "message": "Too Many Requests",
                     "data": { "status": 429, "retry_after": 7 } }),
        );
        for (status, code) in
            [(400, -32000), (401, -32001), (403, -32003), (404, -32004), (499, -32099)]
        {
            check(
                &ApiError::new(status, "no"),
                &json!({ "code": code, "message": "no", "data": { "status": status } }),
            );
        }
    }

    #[test]
    fn data_has_the_problem_type_and_members() {
        let error = ApiError::new(409, "7 is sold out")
            .with_problem_type("sold-out")
            .with_member("sku", "7")
            .with_member("status", "forged");
        check(
            &error,
            &json!({ "code": -32009, "message": "7 is sold out",
                     "data": { "status": 409, "sku": "7" } }),
        );
        let mut settings = Settings::default();
        settings.problem_details = true;
        settings.problem_base = ProblemBase::new("https://shop.example/problems/").ok();
        let object = ErrorObject::of_error(&error, StatusCode::CONFLICT, settings);
        let expected = json!({ "status": 409, "sku": "7",
                               "type": "https://shop.example/problems/sold-out" });
        assert_eq!(object.data, Some(expected));
    }

    #[test]
    fn hides_internal_errors() {
        check(
            &ApiError::new(500, "postgres://root@db").with_details(json!({ "host": "db" })),
            &json!({ "code": -32603, "message": "Internal error", "data": { "status": 500 } }),
        );
        let mut exposed = Settings::default();
        exposed.expose_errors = true;
        let error = ApiError::new(500, "postgres://root@db");
        let object = ErrorObject::of_error(&error, StatusCode::INTERNAL_SERVER_ERROR, exposed);
        assert_eq!((object.code, &*object.message), (-32603, "postgres://root@db"));
    }
}
