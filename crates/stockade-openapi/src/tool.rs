//! [`tool`]: commands about its routes, for the program that has them.

use serde::Serialize;
use serde_json::Value;
use stockade_errors::BoxError;
use stockade_map::policy::{Audit, Policy};
use stockade_routing::App;

use crate::document::{open_api, ruleset};
use crate::lock_command as command;
use crate::options::OpenApiOptions;
use crate::to_3_0::to_3_0;

/// The commands, for a call that is none of their forms.
const USAGE: &str = "routes [--json] | explain [--json] <METHOD> <path> | audit [--json] \
                     | openapi [--3.0 | --ruleset] | graphql | lock | lock --check [PATH]";

/// Runs a command about the routes of an application. `args` are the arguments
/// of the program, with its name first.
///
/// Only the program itself has its tree, so that it answers these questions
/// itself:
///
/// | command | text |
/// |---|---|
/// | `routes` | a line for each route: method, path, access, limits, name, place |
/// | `explain POST /users/7` | the way of that request, or the routes that nearly take it |
/// | `audit` | a line for each route, those that are open first: who may call it, limits, findings; by the [policy](App::policy) of the router, or by [`Policy::recommended`] if it has none |
/// | `openapi` | the document |
/// | `openapi --ruleset` | OWASP's rules for Spectral, with exceptions for the routes that say why they are `public`, for those of `health_routes` and for WebSockets |
/// | `openapi --3.0` | the document as OpenAPI 3.0, by [`to_3_0`](crate::to_3_0); `x-lost` in it lists what that has no words for |
/// | `graphql` | the schemas of GraphQL, in the schema definition language |
/// | `lock` | the [lock](crate::lock) of the routes |
/// | `lock --check [PATH]` | one line, if the routes are as the file says; `routes.lock` without a path |
///
/// `--json` behind the first three gives data. The outcome is `None` where the
/// first argument is none of them, for a program that has commands of its own or
/// none at all.
///
/// ```
/// use stockade::openapi::{OpenApiOptions, tool};
/// use stockade::prelude::*;
///
/// fn main() -> Result<(), BoxError> {
///     let api = routes! { "users": { GET: async || "all users" } };
///     let app = create_router(api, RouterOptions::new()).build()?;
///     let options = OpenApiOptions::new("Users", "1.0.0");
///     if let Some(text) = tool(&app, &options, std::env::args()) {
///         print!("{}", text?);
///         return Ok(());
///     }
///     let args = ["program", "explain", "GET", "/users"].map(str::to_owned);
///     let text = tool(&app, &options, args).ok_or("no command")??;
///     assert!(text.contains("route    GET /users"));
///     Ok(())
/// }
/// ```
///
/// # Errors
/// When a command lacks an argument or has one too many, when the line of
/// `explain` is no method and path, when there can be no document, and when the
/// routes are not as a lock says.
pub fn tool(
    app: &App,
    options: &OpenApiOptions,
    args: impl IntoIterator<Item = String>,
) -> Option<Result<String, BoxError>> {
    let args: Vec<String> = args.into_iter().skip(1).collect();
    let (command, rest) = args.split_first()?;
    let (flags, rest): (Vec<&str>, Vec<&str>) =
        rest.iter().map(String::as_str).partition(|it| it.starts_with("--"));
    let is_json = flags == ["--json"];
    let is_usual = flags.is_empty() || (is_json && command != "openapi");
    let outcome = match (command.as_str(), rest.as_slice()) {
        ("routes", []) if is_usual => {
            let map = app.route_map();
            shown(&map, is_json)
        }
        ("explain", [_, ..]) if is_usual => match app.explain(&rest.join(" ")) {
            Ok(explanation) => shown(&explanation, is_json),
            Err(error) => Err(error.into()),
        },
        ("audit", []) if is_usual => shown(&audit(app), is_json),
        ("openapi", []) if flags == ["--ruleset"] => match ruleset(&app.route_map(), options) {
            Ok(ruleset) => pretty(&ruleset),
            Err(error) => Err(error.into()),
        },
        ("openapi", []) if flags == ["--3.0"] => match open_api(app, options) {
            Ok(document) => pretty(&older(&document)),
            Err(error) => Err(error.into()),
        },
        ("openapi", []) if is_usual => match open_api(app, options) {
            Ok(document) => pretty(&document),
            Err(error) => Err(error.into()),
        },
        ("graphql", []) if flags.is_empty() => graphql(app),
        ("lock", []) if flags.is_empty() => command::print(app),
        ("lock", [] | [_]) if flags == ["--check"] => command::check(app, rest.first().copied()),
        ("routes" | "explain" | "audit" | "openapi" | "graphql" | "lock", _) => {
            Err(format!("the commands are {USAGE}").into())
        }
        _ => return None,
    };
    Some(outcome)
}

/// Returns the schemas of GraphQL, in the order of their routes.
///
/// # Errors
/// When no route has one.
fn graphql(app: &App) -> Result<String, BoxError> {
    let map = app.route_map();
    let schemas: Vec<&str> =
        map.routes.iter().filter_map(|route| Some(route.graphql.as_ref()?.sdl.as_str())).collect();
    if schemas.is_empty() {
        return Err("no route has a schema of GraphQL".into());
    }
    Ok(schemas.join("\n"))
}

fn audit(app: &App) -> Audit {
    let map = app.route_map();
    match app.policy() {
        Some(policy) => policy.audit(&map),
        None => Policy::recommended().audit(&map),
    }
}

/// Returns a document as OpenAPI 3.0, with a list of what was lost, if anything
/// was.
fn older(document: &Value) -> Value {
    let (mut document, lost) = to_3_0(document);
    if let Some(document) = document.as_object_mut()
        && !lost.is_empty()
    {
        document.insert("x-lost".to_owned(), lost.into());
    }
    document
}

fn shown<T: Serialize + ToString>(value: &T, is_json: bool) -> Result<String, BoxError> {
    if is_json { pretty(value) } else { Ok(value.to_string()) }
}

fn pretty<T: Serialize>(value: &T) -> Result<String, BoxError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
