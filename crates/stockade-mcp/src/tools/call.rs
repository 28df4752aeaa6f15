//! The request of a call: from the arguments of a tool to a request for its
//! route.
//!
//! Hot. A value of an argument never leaves its place: it is encoded, and the
//! finished request must match the route of the tool.

use std::borrow::Cow;
use std::fmt;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderName, HeaderValue, Uri, header};
use serde_json::{Map, Value};
use stockade_core::Request;
use stockade_map::ArgumentPlace;
use stockade_routing::__internal::encode_component;
use stockade_routing::UrlError;
use stockade_routing::subrequest::{ReceivingApp, RunningSubrequest};

use super::compile::{CompiledArgument, CompiledTool};

/// The future of a call, which returns the response of the route.
pub(crate) type RunningTool = RunningSubrequest;

/// The reason why a call did not reach its route. The agent receives the text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct ToolFailure {
    message: String,
}

impl ToolFailure {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into() }
    }

    fn of_argument(name: &str, problem: &str) -> Self {
        Self::new(format!("Invalid argument {name:?}: {problem}"))
    }
}

impl fmt::Display for ToolFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl CompiledTool {
    /// Creates the request of a call. `parent` is the request to the endpoint.
    pub(crate) fn child(
        &self,
        parent: &Request,
        mut arguments: Map<String, Value>,
    ) -> Result<Request, ToolFailure> {
        self.check_names(&arguments)?;
        let mut target = self.path_of(&arguments)?;
        self.add_query(&arguments, &mut target)?;
        let mut head = self.head(parent, target)?;
        self.add_headers(parent, &arguments, &mut head)?;
        let body = match &self.body_type {
            Some(content_type) => {
                head.headers.insert(header::CONTENT_TYPE, content_type.clone());
                self.body(&mut arguments)?
            }
            None => Bytes::new(),
        };
        Ok(parent.within(head, body))
    }

    /// Runs the request of a call in the application that received `parent`.
    pub(crate) fn run(&self, parent: &Request, child: Request) -> Result<RunningTool, ToolFailure> {
        let app = ReceivingApp::of(parent);
        let app = app.ok_or_else(|| ToolFailure::new("The application cannot call tools"))?;
        app.run(self.route, &self.labels, child).ok_or_else(|| {
            ToolFailure::new("Invalid arguments: the path does not belong to this tool")
        })
    }

