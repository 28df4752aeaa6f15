//! [`Hardening`]: attacks that are generated from the routes of an application.
//!
//! Each attack family has a file. `runner` sends the attacks and `report`
//! contains the results.

mod account_request;
mod attack_target;
mod bodies;
mod causes;
mod claims;
mod connection;
mod credentials;
mod cross_origin;
mod detours;
mod idempotency_keys;
mod origins;
mod own_users;
mod rate_limits;
mod report;
mod responses;
mod roles;
mod runner;
mod sign_outs;
mod signatures;
mod tenants;
mod tokens;
mod tools;
mod uploads;

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::panic::Location;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use stockade_auth::webhooks::{WebhookKeys, WebhookSender};
use stockade_auth::{Secret, UnixClock};
use stockade_core::{BoxFuture, Request, Response};
use stockade_errors::ConfigError;
use stockade_routing::App;

pub use self::account_request::AccountRequest;
pub use self::report::{
    AttackFamily, FamilyCount, HardeningFailure, HardeningReport, NotAttacked, SkippedAttacks,
};
use self::runner::Runner;
use crate::fail::{built, fail};
use crate::{Credentials, IntoApp, TestClock};

/// Attacks the application in process with all attack families, and fails
/// the test if an attack succeeds.
///
/// For options and the report, see [`Hardening`].
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
/// Panics if an attack succeeds. The message lists each such attack with its
/// exchange, the violated rule, the location of the route, and a remedy. Also
/// panics if the router has configuration errors or cannot [start](App::start).
#[track_caller]
pub fn assert_hardened(app: impl IntoApp) -> impl Future<Output = ()> + Send {
    let hardening = Hardening::new(app);
    async move { hardening.run().await.assert() }
}

/// Attacks on an application, generated from its route map.
///
/// An attack is a request that must be rejected before its handler runs. The
/// route determines the expected rejection. No other requests are sent unless
/// you call [`allow_reads`](Self::allow_reads), [`tenants`](Self::tenants) or
/// [`sign_in`](Self::sign_in). The exceptions are routes that read raw bytes or
/// a multipart form: the beginning of an oversized body reaches their handlers,
/// and three small files are uploaded and read back.
///
/// The report lists attacks that cannot be made; they never count as passed.
/// Role attacks need [`users`](Self::users), some token attacks need
/// [`tokens`](Self::tokens), and some signature attacks need
/// [`webhook_keys`](Self::webhook_keys). Rate limit attacks need a router rather than an
/// app, because only the clock of a router can be stopped.
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
#[must_use = "nothing is sent until `run` is called"]
pub struct Hardening {
    app: App,
    /// The stopped clock of the application, if it has one.
    clock: Option<TestClock>,
    make: Option<Box<MakeApp>>,
    through: Option<Arc<Through>>,
    users: Option<Box<FindUser>>,
    tokens: Option<(Secret, Value)>,
    token_clock: UnixClock,
    public_keys: Vec<String>,
    signers: Vec<signatures::Signer>,
    params: BTreeMap<String, String>,
    skips: Vec<Skip>,
    reads: bool,
    /// The families to attack. `None` for all.
    only: Option<Vec<AttackFamily>>,
    tenants: tenants::TenantPlan,
    sign_outs: sign_outs::SignOutPlan,
    location: &'static Location<'static>,
}

type MakeApp = dyn Fn() -> Result<(App, Option<TestClock>), ConfigError> + Send + Sync;
type Through = dyn Fn(App, Request) -> BoxFuture<'static, Response> + Send + Sync;
type FindUser = dyn Fn(&[&str]) -> Option<Credentials> + Send + Sync;

/// An attack family that is skipped for a route.
struct Skip {
    route: String,
    family: AttackFamily,
    reason: String,
}

impl Hardening {
    /// Creates the attacks on a router or an app. Prefer a router: rate limits
    /// are attacked only if the clock can be stopped.
    ///
    /// # Panics
    /// Panics if the router has configuration errors.
    #[track_caller]
    pub fn new(app: impl IntoApp) -> Self {
        let (app, clock) = built(at_held_clock(app));
        Self {
            app,
            clock,
            make: None,
            through: None,
            users: None,
            tokens: None,
            token_clock: UnixClock::default(),
            public_keys: Vec::new(),
            signers: Vec::new(),
            params: BTreeMap::new(),
            skips: Vec::new(),
            reads: false,
            only: None,
            tenants: tenants::TenantPlan::default(),
            sign_outs: sign_outs::SignOutPlan::default(),
            location: Location::caller(),
        }
    }

    /// Sets the function that rebuilds the application after each successful
    /// attack. Effects of the attack then cannot change the results of later
    /// ones.
    ///
    /// The new router must have the same routes as the first.
    pub fn anew<A: IntoApp>(mut self, make: impl Fn() -> A + Send + Sync + 'static) -> Self {
        self.make = Some(Box::new(move || at_held_clock(make())));
        self
    }

