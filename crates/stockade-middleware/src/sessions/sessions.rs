//! [`Sessions`]: begins, changes and ends sessions.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_core::description::{MethodInfo, SessionInfo};
use stockade_core::{BoxFuture, Clock, RouteDescription};
use stockade_errors::__internal::setters;
use stockade_errors::{ApiError, StoreError};
use stockade_validation::__internal::LogRate;
use tokio::time::timeout;

use super::SetSession;
use super::cache::{Changing, SessionCache};
use super::store::{
    NewSession, ReplacedSession, SessionKey, SessionStore, StoredSession, Subject, SubjectKey,
};
use crate::auth::SessionCookie;
use crate::auth::recheck::is_recheck;
use crate::store_fault::unavailable;

/// The sessions of an application, with data of the type `T`. Handlers take it
/// from the state, as `State<Sessions<T>>`.
///
/// | call | effect |
/// |---|---|
/// | [`begin`](Self::begin) | a new session with a new id |
/// | [`renew`](Self::renew) | a new id for a session, at the login |
/// | [`change`](Self::change) | changes the data without losing concurrent changes |
/// | [`end`](Self::end), [`end_all`](Self::end_all) | logs out, here or everywhere |
/// | [`auth`](Self::auth) | authenticates requests with the session |
///
/// A session ends when it is [`idle`](Self::idle) for too long, and always at
/// the end of its [`lifetime`](Self::lifetime). Its id is random, and signed in
/// the [cookie](SessionCookie); the store contains only its SHA-256. Several
/// `Sessions` may share a secret and a store if their cookies have different
/// names or [kinds](SessionCookie::kind): each accepts only its own sessions.
/// An ended session is invalid in all processes immediately and permanently,
/// because each request queries the store, unless [`cached`](Self::cached) is
/// set.
///
/// An unavailable store is a 503; a request never continues unauthenticated. A
/// store call has a timeout of 1 s.
///
/// ```
/// use stockade::auth::KeyRing;
/// use stockade::middleware::CurrentSession;
/// use stockade::middleware::sessions::{MemorySessionStore, Session, Sessions, SetSession};
/// use stockade::middleware::SessionCookie;
/// use stockade::prelude::*;
/// # use stockade::testing::TestClient;
///
/// #[derive(Default, serde::Deserialize, serde::Serialize)]
/// struct Visit {
///     pages: u32,
/// }
///
/// async fn log_in(
///     sessions: State<Sessions<Visit>>,
///     session: Option<Session<Visit>>,
/// ) -> Result<(SetSession, &'static str), ApiError> {
///     // In a program: after the password was verified.
///     let set = match session {
///         Some(session) => sessions.renew(session.id(), Some("user:7"), |_| ()).await?,
///         None => sessions.begin(Some("user:7"), &Visit::default()).await?,
///     };
///     Ok((set, "welcome"))
/// }
///
/// async fn page(
///     sessions: State<Sessions<Visit>>,
///     CurrentSession(id): CurrentSession,
/// ) -> Result<String, ApiError> {
///     let change = |visit: &mut Visit| {
///         visit.pages += 1;
///         visit.pages
///     };
///     Ok(sessions.change(&id, change).await?.to_string())
/// }
///
/// async fn log_out(
///     sessions: State<Sessions<Visit>>,
///     CurrentSession(id): CurrentSession,
/// ) -> Result<(SetSession, &'static str), ApiError> {
///     Ok((sessions.end(&id).await?, "good-bye"))
/// }
///
/// # #[tokio::main]
/// # async fn main() -> Result<(), BoxError> {
/// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
/// let sessions = Sessions::<Visit>::new(MemorySessionStore::new(), SessionCookie::new(keys));
/// let signed_in = with_auth(sessions.auth());
/// let api = routes! {
///     "login": { POST: log_in },
///     "page": { GET: { page, middleware: [signed_in.clone()] } },
///     "logout": { POST: { log_out, middleware: [signed_in] } },
/// };
/// let router = create_router(api, RouterOptions::new()).state(sessions);
/// # let browser = TestClient::new(router).with_cookies();
/// browser.get("/page").await.assert_status(401);
/// browser.post("/login").await.assert_text("welcome");
/// browser.get("/page").await.assert_text("1");
/// browser.get("/page").await.assert_text("2");
/// browser.post("/logout").await.assert_status(200);
/// browser.get("/page").await.assert_status(401);
/// # Ok(())
/// # }
/// ```
///
/// # Beyond the spec
/// The specification does not define sessions.
pub struct Sessions<T> {
    pub(super) store: Arc<dyn SessionStore>,
    pub(super) cookie: SessionCookie,
    pub(super) idle: Duration,
    pub(super) lifetime: Duration,
    pub(super) max_bytes: usize,
    outages: Arc<LogRate>,
    pub(super) unreadable: Arc<LogRate>,
    cache: Option<Arc<SessionCache>>,
    data: PhantomData<fn() -> T>,
}

