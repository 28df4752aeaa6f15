//! A session store in Redis.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use redis::{FromRedisValue, Value};
use stockade_core::BoxFuture;
use stockade_errors::StoreError;
use stockade_middleware::sessions::{
    NewSession, SessionKey, SessionStore, SessionWrite, StoredSession, SubjectKey,
};

use crate::link::Redis;
use crate::script::{Script, millis};

/// A session store, shared by all processes with the same Redis server and
/// prefix.
///
/// Each step is one script, so it needs one round trip and has the time limit
/// [`deadline`](Self::deadline). The server's clock measures all times. A
/// logout takes effect in all processes at once, because no process caches
/// sessions, unless `Sessions::cached` permits it for a second.
///
/// A subject has at most [`max_per_subject`](Self::max_per_subject) sessions.
/// One more ends the oldest. The server's memory limit (`maxmemory`) bounds the
/// total: when memory is full, new sessions and changes get a 503. Set
/// `noeviction` on the server, or sessions may end early.
///
/// In a cluster, all sessions of a prefix are on one node. This makes a login,
/// or the end of all sessions of a user, one atomic step.
///
/// ```
/// use stockade::auth::{KeyRing, Secret};
/// use stockade::middleware::SessionCookie;
/// use stockade::middleware::sessions::Sessions;
/// use stockade::redis::{Redis, RedisOptions};
///
/// let redis = Redis::open("redis://127.0.0.1:6379", RedisOptions::new().prefix("shop"))?;
/// // Use the same secret in all processes.
/// let keys = KeyRing::new(Secret::new("a secret of thirty-two bytes or more")?);
/// let sessions = Sessions::<Vec<u64>>::new(redis.sessions(), SessionCookie::new(keys));
/// # drop(sessions);
/// # Ok::<(), stockade::ConfigError>(())
/// ```
pub struct RedisSessionStore {
    redis: Redis,
    deadline: Duration,
    max_per_subject: usize,
    /// The prefix of the keys of all sessions.
    of_session: String,
    of_subject: String,
    create: Script,
    load: Script,
    update: Script,
    touch: Script,
    destroy: Script,
    destroy_all: Script,
}

impl Redis {
    /// Returns a session store.
    #[must_use]
    pub fn sessions(&self) -> RedisSessionStore {
        let prefix = self.prefix();
        RedisSessionStore {
            redis: self.clone(),
            deadline: Duration::from_millis(500),
            max_per_subject: 100,
            of_session: format!("{prefix}:{{session}}:"),
            of_subject: format!("{prefix}:{{session}}:of:"),
            create: Script::new(include_str!("create.lua")),
            load: Script::new(include_str!("load.lua")),
            update: Script::new(include_str!("update.lua")),
            touch: Script::new(include_str!("touch.lua")),
            destroy: Script::new(include_str!("destroy.lua")),
            destroy_all: Script::new(include_str!("destroy_all.lua")),
        }
    }
}

impl RedisSessionStore {
    /// Sets the time limit for a response from Redis. Default: 500 ms. A
    /// request waits for at most 1 s.
    #[must_use]
    pub fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Sets the maximum number of sessions per subject. Default: 100. 0 counts
    /// as 1.
    #[must_use]
    pub fn max_per_subject(mut self, sessions: usize) -> Self {
        self.max_per_subject = sessions.max(1);
        self
    }

    async fn run<T: FromRedisValue>(
        &self,
        script: &Script,
        key: &str,
        arguments: &[&[u8]],
    ) -> Result<T, StoreError> {
        Ok(self.redis.run_on(script, &[key], arguments, self.deadline).await?)
    }

    async fn write(
        &self,
        script: &Script,
        key: &str,
        arguments: &[&[u8]],
    ) -> Result<SessionWrite, StoreError> {
        match self.run(script, key, arguments).await? {
            0_u8 => Ok(SessionWrite::Written),
            1 => Ok(SessionWrite::Changed),
            2 => Ok(SessionWrite::Missing),
            _ => Err(unknown()),
        }
    }

    fn name(&self, key: &SessionKey) -> String {
        format!("{}{key}", self.of_session)
    }
}

/// Reads the result of `load.lua`.
fn stored(answer: Vec<Value>) -> Result<Option<StoredSession>, StoreError> {
    if answer.is_empty() {
        return Ok(None);
    }
    type Fields = (Vec<u8>, u64, String, u64, u64);
    let fields = Fields::from_redis_value(Value::Array(answer)).map_err(|_| unknown())?;
    let (data, version, subject, idle, lifetime) = fields;
    Ok(Some(StoredSession {
        subject: Some(subject).filter(|subject| !subject.is_empty()),
        data: data.into(),
        version,
        idle_left: Duration::from_millis(idle),
        lifetime_left: Duration::from_millis(lifetime),
    }))
}

#[cold]
fn unknown() -> StoreError {
    StoreError::unavailable("unexpected reply from Redis")
}

impl SessionStore for RedisSessionStore {
    fn create<'a>(
        &'a self,
        key: &'a SessionKey,
        session: NewSession<'a>,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        Box::pin(async move {
            let set = session.subject.map(|subject| subject.key.to_string());
            let replaced = session.replaces.map(|old| old.key.to_string()).unwrap_or_default();
            let version = session.replaces.map_or(0, |old| old.version).to_string();
            let (name, most) = (key.to_string(), self.max_per_subject.to_string());
            let (idle, lifetime) = (millis(session.idle), millis(session.lifetime));
            // Both are empty for a session without a subject.
            let (subject, set) =
                (session.subject.map_or("", |subject| subject.name), set.unwrap_or_default());
            let arguments: [&[u8]; 11] = [
                self.of_session.as_bytes(),
                self.of_subject.as_bytes(),
                name.as_bytes(),
                &session.data,
                idle.as_bytes(),
                lifetime.as_bytes(),
                subject.as_bytes(),
                set.as_bytes(),
                most.as_bytes(),
                replaced.as_bytes(),
                version.as_bytes(),
            ];
            self.write(&self.create, &self.name(key), &arguments).await
        })
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        Box::pin(async move { stored(self.run(&self.load, &self.name(key), &[]).await?) })
    }

    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        Box::pin(async move {
            let (version, idle) = (version.to_string(), millis(idle));
            let arguments: [&[u8]; 3] = [version.as_bytes(), &data, idle.as_bytes()];
            self.write(&self.update, &self.name(key), &arguments).await
        })
    }

    fn touch<'a>(
        &'a self,
        key: &'a SessionKey,
        idle: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(
            async move { self.run(&self.touch, &self.name(key), &[millis(idle).as_bytes()]).await },
        )
    }

    fn destroy<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, StoreError>> {
        Box::pin(async move {
            let name = key.to_string();
            let arguments = [self.of_subject.as_bytes(), name.as_bytes()];
            self.run(&self.destroy, &self.name(key), &arguments).await
        })
    }

    fn destroy_all<'a>(
        &'a self,
        subject: &'a SubjectKey,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        Box::pin(async move {
            let set = format!("{}{subject}", self.of_subject);
            self.run(&self.destroy_all, &set, &[self.of_session.as_bytes()]).await
        })
    }
}

impl fmt::Debug for RedisSessionStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisSessionStore")
            .field("redis", &self.redis)
            .field("deadline", &self.deadline)
            .field("max_per_subject", &self.max_per_subject)
            .finish_non_exhaustive()
    }
}
