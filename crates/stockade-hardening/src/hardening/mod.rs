//! [`Hardening`]: attacks that are made of the routes of an application.
//!
//! Each family of attacks is a file; `runner` sends them, `report` has what came
//! of them.

mod attack_target;
mod bodies;
mod credentials;
mod detours;
mod idempotency_keys;
mod origins;
mod rate_limits;
mod report;
mod responses;
mod roles;
mod runner;
mod tokens;

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::panic::Location;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use stockade_auth::Secret;
use stockade_core::{BoxFuture, Request, Response};
use stockade_errors::ConfigError;
use stockade_routing::App;

pub use self::report::{
    AttackFamily, FamilyCount, HardeningFailure, HardeningReport, NotAttacked, SkippedAttacks,
};
use self::runner::Runner;
use crate::fail::{fail, or_fail};
use crate::{Credentials, IntoApp, TestClock};

/// Attacks the application in process, by all eight families of attacks, and
/// fails the test if one of them gets through.
///
/// [`Hardening`] has the same with options, and the report.
///
/// ```
/// use stockade::prelude::*;
/// use stockade::testing::assert_hardened;
///
/// fn router() -> Router {
///     let secret = Secret::new("a secret of thirty-two bytes or more").unwrap();
///     let signed_in = with_auth(Auth::secret(secret));
///     let api = routes! {
///         "notes": { GET: { async || "mine", middleware: [signed_in] } },
///     };
///     create_router(api, RouterOptions::new())
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // In a `#[tokio::test]`:
/// assert_hardened(router()).await;
/// # }
/// ```
///
/// # Panics
/// Panics if an attack gets through: the message has each with its exchange, the rule that it
/// breaks, the place of the route, and a remedy. Also panics if the router has configuration
/// errors or cannot [start](App::start).
#[track_caller]
pub fn assert_hardened(app: impl IntoApp) -> impl Future<Output = ()> + Send {
    let hardening = Hardening::new(app);
    async move { hardening.run().await.assert() }
}

/// Attacks on an application, made of the map of its routes.
///
/// An attack is a request that must be refused before its handler; what a
/// refusal must look like follows from the route. Nothing else is sent, unless
/// [`allow_reads`](Self::allow_reads) says so. A handler that reads a raw body
/// or a form of several parts itself sees the beginning of one that is too
/// large.
///
/// The report lists the attacks that cannot be made, and never counts them as
/// passed: those of roles need [`users`](Self::users), some of tokens need
/// [`tokens`](Self::tokens), and those of rate limits need a router and no app,
/// because only there the clock can be held.
///
/// ```
/// use stockade::description::SecurityScheme;
/// use stockade::middleware::with_role;
/// use stockade::prelude::*;
/// use stockade::testing::{AttackFamily, Credentials, Hardening};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let key = |req: &Request| match req.headers().get("x-key")?.to_str().ok()? {
///     "key of the admin" => Some(json!({ "role": "admin" })),
///     "key of a guest" => Some(json!({ "role": "guest" })),
///     _ => None,
/// };
/// let auth = Auth::verify(key).documented_as(SecurityScheme::Header("x-key".into()));
/// let by_key = with_auth(auth);
/// let api = routes! {
///     "log": { GET: { async || "all", middleware: [by_key, with_role("admin")] } },
/// };
/// let report = Hardening::new(create_router(api, RouterOptions::new()))
///     .users(|roles: &[&str]| match roles {
///         [] => Some(Credentials::header("x-key", "key of a guest")),
///         ["admin"] => Some(Credentials::header("x-key", "key of the admin")),
///         _ => None,
///     })
///     .run()
///     .await;
/// report.assert();
/// assert!(report.count(AttackFamily::Roles).passed > 0);
/// # }
/// ```
#[must_use = "nothing is sent until `run`"]
pub struct Hardening {
    app: App,
    /// The clock of the application, if it can be held.
    clock: Option<TestClock>,
    make: Option<Box<MakeApp>>,
    through: Option<Arc<Through>>,
    users: Option<Box<FindUser>>,
    tokens: Option<(Secret, Value)>,
    public_keys: Vec<String>,
    params: BTreeMap<String, String>,
    skips: Vec<Skip>,
    reads: bool,
    location: &'static Location<'static>,
}

type MakeApp = dyn Fn() -> Result<(App, Option<TestClock>), ConfigError> + Send + Sync;
type Through = dyn Fn(App, Request) -> BoxFuture<'static, Response> + Send + Sync;
type FindUser = dyn Fn(&[&str]) -> Option<Credentials> + Send + Sync;

/// A family of attacks that a route is not sent.
struct Skip {
    route: String,
    family: AttackFamily,
    reason: String,
}

