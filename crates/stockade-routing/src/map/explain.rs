//! [`Explanation`]: the processing of a request, with reasons.

use std::fmt;
use std::time::Duration;

use http::Method;
use serde::Serialize;
use stockade_core::{Endpoint, HttpBody, Request};
use stockade_errors::__internal::sort_by;
use stockade_path::{Pattern, Segment};

use super::build::{info_of, map_of, router_info};
use super::{MethodKind, Place, RouteInfo, RouterInfo};
use crate::app::Resolved;
use crate::built_methods::name_of;
use crate::lookup::{self, LookUp, find_in, is_ambiguous, is_sound};
use crate::matcher::TableBuilder;
use crate::sites::Sites;
use crate::table_set::TableSet;

/// The largest number of routes to list if none matches a request.
const MISSES: usize = 5;

/// The nearness of a route that matches the whole path, but not the method.
const OTHER_METHOD: (usize, bool) = (usize::MAX, true);

/// The processing of a request, with reasons.
///
/// [`App::explain`](crate::App::explain) creates it. Its text is for readers;
/// serde serializes it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Explanation {
    /// The requested method; `WS` for a WebSocket.
    pub method: String,
    /// The requested host, if the target was a URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The requested path, without a query.
    pub path: String,
    /// The called tool, for a line such as `TOOL orders_cancel {"id": 7}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// The route of the request.
    pub route: Option<RouteInfo>,
    /// The names and the decoded values of the parameters.
    pub params: Vec<(String, String)>,
    /// The steps of the request up to the handler, in order.
    pub steps: Vec<Step>,
    /// The status of the response if no route matches the request; `None` if
    /// the fallback handles it.
    pub status: Option<u16>,
    /// The address of the redirect, if a route declares the other form of the
    /// path, with or without a trailing slash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// The routes that nearly match the request, the closest first.
    pub misses: Vec<Miss>,
}

/// A step in the processing of a request.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Step {
    /// Its kind.
    pub kind: StepKind,
    /// The name of a stage or of a middleware, with its settings.
    pub name: String,
    /// The place in the source code, if the application added the step.
    pub location: Option<Place>,
}

/// The kind of a step.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum StepKind {
    /// A stage of the router.
    Stage,
    /// Middleware.
    Middleware,
    /// A validation of parameters, query or body.
    Check,
    /// The handler.
    Handler,
}

/// A route that nearly matches a request.
#[derive(Clone, Debug, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Miss {
    /// Its method.
    pub method: String,
    /// Its path.
    pub path: String,
    /// The place of its declaration.
    pub location: Place,
    /// The reason why it does not match the request.
    pub reason: String,
    /// The sort key of misses: the number of matching segments, and true if the
    /// path has as many segments as the route.
    #[serde(skip)]
    nearness: (usize, bool),
}

/// An invalid argument of [`App::explain`](crate::App::explain).
#[derive(Clone, Eq, PartialEq)]
pub struct ExplainError {
    message: String,
}

/// Writes the same text as `Display`, because a `main` that returns the error
/// prints it with `Debug`.
impl fmt::Debug for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for ExplainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ExplainError {}

/// Explains a line such as `POST /users/7` or `TOOL users_show {"id": 7}`.
pub(crate) fn explain(app: &Resolved, line: &str) -> Result<Explanation, ExplainError> {
    match line.trim().split_once(char::is_whitespace) {
        Some((word, call)) if word.eq_ignore_ascii_case("TOOL") => explain_tool(app, call.trim()),
        _ => explain_request(app, line),
    }
}

/// Explains the call of a tool: its name, and its arguments as JSON.
fn explain_tool(app: &Resolved, call: &str) -> Result<Explanation, ExplainError> {
    let fault = |message: String| ExplainError { message };
    let (name, arguments) = call.split_once(char::is_whitespace).unwrap_or((call, ""));
    let tools = app.routes.tools.as_ref();
    let (tools, compiled) = tools
        .and_then(|tools| Some((tools, tools.compiled()?)))
        .ok_or_else(|| fault("the router does not have an endpoint for tools".to_owned()))?;
    let target = (tools.explain)(compiled, name, arguments.trim()).map_err(fault)?;
    let info = map_of(app, false).routes.into_iter().nth(target.route).unwrap_or_default();
    let host = info.host.as_ref().map(|host| format!("http://{}", host.example()));
    let (method, path) = (&target.method, &target.path);
    let line = format!("{method} {}{path}", host.unwrap_or_default());
    let mut explanation = explain_request(app, &line)?;
    let found = explanation.route.as_ref();
    if found.is_none_or(|found| found.location != info.location || found.path != info.path) {
        return Err(fault(format!("{line:?} does not belong to the route of the tool {name:?}")));
    }
    // The stages for whole requests ran for the endpoint.
    explanation.steps.retain(|it| it.kind != StepKind::Stage || it.name.starts_with(BODIES));
    explanation.tool = Some(name.to_owned());
    explanation.route = Some(info);
    Ok(explanation)
}

