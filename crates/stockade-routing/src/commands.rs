//! [`App::run_command`]: command-line commands about the routes of a program.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Serialize;
use stockade_core::BoxFuture;
use stockade_errors::BoxError;
use stockade_map::lock::{CommittedLock, Lock, LockError};
use stockade_map::policy::parse_json;

use crate::app::App;

/// The commands of every application.
const USAGE: &str = "routes [--json] | explain [--json] <METHOD> <path> \
                     | audit [--json] [--config FILE] [--html FILE] | graphql | lock | lock --check [PATH]";

/// The command that has arguments with values.
const AUDIT: &str = "audit";

/// The command that requires the document settings.
const OPENAPI: &str = "openapi";

/// The command that requires the feature `metrics`.
const DASHBOARD: &str = "dashboard";

#[cfg(feature = "metrics")]
const DASHBOARD_USAGE: &[&str] = &[crate::dashboard::USAGE];
#[cfg(not(feature = "metrics"))]
const DASHBOARD_USAGE: &[&str] = &[];

/// The default file for the comparison.
const LOCK_FILE: &str = "routes.lock";

type WriteText = dyn Fn(&App, &[&str]) -> Result<Option<String>, BoxError> + Send + Sync;
type Serve =
    dyn Fn(App, Vec<String>) -> BoxFuture<'static, Result<Option<()>, BoxError>> + Send + Sync;

/// A command that another part of the framework adds.
#[derive(Clone)]
pub struct Command {
    name: &'static str,
    usage: &'static str,
    run: Run,
}

#[derive(Clone)]
enum Run {
    /// Returns its text.
    Text(Arc<WriteText>),
    /// Runs until its input ends, and writes its output itself.
    Serve(Arc<Serve>),
}

impl Command {
    /// Creates a command. `run` receives the arguments after the name, and
    /// returns `None` if it does not support them.
    pub fn new(
        name: &'static str,
        usage: &'static str,
        run: impl Fn(&App, &[&str]) -> Result<Option<String>, BoxError> + Send + Sync + 'static,
    ) -> Self {
        Self { name, usage, run: Run::Text(Arc::new(run)) }
    }

    /// Creates a command that runs until its input ends, and writes its output
    /// itself. `run` receives the arguments after the name, and returns `None`
    /// if it does not support them.
    pub fn serving(
        name: &'static str,
        usage: &'static str,
        run: impl Fn(App, Vec<String>) -> BoxFuture<'static, Result<Option<()>, BoxError>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { name, usage, run: Run::Serve(Arc::new(run)) }
    }

    async fn run(&self, app: &App, args: &[&str]) -> Result<Option<String>, BoxError> {
        match &self.run {
            Run::Text(run) => run(app, args),
            Run::Serve(run) => {
                let args = args.iter().map(|&argument| argument.to_owned()).collect();
                Ok(run(app.clone(), args).await?.map(|()| String::new()))
            }
        }
    }
}

impl fmt::Debug for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Command({})", self.name)
    }
}

