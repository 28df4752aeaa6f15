//! [`TestAgent`]: calls tools like an AI agent (MCP).

use std::fmt;

use http::StatusCode;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use stockade_core::BoxFuture;
use stockade_hardening::difference::{Extent, differences};
use stockade_hardening::fail::fail;

use crate::event::EventReader;
use crate::{TestClient, TestRequest, TestResponse};

impl TestClient {
    /// Creates an agent for the MCP endpoint at this path. It uses the protocol
    /// version 2026-07-28, accepts progress, and has the headers of the client.
    ///
    /// ```
    /// use stockade::mcp::Mcp;
    /// use stockade::prelude::*;
    /// use stockade::testing::TestClient;
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let api = routes! {
    ///     "mcp": { public: "an example", ..Mcp::new("Clock", "1.0.0").routes() },
    ///     "time": { GET: { handler: async || "12:30", name: "time", tool: "Returns the time." } },
    /// };
    /// let agent = TestClient::new(create_router(api, RouterOptions::new())).mcp("/mcp");
    /// agent.tools().await.assert_names(["time"]);
    /// agent.call("time", json!({})).await.assert_text("12:30");
    /// agent.call("date", json!({})).await.assert_error(-32602, "Unknown tool: date");
    /// # });
    /// ```
    #[must_use]
    pub fn mcp(&self, path: impl Into<String>) -> TestAgent {
        TestAgent { client: self.clone(), path: path.into(), is_legacy: false }
    }
}

/// An AI agent in a test, from [`TestClient::mcp`].
#[derive(Clone, Debug)]
pub struct TestAgent {
    client: TestClient,
    path: String,
    is_legacy: bool,
}

impl TestAgent {
    /// Sends `Authorization: Bearer …` with each request.
    ///
    /// # Panics
    /// Panics if the token is not a valid header value.
    #[track_caller]
    #[must_use]
    pub fn bearer(mut self, token: impl AsRef<str>) -> Self {
        self.client = self.client.with_bearer(token);
        self
    }

    /// Sends this header with each request.
    ///
    /// # Panics
    /// Panics if the name or the value is not valid in a header.
    #[track_caller]
    #[must_use]
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.client = self.client.with_header(name, value);
        self
    }

    /// Uses the protocol version 2025-11-25, like most hosts.
    #[must_use]
    pub fn legacy(mut self) -> Self {
        self.is_legacy = true;
        self
    }

    /// Returns the tools that the agent sees.
    ///
    /// # Panics
    /// Panics if the response does not contain a list of tools.
    #[track_caller]
    #[must_use]
    pub fn tools(&self) -> BoxFuture<'static, TestTools> {
        let request = self.request("tools/list", json!({}));
        Box::pin(async move { TestTools { result: TestToolResult::of(request.send().await) } })
    }

    /// Calls a tool. The arguments are an object.
    ///
    /// # Panics
    /// Panics if the arguments cannot be serialized, or if the response is
    /// missing.
    #[track_caller]
    pub fn call(
        &self,
        name: &str,
        arguments: impl Serialize,
    ) -> BoxFuture<'static, TestToolResult> {
        let request = self.call_request(name, arguments);
        Box::pin(async move { TestToolResult::of(request.send().await) })
    }

    /// Starts the request of [`call`](Self::call), for example to read the
    /// progress as a stream.
    ///
    /// # Panics
    /// Panics if the arguments cannot be serialized as JSON.
    #[track_caller]
    pub fn call_request(&self, name: &str, arguments: impl Serialize) -> TestRequest {
        let request =
            self.request("tools/call", json!({ "name": name, "arguments": json_of(arguments) }));
        if self.is_legacy { request } else { request.header("mcp-name", name) }
    }

    /// Starts a request with any method. The parameters are an object. The
    /// agent adds `_meta`, unless the parameters contain it, and the headers of
    /// the protocol.
    ///
    /// # Panics
    /// Panics if the parameters cannot be serialized as JSON.
    #[track_caller]
    pub fn request(&self, method: &str, params: impl Serialize) -> TestRequest {
        let mut params = json_of(params);
        if let Some(members) = params.as_object_mut() {
            members.entry("_meta").or_insert_with(|| self.meta());
        }
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let request = self.client.post(&self.path).json(message).header("accept", ACCEPT);
        match self.is_legacy {
            true => request.header("mcp-protocol-version", LEGACY),
            false => request.header("mcp-protocol-version", MODERN).header("mcp-method", method),
        }
    }

    fn meta(&self) -> Value {
        if self.is_legacy {
            return json!({ "progressToken": 1 });
        }
        json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": { "name": "stockade-testing", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {},
            "progressToken": 1,
        })
    }
}

