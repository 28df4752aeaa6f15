//! Routes as tools for AI agents.
//!
//! - `hidden` lists and calls tools as users that must not see them.
//! - `paths` sends values that lead to other routes; `origins` sends requests of
//!   foreign pages; `credentials` sends cookies; `charges` spends rate limits.
//! - `message` creates messages and reads responses.

mod charges;
mod credentials;
mod hidden;
pub(super) mod message;
mod origins;
mod paths;

use std::sync::Arc;

use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use stockade_map::{ArgumentPlace, McpInfo, ToolArgument, ToolInfo};

use self::message::{with_call, with_message};
use super::AttackFamily;
use super::attack_target::AttackTarget;
use super::runner::Runner;
use crate::Credentials;
use crate::sample::Sample;
use crate::shot::Shot;

const FAMILY: AttackFamily = AttackFamily::Tools;

/// An endpoint of tools.
#[derive(Clone, Copy)]
struct Endpoint<'t> {
    target: &'t AttackTarget,
    info: &'t McpInfo,
}

/// A route that is a tool.
#[derive(Clone, Copy)]
struct Tool<'t> {
    target: &'t AttackTarget,
    info: &'t ToolInfo,
}

/// Attacks each endpoint and each of its tools.
pub(super) async fn attack(runner: &mut Runner<'_>) {
    let targets = Arc::clone(&runner.targets);
    let tools: Vec<Tool<'_>> = targets.iter().filter_map(Tool::of).collect();
    for tool in &tools {
        note_addresses(runner, *tool);
    }
    for target in targets.iter() {
        let Some(info) = target.route.mcp.as_deref() else { continue };
        if runner.is_skipped(FAMILY, Some(target)) {
            continue;
        }
        let endpoint = Endpoint { target, info };
        origins::attack(runner, endpoint).await;
        hidden::attack(runner, endpoint, &tools).await;
        for tool in &tools {
            paths::attack(runner, endpoint, *tool).await;
            credentials::attack(runner, endpoint, *tool).await;
            charges::attack(runner, endpoint, *tool).await;
        }
        charges::attack_batch(runner, endpoint).await;
    }
}

impl<'t> Endpoint<'t> {
    /// Returns a request with a message, of a user if one is given.
    fn message(self, user: Option<&Credentials>, method: &str) -> Shot {
        let shot = with_message(self.target.shot(), method);
        of(shot, user)
    }

    /// Returns a request that calls a tool.
    fn call(
        self,
        user: Option<&Credentials>,
        tool: Tool<'_>,
        arguments: Map<String, Value>,
    ) -> Shot {
        let shot = with_call(self.target.shot(), &tool.info.name, arguments);
        of(shot, user)
    }

    /// Returns the credentials of a user that may call a tool; `Some(None)` if
    /// it does not need a user. If no such user is known, records that `attack`
    /// is left out.
    fn caller(
        self,
        runner: &mut Runner<'_>,
        tool: Tool<'_>,
        attack: &'static str,
    ) -> Option<Option<Credentials>> {
        if !tool.target.needs_user() && !self.target.needs_user() {
            return Some(None);
        }
        let user = runner.user(&tool.target.roles());
        if user.is_none() {
            runner.leave(FAMILY, Some(tool.target), attack, NO_USER);
        }
        user.map(Some)
    }
}

fn of(shot: Shot, user: Option<&Credentials>) -> Shot {
    match user {
        Some(user) => shot.of(user),
        None => shot,
    }
}

impl<'t> Tool<'t> {
    fn of(target: &'t AttackTarget) -> Option<Self> {
        Some(Self { target, info: target.route.tool.as_deref()? })
    }

    /// Returns valid arguments, with the parameters of the path that leads to the
    /// route.
    fn arguments(self, runner: &Runner<'_>) -> Map<String, Value> {
        let sample = Sample::of(&runner.map).value(&self.info.input_schema);
        let mut arguments = match sample {
            Some(Value::Object(arguments)) => arguments,
            _ => Map::new(),
        };
        let params = self.params();
        for argument in self.in_path() {
            if let Some((_, value)) = params.iter().find(|(name, _)| *name == argument.original) {
                arguments.insert(argument.name.clone(), self.typed(argument, value));
            }
        }
        arguments
    }

    /// Returns the parameters of the path that leads to the route.
    fn params(self) -> Vec<(&'t str, String)> {
        let template = self.target.route.templates.first().map_or("", String::as_str);
        let mut path = self.target.path.split('/');
        let mut params = Vec::new();
        for part in template.split('/') {
            let segment = path.next().unwrap_or_default();
            let name = part.strip_prefix('{').and_then(|part| part.strip_suffix('}'));
            let Some(name) = name else { continue };
            let is_rest = self.target.route.params.iter().any(|it| it.name == name && it.is_rest);
            let mut segments = vec![segment];
            if is_rest {
                segments.extend(path.by_ref());
            }
            let value = percent_decode_str(&segments.join("/")).decode_utf8_lossy().into_owned();
            params.push((name, value));
        }
        params
    }

    /// Returns the arguments that become parameters of the path.
    fn in_path(self) -> impl Iterator<Item = &'t ToolArgument> {
        self.info.arguments.iter().filter(|argument| argument.place == ArgumentPlace::Path)
    }

    /// Returns a value of a parameter in the type of its argument.
    fn typed(self, argument: &ToolArgument, value: &str) -> Value {
        let schema = self.info.input_schema.get("properties").and_then(|it| it.get(&argument.name));
        let of_type = schema.and_then(|schema| schema.get("type")).and_then(Value::as_str);
        match of_type {
            Some("integer") => value.parse::<i64>().map_or_else(|_| value.into(), Value::from),
            _ => value.into(),
        }
    }
}

/// Records the tools with an address as an argument: the map does not show if
/// the handler sends requests to it.
fn note_addresses(runner: &mut Runner<'_>, tool: Tool<'_>) {
    let properties = tool.info.input_schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
        let is_address = matches!(format, "uri" | "url" | "iri") || is_address_name(name);
        if is_address {
            let attack = format!("an internal address in the argument `{name}`");
            let reason = "the handler may send requests to an address that an agent chooses: send \
                          them through `OutgoingGuard`";
            runner.leave(FAMILY, Some(tool.target), attack, reason);
        }
    }
}

/// Returns true if the name of an argument suggests an address.
fn is_address_name(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let ends = ["url", "uri", "webhook", "callback", "href"];
    ends.iter().any(|end| name.ends_with(end))
}

const NO_USER: &str = "no user with access to the tool is known: add one with `Hardening::users`";

const REACHES_HANDLER: &str =
    "each call reaches the handler: use `Hardening::allow_reads` to call tools of GET routes";