impl App {
    /// Runs a command about the routes and prints its text, if the first
    /// argument is a command. Returns true if it ran one. `args` are the
    /// arguments of the program, starting with its name.
    ///
    /// Only your program contains its routes, so the program itself is the tool
    /// that shows them. A command does not [start](Self::start) the
    /// application: the values of
    /// [`Router::state_at_start`](crate::Router::state_at_start) are not
    /// opened. Only `mcp --stdio` starts it.
    ///
    /// | command | text |
    /// |---|---|
    /// | `routes` | a line for each route: method, path, access, limits, name, source location |
    /// | `explain POST /users/7` | the route of this request and everything that runs before its handler, or the routes that nearly match |
    /// | `explain TOOL orders_cancel '{"id": 7}'` | the same for the request of a call to a [tool](crate::RouteEntry::tool) |
    /// | `audit` | a line for each route, public ones first: access, limits, findings; by the [policy](Self::policy) of the router, or by [`Policy::recommended`](stockade_map::policy::Policy::recommended) if it does not have one |
    /// | `audit --config FILE` | the same lines under a [configuration file](stockade_map::policy::Configuration); violations of the policy are an error |
    /// | `audit --html FILE` | writes a report for readers to one file: settings, findings, exceptions, the OWASP API Security Top 10 |
    /// | `openapi` | the OpenAPI document; the router needs `open_api` |
    /// | `openapi --ruleset` | OWASP's rules for Spectral, with exceptions for routes with a `public` reason, for `health_routes` and for WebSockets |
    /// | `openapi --3.0` | the document as OpenAPI 3.0; `x-lost` lists what 3.0 cannot express |
    /// | `docs --html FILE` | writes the documentation page to one file; the router needs `open_api` |
    /// | `graphql` | the GraphQL schemas, in the schema definition language |
    /// | `dashboard --job NAME` | writes a Grafana dashboard (`--grafana FILE`) and Prometheus alert rules (`--alerts FILE`); the router needs metrics |
    /// | `mcp --stdio` | handles messages of an AI agent from standard input; a route must be the endpoint of `Mcp` |
    /// | `lock` | the lock of the routes |
    /// | `lock --check [PATH]` | one line if the routes match the file, `routes.lock` by default |
    ///
    /// The first three commands print JSON if you add `--json`.
    ///
    /// ```
    /// use stockade::policy::Policy;
    /// use stockade::prelude::*;
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), BoxError> {
    ///     let api = routes! { "users": { GET: { async || "all", public: "a list for everybody" } } };
    ///     let app = create_router(api, RouterOptions::new())
    ///         .open_api(("Users", "1.0.0"))
    ///         .policy(Policy::recommended())
    ///         .build()?;
    ///     if app.run_command(std::env::args()).await? {
    ///         return Ok(());
    ///     }
    ///     let args = ["program", "routes"].map(String::from);
    ///     assert!(app.run_command(args).await?);
    ///     let args = ["program", "serve"].map(String::from);
    ///     assert!(!app.run_command(args).await?);
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails if an argument is missing or unknown, if the arguments of
    /// `explain` are not a method and a path, if a document cannot be
    /// generated, if the routes differ from the lock, if a configuration file
    /// is invalid or violates the policy, or if the text cannot be written.
    pub async fn run_command(
        &self,
        args: impl IntoIterator<Item = String>,
    ) -> Result<bool, BoxError> {
        let Some(text) = self.command_output(args).await else { return Ok(false) };
        print(&text?)?;
        Ok(true)
    }

    /// Returns the text that [`run_command`](Self::run_command) prints, for
    /// example for a test. Returns `None` if the first argument is not a
    /// command.
    ///
    /// ```
    /// use stockade::prelude::*;
    ///
    /// #[tokio::main]
    /// async fn main() -> Result<(), BoxError> {
    ///     let api = routes! { "users": { GET: async || "all users" } };
    ///     let app = create_router(api, RouterOptions::new()).build()?;
    ///     let args = ["program", "explain", "GET", "/users"].map(String::from);
    ///     let text = app.command_output(args).await.ok_or("no command")??;
    ///     assert!(text.contains("route    GET /users"));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails like [`run_command`](Self::run_command), but does not write any
    /// output.
    pub fn command_output(
        &self,
        args: impl IntoIterator<Item = String>,
    ) -> BoxFuture<'_, Option<Result<String, BoxError>>> {
        let args: Vec<String> = args.into_iter().skip(1).collect();
        Box::pin(async move {
            let args: Vec<&str> = args.iter().map(String::as_str).collect();
            let (name, rest) = args.split_first()?;
            self.output_of(name, rest).await
        })
    }

    /// Runs a command. Returns `None` if there is no command with this name.
    async fn output_of(&self, name: &str, args: &[&str]) -> Option<Result<String, BoxError>> {
        let added = &self.resolved.routes.commands;
        let outcome = match added.iter().find(|command| command.name == name) {
            Some(command) => command.run(self, args).await,
            None if name == DASHBOARD => self.dashboard(args),
            None if name == AUDIT => self.audit(args),
            None => self.built_in(name, args)?,
        };
        Some(match outcome {
            Ok(Some(text)) => Ok(text),
            Ok(None) => {
                let usages = added.iter().map(|command| command.usage);
                let usages =
                    [USAGE].into_iter().chain(usages).chain(DASHBOARD_USAGE.iter().copied());
                let usages = usages.collect::<Vec<_>>().join(" | ");
                Err(format!("invalid command: expected {usages}").into())
            }
            Err(error) => Err(error),
        })
    }

    /// Runs a built-in command. Returns `None` if there is no command with this
    /// name.
    fn built_in(&self, name: &str, args: &[&str]) -> Option<Result<Option<String>, BoxError>> {
        let (flags, rest): (Vec<&str>, Vec<&str>) =
            args.iter().partition(|argument| argument.starts_with("--"));
        let is_json = flags == ["--json"];
        let is_usual = flags.is_empty() || is_json;
        let outcome = match (name, rest.as_slice()) {
            ("routes", []) if is_usual => shown(&self.route_map(), is_json),
            ("explain", [_, ..]) if is_usual => match self.explain(&rest.join(" ")) {
                Ok(explanation) => shown(&explanation, is_json),
                Err(error) => Err(error.into()),
            },
            ("graphql", []) if flags.is_empty() => self.graphql(),
            ("lock", []) if flags.is_empty() => self.lock(),
            ("lock", [] | [_]) if flags == ["--check"] => self.check_lock(rest.first().copied()),
            (OPENAPI, _) => {
                Err("the router does not have an OpenAPI document: add `.open_api((\"Title\", \
                     \"1.0.0\"))`"
                    .into())
            }
            ("routes" | "explain" | "graphql" | "lock", _) => return Some(Ok(None)),
            _ => return None,
        };
        Some(outcome.map(Some))
    }

    #[cfg(feature = "metrics")]
    fn dashboard(&self, args: &[&str]) -> Result<Option<String>, BoxError> {
        crate::dashboard::run(self, args)
    }

    #[cfg(not(feature = "metrics"))]
    #[expect(clippy::unused_self, reason = "the form with metrics uses it")]
    fn dashboard(&self, _: &[&str]) -> Result<Option<String>, BoxError> {
        Err("the command `dashboard` needs the feature `metrics` of stockade".into())
    }

    /// Returns the GraphQL schemas, in the order of their routes.
    fn graphql(&self) -> Result<String, BoxError> {
        let map = self.route_map();
        let schemas = map.routes.iter().filter_map(|route| route.graphql.as_ref());
        let schemas: Vec<&str> = schemas.map(|schema| schema.sdl.as_str()).collect();
        if schemas.is_empty() {
            return Err("no route has a GraphQL schema".into());
        }
        Ok(schemas.join("\n"))
    }

    fn lock(&self) -> Result<String, BoxError> {
        Ok(self.current_lock()?.to_string())
    }

    /// Returns the lock of the routes, with the declared configuration files.
    fn current_lock(&self) -> Result<Lock, BoxError> {
        Ok(Lock::of(&self.route_map_with_files(None, &parse_json)?)?)
    }

    /// Compares the lock with a file. If they differ, the error lists all
    /// changes.
    fn check_lock(&self, path: Option<&str>) -> Result<String, BoxError> {
        let path = path.unwrap_or(LOCK_FILE);
        let lock = self.current_lock()?;
        let message = match lock.compare_file(Path::new(path), SystemTime::now())? {
            CommittedLock::Same => return Ok(format!("the routes match {path}\n")),
            CommittedLock::Missing => {
                format!("{path} does not exist: write the output of `lock` to it")
            }
            CommittedLock::OtherForm => {
                format!(
                    "{path} has the same routes in a different format: write the output of \
                     `lock` to it"
                )
            }
            CommittedLock::Changed(changes) => {
                format!("the routes do not match {path}\n\n{changes}")
            }
        };
        Err(LockError::new(message).into())
    }
}

/// Prints the text of a command. A closed reader, such as `head`, is not an
/// error.
fn print(text: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        outcome => outcome,
    }
}

pub(crate) fn shown<T: Serialize + ToString>(value: &T, is_json: bool) -> Result<String, BoxError> {
    if is_json { pretty(value) } else { Ok(value.to_string()) }
}

/// Returns data as indented JSON, with a trailing newline.
///
/// # Errors
/// Fails if the data cannot be serialized as JSON.
pub fn pretty<T: Serialize>(value: &T) -> Result<String, BoxError> {
    Ok(serde_json::to_string_pretty(value)? + "\n")
}