impl<T> Sessions<T> {
    /// Creates sessions with a store and a cookie for their ids. The store is a
    /// [`MemorySessionStore`](super::MemorySessionStore), an external store, or
    /// an `Arc` of one.
    #[must_use]
    pub fn new(store: impl SessionStore + 'static, cookie: SessionCookie) -> Self {
        Self {
            store: Arc::new(store),
            cookie,
            idle: Duration::from_secs(30 * 60),
            lifetime: Duration::from_secs(12 * 3_600),
            max_bytes: 16_384,
            outages: Arc::default(),
            unreadable: Arc::default(),
            cache: None,
            data: PhantomData,
        }
    }

    setters! {
        /// Sets how long an unused session remains valid. Default: 30 minutes.
        /// The session may end up to a twentieth earlier, because its use is
        /// recorded no more often than that.
        idle: Duration;

        /// Sets how long a session remains valid regardless of its use.
        /// Default: 12 hours.
        lifetime: Duration;

        /// Sets the maximum size of the session data as JSON, in bytes.
        /// Default: 16,384.
        max_bytes: usize;
    }

    /// Lets the process read a session from its memory for this time, without a
    /// query to the store. Default: no caching; more than 1 s counts as 1 s.
    ///
    /// A change, a new id and a logout are effective immediately in the process
    /// that makes them, and after this time at the latest in other processes. A
    /// [`change`](Self::change) always queries the store and loses nothing. At
    /// most 10,000 sessions with 16 MiB of data are cached. If the store is
    /// down, cached sessions remain valid for this time.
    ///
    /// Use it for pages that send many requests at once, and for a distant
    /// store.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use stockade::auth::{KeyRing, Secret};
    /// use stockade::middleware::SessionCookie;
    /// use stockade::middleware::sessions::{MemorySessionStore, Sessions};
    ///
    /// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
    /// let sessions = Sessions::<()>::new(MemorySessionStore::new(), SessionCookie::new(keys))
    ///     .cached(Duration::from_secs(1));
    /// # drop(sessions);
    /// # Ok::<(), stockade::ConfigError>(())
    /// ```
    #[must_use]
    pub fn cached(self, time: Duration) -> Self {
        self.cached_by(time, Clock::default())
    }