/// The list of tools that an agent sees.
#[derive(Clone, Debug)]
pub struct TestTools {
    result: TestToolResult,
}

impl TestTools {
    /// Returns the tools as the server describes them.
    ///
    /// # Panics
    /// Panics if the response does not contain a list of tools.
    #[track_caller]
    #[must_use]
    pub fn tools(&self) -> Vec<Value> {
        match self.result.message["result"]["tools"].as_array() {
            Some(tools) => tools.clone(),
            None => self.result.fail("the response does not contain a list of tools"),
        }
    }

    /// Returns the description of a tool.
    ///
    /// # Panics
    /// Panics if the list does not contain the tool.
    #[track_caller]
    #[must_use]
    pub fn tool(&self, name: &str) -> Value {
        match self.tools().into_iter().find(|tool| tool["name"] == name) {
            Some(tool) => tool,
            None => self.result.fail(format_args!("the list does not contain the tool {name:?}")),
        }
    }

    /// Asserts the names of all tools, in the order of the list.
    ///
    /// # Panics
    /// Panics if the names differ.
    #[track_caller]
    pub fn assert_names<N: AsRef<str>>(&self, expected: impl IntoIterator<Item = N>) -> &Self {
        let tools = self.tools();
        let found: Vec<&str> = tools.iter().filter_map(|tool| tool["name"].as_str()).collect();
        let expected: Vec<N> = expected.into_iter().collect();
        let expected: Vec<&str> = expected.iter().map(AsRef::as_ref).collect();
        if found != expected {
            self.result.fail(format_args!("the tools are {found:?}, not {expected:?}"));
        }
        self
    }

    /// Returns the response.
    #[must_use]
    pub fn response(&self) -> &TestResponse {
        self.result.response()
    }
}

/// The outcome of a call: a result, an error of the protocol, or another
/// response of HTTP.
#[derive(Clone)]
pub struct TestToolResult {
    response: TestResponse,
    /// The last message; null if the response does not contain one.
    message: Value,
    reports: Vec<Value>,
}

impl TestToolResult {
    fn of(response: TestResponse) -> Self {
        let content_type = response.header("content-type").unwrap_or_default();
        let mut messages: Vec<Value> = Vec::new();
        if content_type.starts_with("text/event-stream") {
            let mut reader = EventReader::default();
            reader.push(response.bytes());
            let data = std::iter::from_fn(|| reader.next()).map(|event| event.data);
            messages.extend(data.filter_map(|data| serde_json::from_str(&data).ok()));
        } else {
            messages.extend(serde_json::from_slice::<Value>(response.bytes()).ok());
        }
        let message = messages.pop().unwrap_or_default();
        let reports = messages.iter().map(|message| message["params"].clone()).collect();
        Self { response, message, reports }
    }

    /// Returns the response of HTTP.
    #[must_use]
    pub fn response(&self) -> &TestResponse {
        &self.response
    }

    /// Returns the message with the result or the error.
    #[must_use]
    pub fn message(&self) -> &Value {
        &self.message
    }

    /// Returns the reports of progress that came before the result: their
    /// `progress`, `total` and `message`.
    #[must_use]
    pub fn reports(&self) -> &[Value] {
        &self.reports
    }

