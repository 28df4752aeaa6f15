//! `Revocations`: rejects tokens before they expire.
//!
//! - `table`: all revocations, in memory; the hot path.
//! - `entry`: one revocation, its name and its bytes.
//! - `shared_log`: the interface that distributes revocations between
//!   processes.
//! - `beyond`: revocations that only the log stores.
//! - `watch`: `RevocationWatch`, for connections that outlive a request.
//! - `error`: `RevokeError`.

mod beyond;
mod entry;
mod error;
mod shared_log;
mod table;
mod watch;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use stockade_errors::__internal::setters;

pub use entry::{Revocation, RevocationKey};
pub use error::RevokeError;
pub use shared_log::{PublishFuture, QueryFuture, RevocationFeed, RevocationLog};
pub use watch::RevocationWatch;

use crate::{Claims, UnixClock};
use beyond::{FRESH_MILLIS, keys_of};
use entry::Named;
use table::Table;

/// Tokens that are rejected before they expire. Clones share the revocations.
///
/// A `jti` and a `sub` are unique only among the tokens of one issuer. A
/// revocation includes the `iss` of the tokens, and does not affect tokens of
/// another issuer.
///
/// Only revocations of unexpired tokens are stored. Each process has all of
/// them in memory, so a check is a lookup and never waits. A million entries
/// use about 50 MB; each is a hash of 16 bytes and its times.
///
/// ```
/// use std::time::{Duration, SystemTime};
///
/// use serde_json::json;
/// use stockade_auth::{RevocationStatus, Revocations, Secret, generate_jwt, verify_token};
/// # use std::future::Future;
/// # use std::task::{Context, Poll, Waker};
/// # fn block_on<T>(future: impl Future<Output = T>) -> T {
/// #     let mut future = Box::pin(future);
/// #     match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
/// #         Poll::Ready(value) => value,
/// #         Poll::Pending => unreachable!("memory does not wait"),
/// #     }
/// # }
/// # block_on(async {
///
/// let secret = Secret::new("a secret of thirty-two bytes or more")?;
/// let claims = json!({ "sub": "user:7", "jti": "a1" });
/// let token = generate_jwt(claims, "1h", &secret)?;
/// let claims = verify_token(&token, &secret).ok_or("not valid")?;
///
/// let revocations = Revocations::in_memory();
/// assert_eq!(revocations.check(&claims), RevocationStatus::NotRevoked);
///
/// // Log out here: revoke only this token.
/// revocations.revoke(&claims).await?;
/// assert_eq!(revocations.check(&claims), RevocationStatus::Revoked);
///
/// // Log out everywhere: revoke all current tokens of the user. They do not have an `iss`.
/// revocations.revoke_before(None, "user:7", SystemTime::now()).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// Above [`max_entries`](Self::max_entries), a log such as `Redis::revocations`
/// stores further revocations. It is queried for each token at most once every
/// 5 s: see [`check_or_query`](Self::check_or_query).
///
/// `Auth::revocations` of the middleware checks each token. With a shared log,
/// such as `Redis::revocations`, all processes reject tokens that one process
/// revoked.
///
/// # Beyond the spec
/// Revocation is not in the specification.
#[derive(Clone)]
#[must_use = "it does nothing until it checks tokens"]
pub struct Revocations {
    table: Arc<Table>,
    log: Option<Arc<dyn RevocationLog>>,
    stale: StalePolicy,
    max_token_life: Duration,
}

/// The result of [`Revocations::check`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RevocationStatus {
    /// The token may be accepted.
    NotRevoked,
    /// The token must be rejected.
    Revoked,
    /// The status is unknown: the last contact with the log is too old, or
    /// there was none yet.
    Unknown,
    /// Memory is not sufficient, because there are more revocations than it
    /// holds. [`check_or_query`](Revocations::check_or_query) queries the log.
    Inconclusive,
}

/// The treatment of tokens while the log is unavailable.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StalePolicy {
    /// The status is [`Unknown`](RevocationStatus::Unknown) before the first
    /// contact, and when the last contact is older than `after`. Requests with
    /// tokens get a 503. This is the default, with 30 s.
    Refuse {
        /// Tokens are accepted until the last contact is older than this.
        after: Duration,
    },
    /// The status depends on known revocations, however old they are: a token
    /// that was revoked elsewhere in the meantime is accepted. The router logs
    /// a warning about this when it is built.
    Accept,
}

