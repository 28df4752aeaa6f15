//! [`check_schemas`]: property tests of all routes, with input generated from
//! their schemas.

mod breaks;
mod case;
mod fit;
mod form;
mod input;
mod kept;
mod progress;
mod report;
mod route;
mod text;
mod validate;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::Location;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;
use stockade_errors::ConfigError;
use stockade_routing::App;
use stockade_routing::map::RouteInfo;
use stockade_validation::__internal::did_you_mean;

use self::fit::Schemas;
use self::kept::KeptFile;
use self::progress::Progress;
pub use self::report::{NotChecked, Property, PropertyFailure, RouteReport, SchemaReport};
use self::route::RouteCheck;
use crate::credentials::Users;
use crate::fail::{built, fail};
use crate::{Contract, Credentials, IntoApp};

/// Creates a check that the routes of an application follow their schemas:
///
/// - Valid input never gets 400, 408, 413, 415, 422 or 5xx, unless the handler
///   or middleware documents this status and the response names no field.
/// - Input that violates one rule is rejected, and the response names the field
///   and the rule. If only middleware documents the status, the rule is listed
///   as not checked.
/// - Each response satisfies the [`Contract`]: it is documented, and its body
///   fits its schema.
/// - Each route has a valid case: some valid input reached its handler.
///   Middleware that responds 404 to invented ids needs
///   [`param`](PropertyCheck::param). WebSockets, JSON-RPC methods, mounts and
///   [skipped](PropertyCheck::skip) routes are exempt. Routes that require
///   `If-Match` get `*`. Routes that require an idempotency key get a new one
///   in each request.
///
/// One application handles all cases of all routes;
/// [`rebuild`](PropertyCheck::rebuild) builds one for each route. Each
/// application is [started](App::start). The cases are the same in each run.
/// The first failing case of each message is shrunk. A check that runs longer
/// than five seconds shows its progress on stderr.
///
/// ```
/// use stockade::prelude::*;
/// use stockade::testing::check_schemas;
///
/// #[derive(serde::Deserialize, Schema)]
/// struct NewUser {
///     #[schema(trim, required, max_length = 100)]
///     name: String,
/// }
///
/// fn router() -> Router {
///     let api = routes! {
///         "users": { POST: async |Body(user): Body<NewUser>| user.name },
///     };
///     create_router(api, RouterOptions::new())
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let report = check_schemas(router()).cases(16).run().await;
/// assert_eq!((report.routes[0].valid, report.routes[0].rules), (16, 6));
/// # });
/// ```
///
/// For an API with nested paths and two versions:
///
/// ```
/// use stockade::prelude::*;
/// use stockade::testing::check_schemas;
///
/// fn in_org(req: &mut Request) -> Result<(), ApiError> {
///     let is_known = req.param("org").is_some_and(|org| org == "acme");
///     if is_known { Ok(()) } else { Err(ApiError::not_found()) }
/// }
///
/// fn members() -> RouteTree {
///     let in_org = Middleware::new(in_org).describing(|doc| {
///         doc.may_respond(404, "No such organization");
///     });
///     routes! {
///         ":org": {
///             middleware: [in_org],
///             "members/:id": { GET: async |Path((_, id)): Path<(String, u64)>| json!(id) },
///         },
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// let api = routes! { "v1": { ..members() }, "v2": { ..members() } };
/// let app = create_router(api, RouterOptions::new());
/// let check = check_schemas(app).param("org", "acme");
/// let report = check.skip_below("/v1", "same handlers as v2").cases(16).run().await;
/// assert_eq!((report.routes[0].valid, report.routes[1].valid), (0, 16));
/// # });
/// ```
#[track_caller]
pub fn check_schemas(app: impl IntoApp) -> PropertyCheck {
    let location = Location::caller();
    PropertyCheck {
        app: app.into_app(),
        rebuild: None,
        params: BTreeMap::new(),
        cases: CASES,
        own_cases: Vec::new(),
        seed: 0,
        users: None,
        skipped: Vec::new(),
        skipped_below: Vec::new(),
        kept_in: kept::beside(location),
        location,
    }
}

/// A check of all routes with generated input; see [`check_schemas`].
#[must_use = "nothing is checked until `run` is called"]
pub struct PropertyCheck {
    app: Result<App, ConfigError>,
    rebuild: Option<Box<dyn Fn() -> Result<App, ConfigError>>>,
    /// Parameter values by name.
    params: BTreeMap<String, Value>,
    cases: u32,
    /// Routes with their numbers of cases.
    own_cases: Vec<(String, u32)>,
    seed: u64,
    users: Option<Users>,
    /// Routes and reasons.
    skipped: Vec<(String, String)>,
    /// Paths and reasons.
    skipped_below: Vec<(String, String)>,
    kept_in: Option<PathBuf>,
    location: &'static Location<'static>,
}

