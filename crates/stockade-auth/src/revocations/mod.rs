//! `Revocations`: tokens that are refused before they expire.
//!
//! - `table`: everything that is revoked, in memory; the hot path.
//! - `entry`: one revocation, its name and its bytes.
//! - `shared_log`: the way from one process to the others.
//! - `beyond`: what the log has and no process holds.
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

/// Tokens that are refused before they expire. Clones share them.
///
/// A `jti` and a `sub` are unique only among the tokens of one issuer. A revocation
/// includes the `iss` of the tokens, and does not affect tokens of another issuer.
///
/// Only what is revoked and has not expired yet is kept, and each process has all of
/// it in memory: a check is a look-up, and waits for nothing. A million entries take
/// about 50 MB; each is a hash of 16 bytes and its times.
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
/// // Signed out here: this token alone.
/// revocations.revoke(&claims).await?;
/// assert_eq!(revocations.check(&claims), RevocationStatus::Revoked);
///
/// // Signed out everywhere: all tokens of the user up to now. They have no `iss`.
/// revocations.revoke_before(None, "user:7", SystemTime::now()).await?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # }).unwrap();
/// ```
///
/// Beyond [`max_entries`](Self::max_entries) a log such as that of `Redis::revocations`
/// keeps what is revoked, and is asked for each token, at most every 5 s: see
/// [`check_or_query`](Self::check_or_query).
///
/// `Auth::revocations` of the middleware checks each token by it, and with a shared log,
/// such as that of `Redis::revocations`, all processes refuse what one has revoked.
///
/// # Beyond the spec
/// The specification has no revocation.
#[derive(Clone)]
#[must_use = "it does nothing until tokens are checked by it"]
pub struct Revocations {
    table: Arc<Table>,
    log: Option<Arc<dyn RevocationLog>>,
    stale: StalePolicy,
    max_token_life: Duration,
}

/// The answer of [`Revocations::check`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum RevocationStatus {
    /// The token may be accepted.
    NotRevoked,
    /// The token must be refused.
    Revoked,
    /// Nobody can say: there has been no contact to the log for too long, or none yet.
    Unknown,
    /// Memory cannot tell, because there are more revocations than it holds:
    /// [`check_or_query`](Revocations::check_or_query) asks the log.
    Inconclusive,
}

/// The treatment of tokens while there is no contact to the log.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum StalePolicy {
    /// Their status is [`Unknown`](RevocationStatus::Unknown) once the last contact is
    /// older than this, and before the first one. Requests with tokens are answered 503
    /// then. The default, with 30 s.
    Refuse {
        /// The age of the last contact up to which tokens are accepted.
        after: Duration,
    },
    /// They are judged by what is known, however old it is: a token that was revoked
    /// elsewhere meanwhile is accepted. It is a warning in the log where a router is
    /// built with it.
    Accept,
}

impl Revocations {
    /// Makes revocations that this process alone knows, and that end with it.
    pub fn in_memory() -> Self {
        Self {
            table: Arc::new(Table::new(false)),
            log: None,
            stale: StalePolicy::Refuse { after: STALE_AFTER },
            max_token_life: MAX_TOKEN_LIFE,
        }
    }

    /// Makes revocations that all processes with this log share.
    pub fn shared(log: Arc<dyn RevocationLog>) -> Self {
        let table = Arc::new(Table::new(true));
        log.attach(RevocationFeed::new(&table));
        Self { table, log: Some(log), ..Self::in_memory() }
    }

    /// Sets the largest number of entries in memory. Beyond it, [`revoke`](Self::revoke)
    /// fails in one process, and with a log that can be asked the log keeps more.
    /// Default: 1,000,000. All clones have the same, and all processes should.
    pub fn max_entries(self, max: usize) -> Self {
        self.table.set_max_entries(max);
        self
    }

    /// Sets the clock of all clones, for tests. Only the first one counts. Default: that
    /// of the system, and for the age of the last contact one that never goes back.
    pub fn clock(self, clock: UnixClock) -> Self {
        self.table.set_clock(clock);
        self
    }