fn explain_request(app: &Resolved, line: &str) -> Result<Explanation, ExplainError> {
    let (method, target) = read(line)?;
    let request = request(&method, target)?;
    let (method, path) = (&*method, request.path());
    let mut explanation = Explanation {
        method: method.to_owned(),
        host: request.uri().authority().map(ToString::to_string),
        path: path.to_owned(),
        tool: None,
        route: None,
        params: Vec::new(),
        steps: Vec::new(),
        status: None,
        redirect: None,
        misses: Vec::new(),
    };
    let (route, params) = match look_up(app, method, &request) {
        LookUp::Found(route, params) => (route, params),
        LookUp::Rejected => {
            explanation.status = Some(400);
            return Ok(explanation);
        }
        LookUp::Redirected(_, location) => {
            explanation.status = Some(308);
            explanation.redirect = location.to_str().ok().map(str::to_owned);
            return Ok(explanation);
        }
        LookUp::Missing => {
            explain_missing(app, &request, &mut explanation);
            return Ok(explanation);
        }
    };
    let route = info_of(app, route);
    let values = params.iter(path);
    let values = values.map(|(name, value)| (name.to_owned(), value.into_owned()));
    explanation.params = values.collect();
    explanation.steps = steps_of(&router_info(app), &route);
    explanation.route = Some(route);
    Ok(explanation)
}

/// Adds the reasons why no route matches a request.
fn explain_missing(app: &Resolved, request: &Request, explanation: &mut Explanation) {
    explanation.misses = misses(app, &explanation.method, request);
    let has_other_method = explanation.misses.iter().any(|it| it.nearness == OTHER_METHOD);
    explanation.status = match has_other_method && app.routes.method_not_allowed {
        true => Some(405),
        false if app.routes.fallback.is_some() => None,
        false => Some(404),
    };
    explanation.misses.truncate(MISSES);
}

/// Parses a method and a path or a URL, without a query. Converts the method to
/// uppercase.
fn read(line: &str) -> Result<(String, &str), ExplainError> {
    let fault = |message: String| ExplainError { message };
    let (method, target) = line.trim().split_once(char::is_whitespace).ok_or_else(|| {
        fault(format!("expected a method and a path such as \"GET /users/7\", found {line:?}"))
    })?;
    let target = target.trim();
    let target = target.split(['?', '#']).next().unwrap_or(target);
    let has_host = ["http://", "https://"].iter().any(|scheme| target.starts_with(scheme));
    if !has_host && !target.starts_with('/') || target.contains(char::is_whitespace) {
        return Err(fault(format!(
            "{target:?} is not a path: it must begin with `/` and must not contain spaces"
        )));
    }
    Ok((method.to_ascii_uppercase(), target))
}

/// Creates the request of a line.
fn request(method: &str, target: &str) -> Result<Request, ExplainError> {
    let method = if method == "WS" { "GET" } else { method };
    let method = Method::from_bytes(method.as_bytes())
        .map_err(|_| ExplainError { message: format!("{method:?} is not a method") })?;
    let request = http::Request::builder().method(method).uri(target).body(HttpBody::default());
    let request =
        request.map_err(|error| ExplainError { message: format!("{target:?}: {error}") })?;
    Ok(Request::from(request))
}

fn look_up<'r>(app: &'r Resolved, method: &str, request: &Request) -> LookUp<'r> {
    if !is_sound(request.path()) {
        return LookUp::Rejected;
    }
    if method == "WS" {
        return look_up_web_socket(app, request);
    }
    match lookup::look_up(app, request) {
        LookUp::Found(route, _) if app.routes.is_fallback(route) => LookUp::Missing,
        found => found,
    }
}

