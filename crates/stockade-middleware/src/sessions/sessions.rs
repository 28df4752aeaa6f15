//! [`Sessions`]: begins, changes and ends sessions.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stockade_auth::SessionId;
use stockade_core::__internal::Overloaded;
use stockade_core::BoxFuture;
use stockade_errors::__internal::setters;
use stockade_errors::ApiError;
use stockade_validation::__internal::LogRate;
use tokio::time::{sleep, timeout};

use super::store::{
    NewSession, ReplacedSession, SessionKey, SessionStore, SessionStoreError, SessionWrite,
    StoredSession, SubjectKey,
};
use super::{Session, SetSession};
use crate::auth::{Auth, SessionCookie};

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
/// [cookie](SessionCookie); the store has its SHA-256 alone. Its end holds at once in
/// all processes, because each request asks the store, and nothing brings it back.
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
/// let router = create_router(api, RouterOptions::new().state(sessions));
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
    store: Arc<dyn SessionStore>,
    cookie: SessionCookie,
    idle: Duration,
    lifetime: Duration,
    max_bytes: usize,
    outages: Arc<LogRate>,
    unreadable: Arc<LogRate>,
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
        self.asked(self.store.destroy(&SessionKey::of(id))).await?;
        Ok(SetSession::new(self.cookie.clear(), None))
    }

    /// Ends all sessions of a subject, such as after a change of the password, and
    /// returns how many there were.
    ///
    /// # Errors
    /// 503 if the store cannot be asked: the sessions may go on.
    pub async fn end_all(&self, subject: &str) -> Result<u64, ApiError> {
        self.asked(self.store.destroy_all(&SubjectKey::of(subject))).await
    }

    /// Asks the store, within the time that a store has.
    async fn asked<A>(
        &self,
        asked: BoxFuture<'_, Result<A, SessionStoreError>>,
    ) -> Result<A, ApiError> {
        let answer = timeout(STORE_TIMEOUT, asked).await;
        let answer = answer.unwrap_or_else(|elapsed| Err(SessionStoreError::new(elapsed)));
        answer.map_err(|error| self.unavailable(&error))
    }

    /// Makes the 503 of a store that is down or full.
    #[cold]
    fn unavailable(&self, error: &SessionStoreError) -> ApiError {
        if let Some(unlogged) = self.outages.next() {
            log::error!(
                target: "stockade",
                "a request with a session is refused, and so were {unlogged} others: {error}"
            );
        }
        // Its line is in the log already; one for each request would be more load.
        ApiError::new(503, error.to_string())
            .with_source(Overloaded)
            .with_header("Retry-After", "1")
    }

    fn new_session<'a>(
        &self,
        subject: Option<&'a str>,
        data: Bytes,
        replaces: Option<ReplacedSession>,
    ) -> Result<NewSession<'a>, ApiError> {
        if subject.is_some_and(|subject| subject.is_empty() || subject.len() > MAX_SUBJECT_BYTES) {
            return Err(ApiError::new(500, "the subject of a session has 1 to 255 bytes"));
        }
        let (idle, lifetime) = (self.idle, self.lifetime);
        Ok(NewSession { subject, data, idle, lifetime, replaces })
    }

    /// Returns a session as the store has it, and notes that it is used.
    async fn used(&self, key: &SessionKey) -> Result<Option<StoredSession>, ApiError> {
        let Some(stored) = self.asked(self.store.load(key)).await? else { return Ok(None) };
        let full = self.idle.min(stored.lifetime_left);
        if stored.idle_left + self.idle / TOUCHES < full
            && let Err(error) = self.asked(self.store.touch(key, self.idle)).await
        {
            // The session is there: to be noted later is enough.
            log::debug!(target: "stockade", "the use of a session is not noted: {error}");
        }
        Ok(Some(stored))
    }
}