impl Revocations {
    /// Creates revocations that exist only in this process and are lost when it
    /// ends.
    pub fn in_memory() -> Self {
        Self {
            table: Arc::new(Table::new(false)),
            log: None,
            stale: StalePolicy::Refuse { after: STALE_AFTER },
            max_token_life: MAX_TOKEN_LIFE,
        }
    }

    /// Creates revocations that all processes with this log share.
    pub fn shared(log: Arc<dyn RevocationLog>) -> Self {
        let table = Arc::new(Table::new(true));
        log.attach(RevocationFeed::new(&table));
        Self { table, log: Some(log), ..Self::in_memory() }
    }

    /// Sets the maximum number of entries in memory. Above it,
    /// [`revoke`](Self::revoke) fails, unless the log supports queries and
    /// stores further entries. Default: 1,000,000. All clones share the value.
    /// Use the same value in all processes.
    pub fn max_entries(self, max: usize) -> Self {
        self.table.set_max_entries(max);
        self
    }

    /// Sets the clock of all clones, for tests. Only the first call has an
    /// effect. Default: the system clock, and a monotonic clock for the age of
    /// the last contact.
    pub fn clock(self, clock: UnixClock) -> Self {
        self.table.set_clock(clock);
        self
    }

    setters! {
        /// Sets the treatment of tokens while the log is unavailable. Default:
        /// [`StalePolicy::Refuse`] after 30 s. It has no effect without a log.
        stale: StalePolicy;

        /// Sets the longest lifetime of tokens in this application, which is
        /// also the lifetime of a [`revoke_before`](Self::revoke_before) entry.
        /// Default: 30 days. A token with a longer lifetime, or without `exp`
        /// or `iat`, causes one warning in the log.
        max_token_life: Duration;
    }

    /// Returns the treatment of tokens while the log is unavailable, or `None`
    /// if there is only memory.
    #[must_use]
    pub fn stale_policy(&self) -> Option<StalePolicy> {
        self.log.is_some().then_some(self.stale)
    }