    /// Does the same as [`cached`](Self::cached) with another clock, for tests
    /// that do not wait. The time must never decrease.
    #[must_use]
    pub fn cached_with_clock(
        self,
        time: Duration,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Self {
        self.cached_by(time, Clock::new(clock))
    }

    fn cached_by(mut self, time: Duration, clock: Clock) -> Self {
        self.cache = (!time.is_zero()).then(|| Arc::new(SessionCache::new(time, clock)));
        self
    }

    /// Returns the cookie.
    #[must_use]
    pub fn cookie(&self) -> &SessionCookie {
        &self.cookie
    }

    /// Describes the sessions for route maps.
    pub(super) fn info(&self, doc: &RouteDescription) -> MethodInfo {
        let mut session = SessionInfo::default();
        session.idle_seconds = self.idle.as_secs();
        session.lifetime_seconds = self.lifetime.as_secs();
        let mut info = self.cookie.method_info(doc);
        info.session = Some(session);
        info
    }

    /// Ends a session and removes its cookie from the browser. A session that
    /// has already ended is not an error.
    ///
    /// # Errors
    /// Returns a 503 if the store is unavailable; the session may then
    /// continue.
    pub async fn end(&self, id: &SessionId) -> Result<SetSession, ApiError> {
        let key = self.key(id);
        let _changing = self.changing(&key);
        self.asked(self.store.destroy(&key)).await?;
        Ok(SetSession::new(self.cookie.clear(), None))
    }

    /// Ends all sessions of a subject, for example after a password change, and
    /// returns their number. Sessions of another [kind](SessionCookie::kind) in
    /// the same store do not end.
    ///
    /// # Errors
    /// Returns a 503 if the store is unavailable; the sessions may then
    /// continue.
    pub async fn end_all(&self, subject: &str) -> Result<u64, ApiError> {
        let subject = SubjectKey::of(self.cookie.kind_name(), subject);
        let ended = self.asked(self.store.destroy_all(&subject)).await;
        // Only the store knows which sessions these were.
        if let Some(cache) = &self.cache {
            cache.forget_all();
        }
        ended
    }

    /// Returns the key of a session in the store.
    pub(super) fn key(&self, id: &SessionId) -> SessionKey {
        SessionKey::of(self.cookie.kind_name(), id)
    }

    /// Removes a session from the cache when the returned value is dropped.
    pub(super) fn changing<'k>(&'k self, key: &'k SessionKey) -> Option<Changing<'k>> {
        self.cache.as_ref().map(|cache| cache.changing(key))
    }

    /// Calls the store, within the timeout of a store.
    pub(super) async fn asked<A>(
        &self,
        asked: BoxFuture<'_, Result<A, StoreError>>,
    ) -> Result<A, ApiError> {
        let answer = timeout(STORE_TIMEOUT, asked).await;
        let answer = answer.unwrap_or_else(|elapsed| Err(StoreError::unavailable(elapsed)));
        answer.map_err(|error| self.unavailable(&error))
    }

    /// Creates the 503 for a store that is down or full.
    #[cold]
    fn unavailable(&self, error: &StoreError) -> ApiError {
        if let Some(unlogged) = self.outages.next() {
            log::error!(
                target: "stockade",
                "a request with a session was rejected, and so were {unlogged} others: {error}"
            );
        }
        unavailable(error)
    }

    pub(super) fn new_session<'a>(
        &self,
        subject: Option<&'a str>,
        data: Bytes,
        replaces: Option<ReplacedSession>,
    ) -> Result<NewSession<'a>, ApiError> {
        if subject.is_some_and(|subject| subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES) {
            return Err(ApiError::new(500, "the subject of a session must have 1 to 255 bytes"));
        }
        let (idle, lifetime) = (self.idle, self.lifetime);
        let subject = subject.map(|name| Subject::of(self.cookie.kind_name(), name));
        Ok(NewSession { subject, data, idle, lifetime, replaces })
    }

    /// Returns a session from the cache if possible, otherwise from the store.
    pub(super) async fn read(&self, key: &SessionKey) -> Result<Option<StoredSession>, ApiError> {
        let Some(cache) = &self.cache else { return self.used(key).await };
        if let Some(stored) = cache.get(key) {
            return Ok(Some(stored));
        }
        let begun = cache.now();
        let stored = self.used(key).await?;
        if let Some(stored) = &stored {
            cache.keep(key, stored, begun);
        }
        Ok(stored)
    }

    /// Returns a session from the store, and records its use.
    pub(super) async fn used(&self, key: &SessionKey) -> Result<Option<StoredSession>, ApiError> {
        let Some(stored) = self.asked(self.store.load(key)).await? else { return Ok(None) };
        let full = self.idle.min(stored.lifetime_left);
        // The check of a connection does not count as use of its session.
        if !is_recheck()
            && stored.idle_left + self.idle / TOUCHES < full
            && let Err(error) = self.asked(self.store.touch(key, self.idle)).await
        {
            // The session exists, so its use can be recorded later.
            log::debug!(target: "stockade", "cannot record the use of a session: {error}");
        }
        Ok(Some(stored))
    }
}

impl<T> Clone for Sessions<T> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            cookie: self.cookie.clone(),
            idle: self.idle,
            lifetime: self.lifetime,
            max_bytes: self.max_bytes,
            outages: Arc::clone(&self.outages),
            unreadable: Arc::clone(&self.unreadable),
            cache: self.cache.clone(),
            data: PhantomData,
        }
    }
}

impl<T> fmt::Debug for Sessions<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sessions")
            .field("cookie", &self.cookie)
            .field("idle", &self.idle)
            .field("lifetime", &self.lifetime)
            .field("max_bytes", &self.max_bytes)
            .finish_non_exhaustive()
    }
}

const STORE_TIMEOUT: Duration = Duration::from_secs(1);

/// The maximum number of recorded uses in an idle time.
const TOUCHES: u32 = 20;

const MAX_SUBJECT_BYTES: usize = 255;