fn look_up_web_socket<'r>(app: &'r Resolved, request: &Request) -> LookUp<'r> {
    let (sites, path) = (&Sites::of(app, request), request.path());
    let find = |tables: &'r TableSet, path: &str| find_in(tables.web_sockets.as_ref()?, path);
    let index = |spelling, path: &str| Some(sites.search(spelling, path, &find)?.0.index);
    match sites.search(None, path, &find) {
        Some((route, params)) if is_ambiguous(sites, path, route, &params, &index) => {
            LookUp::Rejected
        }
        Some((route, params)) => LookUp::Found(route, params),
        None => LookUp::Missing,
    }
}

/// The beginning of the steps that check a body.
const BODIES: &str = "bodies";

/// Returns the steps of a request to a route of this router, in order.
#[must_use]
pub fn steps_of(router: &RouterInfo, route: &RouteInfo) -> Vec<Step> {
    let stage = |name: String| Step { kind: StepKind::Stage, name, location: None };
    let mut steps = Vec::new();
    if !router.trust_proxy.is_empty() {
        steps.push(stage("client address, from a trusted proxy".to_owned()));
    }
    if router.cors.is_some() || route.cors.is_some() {
        steps.push(stage("CORS: responds to preflights".to_owned()));
    }
    if !route.limits.rate_exempt
        && let Some(quota) = &router.rate_limit
    {
        let rate = quota.limit.zip(quota.window_ms).map_or_else(String::new, |(limit, window)| {
            format!(": {limit} in {:?}", Duration::from_millis(window))
        });
        steps.push(stage(format!("rate limit {}{rate}", quota.name)));
    }
    if route.body.is_some() {
        steps.push(stage(format!("{BODIES} up to {} bytes", route.limits.max_body)));
    }
    if let Some(types) = &route.limits.accepts {
        steps.push(stage(format!("{BODIES} of type {}", types.join(", "))));
    }
    steps.extend(route.middleware.iter().map(|middleware| Step {
        kind: StepKind::Middleware,
        name: middleware.name.clone(),
        location: middleware.location.clone(),
    }));
    let check = |name: &str| Step { kind: StepKind::Check, name: name.to_owned(), location: None };
    let has_params = route.params.iter().any(|param| param.schema["type"] != "string");
    steps.extend(has_params.then(|| check("parameters")));
    steps.extend(route.query.is_some().then(|| check("query")));
    let is_validated =
        |body: &super::BodyInfo| body.content.iter().any(|content| content.media_type != "*/*");
    steps.extend(route.body.as_ref().filter(|body| is_validated(body)).map(|_| check("body")));
    let location = Some(route.location.clone());
    steps.push(Step { kind: StepKind::Handler, name: "handler".to_owned(), location });
    steps
}

/// Returns all routes that share a part of the path, the closest first.
fn misses(app: &Resolved, method: &str, request: &Request) -> Vec<Miss> {
    let (sites, path) = (Sites::of(app, request), request.path());
    let mut misses: Vec<Miss> = app
        .routes
        .endpoints
        .iter()
        .filter(|endpoint| name_of(endpoint).is_none())
        .filter_map(|endpoint| miss(endpoint, &sites, method, path))
        .collect();
    sort_by(&mut misses, |one, other| other.nearness.cmp(&one.nearness));
    misses
}

/// Returns the reason why a route does not match a request, unless no part of
/// its path matches.
fn miss(route: &Endpoint, sites: &Sites<'_>, method: &str, path: &str) -> Option<Miss> {
    let pattern = Pattern::parse(route.pattern()).ok()?;
    let miss = |nearness, reason| {
        Some(Miss {
            method: route.method().as_str().to_owned(),
            path: route.host().unwrap_or_default().to_owned() + route.pattern(),
            location: route.location().into(),
            reason,
            nearness,
        })
    };
    if let Some(host) = route.host().filter(|host| !sites.includes(host)) {
        let reason = format!("the host is not `{host}`");
        return matches(&pattern, path).then(|| miss((usize::MAX, false), reason))?;
    }
    if matches(&pattern, path) {
        return miss(OTHER_METHOD, format!("its method is {}, not {method}", route.method()));
    }
    let asked: Vec<&str> = path.split('/').skip(1).collect();
    let known = pattern.segments();
    let fits = known.iter().zip(&asked).take_while(|(segment, text)| fits(segment, text)).count();
    let nearness = (fits, known.len() == asked.len());
    match (known.get(fits), asked.get(fits)) {
        (Some(segment), Some(text)) if fits > 0 || known.len() == asked.len() => {
            miss(nearness, format!("`{text}` does not match `{segment}`"))
        }
        (Some(segment), None) => miss(nearness, format!("the path ends before `{segment}`")),
        (None, Some(text)) if fits > 0 => {
            let reason = if text.is_empty() {
                "the path has an extra slash at the end".to_owned()
            } else {
                format!("the path continues with `{text}`")
            };
            miss(nearness, reason)
        }
        _ => None,
    }
}

