//! [`Service`]: the request handler of the endpoint.
//!
//! Hot: each step returns the exact response that the specification requires,
//! and their order is part of it.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode, header};
use serde_json::{Value, json};
use stockade_core::headers::{content_type, is_unencoded};
use stockade_core::{Request, Response};
use stockade_errors::ApiError;
use stockade_json::has_more_values;

use crate::era::{Era, LEGACY, MODERN, TOOLS_CALL};
use crate::message::{Message, Params, Unreadable};
use crate::protocol_error::{ProtocolError, respond};
use crate::stdio::Line;
use crate::tool_call;
use crate::tools::{Tools, essence};

/// The texts and the options of an endpoint.
#[derive(Debug)]
pub(crate) struct Service {
    /// The name and the version of the server, as a JSON object.
    server: String,
    /// The members with the instructions; empty if there are none.
    instructions: String,
    /// The time for which a list may be reused, in milliseconds.
    ttl_ms: u128,
    legacy: bool,
}

/// A request, and the form of its response.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) service: Arc<Service>,
    pub(crate) era: Era,
    /// The id, as received.
    pub(crate) id: String,
}

impl Service {
    pub(crate) fn new(
        name: &str,
        version: &str,
        instructions: Option<&str>,
        list_ttl: Duration,
        legacy: bool,
    ) -> Self {
        let instructions =
            instructions.map(|text| format!(",\"instructions\":{}", Value::from(text)));
        Self {
            server: json!({ "name": name, "version": version }).to_string(),
            instructions: instructions.unwrap_or_default(),
            ttl_ms: list_ttl.as_millis(),
            legacy,
        }
    }

    /// Responds to a message.
    pub(crate) async fn answer(self: Arc<Self>, mut req: Request) -> Result<Response, ApiError> {
        if !is_json(req.headers()) {
            let error = ApiError::new(415, "Unsupported Media Type");
            return Err(error.with_header("accept", "application/json"));
        }
        let bytes = req.bytes().await?;
        let message = match Message::read(&bytes) {
            Ok(message) => message,
            Err(Unreadable::Syntax) => return Ok(ProtocolError::PARSE.respond(None)),
            Err(Unreadable::Request) => return Ok(ProtocolError::REQUEST.respond(None)),
        };
        let Some(id) = message.id else { return Ok(accepted()) };
        let most = req.max_json_values();
        if has_more_values(&bytes, most) {
            return Err(ApiError::new(413, format!("Request body has more than {most} values")));
        }
        let Some(params) = message.params() else {
            return Ok(ProtocolError::params("duplicate member name").respond(Some(id)));
        };
        // Lines of standard input do not have headers.
        let is_line = req.extensions().get::<Line>().is_some();
        let headers = (!is_line).then(|| req.headers());
        let era = match Era::of(&message, &params, headers, self.legacy) {
            Ok(era) => era,
            Err(error) => return Ok(error.respond(Some(id))),
        };
        let asked = Asked { service: self, era, id: id.to_owned() };
        if message.method == TOOLS_CALL {
            return tool_call::call(asked, req, params).await;
        }
        Ok(match asked.result_of(&message.method, &req, &params) {
            Ok(result) => asked.respond(&result),
            Err(error) => error.respond(Some(id)),
        })
    }
}

impl Asked {
    /// Returns the result of any method except the call of a tool.
    fn result_of(
        &self,
        method: &str,
        req: &Request,
        params: &Params<'_>,
    ) -> Result<Vec<u8>, ProtocolError> {
        match (self.era, method) {
            (_, "tools/list") if params.cursor.is_some() => Err(ProtocolError::CURSOR),
            (_, "tools/list") => Ok(self.list(req)),
            (Era::Modern, "server/discover") => Ok(self.discover(req)),
            (Era::Legacy, "initialize") => Ok(self.initialize(params)),
            (Era::Legacy, "ping") => Ok(b"{}".to_vec()),
            (era, _) => Err(ProtocolError::method(era)),
        }
    }