    setters! {
        /// Sets the treatment of tokens while there is no contact to the log. Default:
        /// [`StalePolicy::Refuse`] after 30 s. Without a log it means nothing.
        stale: StalePolicy;

        /// Sets the longest time for which tokens of this application are valid: so
        /// long [`revoke_before`](Self::revoke_before) is remembered. Default: 30 days.
        /// A token that is valid for longer, or has no `exp` or no `iat`, is a warning
        /// in the log, once.
        max_token_life: Duration;
    }

    /// Returns the treatment of tokens while there is no contact; `None` if all of this
    /// is in memory, and needs none.
    #[must_use]
    pub fn stale_policy(&self) -> Option<StalePolicy> {
        self.log.is_some().then_some(self.stale)
    }

    /// Returns the number of entries that are kept in this process.
    #[must_use]
    pub fn count(&self) -> usize {
        self.table.len()
    }

    /// Checks a verified token. Reads memory only.
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

    /// Checks a verified token as [`check`](Self::check) does, and asks the log where
    /// memory cannot tell. An answer counts for 5 s, and of 100,000 keys at most.
    ///
    /// While the log does not answer, an older answer counts that is no older than
    /// [`StalePolicy::Refuse`] allows, and without one the token is
    /// [`Unknown`](RevocationStatus::Unknown); with [`StalePolicy::Accept`] it is not revoked.
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
                log::debug!(target: crate::LOG_TARGET, "revocations cannot be asked: {error}");
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

    /// Returns a future that ends when a revocation of this token, or of its subject,
    /// has arrived in this process. A connection that outlives the request of its token
    /// waits for it, and then checks the token again.
    pub fn watch(&self, claims: &Claims) -> RevocationWatch {
        RevocationWatch::new(Arc::clone(&self.table), claims)
    }

    /// Returns true if there is a log that can be asked for what is in no memory.
    #[must_use]
    pub fn can_query(&self) -> bool {
        self.log.as_ref().is_some_and(|log| log.can_query())
    }

    /// Returns what the answers of the log say that are at most this old.
    fn answered(&self, claims: &Claims, keys: &[RevocationKey], max_age: u64) -> Option<bool> {
        let (now, at) = (self.table.now(), self.table.steady_millis());
        self.table.beyond.validate(claims, keys, now, (at, max_age))
    }

    /// Revokes one token: by its `iss` and `jti`, or, without a `jti`, by its payload. It
    /// is kept until its `exp`, and ten minutes more for clocks that differ.
    ///
    /// It is refused here from now on, and in the other processes when they have heard
    /// of it.
    ///
    /// # Errors
    /// [`RevokeError::NoExpiry`] of a token without `exp`; [`RevokeError::Full`] and
    /// [`RevokeError::Beyond`] if there are too many; [`RevokeError::Log`] if the others
    /// cannot be told at once.
    pub async fn revoke(&self, claims: &Claims) -> Result<(), RevokeError> {
        let until = claims.expires_at().ok_or(RevokeError::NoExpiry)?;
        self.add(Revocation::token(Named::token(claims).name(), until.saturating_add(KEPT_SECONDS)))
            .await
    }

    /// Revokes one token as [`revoke`](Self::revoke) does, for this time and no longer,
    /// whatever its `exp` is. It is for tokens without one.
    ///
    /// # Errors
    /// As [`revoke`](Self::revoke), without [`RevokeError::NoExpiry`].
    pub async fn revoke_for(&self, claims: &Claims, time: Duration) -> Result<(), RevokeError> {
        let until = self.table.now().saturating_add(whole_seconds(time));
        self.add(Revocation::token(Named::token(claims).name(), until)).await
    }

