//! Messages to an endpoint of tools, and its responses.
//!
//! Source: Model Context Protocol 2026-07-28, "Streamable HTTP" and "Tools".

use http::StatusCode;
use serde_json::{Map, Value, json};

use crate::exchange::Exchange;
use crate::shot::Shot;

/// Adds a message without parameters to a request for an endpoint.
pub(super) fn with_message(shot: Shot, method: &str) -> Shot {
    let shot = shot.body("application/json", message(method, Map::new()).to_string());
    with_headers(shot, method, None)
}

/// Adds the call of a tool to a request for an endpoint.
pub(super) fn with_call(shot: Shot, tool: &str, arguments: Map<String, Value>) -> Shot {
    let shot = shot.body("application/json", call(tool, arguments).to_string());
    with_headers(shot, CALL, Some(tool))
}

/// Returns the body of a call.
pub(in crate::hardening) fn call(tool: &str, arguments: Map<String, Value>) -> Value {
    let params = [("name", Value::from(tool)), ("arguments", Value::Object(arguments))];
    let params = params.into_iter().map(|(name, value)| (name.to_owned(), value));
    message(CALL, params.collect())
}

fn message(method: &str, mut params: Map<String, Value>) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": VERSION,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    params.insert("_meta".to_owned(), meta);
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// Adds the headers of the call of a tool to a request with its body.
pub(in crate::hardening) fn with_call_headers(shot: Shot, tool: &str) -> Shot {
    with_headers(shot, CALL, Some(tool))
}

fn with_headers(shot: Shot, method: &str, name: Option<&str>) -> Shot {
    let shot = shot
        .set("accept", "application/json, text/event-stream")
        .set("mcp-protocol-version", VERSION)
        .set("mcp-method", method);
    match name {
        Some(name) => shot.set("mcp-name", name),
        None => shot,
    }
}

/// The response to a call.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::hardening) enum CallOutcome {
    /// The endpoint rejected the request.
    Rejected(StatusCode),
    /// An error of the protocol, with its code.
    Error(i64),
    /// The result of the tool.
    Result {
        is_error: bool,
        /// The status of the route, if the result contains it.
        status: Option<StatusCode>,
        text: String,
    },
    /// Something else.
    Unknown,
}

impl CallOutcome {
    pub(in crate::hardening) fn of(exchange: &Exchange) -> Self {
        let body = serde_json::from_slice::<Value>(&exchange.body).unwrap_or_default();
        let result = body.get("result");
        match body.pointer("/error/code").and_then(Value::as_i64) {
            _ if !exchange.status.is_success() => Self::Rejected(exchange.status),
            Some(code) => Self::Error(code),
            None => result.map_or(Self::Unknown, |result| Self::Result {
                is_error: is_error(result),
                status: status_of(result),
                text: text_of(result).unwrap_or_default().to_owned(),
            }),
        }
    }

    /// Returns true if the call did not succeed.
    pub(in crate::hardening) fn is_failure(&self) -> bool {
        match self {
            Self::Rejected(_) | Self::Error(_) => true,
            Self::Result { is_error, .. } => *is_error,
            Self::Unknown => false,
        }
    }
}

/// Returns true if a result reports an error.
pub(in crate::hardening) fn is_error(result: &Value) -> bool {
    result.get("isError").and_then(Value::as_bool).unwrap_or(false)
}

/// Returns the status of the route in a result.
pub(in crate::hardening) fn status_of(result: &Value) -> Option<StatusCode> {
    let status = result.get("_meta")?.get("stockade/status")?.as_u64()?;
    StatusCode::from_u16(u16::try_from(status).ok()?).ok()
}

/// Returns the first text of a result.
pub(in crate::hardening) fn text_of(result: &Value) -> Option<&str> {
    let content = result.get("content")?.as_array()?;
    content.iter().find_map(|item| item.get("text")?.as_str())
}

/// The method of a call.
const CALL: &str = "tools/call";

/// The version of the protocol.
const VERSION: &str = "2026-07-28";

/// The code of the error for unknown and hidden tools.
pub(super) const UNKNOWN_TOOL: i64 = -32_602;

#[cfg(test)]
mod tests {
    use std::panic::Location;
    use std::sync::Arc;

    use http::Method;

    use super::*;

    #[track_caller]
    fn check(status: u16, body: &Value, expected: &CallOutcome) {
        let asked = Arc::new(Shot::new(Method::POST, "/mcp").sent(Location::caller()));
        let status = StatusCode::from_u16(status).unwrap();
        let exchange = Exchange {
            asked,
            status,
            headers: http::HeaderMap::new(),
            body: body.to_string().into(),
        };
        assert_eq!(CallOutcome::of(&exchange), *expected);
    }

    #[test]
    fn reads_outcomes() {
        let unknown = json!({ "error": { "code": -32602, "message": "Unknown tool: x" } });
        check(200, &unknown, &CallOutcome::Error(UNKNOWN_TOOL));
        check(404, &unknown, &CallOutcome::Rejected(StatusCode::NOT_FOUND));
        check(200, &json!([]), &CallOutcome::Unknown);
        let result = json!({ "result": {
            "content": [{ "type": "text", "text": "HTTP 409: taken" }],
            "isError": true,
            "_meta": { "stockade/status": 409 },
        } });
        let (status, text) = (Some(StatusCode::CONFLICT), "HTTP 409: taken".to_owned());
        check(200, &result, &CallOutcome::Result { is_error: true, status, text });
    }

    #[test]
    fn a_call_names_its_method_and_its_tool() {
        let shot = with_call(Shot::new(Method::POST, "/mcp"), "orders_list", Map::new());
        assert_eq!(shot.headers["mcp-method"], "tools/call");
        assert_eq!(shot.headers["mcp-name"], "orders_list");
        assert_eq!(shot.headers["mcp-protocol-version"], VERSION);
    }
}
