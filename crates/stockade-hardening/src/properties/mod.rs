//! [`check_schemas`]: properties of all routes, by input that is made of their
//! schemas.

mod breaks;
mod case;
mod fit;
mod input;
mod kept;
mod report;
mod route;
mod text;
mod validate;
mod values;

use std::fmt;
use std::panic::Location;
use std::path::PathBuf;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;

use stockade_errors::ConfigError;
use stockade_routing::App;

use self::fit::Schemas;
use self::kept::KeptFile;
pub use self::report::{NotChecked, Property, PropertyFailure, RouteReport, SchemaReport};
use self::route::RouteCheck;
use crate::credentials::Users;
use crate::fail::{fail, or_fail};
use crate::{Contract, Credentials, IntoApp};

/// Begins a check that the routes of an application keep what their schemas say:
///
/// - Valid input is never answered with 400, 408, 413, 415, 422 or 5xx, unless
///   the handler or middleware documents this status, and names no field.
/// - Input that breaks one rule is refused, and the answer names the field and
///   the rule.
/// - Each answer keeps the [`Contract`]: it is one of those that are described,
///   with a body that fits its schema.
///
/// `make` makes the application anew for each route, so that the effects of one
/// do not reach another. The cases are the same in each run, and shrink when
/// they fail.
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
/// let report = check_schemas(router).cases(16).run().await;
/// assert_eq!((report.routes[0].valid, report.routes[0].rules), (16, 6));
/// # });
/// ```
#[track_caller]
pub fn check_schemas<A: IntoApp>(make: impl Fn() -> A + 'static) -> PropertyCheck {
    let location = Location::caller();
    PropertyCheck {
        make: Box::new(move || make().into_app()),
        cases: CASES,
        own_cases: Vec::new(),
        seed: 0,
        users: None,
        skipped: Vec::new(),
        kept_in: kept::beside(location),
        location,
    }
}

/// A check of all routes by input that is made of their schemas; see
/// [`check_schemas`].
#[must_use = "nothing is checked before `run`"]
pub struct PropertyCheck {
    make: Box<dyn Fn() -> Result<App, ConfigError>>,
    cases: u32,
    /// Routes with their numbers.
    own_cases: Vec<(String, u32)>,
    seed: u64,
    users: Option<Users>,
    /// Routes and reasons.
    skipped: Vec<(String, String)>,
    kept_in: Option<PathBuf>,
    location: &'static Location<'static>,
}

impl PropertyCheck {
    /// Sets the number of valid inputs of each route that takes any. A rule is
    /// broken by a sixteenth of as many, at least once. Default: 64.
    pub fn cases(mut self, cases: u32) -> Self {
        self.cases = cases.max(1);
        self
    }

    /// Sets the number of valid inputs of one route, such as `POST /login`, where
    /// an answer is dear.
    ///
    /// # Panics
    /// [`run`](Self::run) does when there is no such route.
    pub fn cases_of(mut self, route: impl Into<String>, cases: u32) -> Self {
        self.own_cases.push((route.into(), cases.max(1)));
        self
    }

    /// Sets the number that all cases are made of. Default: 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the function that returns the credentials of a user with all of
    /// these roles; of any user if there are none. Routes whose users it does
    /// not know are listed as not checked.
    ///
    /// ```
    /// # use stockade::testing::{Credentials, check_schemas};
    /// # let router = || stockade::Router::new();
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

    /// Leaves out a route, such as `POST /login`, which is listed as not checked
    /// with this reason.
    ///
    /// # Panics
    /// [`run`](Self::run) does when there is no such route.
    pub fn skip(mut self, route: impl Into<String>, reason: impl Into<String>) -> Self {
        self.skipped.push((route.into(), reason.into()));
        self
    }

    /// Sets the file in which failing cases are kept, which each later run tries
    /// first. Default: `x.failures.json` beside the test's file `x.rs`. None
    /// keeps nothing.
    pub fn kept_in(mut self, file: impl Into<Option<PathBuf>>) -> Self {
        self.kept_in = file.into();
        self
    }

    /// Checks all routes, and returns the report. Needs a tokio runtime with
    /// time.
    ///
    /// # Panics
    /// When a property does not hold: the message has the smallest exchange that
    /// was found. When the router has mistakes.
    pub async fn run(self) -> SchemaReport {
        let location = self.location;
        let report = or_fail(self.try_run().await);
        if !report.is_passed() {
            fail(format_args!("check_schemas at {location}\n{report}"));
        }
        report
    }

    /// Checks all routes, and returns the report, with the properties that do
    /// not hold.
    ///
    /// # Errors
    /// Fails with all mistakes of the router.
    ///
    /// # Panics
    /// When a route that is named does not exist, and when the map has mistakes.
    pub async fn try_run(self) -> Result<SchemaReport, ConfigError> {
        self.checked().await
    }

    /// Behind `dyn`, so that the check is compiled with this crate and not with each
    /// test: see `Server::serve` of stockade-server.
    fn checked(self) -> Pin<Box<dyn Future<Output = Result<SchemaReport, ConfigError>>>> {
        Box::pin(async move {
            let contract = Contract::of(&(self.make)()?);
            let map = contract.app().route_map();
            let labels: Vec<String> =
                map.routes.iter().map(|route| format!("{} {}", route.method, route.path)).collect();
            let named = self.skipped.iter().map(|(route, _)| route);
            for route in named.chain(self.own_cases.iter().map(|(route, _)| route)) {
                if !labels.contains(route) {
                    fail(format_args!("PropertyCheck: there is no route {route:?}"));
                }
            }
            let schemas = Rc::new(Schemas::new(map.schemas, contract.schemas()));
            let mut kept = KeptFile::read(self.kept_in.clone());
            let mut routes = Vec::new();
            for route in map.routes.iter().enumerate() {
                let checked =
                    RouteCheck::new(&self, route, (&schemas, &contract))?.run(&mut kept).await?;
                routes.push(checked);
            }
            let KeptFile { path: kept_in, error: not_kept, .. } = kept;
            Ok(SchemaReport { seed: self.seed, routes, kept_in, not_kept })
        })
    }

    fn cases_for(&self, label: &str) -> u32 {
        let own = self.own_cases.iter().find(|(route, _)| route == label);
        own.map_or(self.cases, |(_, cases)| *cases)
    }

    /// Returns the reason for which a route is left out.
    fn skip_reason(&self, label: &str) -> Option<&str> {
        self.skipped.iter().find(|(route, _)| route == label).map(|(_, reason)| reason.as_str())
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

/// The usual number of valid inputs of a route.
const CASES: u32 = 64;
