//! [`RequestLimit`]: a rate limit with a key and a quota for each request.

use std::any::Any;
use std::fmt;
use std::fmt::Display;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::ops::ControlFlow;
use std::sync::{Arc, RwLock};
use std::time::Duration;

use stockade_core::reply::IntoError;
use stockade_core::reply::into_error_internals::answer_of;
use stockade_core::{Request, Response, RouteDescription};
use stockade_errors::locks::{read, write};
use stockade_errors::{ApiError, ConfigError};

use super::algorithm::Algorithm;
use super::key::RateKey;
use super::options::RateLimit;
use super::quota::{Quota, RateLimitPolicy};
use super::store::{RateStore, StoreFailure};

/// A rate limit with a function that chooses the key and the quota of each
/// request. [`RateLimit::by`] creates it.
///
/// It is the value of `rate_limit` of a node or a route, or the argument of
/// [`with_rate_limit`](super::with_rate_limit). A router does not accept it in
/// its options, because its limit runs before authentication. Put it at the
/// root of the tree instead.
#[derive(Clone)]
#[must_use = "it does nothing until a route or a node uses it"]
pub struct RequestLimit(pub(super) RateLimit);

/// Sets the options that [`RequestLimit`] shares with [`RateLimit`].
macro_rules! shared_setters {
    ($($name:ident($value:ident: $type:ty);)*) => {$(
        #[doc = concat!("See [`RateLimit::", stringify!($name), "`].")]
        pub fn $name(self, $value: $type) -> Self {
            Self(self.0.$name($value))
        }
    )*};
}

impl RequestLimit {
    shared_setters! {
        name(name: impl Into<String>);
        algorithm(algorithm: Algorithm);
        max_keys(max_keys: usize);
        legacy_headers(legacy_headers: bool);
        store(store: Arc<dyn RateStore>);
        store_timeout(store_timeout: impl Into<Option<Duration>>);
        on_store_failure(on_store_failure: StoreFailure);
    }
}

impl RequestLimit {
    /// Returns the limit as the setting of a node or a route.
    #[must_use]
    #[doc(hidden)]
    pub fn into_rate_limit(self) -> RateLimit {
        self.0
    }
}

impl fmt::Debug for RequestLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RequestLimit").field(&self.0.name).finish()
    }
}

impl RateLimit {
    /// Creates a limit with a function that returns the key and the quota of
    /// each request, such as the user's organization and the quota of its plan.
    ///
    /// The function returns `(key, quota)`, a [`Charge`] with a cost, an
    /// `Option` of these, or a `Result`. A request with `None` is not counted.
    /// An error is the response.
    ///
    /// A key is any value with [`Display`]. Its text must identify the client:
    /// two clients with the same text share a count. An [`IpAddr`] counts as in
    /// other limits: an IPv6 address counts as its network of 64 bits. A quota
    /// of 0 is a 500.
    ///
    /// A key has one count. If its quota changes, for example with the user's
    /// plan, the count continues, and it ends no later than the window of the
    /// new quota. Requests with different quotas therefore need different keys:
    /// with the key `me.id` for both `5 / HOUR` and `10 / SECOND`, the count of
    /// the hour would end after a second. Use `format!("exports {}", me.id)`
    /// for one of them.
    ///
    /// The limit of a node or a route runs after the middleware of its level
    /// and after the last middleware that authenticates, so the function sees
    /// the user. Limits by address run before authentication, so they count
    /// failed logins.
    ///
    /// ```
    /// use stockade::middleware::RateLimit;
    /// use stockade::prelude::*;
    /// # use stockade::testing::TestClient;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Member { org: String, paid: bool }
    ///
    /// # #[tokio::main]
    /// # async fn main() {
    /// let by_plan = RateLimit::by(|req| {
    ///     let me: Member = req.user_as()?;
    ///     Some((me.org, if me.paid { 600 } else { 60 } / MINUTE))
    /// });
    /// let token = with_auth(|org: String| Some(json!({ "org": org, "paid": org == "acme" })));
    /// let api = routes! {
    ///     middleware: token,
    ///     rate_limit: by_plan,
    ///     "orders": { GET: async || "orders" },
    /// };
    /// # let client = TestClient::new(create_router(api, RouterOptions::new().rate_limit(false)));
    /// let paid = client.get("/orders").bearer("acme").await;
    /// paid.assert_header("ratelimit-policy", "\"route\";q=600;w=60");
    /// let free = client.get("/orders").bearer("other").await;
    /// free.assert_header("ratelimit-policy", "\"route\";q=60;w=60");
    /// # }
    /// ```
    pub fn by<F, C>(charge: F) -> RequestLimit
    where
        F: Fn(&Request) -> C + Send + Sync + 'static,
        C: IntoCharge,
    {
        let charge = move |req: &Request| charge(req).into_charge();
        let by = ByRequest { charge: Arc::new(charge), describe: C::describe };
        let mut limit = Self::new();
        limit.by_request = Some(by);
        RequestLimit(limit)
    }
}

