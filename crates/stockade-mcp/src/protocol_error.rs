//! [`ProtocolError`]: an error of the protocol.
//!
//! A failed tool is not such an error: its result says `isError`.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderValue, StatusCode, header};
use serde_json::{Value, json};
use stockade_core::Response;

use crate::era::{Era, MODERN};

/// An error of the protocol, with the status of its response.
///
/// Source: the page `basic/index` of the specification, "Error codes".
#[derive(Clone, Debug)]
pub(crate) struct ProtocolError {
    status: StatusCode,
    code: i32,
    message: Cow<'static, str>,
    data: Option<Value>,
}

impl ProtocolError {
    const fn plain(status: StatusCode, code: i32, message: &'static str) -> Self {
        Self { status, code, message: Cow::Borrowed(message), data: None }
    }

    /// The body is not JSON.
    pub(crate) const PARSE: Self = Self::plain(StatusCode::BAD_REQUEST, -32700, "Parse error");
    /// The JSON is neither a request nor a notification.
    pub(crate) const REQUEST: Self =
        Self::plain(StatusCode::BAD_REQUEST, -32600, "Invalid Request");
    /// The list of tools has only one page.
    pub(crate) const CURSOR: Self = Self::plain(StatusCode::OK, -32602, "Unknown cursor");
    /// The arguments of a call are not an object.
    pub(crate) const ARGUMENTS: Self =
        Self::plain(StatusCode::OK, -32602, "Invalid params: `arguments` is not an object");

    /// Creates the error for a method that does not exist. Earlier clients
    /// treat a 404 as a failure of the connection.
    pub(crate) const fn method(era: Era) -> Self {
        let status = match era {
            Era::Modern => StatusCode::NOT_FOUND,
            Era::Legacy => StatusCode::OK,
        };
        Self::plain(status, -32601, "Method not found")
    }

    /// Creates the error for parameters that the protocol does not allow.
    pub(crate) fn params(reason: &str) -> Self {
        let message = format!("Invalid params: {reason}").into();
        Self { message, ..Self::plain(StatusCode::BAD_REQUEST, -32602, "") }
    }

    /// Creates the error for a tool that does not exist, or that the caller
    /// must not see.
    pub(crate) fn tool(name: &str) -> Self {
        let message = format!("Unknown tool: {name}").into();
        Self { message, ..Self::plain(StatusCode::OK, -32602, "") }
    }

    /// Creates the error for a header that does not match the message.
    pub(crate) fn header(reason: &str) -> Self {
        let message = format!("Header mismatch: {reason}").into();
        Self { message, ..Self::plain(StatusCode::BAD_REQUEST, -32020, "") }
    }

    /// Creates the error for an unknown version. Clients of the earlier
    /// versions do not choose one of the supported versions.
    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let data = json!({ "supported": [MODERN], "requested": requested });
        let message = "Unsupported protocol version";
        Self { data: Some(data), ..Self::plain(StatusCode::BAD_REQUEST, -32022, message) }
    }

    /// Creates the error for a message of standard input that the application
    /// rejects with this status.
    pub(crate) fn http(status: StatusCode, body: &str) -> Self {
        let message = format!("HTTP {}: {body}", status.as_u16()).into();
        Self { message, ..Self::plain(status, -32603, "") }
    }

    /// Writes the response to a request with this id. The schema of the
    /// protocol does not allow the id null.
    pub(crate) fn write(&self, id: Option<&str>) -> Vec<u8> {
        let id = id.map_or_else(String::new, |id| format!("\"id\":{id},"));
        let message = Value::from(&*self.message);
        let data = self.data.as_ref().map_or_else(String::new, |data| format!(",\"data\":{data}"));
        let code = self.code;
        let error = format!("{{\"code\":{code},\"message\":{message}{data}}}");
        format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{error}}}").into_bytes()
    }

    /// Creates the HTTP response to a request with this id.
    pub(crate) fn respond(&self, id: Option<&str>) -> Response {
        respond(self.status, self.write(id).into())
    }
}

/// Creates a response with a message of the protocol.
pub(crate) fn respond(status: StatusCode, message: Bytes) -> Response {
    let mut response = Response::new(message.into());
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response.extensions_mut().insert(IsMessage);
    response
}

/// Marks a response with a message of the protocol as its body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IsMessage;

const JSON: HeaderValue = HeaderValue::from_static("application/json");

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(error: &ProtocolError, id: Option<&str>, expected: &str) {
        assert_eq!(String::from_utf8(error.write(id)).unwrap(), expected);
    }

    #[test]
    fn an_error_has_the_id_of_its_request() {
        check(
            &ProtocolError::PARSE,
            None,
            r#"{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}"#,
        );
        check(
            &ProtocolError::tool("a\"b"),
            Some("\"7\""),
            r#"{"jsonrpc":"2.0","id":"7","error":{"code":-32602,"message":"Unknown tool: a\"b"}}"#,
        );
        check(
            &ProtocolError::unsupported_version("x"),
            Some("1"),
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":"x"}}}"#,
        );
    }
}