    /// Revokes the token with this `iss` and `jti`, which the application has kept, until
    /// this time: its `exp`. Ten minutes are added as in [`revoke`](Self::revoke). The
    /// issuer is `None` for tokens without `iss`.
    ///
    /// # Errors
    /// As [`revoke`](Self::revoke), without [`RevokeError::NoExpiry`].
    pub async fn revoke_id(
        &self,
        issuer: Option<&str>,
        id: &str,
        until: SystemTime,
    ) -> Result<(), RevokeError> {
        let until = seconds_up(until).saturating_add(KEPT_SECONDS);
        self.add(Revocation::token(Named::id(issuer, id).name(), until)).await
    }

    /// Revokes all tokens with this `iss` and `sub` that were issued before this time, and
    /// those without `iat`: to sign somebody out everywhere, or after a change of a
    /// password. It is kept for [`max_token_life`](Self::max_token_life).
    ///
    /// The issuer is the `iss` of the tokens, and `None` for tokens without `iss`. Tokens
    /// of another issuer with the same `sub` belong to another user, and stay valid: with
    /// `None`, no token that has an `iss` is revoked. If several issuers omit `iss`, use
    /// one `Revocations` for each of them.
    ///
    /// Issue tokens by [`TokenIssuer`](crate::TokenIssuer): its claim `iat_ms` counts
    /// milliseconds, so a user who logs in again within the same second gets a valid token.
    /// `iat` counts whole seconds. Without `iat_ms`, as in tokens of
    /// [`generate_jwt`](crate::generate_jwt), every token of the second of
    /// `SystemTime::now()` is revoked, including tokens that are issued later in that
    /// second.
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
    /// As [`revoke`](Self::revoke), without [`RevokeError::NoExpiry`].
    pub async fn revoke_before(
        &self,
        issuer: Option<&str>,
        subject: &str,
        time: SystemTime,
    ) -> Result<(), RevokeError> {
        let kept = whole_seconds(self.max_token_life).saturating_add(KEPT_SECONDS);
        // From now at least: the tokens of a time to come are revoked until they expire.
        let until = seconds_up(time).max(self.table.now()).saturating_add(kept);
        let name = Named::subject(issuer, subject).name();
        self.add(Revocation::subject_millis(name, millis_up(time), until)).await
    }

    async fn add(&self, entry: Revocation) -> Result<(), RevokeError> {
        if !self.table.add(entry) {
            let log = self.log.as_ref().filter(|log| log.can_query()).ok_or(RevokeError::Full)?;
            log.publish_beyond(entry).await?;
            // It holds here at once, whatever was answered before.
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

    /// Warns once of a token for which `revoke_before` may be forgotten too early.
    fn warn_of_a_long_life(&self, claims: &Claims) {
        let life = claims.expires_at().zip(claims.issued_at());
        let is_longer = life.is_none_or(|(expires, issued)| {
            expires.saturating_sub(issued) > whole_seconds(self.max_token_life)
        });
        if is_longer && !self.table.has_warned.swap(true, Ordering::Relaxed) {
            log::warn!(
                target: crate::LOG_TARGET,
                "a token is valid for longer than Revocations::max_token_life, or has no exp or no \
                 iat: revoke_before is forgotten after {:?}, and then such a token is valid again",
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

/// Returns the seconds since 1970 of a time, rounded up.
fn seconds_up(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, whole_seconds)
}

/// Returns the milliseconds since 1970 of a time, rounded up.
fn millis_up(time: SystemTime) -> u64 {
    let nanos = time.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    u64::try_from(nanos.div_ceil(1_000_000)).unwrap_or(u64::MAX)
}

/// Returns the seconds of a duration, rounded up.
fn whole_seconds(time: Duration) -> u64 {
    time.as_secs().saturating_add(u64::from(time.subsec_nanos() > 0))
}

/// The time for which an entry is kept after the token has expired: the clocks of
/// processes differ, and verifiers have a leeway, which must not be longer.
pub const KEPT_SECONDS: u64 = 600;
const STALE_AFTER: Duration = Duration::from_secs(30);
const MAX_TOKEN_LIFE: Duration = Duration::from_secs(30 * 86_400);