/// A key, its quota, and the number of requests that a request counts as.
///
/// ```
/// use stockade::middleware::RateLimit;
/// use stockade::middleware::rate_limit::{Charge, MINUTE};
///
/// let exports = RateLimit::by(|req| {
///     let cost = if req.path().starts_with("/exports") { 5 } else { 1 };
///     Charge::new("all clients", 600 / MINUTE).cost(cost)
/// });
/// # drop(exports);
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use = "it does nothing until the function of a limit returns it"]
pub struct Charge {
    pub(super) key: RateKey,
    pub(super) quota: Quota,
    cost: u32,
}

impl Charge {
    /// Creates the charge of one request.
    pub fn new(key: impl Display + 'static, quota: Quota) -> Self {
        Self { key: key_of(&key), quota, cost: 1 }
    }

    /// Sets the number of requests that the request counts as. If fewer are
    /// left, the request gets a 429 and is not counted. A cost above the quota
    /// is always rejected. A request with the cost 0 is not counted. Default:
    /// 1.
    pub fn cost(mut self, requests: u32) -> Self {
        self.cost = requests;
        self
    }

    /// Returns the cost, unless the request is not counted.
    pub(super) fn requests(&self) -> Option<NonZeroU32> {
        NonZeroU32::new(self.cost)
    }
}

/// Creates a key from a value. Addresses of the same network share a key, as in
/// other limits.
fn key_of<K: Display + 'static>(key: &K) -> RateKey {
    let any: &dyn Any = key;
    if let Some(key) = any.downcast_ref::<RateKey>() {
        return key.clone();
    }
    if let Some(address) = any.downcast_ref::<IpAddr>() {
        return (*address).into();
    }
    RateKey::text(key.to_string())
}

/// The result of the function of [`RateLimit::by`]: `(key, quota)`, a [`Charge`], or an
/// `Option` or a `Result` of these.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a charge of a rate limit",
    label = "expected `(key, quota)`, such as `(user.id, 600 / MINUTE)`",
    note = "the function may also return a `Charge`, an `Option` or a `Result` of these",
    note = "a key must implement `Display` and must not borrow from the request"
)]
pub trait IntoCharge {
    /// Returns the charge, `None` if the request is not counted, or `Break` for
    /// a response.
    ///
    /// # Errors
    /// Returns the error of the function, which is the response.
    #[doc(hidden)]
    fn into_charge(self) -> ChargeResult;

    /// Notes the possible responses of the function.
    #[doc(hidden)]
    fn describe(_doc: &mut RouteDescription) {}
}

/// The result of the function of a limit.
pub(super) type ChargeResult = Result<ControlFlow<Response, Option<Charge>>, ApiError>;

impl IntoCharge for Charge {
    fn into_charge(self) -> ChargeResult {
        Ok(ControlFlow::Continue(Some(self)))
    }
}

impl<K: Display + 'static> IntoCharge for (K, Quota) {
    fn into_charge(self) -> ChargeResult {
        Charge::new(self.0, self.1).into_charge()
    }
}

impl<C: IntoCharge> IntoCharge for Option<C> {
    fn into_charge(self) -> ChargeResult {
        self.map_or(Ok(ControlFlow::Continue(None)), C::into_charge)
    }

    fn describe(doc: &mut RouteDescription) {
        C::describe(doc);
    }
}

