//! [`Sessions`]: begins, changes and ends sessions.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_core::{BoxFuture, Clock};
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

/// The sessions of an application, with data of the type `T`: state that handlers take
/// as `State<Sessions<T>>`.
///
/// | call | effect |
/// |---|---|
/// | [`begin`](Self::begin) | a new session with a new id |
/// | [`renew`](Self::renew) | a new id for a session, at the log-in |
/// | [`change`](Self::change) | changes the data, and loses no change of others |
/// | [`end`](Self::end), [`end_all`](Self::end_all) | log-out, here and everywhere |
/// | [`auth`](Self::auth) | finds the user of a request by the session |
///
/// A session ends after [`idle`](Self::idle) without a request and after
/// [`lifetime`](Self::lifetime) in any case. Its id is random, and signed in the
/// [cookie](SessionCookie); the store has only its SHA-256. Several `Sessions` may share
/// a secret and a store if their cookies have different names or
/// [kinds](SessionCookie::kind): each accepts only its own sessions. Its end holds at once in
/// all processes, because each request asks the store, unless
/// [`cached`](Self::cached) says otherwise, and nothing brings it back.
///
/// A store that cannot be asked is a 503, and never a request without a user. A store
/// has 1 s for its answer.
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
/// The specification has no sessions.
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
    /// Keeps sessions in this store, with their ids in this cookie: a
    /// [`MemorySessionStore`](super::MemorySessionStore), one outside, or an `Arc` of
    /// one.
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
        /// Sets the time after which a session ends that no request has used. Default:
        /// 30 minutes. It may end a twentieth of it earlier, because a use is noted no
        /// more often than that.
        idle: Duration;

        /// Sets the time after which a session ends however it is used. Default:
        /// 12 hours.
        lifetime: Duration;

        /// Sets the largest size of the data of a session, as JSON, in bytes. Default:
        /// 16,384.
        max_bytes: usize;
    }

    /// Lets a process read a session for so long from its memory, without asking the
    /// store again. Default: not at all; more than 1 s counts as 1 s.
    ///
    /// A change, a new id and a log-out hold at once in the process that makes them, and
    /// in the others after this time at the latest. A [`change`](Self::change) always
    /// asks the store, and loses nothing. At most 10,000 sessions with 16 MiB of data are
    /// kept, and while the store is down they are found for so long too.
    ///
    /// It is for pages that send many requests at once, and a store that is far away.
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

    /// Does the same as [`cached`](Self::cached) by another clock, for tests that do not
    /// wait. The time must not go back.
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

    /// Ends a session, and takes its cookie away from the browser. A session that has
    /// ended already is no error.
    ///
    /// # Errors
    /// 503 if the store cannot be asked: the session may go on.
    pub async fn end(&self, id: &SessionId) -> Result<SetSession, ApiError> {
        let key = self.key(id);
        let _changing = self.changing(&key);
        self.asked(self.store.destroy(&key)).await?;
        Ok(SetSession::new(self.cookie.clear(), None))
    }

    /// Ends all sessions of a subject, such as after a change of the password, and
    /// returns how many there were. Sessions of another
    /// [kind](SessionCookie::kind) in the same store do not end.
    ///
    /// # Errors
    /// 503 if the store cannot be asked: the sessions may go on.
    pub async fn end_all(&self, subject: &str) -> Result<u64, ApiError> {
        let subject = SubjectKey::of(self.cookie.kind_name(), subject);
        let ended = self.asked(self.store.destroy_all(&subject)).await;
        // The store alone knows which ones these were.
        if let Some(cache) = &self.cache {
            cache.forget_all();
        }
        ended
    }

    /// Returns the key of a session in the store.
    pub(super) fn key(&self, id: &SessionId) -> SessionKey {
        SessionKey::of(self.cookie.kind_name(), id)
    }

    /// Lets the process forget a session once the value is dropped.
    pub(super) fn changing<'k>(&'k self, key: &'k SessionKey) -> Option<Changing<'k>> {
        self.cache.as_ref().map(|cache| cache.changing(key))
    }

    /// Asks the store, within the time that a store has.
    pub(super) async fn asked<A>(
        &self,
        asked: BoxFuture<'_, Result<A, StoreError>>,
    ) -> Result<A, ApiError> {
        let answer = timeout(STORE_TIMEOUT, asked).await;
        let answer = answer.unwrap_or_else(|elapsed| Err(StoreError::unavailable(elapsed)));
        answer.map_err(|error| self.unavailable(&error))
    }

    /// Makes the 503 of a store that is down or full.
    #[cold]
    fn unavailable(&self, error: &StoreError) -> ApiError {
        if let Some(unlogged) = self.outages.next() {
            log::error!(
                target: "stockade",
                "a request with a session is refused, and so were {unlogged} others: {error}"
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
            return Err(ApiError::new(500, "the subject of a session has 1 to 255 bytes"));
        }
        let (idle, lifetime) = (self.idle, self.lifetime);
        let subject = subject.map(|name| Subject::of(self.cookie.kind_name(), name));
        Ok(NewSession { subject, data, idle, lifetime, replaces })
    }

    /// Returns a session as it was a moment ago, if it may be kept so long, or as the
    /// store has it.
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

    /// Returns a session as the store has it, and notes that it is used.
    pub(super) async fn used(&self, key: &SessionKey) -> Result<Option<StoredSession>, ApiError> {
        let Some(stored) = self.asked(self.store.load(key)).await? else { return Ok(None) };
        let full = self.idle.min(stored.lifetime_left);
        // The check of a connection is no use of its session.
        if !is_recheck()
            && stored.idle_left + self.idle / TOUCHES < full
            && let Err(error) = self.asked(self.store.touch(key, self.idle)).await
        {
            // The session is there: to be noted later is enough.
            log::debug!(target: "stockade", "the use of a session is not noted: {error}");
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

/// A use is noted at most so often in an idle time.
const TOUCHES: u32 = 20;

const MAX_SUBJECT_BYTES: usize = 255;
