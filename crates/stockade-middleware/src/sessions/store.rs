//! [`SessionStore`]: the store of sessions.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_core::BoxFuture;
use stockade_errors::StoreError;

use crate::hashed::hash;

/// A store of sessions, in memory or external for several processes.
///
/// Each call is atomic. A session that was ended or has expired does not exist.
/// Only [`create`](Self::create) with a new key adds a session, so a slow
/// request cannot undo a logout. Times are durations, measured with the clock
/// of the store. An [`Arc`] of a store is a store.
pub trait SessionStore: Send + Sync {
    /// Stores a new session under `key`, with the version 1. The key is new: it
    /// is the hash of a random id.
    ///
    /// If it replaces another session, that session ends in the same step.
    /// Nothing happens if that session is [`SessionWrite::Missing`] or has
    /// another version ([`SessionWrite::Changed`]).
    ///
    /// # Errors
    /// Fails if the store is unavailable or full.
    fn create<'a>(
        &'a self,
        key: &'a SessionKey,
        session: NewSession<'a>,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>>;

    /// Returns the session under `key`, if it exists.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>>;

    /// Replaces the data of a session if it still has this version. The version
    /// then increases by 1, and the idle time begins again.
    ///
    /// # Errors
    /// Fails if the store is unavailable or too full for the data.
    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>>;

    /// Restarts the idle time of a session without changing its version.
    /// Returns false if the session does not exist.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    fn touch<'a>(
        &'a self,
        key: &'a SessionKey,
        idle: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Ends a session. Returns false if it does not exist.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    fn destroy<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Ends all sessions of a subject, and returns their number.
    ///
    /// # Errors
    /// Fails if the store is unavailable.
    fn destroy_all<'a>(&'a self, subject: &'a SubjectKey)
    -> BoxFuture<'a, Result<u64, StoreError>>;
}

/// The key of a session in a store: the SHA-256 of its kind and its id. Read
/// access to the store is not enough to use its sessions.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SessionKey([u8; 32]);

/// The key of the sessions of a subject: the SHA-256 of their kind and the subject.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct SubjectKey([u8; 32]);

/// The user of a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Subject<'a> {
    /// The name of the user, for the data of the session.
    pub name: &'a str,
    /// The key of the user's sessions for [`SessionStore::destroy_all`].
    pub key: SubjectKey,
}

/// A session to create.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    /// The user of the session, if there is one yet.
    pub subject: Option<Subject<'a>>,
    /// The data, which is opaque to the store.
    pub data: Bytes,
    /// The lifetime of an unused session.
    pub idle: Duration,
    /// The lifetime of the session regardless of its use.
    pub lifetime: Duration,
    /// The session that this one replaces.
    pub replaces: Option<ReplacedSession>,
}

/// The session that a new one replaces, if it has this version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReplacedSession {
    /// The key of the session.
    pub key: SessionKey,
    /// The version that was loaded.
    pub version: u64,
}

/// A session from a store.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredSession {
    /// The user of the session, if there is one yet.
    pub subject: Option<String>,
    /// The session data.
    pub data: Bytes,
    /// The number of writes of the data.
    pub version: u64,
    /// The time until the session ends if it is not used.
    pub idle_left: Duration,
    /// The time until the session ends regardless of its use.
    pub lifetime_left: Duration,
}

/// The result of a write to a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SessionWrite {
    /// The write succeeded.
    Written,
    /// Another write came first, and nothing was changed.
    Changed,
    /// The session has ended or never existed, and nothing was changed.
    Missing,
}

impl SessionKey {
    /// Returns the key of an id among the sessions of a
    /// [kind](crate::SessionCookie::kind).
    ///
    /// ```
    /// use stockade::auth::SessionId;
    /// use stockade::middleware::sessions::SessionKey;
    ///
    /// let id = SessionId::generate()?;
    /// let key = SessionKey::of("customers", &id);
    /// assert_eq!(key, SessionKey::of("customers", &id));
    /// assert_ne!(key, SessionKey::of("admins", &id));
    /// assert_eq!(key.to_string().len(), 64);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn of(kind: &str, id: &SessionId) -> Self {
        Self(hash([b"session", kind.as_bytes(), id.to_string().as_bytes()]))
    }

    /// Returns the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl SubjectKey {
    /// Returns the key of a subject among the sessions of a
    /// [kind](crate::SessionCookie::kind).
    #[must_use]
    pub fn of(kind: &str, subject: &str) -> Self {
        Self(hash([b"subject", kind.as_bytes(), subject.as_bytes()]))
    }

    /// Returns the hash.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl<'a> Subject<'a> {
    /// Creates the subject of a session of a
    /// [kind](crate::SessionCookie::kind).
    #[must_use]
    pub fn of(kind: &str, name: &'a str) -> Self {
        Self { name, key: SubjectKey::of(kind, name) }
    }
}

fn write_hex(hash: &[u8; 32], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    hash.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

/// Writes 64 hexadecimal digits.
impl fmt::Display for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

/// Writes 64 hexadecimal digits.
impl fmt::Display for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(&self.0, f)
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({self})")
    }
}

impl fmt::Debug for SubjectKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SubjectKey({self})")
    }
}

impl<S: SessionStore + ?Sized> SessionStore for Arc<S> {
    fn create<'a>(
        &'a self,
        key: &'a SessionKey,
        session: NewSession<'a>,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        (**self).create(key, session)
    }

    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>> {
        (**self).load(key)
    }

    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>> {
        (**self).update(key, version, data, idle)
    }

    fn touch<'a>(
        &'a self,
        key: &'a SessionKey,
        idle: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).touch(key, idle)
    }

    fn destroy<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, StoreError>> {
        (**self).destroy(key)
    }

    fn destroy_all<'a>(
        &'a self,
        subject: &'a SubjectKey,
    ) -> BoxFuture<'a, Result<u64, StoreError>> {
        (**self).destroy_all(subject)
    }
}