impl<T: Serialize + DeserializeOwned> Sessions<T> {
    /// Begins a session with a new id, of a user if there is one: the subject is the
    /// name under which [`end_all`](Self::end_all) finds it, such as `user:7`. A session
    /// without one finds no user.
    ///
    /// Where the request has a session already, [`renew`](Self::renew) keeps its data.
    ///
    /// # Errors
    /// 413 if the data are larger than [`max_bytes`](Self::max_bytes), 503 if the store
    /// cannot be asked or is full, and 500 for data that cannot be JSON, a subject that
    /// is empty or longer than 255 bytes, and an operating system without randomness.
    pub async fn begin(&self, subject: Option<&str>, data: &T) -> Result<SetSession, ApiError> {
        let new = self.new_session(subject, self.encoded(data)?, None)?;
        let id = new_id()?;
        self.asked(self.store.create(&SessionKey::of(&id), new)).await?;
        Ok(SetSession::new(self.cookie.issue(&id), Some(id)))
    }

    /// Returns a session, if it has not ended.
    ///
    /// Data that are no `T`, such as those of another version of the program, are no
    /// session; a line at warn level tells of it, at most each second.
    ///
    /// # Errors
    /// 503 if the store cannot be asked.
    pub async fn load(&self, id: &SessionId) -> Result<Option<Session<T>>, ApiError> {
        let Some(stored) = self.used(&SessionKey::of(id)).await? else { return Ok(None) };
        let data = self.decoded(&stored.data);
        Ok(data.map(|data| Session::new(*id, stored.subject, data)))
    }

    /// Changes the data of a session by a function, and returns what that returns.
    ///
    /// No change of another request is lost: where one has come first, the function
    /// gets the new data, up to three times more. It must do nothing else than change
    /// them. Data that it leaves as they are are not written.
    ///
    /// # Errors
    /// 401 if the session has ended, 409 if others have come first each time, 413 if
    /// the data grow larger than [`max_bytes`](Self::max_bytes), 503 if the store cannot
    /// be asked or is full, and 500 for data that cannot be JSON. Nothing is changed
    /// then; after a 503 it may have been.
    pub async fn change<R>(
        &self,
        id: &SessionId,
        mut change: impl FnMut(&mut T) -> R,
    ) -> Result<R, ApiError> {
        let key = SessionKey::of(id);
        for repeat in 0..=REPEATS {
            pause(repeat).await;
            let stored = self.used(&key).await?.ok_or_else(ended)?;
            let (outcome, data) = self.changed(&stored, &mut change)?;
            if data == stored.data {
                return Ok(outcome);
            }
            let update = self.store.update(&key, stored.version, data, self.idle);
            match self.asked(update).await? {
                SessionWrite::Written => return Ok(outcome),
                SessionWrite::Missing => return Err(ended()),
                SessionWrite::Changed => {}
            }
        }
        Err(contended())
    }

    /// Gives a session a new id and a subject, in one step: the old id is no session any
    /// more. The function may change the data, as in [`change`](Self::change). The
    /// lifetime begins anew.
    ///
    /// It belongs to each log-in and each gain of rights: an id that was there before
    /// may be known to others.
    ///
    /// # Errors
    /// Those of [`begin`](Self::begin) and of [`change`](Self::change).
    pub async fn renew(
        &self,
        id: &SessionId,
        subject: Option<&str>,
        mut change: impl FnMut(&mut T),
    ) -> Result<SetSession, ApiError> {
        let key = SessionKey::of(id);
        for repeat in 0..=REPEATS {
            pause(repeat).await;
            let stored = self.used(&key).await?.ok_or_else(ended)?;
            let ((), data) = self.changed(&stored, &mut change)?;
            let replaced = ReplacedSession { key, version: stored.version };
            let new = self.new_session(subject, data, Some(replaced))?;
            let id = new_id()?;
            match self.asked(self.store.create(&SessionKey::of(&id), new)).await? {
                SessionWrite::Written => {
                    return Ok(SetSession::new(self.cookie.issue(&id), Some(id)));
                }
                SessionWrite::Missing => return Err(ended()),
                SessionWrite::Changed => {}
            }
        }
        Err(contended())
    }