/// Returns true if a segment of a pattern matches a text.
fn fits(segment: &Segment, text: &str) -> bool {
    Pattern::parse(&format!("/{segment}")).is_ok_and(|one| matches(&one, &format!("/{text}")))
}

fn matches(pattern: &Pattern, path: &str) -> bool {
    let mut table = TableBuilder::new();
    table.insert(pattern, ()).is_ok() && table.build().find(path).is_some()
}

/// Shows the route, the steps and the possible responses, or the routes that
/// nearly match the request.
impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = self.host.as_deref().unwrap_or_default();
        writeln!(f, "{} {host}{}", self.method, self.path)?;
        if let Some(tool) = &self.tool {
            writeln!(f, "  tool     {tool}")?;
        }
        match (&self.route, self.status) {
            (Some(route), _) => self.write_route(f, route),
            (None, Some(status)) if self.redirect.is_some() => {
                let location = self.redirect.as_deref().unwrap_or_default();
                writeln!(f, "  redirected to {location}: {status}")
            }
            (None, Some(status)) => {
                writeln!(f, "  no route matches: {status}")?;
                self.write_misses(f)
            }
            (None, None) => {
                writeln!(f, "  no route matches: the fallback responds")?;
                self.write_misses(f)
            }
        }
    }
}

impl Explanation {
    fn write_route(&self, f: &mut fmt::Formatter<'_>, route: &RouteInfo) -> fmt::Result {
        let method = route.shown_method();
        writeln!(f, "  route    {method} {}  {}", route.shown_path(), route.location)?;
        if let Some(name) = &route.name {
            writeln!(f, "  name     {name}")?;
        }
        write!(f, "  access   {}", route.access)?;
        for (index, scheme) in route.access.schemes.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { " by " } else { ", " }, scheme.name())?;
        }
        match &route.access.public {
            Some(reason) => writeln!(f, ": {reason}")?,
            None => writeln!(f)?,
        }
        let known = route.access.methods.iter().filter(|method| method.kind != MethodKind::Own);
        for (index, method) in known.enumerate() {
            let head = if index == 0 { "  auth     " } else { "           " };
            writeln!(f, "{head}{}: {method}", method.name)?;
        }
        for (index, session) in route.access.sessions.iter().enumerate() {
            let head = if index == 0 { "  session  " } else { "           " };
            writeln!(f, "{head}{session}")?;
        }
        if let Some(protection) = &route.access.cross_origin {
            writeln!(f, "  origins  {protection}")?;
        }
        if let Some(reason) = &route.access.outlives_user {
            writeln!(f, "  login    connections may outlive it: {reason}")?;
        }
        for (name, value) in &self.params {
            writeln!(f, "  param    {name} = {value}")?;
        }
        for (index, step) in self.steps.iter().enumerate() {
            let head = if index == 0 { "  steps    " } else { "           " };
            write!(f, "{head}{}", step.name)?;
            match &step.location {
                Some(place) => writeln!(f, "  {place}")?,
                None => writeln!(f)?,
            }
        }
        for (index, answer) in route.answers.iter().enumerate() {
            let head = if index == 0 { "  answers  " } else { "           " };
            write!(f, "{head}{:<7}  {}", answer.status.to_string(), answer.by)?;
            match &*answer.meaning {
                "" => writeln!(f)?,
                meaning => writeln!(f, ": {meaning}")?,
            }
        }
        Ok(())
    }

    fn write_misses(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for miss in &self.misses {
            writeln!(f, "  not {} {}: {}  {}", miss.method, miss.path, miss.reason, miss.location)?;
        }
        Ok(())
    }
}