impl Hardening {
    /// Makes the attacks on a router or an app. A router is better, because its
    /// clock can be held: without that rate limits are not attacked.
    ///
    /// # Panics
    /// When the router has configuration errors.
    #[track_caller]
    pub fn new(app: impl IntoApp) -> Self {
        let (app, clock) = or_fail(at_held_clock(app));
        Self {
            app,
            clock,
            make: None,
            through: None,
            users: None,
            tokens: None,
            public_keys: Vec::new(),
            params: BTreeMap::new(),
            skips: Vec::new(),
            reads: false,
            location: Location::caller(),
        }
    }

    /// Sets the function that makes the application anew whenever an attack got
    /// through, so that its effects do not spoil the attacks behind it.
    ///
    /// The router must have the routes of the one that was given first.
    pub fn anew<A: IntoApp>(mut self, make: impl Fn() -> A + Send + Sync + 'static) -> Self {
        self.make = Some(Box::new(move || at_held_clock(make())));
        self
    }

    /// Sends each request through this function, which stands for what is in
    /// front of the application: a layer that changes paths or methods, for
    /// example. It gets the application and the request.
    pub fn through<F>(mut self, around: impl Fn(App, Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        self.through = Some(Arc::new(move |app, request| Box::pin(around(app, request))));
        self
    }

    /// Sets the function that returns the credentials of a user who has these
    /// roles and no others; `None` if there is no such user. The roles are sorted.
    ///
    /// The user must own nothing that a path of an attack names: neither the
    /// values that are made for its parameters, such as `1`, nor those of
    /// [`param`](Self::param). Permissions are attacked by a user without a role.
    pub fn users(
        mut self,
        find: impl Fn(&[&str]) -> Option<Credentials> + Send + Sync + 'static,
    ) -> Self {
        self.users = Some(Box::new(find));
        self
    }

    /// Sets the secret that signs tokens, and the claims of a token that the
    /// application takes, without its times. With them tokens are made that are
    /// right but for one thing: expired, not valid yet, cut off.
    ///
    /// # Panics
    /// When the claims are no object.
    #[track_caller]
    pub fn tokens(mut self, secret: Secret, claims: impl Serialize) -> Self {
        match serde_json::to_value(claims) {
            Ok(claims @ Value::Object(_)) => self.tokens = Some((secret, claims)),
            Ok(_) => fail("the claims of a token are an object"),
            Err(error) => fail(error),
        }
        self
    }

    /// Adds a public key by which tokens are verified, as text: usually PEM. A
    /// token is signed with this text as a secret, and a verifier must refuse it.
    pub fn public_key(mut self, key: impl Into<String>) -> Self {
        self.public_keys.push(key.into());
        self
    }

    /// Sets the value of a parameter of paths, wherever it has this name. Without
    /// one a value is made that constraint and schema take.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Leaves a family of attacks out for a route, such as `DELETE /users/:id`, or
    /// for all routes: `*`. The report lists it with the reason.
    ///
    /// A skip without a route, or for which nothing is left out, is a failure.
    pub fn skip(
        mut self,
        route: impl Into<String>,
        family: AttackFamily,
        reason: impl Into<String>,
    ) -> Self {
        self.skips.push(Skip { route: route.into(), family, reason: reason.into() });
        self
    }

    /// Lets it send GET requests that reach handlers which are open to everybody.
    /// Their answers are held to the same rules.
    pub fn allow_reads(mut self) -> Self {
        self.reads = true;
        self
    }

    /// [Starts](App::start) the application, and sends all attacks, one after the other.
    ///
    /// # Panics
    /// Panics if a value of `Router::state_at_start` cannot be opened.
    pub async fn run(&self) -> HardeningReport {
        self.attack().await
    }

    /// Behind `dyn`, so that all attacks are compiled with this crate and not with
    /// each test: see `Server::serve` of stockade-server.
    fn attack(&self) -> BoxFuture<'_, HardeningReport> {
        Box::pin(async move {
            let mut runner = Runner::new(self);
            credentials::attack(&mut runner).await;
            roles::attack(&mut runner).await;
            detours::attack(&mut runner).await;
            bodies::attack(&mut runner).await;
            origins::attack(&mut runner).await;
            idempotency_keys::attack(&mut runner).await;
            rate_limits::attack(&mut runner).await;
            responses::attack(&mut runner).await;
            runner.into_report()
        })
    }
}

/// Builds an application at a clock that stands still, if it has one.
fn at_held_clock(app: impl IntoApp) -> Result<(App, Option<TestClock>), ConfigError> {
    let clock = TestClock::new();
    let (app, is_held) = app.into_app_at(&clock)?;
    Ok((app, is_held.then_some(clock)))
}

impl Debug for Hardening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hardening").field("app", &self.app).finish_non_exhaustive()
    }
}