    /// Returns the number of entries in this process.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table.len()
    }

    /// Checks a verified token. Reads only memory.
    #[must_use]
    pub fn check(&self, claims: &Claims) -> RevocationStatus {
        if let Some(log) = &self.log
            && self.is_stale()
        {
            log.wake();
            return RevocationStatus::Unknown;
        }
        self.warn_of_a_long_life(claims);
        if self.table.is_revoked(claims) {
            RevocationStatus::Revoked
        } else if self.table.beyond.is_there(|| self.table.now()) && self.can_query() {
            match self.answered(claims, &keys_of(claims), FRESH_MILLIS) {
                Some(true) => RevocationStatus::Revoked,
                Some(false) => RevocationStatus::NotRevoked,
                None => RevocationStatus::Inconclusive,
            }
        } else {
            RevocationStatus::NotRevoked
        }
    }

    /// Checks a verified token as [`check`](Self::check) does, and queries the
    /// log if memory is not sufficient. Results are cached for 5 s, for at most
    /// 100,000 keys.
    ///
    /// If the log is unavailable, an older result is used up to the age that
    /// [`StalePolicy::Refuse`] allows; otherwise the token is
    /// [`Unknown`](RevocationStatus::Unknown). With [`StalePolicy::Accept`] the
    /// token is not revoked.
    pub async fn check_or_query(&self, claims: &Claims) -> RevocationStatus {
        let (status, log) = (self.check(claims), self.log.as_ref());
        let Some(log) = log.filter(|_| status == RevocationStatus::Inconclusive) else {
            return status;
        };
        let keys = keys_of(claims);
        let max_age = match log.query(&keys).await {
            Ok(found) => {
                let at = self.table.steady_millis();
                for (key, found) in keys.iter().zip(found) {
                    self.table.beyond.keep(*key, found, at);
                }
                FRESH_MILLIS
            }
            Err(error) => {
                log::debug!(target: crate::LOG_TARGET, "cannot query the revocations: {error}");
                match self.stale {
                    StalePolicy::Accept => u64::MAX,
                    StalePolicy::Refuse { after } => {
                        u64::try_from(after.as_millis()).unwrap_or(u64::MAX)
                    }
                }
            }
        };
        match self.answered(claims, &keys, max_age) {
            Some(true) => RevocationStatus::Revoked,
            Some(false) => RevocationStatus::NotRevoked,
            None if self.stale == StalePolicy::Accept => RevocationStatus::NotRevoked,
            None => RevocationStatus::Unknown,
        }
    }

    /// Returns a future that completes when a revocation of this token, or of
    /// its subject, has arrived in this process. A connection that outlives its
    /// request awaits the future and then checks the token again.
    pub fn watch(&self, claims: &Claims) -> RevocationWatch {
        RevocationWatch::new(Arc::clone(&self.table), claims)
    }

    /// Returns true if the log can be queried for entries that are not in
    /// memory.
    #[must_use]
    pub fn can_query(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.can_query())
    }

    /// Returns the result of cached log lookups up to this age.
    fn answered(&self, claims: &Claims, keys: &[RevocationKey], max_age: u64) -> Option<bool> {
        let (now, at) = (self.table.now(), self.table.steady_millis());
        self.table.beyond.validate(claims, keys, now, (at, max_age))
    }

    /// Revokes one token by its `iss` and `jti`, or by its payload if it has no
    /// `jti`. The entry expires ten minutes after the token's `exp`, because
    /// clocks differ.
    ///
    /// The token is rejected here immediately, and in other processes when the
    /// entry reaches them.
    ///
    /// # Errors
    /// [`RevokeError::NoExpiry`] for a token without `exp`;
    /// [`RevokeError::Full`] and [`RevokeError::Beyond`] if there are too many
    /// entries; [`RevokeError::Log`] if the other processes cannot be notified
    /// now.
    pub async fn revoke(&self, claims: &Claims) -> Result<(), RevokeError> {
        let until = claims.expires_at().ok_or(RevokeError::NoExpiry)?;
        self.add(Revocation::token(Named::token(claims).name(), until.saturating_add(KEPT_SECONDS)))
            .await
    }

    /// Revokes one token as [`revoke`](Self::revoke) does, but for exactly this
    /// time, regardless of `exp`. Use it for tokens without `exp`.
    ///
    /// # Errors
    /// The errors of [`revoke`](Self::revoke), except
    /// [`RevokeError::NoExpiry`].
    pub async fn revoke_for(&self, claims: &Claims, time: Duration) -> Result<(), RevokeError> {
        let until = self.table.now().saturating_add(whole_seconds(time));
        self.add(Revocation::token(Named::token(claims).name(), until)).await
    }

    /// Revokes the token with this `iss` and `jti` until its `exp`. Use it if
    /// the application has stored these values instead of the token. Ten
    /// minutes are added as in [`revoke`](Self::revoke). The issuer is `None`
    /// for tokens without `iss`.
    ///
    /// # Errors
    /// The errors of [`revoke`](Self::revoke), except
    /// [`RevokeError::NoExpiry`].
    pub async fn revoke_id(
        &self,
        issuer: Option<&str>,
        id: &str,
        until: SystemTime,
    ) -> Result<(), RevokeError> {
        let until = seconds_up(until).saturating_add(KEPT_SECONDS);
        self.add(Revocation::token(Named::id(issuer, id).name(), until)).await
    }

    /// Revokes all tokens with this `iss` and `sub` that were issued before
    /// this time or have no `iat`. Use it to log a user out everywhere, or
    /// after a password change. The entry expires after
    /// [`max_token_life`](Self::max_token_life).
    ///
    /// The issuer is the `iss` of the tokens, or `None` for tokens without
    /// `iss`. Tokens of another issuer with the same `sub` belong to another
    /// user and stay valid: `None` revokes no token with an `iss`. If several
    /// issuers omit `iss`, use one `Revocations` for each of them.
    ///
    /// Issue tokens with [`TokenIssuer`](crate::TokenIssuer): its claim
    /// `iat_ms` counts milliseconds, so a user who logs in again within the
    /// same second gets a valid token. `iat` counts whole seconds. A call with
    /// `SystemTime::now()` therefore revokes every token of that second that
    /// does not have `iat_ms`, such as a token of
    /// [`generate_jwt`](crate::generate_jwt). This includes tokens that are
    /// issued later in that second.
    ///
    /// ```
    /// use std::time::{Duration, UNIX_EPOCH};
    ///
    /// use serde_json::json;
    /// use stockade_auth::{
    ///     RevocationStatus, Revocations, Secret, TokenIssuer, TokenVerifier, UnixClock,
    /// };
    /// # use std::task::{Context, Poll, Waker};
    ///
    /// let secret = Secret::new("a secret of thirty-two bytes or more")?;
    /// let revocations = Revocations::in_memory().clock(UnixClock::at(1_700_000_000));
    /// let issue = |millis| {
    ///     let clock = UnixClock::at_millis(millis);
    ///     let token = TokenIssuer::new().clock(clock.clone());
    ///     let token = token.issue(json!({ "sub": "user:7" }), "1h", &secret).unwrap();
    ///     TokenVerifier::new().clock(clock).verify(&token, &secret).unwrap()
    /// };
    /// let (old, new) = (issue(1_700_000_000_100), issue(1_700_000_000_300));
    ///
    /// let time = UNIX_EPOCH + Duration::from_millis(1_700_000_000_200);
    /// let revoking = revocations.revoke_before(None, "user:7", time);
    /// # let mut revoking = Box::pin(revoking);
    /// # let Poll::Ready(revoked) =
    /// #     revoking.as_mut().poll(&mut Context::from_waker(Waker::noop()))
    /// # else { unreachable!("memory does not wait") };
    /// # revoked?;
    /// # /*
    /// revoking.await?;
    /// # */
    /// assert_eq!(revocations.check(&old), RevocationStatus::Revoked);
    /// assert_eq!(revocations.check(&new), RevocationStatus::NotRevoked);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`revoke`](Self::revoke), except
    /// [`RevokeError::NoExpiry`].
    pub async fn revoke_before(
        &self,
        issuer: Option<&str>,
        subject: &str,
        time: SystemTime,
    ) -> Result<(), RevokeError> {
        let kept = whole_seconds(self.max_token_life).saturating_add(KEPT_SECONDS);
        // A future `time` also revokes tokens that are issued until then, so
        // the entry must outlive them. A past `time` counts as now.
        let until = seconds_up(time).max(self.table.now()).saturating_add(kept);
        let name = Named::subject(issuer, subject).name();
        self.add(Revocation::subject_millis(name, millis_up(time), until)).await
    }

    async fn add(&self, entry: Revocation) -> Result<(), RevokeError> {
        if !self.table.add(entry) {
            let log = self.log.as_ref().filter(|log| log.can_query()).ok_or(RevokeError::Full)?;
            log.publish_beyond(entry).await?;
            // It applies here immediately, regardless of cached lookups.
            self.table.beyond.forget(&entry.key());
            self.table.watchers.wake(&entry.key());
            return Ok(());
        }
        match &self.log {
            Some(log) if entry.until() > self.table.now() => log.publish(entry).await,
            _ => Ok(()),
        }
    }

    fn is_stale(&self) -> bool {
        match self.stale {
            StalePolicy::Accept => false,
            StalePolicy::Refuse { after } => {
                self.table.age_millis().is_none_or(|age| u128::from(age) > after.as_millis())
            }
        }
    }

    /// Warns once about a token that outlives `revoke_before` entries.
    fn warn_of_a_long_life(&self, claims: &Claims) {
        let life = claims.expires_at().zip(claims.issued_at());
        let is_longer = life.is_none_or(|(expires, issued)| {
            expires.saturating_sub(issued) > whole_seconds(self.max_token_life)
        });
        if is_longer && !self.table.has_warned.swap(true, Ordering::Relaxed) {
            log::warn!(
                target: crate::LOG_TARGET,
                "a token is valid for longer than Revocations::max_token_life, or its exp or iat \
                 is missing: revoke_before expires after {:?}, and then such a token is valid \
                 again",
                self.max_token_life,
            );
        }
    }
}

impl fmt::Debug for Revocations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Revocations")
            .field("count", &self.count())
            .field("is_shared", &self.log.is_some())
            .field("stale", &self.stale)
            .finish_non_exhaustive()
    }
}

/// Returns a time as seconds since 1970, rounded up.
fn seconds_up(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, whole_seconds)
}

/// Returns a time as milliseconds since 1970, rounded up.
fn millis_up(time: SystemTime) -> u64 {
    let nanos = time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Returns a duration in seconds, rounded up.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// The lifetime of an entry after the token has expired. It covers clock
/// differences between processes and the leeway of verifiers, which must not be
/// longer.
pub const KEPT_SECONDS: u64 = 600;
const STALE_AFTER: Duration = Duration::from_secs(30);
const MAX_TOKEN_LIFE: Duration = Duration::from_secs(30 * 86_400);