impl PropertyCheck {
    /// Sets the value of all path parameters with this name, such as the id of
    /// an existing row. Default: values are generated from the constraint and
    /// the schema. Cases that violate a rule of the parameter do not use the
    /// value. A route fails if the value does not fit its schema.
    ///
    /// # Panics
    /// [`run`](Self::run) panics if no path has the parameter; the message
    /// suggests a name.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.insert(name.into(), value.into().into());
        self
    }

    /// Builds a new application for each route, which isolates routes from the
    /// effects of other routes. Default: one application for all routes.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// use stockade::prelude::*;
    /// use stockade::testing::check_schemas;
    ///
    /// fn router() -> Router {
    ///     // In a program, each call opens an empty database.
    ///     create_router(routes! { "logout": { POST: async || () } }, RouterOptions::new())
    /// }
    ///
    /// check_schemas(router()).rebuild(router).run().await;
    /// # });
    /// ```
    pub fn rebuild<A: IntoApp>(mut self, build: impl Fn() -> A + 'static) -> Self {
        self.rebuild = Some(Box::new(move || build().into_app()));
        self
    }

    /// Sets the number of valid inputs for each route with input. Each rule is
    /// violated a sixteenth as often, but at least once. Default: 64.
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = cases.max(1);
        self
    }

    /// Sets the number of valid inputs for one route, such as a slow
    /// `POST /login`.
    ///
    /// # Panics
    /// [`run`](Self::run) panics if the route does not exist.
    pub fn cases_of(mut self, route: impl Into<String>, cases: u32) -> Self {
        self.own_cases.push((route.into(), cases.max(1)));
        self
    }

    /// Sets the seed of all generated cases. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the function that returns the credentials of a user with all of
    /// these roles, or of any user if the list is empty. Routes are listed as
    /// not checked if the function returns `None` for them.
    ///
    /// ```
    /// # use stockade::testing::{Credentials, check_schemas};
    /// # let router = stockade::Router::new();
    /// let check = check_schemas(router).users(|roles| match roles {
    ///     [] => Some(Credentials::bearer("the token of a customer")),
    ///     ["admin"] => Some(Credentials::bearer("the token of an admin")),
    ///     _ => None,
    /// });
    /// # drop(check);
    /// ```
    pub fn users(
        mut self,
        users: impl Fn(&[&str]) -> Option<Credentials> + Send + Sync + 'static,
    ) -> Self {
        self.users = Some(Arc::new(users));
        self
    }

    /// Skips a route, such as `POST /login`. It is listed as not checked with
    /// this reason.
    ///
    /// # Panics
    /// [`run`](Self::run) panics if the route does not exist; the message
    /// suggests a route.
    pub fn skip(mut self, route: impl Into<String>, reason: impl Into<String>) -> Self {
        self.skipped.push((route.into(), reason.into()));
        self
    }

    /// Skips all routes at and below a path, such as `/v1`. They are listed as
    /// not checked with this reason.
    ///
    /// # Panics
    /// [`run`](Self::run) panics if the path does not have routes. The message
    /// suggests a path.
    pub fn skip_below(mut self, path: impl Into<String>, reason: impl Into<String>) -> Self {
        self.skipped_below.push((path.into(), reason.into()));
        self
    }

    /// Sets the file that saves failing cases; later runs try these cases
    /// first. Default: `x.failures.json` next to the test source `x.rs`. `None`
    /// disables saving.
    pub fn kept_in(mut self, file: impl Into<Option<PathBuf>>) -> Self {
        self.kept_in = file.into();
        self
    }

    /// Checks all routes and returns the report. Requires a tokio runtime with
    /// timers.
    ///
    /// # Panics
    /// Panics if a property does not hold. The message shows the smallest
    /// failing exchange. Also panics if the router has configuration errors or
    /// cannot [start](App::start).
    pub async fn run(self) -> SchemaReport {
        let location = self.location;
        let report = built(self.try_run().await);
        if !report.is_passed() {
            fail(format_args!("check_schemas at {location}\n{report}"));
        }
        report
    }

    /// Checks all routes and returns the report, including the properties that
    /// do not hold.
    ///
    /// # Errors
    /// Fails with all configuration errors of the router.
    ///
    /// # Panics
    /// Panics if a route, a path or a parameter does not exist, if the map has
    /// errors, and if the application cannot [start](App::start).
    pub async fn try_run(self) -> Result<SchemaReport, ConfigError> {
        self.checked().await
    }

    /// Boxed as `dyn`, so that this crate compiles the check rather than each
    /// test. See `Server::serve` of stockade-server.
    fn checked(self) -> Pin<Box<dyn Future<Output = Result<SchemaReport, ConfigError>>>> {
        Box::pin(async move {
            let app = self.app.clone()?;
            let contract = Contract::of(&app);
            let map = app.route_map();
            self.check_names(&map.routes);
            let schemas = Rc::new(Schemas::new(map.schemas, contract.schemas()));
            let mut run = Run {
                kept: KeptFile::read(self.kept_in.clone()),
                progress: Progress::new(map.routes.len()),
                requests: 0,
                shrunk: BTreeSet::new(),
            };
            let mut routes = Vec::new();
            for route in map.routes.iter().enumerate() {
                let checked = RouteCheck::new(&self, route, (&schemas, &contract));
                routes.push(checked.run(&mut run).await?);
            }
            let KeptFile { path: kept_in, error: not_kept, .. } = run.kept;
            Ok(SchemaReport { seed: self.seed, routes, kept_in, not_kept })
        })
    }

    /// Panics if a route, a path or a parameter in the settings does not exist.
    fn check_names(&self, routes: &[RouteInfo]) {
        let labels: Vec<String> = routes.iter().map(label_of).collect();
        let named = self.skipped.iter().map(|(route, _)| route);
        for route in named.chain(self.own_cases.iter().map(|(route, _)| route)) {
            if !labels.contains(route) {
                let hint = did_you_mean(route, labels.iter().map(String::as_str));
                fail(format_args!("PropertyCheck: unknown route {route:?}{hint}"));
            }
        }
        for (path, _) in &self.skipped_below {
            if !routes.iter().any(|route| is_below(&route.path, path)) {
                let slashes = |path: &str| -> Vec<usize> {
                    path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]).collect()
                };
                let paths = routes.iter().flat_map(|route| {
                    slashes(&route.path).into_iter().filter_map(|end| route.path.get(..end))
                });
                let hint = did_you_mean(path, paths);
                fail(format_args!("PropertyCheck: no route below {path:?}{hint}"));
            }
        }
        let params = || routes.iter().flat_map(|route| &route.params).map(|it| it.name.as_str());
        for name in self.params.keys() {
            if !params().any(|known| known == name) {
                let hint = did_you_mean(name, params());
                let known: BTreeSet<&str> = params().collect();
                let known: Vec<String> = known.iter().map(|name| format!("`{name}`")).collect();
                fail(format_args!(
                    "PropertyCheck: unknown parameter {name:?}{hint}: the paths have {}",
                    known.join(", ")
                ));
            }
        }
    }

    fn cases_for(&self, label: &str) -> u32 {
        let own = self.own_cases.iter().find(|(route, _)| route == label);
        own.map_or(self.cases, |(_, cases)| *cases)
    }

    /// Returns the reason for skipping a route.
    fn skip_reason(&self, route: &RouteInfo) -> Option<&str> {
        let label = label_of(route);
        let own = self.skipped.iter().find(|(skipped, _)| *skipped == label);
        let below = || self.skipped_below.iter().find(|(path, _)| is_below(&route.path, path));
        own.or_else(below).map(|(_, reason)| reason.as_str())
    }
}

impl fmt::Debug for PropertyCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PropertyCheck")
            .field("cases", &self.cases)
            .field("seed", &self.seed)
            .field("skipped", &self.skipped)
            .field("kept_in", &self.kept_in)
            .finish_non_exhaustive()
    }
}

/// The state of a run.
struct Run {
    kept: KeptFile,
    progress: Progress,
    /// The number of requests. Each has a different client address, which
    /// avoids per-client limits.
    requests: u32,
    /// The messages whose first case was shrunk.
    shrunk: BTreeSet<String>,
}

fn label_of(route: &RouteInfo) -> String {
    format!("{} {}", route.method, route.path)
}

/// Returns true if a route is at a path or below it.
fn is_below(route: &str, path: &str) -> bool {
    let rest = route.strip_prefix(path.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The default number of valid inputs for a route.
const CASES: u32 = 64;