    fn check_names(&self, arguments: &Map<String, Value>) -> Result<(), ToolFailure> {
        let is_known = |name: &str| self.arguments.iter().any(|known| *known.name == *name);
        match arguments.keys().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(unknown) => {
                let known: Vec<&str> = self.arguments.iter().map(|it| &*it.name).collect();
                let known = match known.is_empty() {
                    true => "the tool does not have arguments".to_owned(),
                    false => format!("expected {}", known.join(", ")),
                };
                Err(ToolFailure::new(format!("Unknown argument {unknown:?}: {known}")))
            }
        }
    }

    /// Returns the arguments of one place that have a value.
    fn given<'a>(
        &'a self,
        place: ArgumentPlace,
        arguments: &'a Map<String, Value>,
    ) -> impl Iterator<Item = (&'a CompiledArgument, &'a Value)> {
        let own = self.arguments.iter().filter(move |argument| argument.place == place);
        own.filter_map(|argument| {
            let value = arguments.get(&*argument.name)?;
            (!value.is_null()).then_some((argument, value))
        })
    }

    /// Returns the path, with the encoded values of its parameters.
    pub(super) fn path_of(&self, arguments: &Map<String, Value>) -> Result<String, ToolFailure> {
        for (argument, value) in self.given(ArgumentPlace::Path, arguments) {
            check_segment(&argument.name, value)?;
        }
        let url = self.path.build(|original| {
            let mut given = self.given(ArgumentPlace::Path, arguments);
            let (_, value) = given.find(|(argument, _)| *argument.original == *original)?;
            text_of(value)
        });
        url.map_err(|error| self.path_failure(&error))
    }

    #[cold]
    fn path_failure(&self, error: &UrlError) -> ToolFailure {
        let name = |original: &str| {
            let mut own = self.arguments.iter().filter(|it| it.place == ArgumentPlace::Path);
            let own = own.find(|argument| *argument.original == *original);
            own.map_or_else(|| original.to_owned(), |argument| argument.name.to_string())
        };
        match error {
            UrlError::MissingValue { name: original, .. } => {
                ToolFailure::new(format!("Missing argument {:?}", name(original)))
            }
            UrlError::EmptyValue { name: original, .. } => {
                ToolFailure::of_argument(&name(original), "it must not be empty")
            }
            UrlError::RefusedValue { name: original, .. } => {
                ToolFailure::of_argument(&name(original), "the value is not allowed")
            }
            _ => ToolFailure::new("Invalid arguments: the path would be ambiguous"),
        }
    }

    fn add_query(
        &self,
        arguments: &Map<String, Value>,
        target: &mut String,
    ) -> Result<(), ToolFailure> {
        let mut separator = '?';
        let mut add = |name: &str, value: &str| {
            target.push(separator);
            separator = '&';
            target.push_str(&encode_component(name));
            target.push('=');
            target.push_str(&encode_component(value));
        };
        for (argument, value) in self.given(ArgumentPlace::Query, arguments) {
            let (name, original) = (&*argument.name, &*argument.original);
            let text = |value| {
                text_of(value).ok_or_else(|| {
                    ToolFailure::of_argument(
                        name,
                        "a query can contain only texts, numbers and lists",
                    )
                })
            };
            match value {
                Value::Array(items) => {
                    for item in items {
                        add(original, &text(item)?);
                    }
                }
                Value::Object(members) if argument.is_deep => {
                    for (key, member) in members.iter().filter(|(_, member)| !member.is_null()) {
                        let key = format!("{original}[{key}]");
                        match member {
                            Value::Array(items) => {
                                for item in items {
                                    add(&key, &text(item)?);
                                }
                            }
                            member => add(&key, &text(member)?),
                        }
                    }
                }
                value => add(original, &text(value)?),
            }
        }
        Ok(())
    }

    /// Creates the head of the request, for the same host as the parent.
    fn head(&self, parent: &Request, target: String) -> Result<Parts, ToolFailure> {
        let invalid = || ToolFailure::new("Invalid arguments: they do not form a path");
        let uri = match parent.uri().authority() {
            None => Uri::try_from(target).map_err(|_| invalid())?,
            Some(authority) => {
                let scheme = parent.uri().scheme_str().unwrap_or("http");
                let uri = Uri::builder().scheme(scheme).authority(authority.clone());
                uri.path_and_query(target).build().map_err(|_| invalid())?
            }
        };
        let (mut head, ()) = http::Request::new(()).into_parts();
        head.method = self.method.clone();
        head.uri = uri;
        head.version = parent.version();
        Ok(head)
    }

    fn add_headers(
        &self,
        parent: &Request,
        arguments: &Map<String, Value>,
        head: &mut Parts,
    ) -> Result<(), ToolFailure> {
        for name in [&header::HOST].into_iter().chain(&self.forwarded) {
            for value in parent.headers().get_all(name) {
                head.headers.append(name.clone(), value.clone());
            }
        }
        for (argument, value) in self.given(ArgumentPlace::Header, arguments) {
            let text = text_of(value);
            let value = text.and_then(|text| HeaderValue::from_str(&text).ok());
            let name = HeaderName::from_bytes(argument.original.as_bytes()).ok();
            let Some((name, value)) = name.zip(value) else {
                return Err(ToolFailure::of_argument(
                    &argument.name,
                    "a header can contain only visible ASCII characters",
                ));
            };
            head.headers.insert(name, value);
        }
        Ok(())
    }

    /// Returns the body: one argument, or an object with the members that are
    /// arguments.
    fn body(&self, arguments: &mut Map<String, Value>) -> Result<Bytes, ToolFailure> {
        let failed = |error: serde_json::Error| ToolFailure::new(format!("Invalid body: {error}"));
        let whole = self.arguments.iter().find(|it| it.place == ArgumentPlace::Body);
        if let Some(whole) = whole {
            return match arguments.get(&*whole.name) {
                Some(body) => serde_json::to_vec(body).map(Bytes::from).map_err(failed),
                None => Ok(Bytes::new()),
            };
        }
        let mut body = Map::new();
        for argument in self.arguments.iter().filter(|it| it.place == ArgumentPlace::BodyField) {
            if let Some(value) = arguments.get_mut(&*argument.name) {
                body.insert(argument.original.to_string(), value.take());
            }
        }
        serde_json::to_vec(&body).map(Bytes::from).map_err(failed)
    }
}

/// Checks the value of a path parameter. A program in front of the application
/// or behind the route could remove such a segment.
fn check_segment(name: &str, value: &Value) -> Result<(), ToolFailure> {
    let Some(text) = text_of(value) else {
        return Err(ToolFailure::of_argument(name, "expected a text or a number"));
    };
    let is_removed = |segment: &str| matches!(segment, "" | "." | "..");
    if text.split(['/', '\\']).any(is_removed) {
        let problem = "it must not be empty, `.` or `..`, and must not contain such a segment";
        return Err(ToolFailure::of_argument(name, problem));
    }
    Ok(())
}

/// Returns a value as text, unless it is a list or an object.
fn text_of(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(Cow::Owned(number.to_string())),
        Value::Bool(true) => Some(Cow::Borrowed("true")),
        Value::Bool(false) => Some(Cow::Borrowed("false")),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}