    /// Runs the function on the data, and returns them as they are to be stored.
    fn changed<R>(
        &self,
        stored: &StoredSession,
        change: &mut impl FnMut(&mut T) -> R,
    ) -> Result<(R, Bytes), ApiError> {
        let mut data = self.decoded(&stored.data).ok_or_else(ended)?;
        let outcome = change(&mut data);
        Ok((outcome, self.encoded(&data)?))
    }

    fn encoded(&self, data: &T) -> Result<Bytes, ApiError> {
        let json = serde_json::to_vec(data).map_err(ApiError::internal)?;
        if json.len() > self.max_bytes {
            let (length, most) = (json.len(), self.max_bytes);
            let message = format!("The session would have {length} bytes, and {most} are allowed");
            return Err(ApiError::new(413, message));
        }
        Ok(json.into())
    }

    fn decoded(&self, data: &[u8]) -> Option<T> {
        let decoded = serde_json::from_slice(data);
        if let Err(error) = &decoded
            && let Some(unlogged) = self.unreadable.next()
        {
            // Of the error only the place: its text may have parts of the data.
            log::warn!(
                target: "stockade",
                "the data of a session are not of its type, and so were {unlogged} others: \
                 column {}", error.column()
            );
        }
        decoded.ok()
    }
}

impl<T: Serialize + DeserializeOwned + 'static> Sessions<T> {
    /// Returns the method by which `with_auth` finds the user of a request:
    /// `Auth::session` with the [cookie](Self::cookie) and the
    /// [`lookup`](Self::lookup).
    pub fn auth(&self) -> Auth {
        Auth::session(self.cookie.clone(), self.lookup())
    }

    /// Returns the function for [`Auth::session`] that finds the user of a session.
    ///
    /// The user is the data if they are a JSON object, with the subject as `sub` unless
    /// they have a `sub` of their own, and else `{"sub": …, "data": …}`. So `User<T>`
    /// has the data, and rate limits and idempotency keys are those of the subject. A
    /// session without a subject has no user.
    pub fn lookup(
        &self,
    ) -> impl Fn(SessionId) -> BoxFuture<'static, Result<Option<Value>, ApiError>>
    + Clone
    + Send
    + Sync
    + 'static
    + use<T> {
        let sessions = Arc::new(self.clone());
        move |id| {
            let sessions = Arc::clone(&sessions);
            Box::pin(async move {
                let stored = sessions.used(&SessionKey::of(&id)).await?;
                Ok(stored.and_then(|stored| sessions.user_of(stored)))
            })
        }
    }

    fn user_of(&self, stored: StoredSession) -> Option<Value> {
        let subject = Value::String(stored.subject?);
        // What is no `T` is no session for any of the calls.
        self.decoded(&stored.data)?;
        match serde_json::from_slice(&stored.data).ok()? {
            Value::Object(mut user) => {
                user.entry("sub").or_insert(subject);
                Some(Value::Object(user))
            }
            data => {
                let members = [("sub".to_owned(), subject), ("data".to_owned(), data)];
                Some(Value::Object(Map::from_iter(members)))
            }
        }
    }
}

fn new_id() -> Result<SessionId, ApiError> {
    SessionId::generate().map_err(ApiError::internal)
}

/// Waits for a random time before a repetition, so that requests which were in each
/// other's way are not again.
async fn pause(repeat: u8) {
    let mut random = [0];
    if repeat > 0 && getrandom::fill(&mut random).is_ok() {
        let [random] = random;
        sleep(Duration::from_millis(u64::from(random % 16) * u64::from(repeat))).await;
    }
}

#[cold]
fn ended() -> ApiError {
    ApiError::new(401, "The session has ended")
}

#[cold]
fn contended() -> ApiError {
    ApiError::new(409, "Other requests change the session at the same time")
        .with_header("Retry-After", "1")
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

/// The number of times that a change is tried again.
const REPEATS: u8 = 3;

/// A use is noted at most so often in an idle time.
const TOUCHES: u32 = 20;

const MAX_SUBJECT_BYTES: usize = 255;