impl<C: IntoCharge, E: IntoError> IntoCharge for Result<C, E> {
    fn into_charge(self) -> ChargeResult {
        match self {
            Ok(charge) => charge.into_charge(),
            Err(error) => answer_of(error).map(ControlFlow::Break),
        }
    }

    fn describe(doc: &mut RouteDescription) {
        C::describe(doc);
        E::describe(doc);
    }
}

/// The function of a limit.
#[derive(Clone)]
pub(super) struct ByRequest {
    pub(super) charge: Arc<dyn Fn(&Request) -> ChargeResult + Send + Sync>,
    pub(super) describe: fn(&mut RouteDescription),
}

/// The policies that a limit has already built, one per quota.
#[derive(Default)]
pub(super) struct SeenPolicies(RwLock<Vec<(Quota, Arc<RateLimitPolicy>)>>);

impl SeenPolicies {
    /// Returns the policy of a quota.
    ///
    /// # Errors
    /// Returns the errors of [`RateLimitPolicy::new`].
    pub(super) fn of(&self, name: &str, quota: Quota) -> Result<Arc<RateLimitPolicy>, ConfigError> {
        let seen = read(&self.0);
        if let Some((_, policy)) = seen.iter().find(|(known, _)| *known == quota) {
            return Ok(Arc::clone(policy));
        }
        drop(seen);
        let policy = Arc::new(RateLimitPolicy::of_request(name, quota)?);
        let mut seen = write(&self.0);
        // Programs have few quotas. Computed quotas must not exhaust the
        // memory.
        if seen.len() < MAX_SEEN {
            seen.push((quota, Arc::clone(&policy)));
        }
        Ok(policy)
    }
}

const MAX_SEEN: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rate_limit::{MINUTE, SECOND};

    fn outcome(charge: impl IntoCharge) -> String {
        match charge.into_charge() {
            Ok(ControlFlow::Continue(Some(Charge { key, quota, cost }))) => {
                format!("{key} {}/{:?} {cost}", quota.limit, quota.window)
            }
            Ok(ControlFlow::Continue(None)) => "not counted".to_owned(),
            Ok(ControlFlow::Break(response)) => response.status().to_string(),
            Err(error) => error.status().to_string(),
        }
    }

    #[test]
    fn functions_return_keys_and_quotas_in_several_forms() {
        let quota = 5 / MINUTE;
        assert_eq!(outcome((7_i64, quota)), "key:7 5/60s 1");
        assert_eq!(outcome(("ada".to_owned(), 1 / SECOND)), "key:ada 1/1s 1");
        assert_eq!(outcome(Charge::new("a", quota).cost(5)), "key:a 5/60s 5");
        assert_eq!(outcome(Some(('x', quota))), "key:x 5/60s 1");
        assert_eq!(outcome(None::<(u8, Quota)>), "not counted");
        assert_eq!(outcome(Ok::<_, ApiError>(Some((1, quota)))), "key:1 5/60s 1");
        assert_eq!(outcome(Err::<Charge, _>(ApiError::not_found())), "404");
        let moved = stockade_core::reply::Redirect::to("/plans");
        assert_eq!(outcome(Err::<Charge, _>(moved)), "303 See Other");
    }

    #[test]
    fn addresses_are_keys_of_their_network() {
        let key = |text: &str| key_of(&text.parse::<IpAddr>().unwrap());
        assert_eq!(key("2001:db8::1"), key("2001:db8::2"));
        assert_eq!(key("203.0.113.7").to_string(), "ip:203.0.113.7");
        assert_eq!(key_of(&RateKey::shared()), RateKey::shared());
        // An address written as a string is an ordinary key, and does not share
        // the key of its network.
        assert_ne!(key_of(&"203.0.113.7"), key("203.0.113.7"));
    }

    #[test]
    fn remembers_a_bounded_number_of_quotas() {
        let seen = SeenPolicies::default();
        for limit in 1..=1_000 {
            let policy = seen.of("plan", limit / MINUTE).unwrap();
            assert_eq!(policy.limit().get(), limit);
            assert!(policy.depends_on_request());
        }
        assert_eq!(seen.0.read().unwrap().len(), MAX_SEEN);
        let [one, other] = [0, 1].map(|_| seen.of("plan", 1 / MINUTE).unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        assert!(seen.of("plan", 0 / MINUTE).is_err());
    }
}
