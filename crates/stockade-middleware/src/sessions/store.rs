//! [`SessionStore`]: the place where sessions are kept.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use stockade_auth::SessionId;
use stockade_core::BoxFuture;
use stockade_errors::StoreError;

use crate::hashed::hash;

/// A store of sessions: in memory, or outside for several processes.
///
/// Each call is one step. A session that has ended, by a call or by its time, is not
/// there: nothing but [`create`](Self::create) with a new key brings anything back, so
/// that a slow request cannot undo a log-out. Times are given as durations, and the
/// clock is that of the store. An [`Arc`] of a store is a store.
pub trait SessionStore: Send + Sync {
    /// Puts a new session under `key`, with the version 1. The key is new: it is the
    /// hash of a random id.
    ///
    /// Where it replaces another session, that one ends in the same step, and nothing
    /// happens if it is [`SessionWrite::Missing`] or has another version
    /// ([`SessionWrite::Changed`]).
    ///
    /// # Errors
    /// Fails when the store cannot be asked, or has no room.
    fn create<'a>(
        &'a self,
        key: &'a SessionKey,
        session: NewSession<'a>,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>>;

    /// Returns the session under `key`, if there is one.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    fn load<'a>(
        &'a self,
        key: &'a SessionKey,
    ) -> BoxFuture<'a, Result<Option<StoredSession>, StoreError>>;

    /// Replaces the data of a session if it still has this version, which grows by 1
    /// then, and lets its idle time begin anew.
    ///
    /// # Errors
    /// Fails when the store cannot be asked, or has no room for the data.
    fn update<'a>(
        &'a self,
        key: &'a SessionKey,
        version: u64,
        data: Bytes,
        idle: Duration,
    ) -> BoxFuture<'a, Result<SessionWrite, StoreError>>;

    /// Lets the idle time of a session begin anew, and leaves its version. Returns false
    /// if there is none.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    fn touch<'a>(
        &'a self,
        key: &'a SessionKey,
        idle: Duration,
    ) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Ends a session. Returns false if there is none.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    fn destroy<'a>(&'a self, key: &'a SessionKey) -> BoxFuture<'a, Result<bool, StoreError>>;

    /// Ends all sessions of a subject, and returns how many there were.
    ///
    /// # Errors
    /// Fails when the store cannot be asked.
    fn destroy_all<'a>(&'a self, subject: &'a SubjectKey)
    -> BoxFuture<'a, Result<u64, StoreError>>;
}

/// The key of a session in a store: the SHA-256 of its kind and its id. Somebody who can
/// read the store cannot use the sessions in it.
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
    /// The key of the user's sessions, by which [`SessionStore::destroy_all`] finds them.
    pub key: SubjectKey,
}

/// A session to be created.
#[derive(Clone, Debug)]
pub struct NewSession<'a> {
    /// The user whose session it is, if there is one yet.
    pub subject: Option<Subject<'a>>,
    /// The data, which only the program understands.
    pub data: Bytes,
    /// The time after which it ends if nobody uses it.
    pub idle: Duration,
    /// The time after which it ends however it is used.
    pub lifetime: Duration,
    /// The session in whose place it comes.
    pub replaces: Option<ReplacedSession>,
}

/// The session that a new one replaces, if it has this version.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ReplacedSession {
    /// Its key.
    pub key: SessionKey,
    /// The version that was loaded.
    pub version: u64,
}

/// A session as a store has it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct StoredSession {
    /// The user whose session it is, if there is one yet.
    pub subject: Option<String>,
    /// The data.
    pub data: Bytes,
    /// The number of writes of the data.
    pub version: u64,
    /// The time until it ends if nobody uses it.
    pub idle_left: Duration,
    /// The time until it ends however it is used.
    pub lifetime_left: Duration,
}

/// The outcome of a write to a session.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum SessionWrite {
    /// It was done.
    Written,
    /// Another write came first, and nothing was done.
    Changed,
    /// There is no such session (any more), and nothing was done.
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
    /// Makes the subject of a session of a [kind](crate::SessionCookie::kind).
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