    /// Returns true if the tool failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.message["result"]["isError"] == true
    }

    /// Returns the status of the response of the route, if it responded.
    #[must_use]
    pub fn route_status(&self) -> Option<u64> {
        self.message["result"]["_meta"]["stockade/status"].as_u64()
    }

    /// Returns the text of the result. The texts of several parts are joined
    /// with a line feed.
    ///
    /// # Panics
    /// Panics if the response does not contain a result.
    #[track_caller]
    #[must_use]
    pub fn text(&self) -> String {
        let Some(content) = self.message["result"]["content"].as_array() else {
            self.fail("the response does not contain a result");
        };
        let texts: Vec<&str> = content.iter().filter_map(|part| part["text"].as_str()).collect();
        texts.join("\n")
    }

    /// Deserializes the text of the result from JSON.
    ///
    /// # Panics
    /// Panics if the text is not JSON of this type.
    #[track_caller]
    #[must_use]
    pub fn json<T: DeserializeOwned>(&self) -> T {
        match serde_json::from_str(&self.text()) {
            Ok(value) => value,
            Err(error) => self.fail(format_args!("cannot parse the result as JSON: {error}")),
        }
    }

    /// Asserts that the tool succeeded with exactly this text.
    ///
    /// # Panics
    /// Panics if the tool failed or the text differs.
    #[track_caller]
    pub fn assert_text(&self, expected: &str) -> &Self {
        self.assert_success();
        if self.text() != expected {
            self.fail(format_args!("the result is not {expected:?}"));
        }
        self
    }

    /// Asserts that the tool succeeded with this JSON value, with members in any
    /// order.
    ///
    /// # Panics
    /// Panics if the tool failed or the value differs; the message lists the
    /// differences.
    #[track_caller]
    pub fn assert_json(&self, expected: impl Serialize) -> &Self {
        self.assert_success();
        let lines = differences(&json_of(expected), &self.json(), Extent::Whole);
        if !lines.is_empty() {
            self.fail(format_args!("the result differs:\n  {}", lines.join("\n  ")));
        }
        self
    }

    /// Asserts that the tool failed with a text that contains `expected`.
    ///
    /// # Panics
    /// Panics if the tool did not fail, or if the text differs.
    #[track_caller]
    pub fn assert_failed(&self, expected: &str) -> &Self {
        if !self.is_error() {
            self.fail("the tool did not fail");
        }
        if !self.text().contains(expected) {
            self.fail(format_args!("the result does not contain {expected:?}"));
        }
        self
    }

    /// Asserts an error of the protocol with this code and message, such as
    /// `(-32602, "Unknown tool: x")`.
    ///
    /// # Panics
    /// Panics if the response is not this error.
    #[track_caller]
    pub fn assert_error(&self, code: i64, message: &str) -> &Self {
        let error = &self.message["error"];
        if error["code"] != code || error["message"] != message {
            self.fail(format_args!("the error is not {code} {message:?}"));
        }
        self
    }

    /// Asserts that the caller has to log in: a 401 with a challenge.
    ///
    /// # Panics
    /// Panics for any other response.
    #[track_caller]
    pub fn assert_login_required(&self) -> &Self {
        self.response.assert_status(StatusCode::UNAUTHORIZED);
        if self.response.header("www-authenticate").is_none() {
            self.fail("the response does not contain a challenge");
        }
        self
    }

    #[track_caller]
    fn assert_success(&self) {
        if self.message["result"].is_null() || self.is_error() {
            self.fail("the tool did not succeed");
        }
    }

    #[track_caller]
    fn fail(&self, message: impl fmt::Display) -> ! {
        self.response.exchange.fail(message)
    }
}

impl fmt::Debug for TestToolResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.response, f)
    }
}

#[track_caller]
fn json_of(value: impl Serialize) -> Value {
    match serde_json::to_value(value) {
        Ok(value) => value,
        Err(error) => fail(format_args!("cannot serialize the value as JSON: {error}")),
    }
}

const ACCEPT: &str = "application/json, text/event-stream";
const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";