    /// Sends each request through this function, which receives the application
    /// and the request. It represents a layer outside the application, such as
    /// one that changes paths or methods.
    pub fn through<F>(mut self, around: impl Fn(App, Request) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Response> + Send + 'static,
    {
        self.through = Some(Arc::new(move |app, request| Box::pin(around(app, request))));
        self
    }

    /// Sets the function that returns the credentials of a user with exactly
    /// these roles, or `None` if no such user exists. The roles are sorted.
    ///
    /// The user must not own any resource that the attacks address, by
    /// generated parameter values such as `1` or by values of
    /// [`param`](Self::param). A user without roles attacks permissions.
    pub fn users(
        mut self,
        find: impl Fn(&[&str]) -> Option<Credentials> + Send + Sync + 'static,
    ) -> Self {
        self.users = Some(Box::new(find));
        self
    }

    /// Sets the secret that signs tokens, and valid claims without times. They
    /// allow tokens with a single defect: expired long ago or two minutes ago
    /// (see [`token_clock`](Self::token_clock)), not yet valid, or truncated.
    ///
    /// # Panics
    /// Panics if the claims are not an object.
    #[track_caller]
    pub fn tokens(mut self, secret: Secret, claims: impl Serialize) -> Self {
        match serde_json::to_value(claims) {
            Ok(claims @ Value::Object(_)) => self.tokens = Some((secret, claims)),
            Ok(_) => fail("the claims of a token must be an object"),
            Err(error) => fail(error),
        }
        self
    }

    /// Sets the clock of the application's `TokenVerifier`, for tokens that have
    /// just expired. Default: the system clock.
    pub fn token_clock(mut self, clock: UnixClock) -> Self {
        self.token_clock = clock;
        self
    }

    /// Adds a public key that verifies tokens, as text (usually PEM). The
    /// attack signs a token with this text as a secret; a verifier must reject
    /// it.
    pub fn public_key(mut self, key: impl Into<String>) -> Self {
        self.public_keys.push(key.into());
        self
    }

    /// Adds the keys of a sender of webhooks. They allow signatures with a single
    /// defect: old, over another body, or truncated. The application must use the
    /// same keys and clock.
    pub fn webhook_keys<S: WebhookSender>(mut self, keys: WebhookKeys<S>) -> Self {
        self.signers.push(signatures::Signer::new(keys));
        self
    }

    /// Sets the value of all path parameters with this name. Default: a value
    /// that fits the constraint and the schema.
    pub fn param(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }

    /// Skips an attack family for a route, such as `DELETE /users/:id`, or for
    /// all routes: `*`. The report lists the skip with the reason.
    ///
    /// A skip that matches no route or no attack is a failure.
    pub fn skip(
        mut self,
        route: impl Into<String>,
        family: AttackFamily,
        reason: impl Into<String>,
    ) -> Self {
        self.skips.push(Skip { route: route.into(), family, reason: reason.into() });
        self
    }

    /// Sends only the attacks of these families, to repeat them quickly. The
    /// report says that the run was partial, and skips of other families count
    /// as needed.
    ///
    /// ```
    /// use stockade::prelude::*;
    /// use stockade::testing::{AttackFamily, Hardening};
    ///
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
    /// let api = routes! { "notes": { POST: async |note: Body<String>| note.0 } };
    /// let attacks = Hardening::new(create_router(api, RouterOptions::new()));
    /// let report = attacks.only([AttackFamily::Bodies]).run().await;
    /// report.assert();
    /// assert!(report.to_string().contains("partial run: only bodies"), "{report}");
    /// # });
    /// ```
    ///
    /// # Panics
    /// Panics if the list is empty, because nothing would be checked.
    #[track_caller]
    pub fn only(mut self, families: impl IntoIterator<Item = AttackFamily>) -> Self {
        let families: Vec<AttackFamily> = families.into_iter().collect();
        if families.is_empty() {
            fail("`Hardening::only` needs at least one attack family");
        }
        self.only = Some(families);
        self
    }

    /// Returns true if attacks of a family are sent.
    fn attacks(&self, family: AttackFamily) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(&family))
    }

    /// Allows attacks with GET requests that reach a handler on routes without
    /// authentication, and calls of the tools of GET routes, with the credentials
    /// of [`users`](Self::users) if they need a user. Their responses must follow
    /// the same rules as all other responses.
    pub fn allow_reads(mut self) -> Self {
        self.reads = true;
        self
    }

    /// [Starts](App::start) the application and sends all attacks sequentially.
    ///
    /// # Panics
    /// Panics if a value of `Router::state_at_start` cannot be opened.
    pub async fn run(&self) -> HardeningReport {
        self.attack().await
    }

    /// Boxed as `dyn`, so that this crate compiles the attacks rather than each
    /// test. See `Server::serve` of stockade-server.
    fn attack(&self) -> BoxFuture<'_, HardeningReport> {
        Box::pin(async move {
            let mut runner = Runner::new(self);
            if self.tenants.is_replay() {
                tenants::attack(&mut runner).await;
                return runner.into_report();
            }
            for family in AttackFamily::ALL.iter().filter(|family| self.attacks(**family)) {
                attack_family(&mut runner, *family).await;
            }
            runner.into_report()
        })
    }
}

/// Makes the attacks of one family.
async fn attack_family(runner: &mut Runner<'_>, family: AttackFamily) {
    match family {
        AttackFamily::Credentials => {
            credentials::attack(runner).await;
            signatures::attack(runner).await;
        }
        AttackFamily::Roles => roles::attack(runner).await,
        AttackFamily::Detours => {
            detours::attack(runner).await;
            claims::attack(runner).await;
            own_users::attack(runner).await;
        }
        AttackFamily::Bodies => bodies::attack(runner).await,
        AttackFamily::Origins => {
            origins::attack(runner).await;
            cross_origin::attack(runner).await;
        }
        AttackFamily::IdempotencyKeys => idempotency_keys::attack(runner).await,
        AttackFamily::RateLimits => rate_limits::attack(runner).await,
        AttackFamily::Tools => tools::attack(runner).await,
        AttackFamily::Responses => {
            responses::attack(runner).await;
            causes::attack(runner).await;
        }
        AttackFamily::Tenants => tenants::attack(runner).await,
        // After the attacks that expect an empty application.
        AttackFamily::Uploads => uploads::attack(runner).await,
        AttackFamily::SignOuts => sign_outs::attack(runner).await,
    }
}

/// Builds an application with a stopped clock, if it accepts one.
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