    /// Returns the tools that the caller may call.
    fn list(&self, req: &Request) -> Vec<u8> {
        let tools = Tools::of(req);
        let list = tools.as_ref().map(|tools| tools.list(&tools.visible_to(req)));
        let list = list.unwrap_or(Bytes::from_static(b"[]"));
        let (hints, meta) = (self.hints(req, tools.as_deref()), self.meta(None));
        let begin = self.begin().as_bytes();
        [begin, b"\"tools\":", &list, hints.as_bytes(), meta.as_bytes(), b"}"].concat()
    }

    fn discover(&self, req: &Request) -> Vec<u8> {
        let (begin, meta) = (self.begin(), self.meta(None));
        let hints = self.hints(req, Tools::of(req).as_deref());
        let instructions = &self.service.instructions;
        format!(
            "{begin}\"supportedVersions\":[\"{MODERN}\"],\"capabilities\":{{\"tools\":{{}}}}\
             {instructions}{hints}{meta}}}"
        )
        .into_bytes()
    }

    fn initialize(&self, params: &Params<'_>) -> Vec<u8> {
        let requested = params.protocol_version.as_deref().unwrap_or_default();
        let known = LEGACY.into_iter().find(|known| *known == requested);
        let version = known.unwrap_or(LEGACY[0]);
        let Service { server, instructions, .. } = &*self.service;
        format!(
            "{{\"protocolVersion\":\"{version}\",\"capabilities\":{{\"tools\":{{}}}},\
             \"serverInfo\":{server}{instructions}}}"
        )
        .into_bytes()
    }

    /// Returns the members that say how long and for whom a result may be
    /// cached. A shared cache must not serve the response to a user to callers
    /// without credentials.
    fn hints(&self, req: &Request, tools: Option<&Tools>) -> String {
        if self.era == Era::Legacy {
            return String::new();
        }
        let has_credentials =
            req.user().is_some() || req.headers().contains_key(header::AUTHORIZATION);
        let is_private = has_credentials || tools.is_none_or(Tools::depends_on_caller);
        let scope = if is_private { "private" } else { "public" };
        format!(",\"ttlMs\":{},\"cacheScope\":\"{scope}\"", self.service.ttl_ms)
    }

    /// Returns the text before the members of a result.
    pub(crate) fn begin(&self) -> &'static str {
        match self.era {
            Era::Legacy => "{",
            Era::Modern => "{\"resultType\":\"complete\",",
        }
    }

    /// Returns the member `_meta` of a result: the server, and the status of a
    /// call. Empty if there are neither.
    pub(crate) fn meta(&self, status: Option<u16>) -> String {
        let status = status.map(|status| format!("\"stockade/status\":{status}"));
        let server =
            (self.era == Era::Modern).then(|| format!("{SERVER_INFO}:{}", self.service.server));
        let members: Vec<String> = server.into_iter().chain(status).collect();
        match members.is_empty() {
            true => String::new(),
            false => format!(",\"_meta\":{{{}}}", members.join(",")),
        }
    }

    /// Creates the message with a result.
    pub(crate) fn message(&self, result: &[u8]) -> Bytes {
        let begin = b"{\"jsonrpc\":\"2.0\",\"id\":";
        let parts: [&[u8]; 5] = [begin, self.id.as_bytes(), b",\"result\":", result, b"}"];
        // The buffer has the exact length, so the response reuses it without a
        // copy.
        parts.concat().into()
    }

    fn respond(&self, result: &[u8]) -> Response {
        respond(StatusCode::OK, self.message(result))
    }
}

/// Returns true if the body is declared as JSON without compression.
fn is_json(headers: &HeaderMap) -> bool {
    let is_json = |text: &str| essence(text).eq_ignore_ascii_case("application/json");
    is_unencoded(headers) && content_type(headers).is_some_and(is_json)
}

/// Creates the response to a notification.
fn accepted() -> Response {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::ACCEPTED;
    response
}

/// The member of `_meta` that identifies the server.
const SERVER_INFO: &str = "\"io.modelcontextprotocol/serverInfo\"";
