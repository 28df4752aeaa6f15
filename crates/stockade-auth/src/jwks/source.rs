//! [`JwkSource`]: a JWK set that your function refreshes.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::Duration;

use stockade_errors::locks::{lock, read, write};
use stockade_errors::{BoxError, ConfigError};

use super::JwkSet;
use super::set::check_public;
use super::unknown::Warned;
use crate::token::{AlgorithmSet, Compact, SealedKeys, TokenError, UnixClock};

/// A JWK set that your function refreshes.
///
/// The function fetches the document, because this crate does not use HTTP.
/// Verification never calls the function and never waits for it. A token with
/// an unknown key is rejected. From then on
/// [`wants_refresh`](Self::wants_refresh) is true until a refresh succeeds, but
/// at most once per [`min_interval`](Self::min_interval), so forged tokens
/// cannot cause constant fetches. Call
/// [`refresh_if_wanted`](Self::refresh_if_wanted) from a thread or a timer.
///
/// A key is unknown if the set does not contain the token's `kid`, or if the
/// token has no `kid` and no key of the set verifies it.
///
/// ```
/// use stockade_auth::JwkSource;
///
/// let source = JwkSource::new(|| {
///     // A real program fetches https://login.example/.well-known/jwks.json.
///     Ok(r#"{ "keys": [{
///         "kty": "OKP", "crv": "Ed25519", "kid": "1",
///         "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
///     }] }"#.to_owned())
/// })?;
/// assert_eq!(source.current().len(), 1);
/// assert!(!source.wants_refresh());
/// # Ok::<(), stockade_errors::BoxError>(())
/// ```
///
/// If you fetch asynchronously, create the source from the first document and
/// call [`update`](Self::update) with each later one.
pub struct JwkSource {
    fetch: Box<Fetch>,
    current: RwLock<Arc<JwkSet>>,
    clock: UnixClock,
    max_age_seconds: u64,
    min_interval_seconds: u64,
    /// The time of the last successful refresh, in seconds since 1970.
    refreshed_at: AtomicU64,
    /// The time of the last attempt to refresh, in seconds since 1970.
    tried_at: AtomicU64,
    /// True if a token had an unknown key since `refreshed_at`.
    missed: AtomicBool,
    /// The keys with unknown algorithms that were already logged.
    warned: Mutex<Warned>,
}

type Fetch = dyn Fn() -> Result<String, BoxError> + Send + Sync;

impl JwkSource {
    /// Creates a source and calls `fetch` for the first document.
    ///
    /// # Errors
    /// Returns the error of `fetch`, or a [`ConfigError`] for its document; see
    /// [`JwkSet::from_json`].
    pub fn new(
        fetch: impl Fn() -> Result<String, BoxError> + Send + Sync + 'static,
    ) -> Result<Self, BoxError> {
        let mut warned = Warned::default();
        let first = JwkSet::read(fetch()?.as_bytes(), &mut warned)?;
        let source = Self {
            fetch: Box::new(fetch),
            current: RwLock::new(Arc::new(first)),
            clock: UnixClock::default(),
            max_age_seconds: 3_600,
            min_interval_seconds: 60,
            refreshed_at: AtomicU64::new(0),
            tried_at: AtomicU64::new(0),
            missed: AtomicBool::new(false),
            warned: Mutex::new(warned),
        };
        source.note_success();
        Ok(source)
    }

    /// Sets the age at which a set needs a refresh, in whole seconds. Default:
    /// 3600.
    #[must_use]
    pub fn max_age(mut self, age: Duration) -> Self {
        self.max_age_seconds = age.as_secs();
        self
    }

    /// Sets the minimum time between two refresh attempts, in whole seconds.
    /// Default: 60.
    #[must_use]
    pub fn min_interval(mut self, interval: Duration) -> Self {
        self.min_interval_seconds = interval.as_secs();
        self
    }

    /// Sets the clock, and treats the set as refreshed at its current time.
    /// Default: the system clock.
    #[must_use]
    pub fn clock(mut self, clock: UnixClock) -> Self {
        self.clock = clock;
        self.note_success();
        self
    }

    /// Returns the current set.
    #[must_use]
    pub fn current(&self) -> Arc<JwkSet> {
        // A thread that panicked while holding the lock had not started to
        // change the set.
        Arc::clone(&read(&self.current))
    }

    /// Returns true if the set is too old or a token had an unknown key, and
    /// the minimum interval since the last attempt has passed.
    #[must_use]
    pub fn wants_refresh(&self) -> bool {
        let now = self.now();
        let age = now.saturating_sub(self.refreshed_at.load(Ordering::Relaxed));
        let rest = now.saturating_sub(self.tried_at.load(Ordering::Relaxed));
        let is_due = age >= self.max_age_seconds || self.missed.load(Ordering::Relaxed);
        is_due && rest >= self.min_interval_seconds
    }

    /// Fetches a document and replaces the set. On failure the old set remains,
    /// and its age is not reset.
    ///
    /// # Errors
    /// Fails as [`JwkSource::new`] does.
    pub fn refresh(&self) -> Result<(), BoxError> {
        self.note_try();
        let document = (self.fetch)()?;
        Ok(self.update(document)?)
    }

    /// Refreshes the set if [`wants_refresh`](Self::wants_refresh) is true.
    /// Returns whether it was refreshed.
    ///
    /// # Errors
    /// Fails as [`JwkSource::new`] does.
    pub fn refresh_if_wanted(&self) -> Result<bool, BoxError> {
        let wanted = self.wants_refresh();
        if wanted {
            self.refresh()?;
        }
        Ok(wanted)
    }

    /// Replaces the set with a document that you fetched. If the document is
    /// invalid, the old set remains, and its age is not reset.
    ///
    /// # Errors
    /// Fails as [`JwkSet::from_json`] does.
    #[track_caller]
    pub fn update(&self, document: impl AsRef<[u8]>) -> Result<(), ConfigError> {
        self.note_try();
        let set = Arc::new(JwkSet::read(document.as_ref(), &mut lock(&self.warned))?);
        *write(&self.current) = set;
        self.note_success();
        Ok(())
    }

    fn note_try(&self) {
        self.tried_at.store(self.now(), Ordering::Relaxed);
    }

    fn note_success(&self) {
        self.note_try();
        self.refreshed_at.store(self.now(), Ordering::Relaxed);
        self.missed.store(false, Ordering::Relaxed);
    }

    fn now(&self) -> u64 {
        self.clock.now().unwrap_or(0)
    }
}

impl fmt::Debug for JwkSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JwkSource").field("current", &self.current()).finish_non_exhaustive()
    }
}

impl SealedKeys for JwkSource {
    fn authenticate(
        &self,
        token: &Compact<'_>,
        allowed: Option<AlgorithmSet>,
    ) -> Result<(), TokenError> {
        self.current().validate(token, allowed).map_err(|refusal| {
            if refusal.lacks_key {
                self.missed.store(true, Ordering::Relaxed);
            }
            refusal.error
        })
    }

    fn check(&self, allowed: AlgorithmSet) -> Result<(), String> {
        check_public(allowed)
    }

    fn default_algorithms(&self) -> Option<AlgorithmSet> {
        None
    }
}
