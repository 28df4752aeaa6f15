//! The methods of [`Sessions`] that read and write data.

use std::time::Duration;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_auth::SessionId;
use stockade_errors::ApiError;
use tokio::time::sleep;

use super::store::{ReplacedSession, SessionWrite, StoredSession};
use super::{Session, Sessions, SetSession};

impl<T: Serialize + DeserializeOwned> Sessions<T> {
    /// Begins a session with a new id. The subject identifies its user for
    /// [`end_all`](Self::end_all), for example `user:7`. A session without a
    /// subject authenticates no user.
    ///
    /// If the request already has a session, [`renew`](Self::renew) preserves
    /// its data.
    ///
    /// # Errors
    /// Returns a 413 if the data is larger than [`max_bytes`](Self::max_bytes),
    /// and a 503 if the store is unavailable or full. Returns a 500 if the data
    /// cannot be JSON, if a subject is empty or longer than 255 bytes, or if
    /// the operating system provides no randomness.
    pub async fn begin(&self, subject: Option<&str>, data: &T) -> Result<SetSession, ApiError> {
        let new = self.new_session(subject, self.encoded(data)?, None)?;
        let id = new_id()?;
        self.asked(self.store.create(&self.key(&id), new)).await?;
        Ok(SetSession::new(self.cookie.issue(&id), Some(id)))
    }

    /// Returns a session, if it has not ended.
    ///
    /// If the data cannot be parsed as `T`, for example because another version
    /// of the program wrote it, there is no session. This is logged at warn
    /// level, at most once a second.
    ///
    /// # Errors
    /// Returns a 503 if the store is unavailable.
    pub async fn load(&self, id: &SessionId) -> Result<Option<Session<T>>, ApiError> {
        let Some(stored) = self.read(&self.key(id)).await? else { return Ok(None) };
        let data = self.decoded(&stored.data);
        Ok(data.map(|data| Session::new(*id, stored.subject, data)))
    }

    /// Changes the data of a session with a function, and returns the
    /// function's result.
    ///
    /// Concurrent changes are never lost: if another request has changed the
    /// data first, the function runs again with the new data, up to three more
    /// times. The function must only change the data. Unchanged data is not
    /// written.
    ///
    /// # Errors
    /// Returns a 401 if the session has ended, a 409 if other changes came
    /// first each time, and a 413 if the data becomes larger than
    /// [`max_bytes`](Self::max_bytes). Returns a 503 if the store is
    /// unavailable or full, and a 500 if the data cannot be JSON. The data is
    /// not changed, except possibly after a 503.
    pub async fn change<R>(
        &self,
        id: &SessionId,
        mut change: impl FnMut(&mut T) -> R,
    ) -> Result<R, ApiError> {
        let key = self.key(id);
        let _changing = self.changing(&key);
        for repeat in 0..=REPEATS {
            pause(repeat).await;
            let stored = self.used(&key).await?.ok_or_else(|| self.ended())?;
            let (outcome, data) = self.changed(&stored, &mut change)?;
            if data == stored.data {
                return Ok(outcome);
            }
            let update = self.store.update(&key, stored.version, data, self.idle);
            match self.asked(update).await? {
                SessionWrite::Written => return Ok(outcome),
                SessionWrite::Missing => return Err(self.ended()),
                SessionWrite::Changed => {}
            }
        }
        Err(contended())
    }

    /// Sets a new id and a subject of a session in one step: the old id becomes
    /// invalid. The function may change the data, as in
    /// [`change`](Self::change). The lifetime begins again.
    ///
    /// Call it at each login and each gain of rights: others may know an
    /// earlier id.
    ///
    /// # Errors
    /// Returns the errors of [`begin`](Self::begin) and
    /// [`change`](Self::change).
    pub async fn renew(
        &self,
        id: &SessionId,
        subject: Option<&str>,
        mut change: impl FnMut(&mut T),
    ) -> Result<SetSession, ApiError> {
        let key = self.key(id);
        let _changing = self.changing(&key);
        for repeat in 0..=REPEATS {
            pause(repeat).await;
            let stored = self.used(&key).await?.ok_or_else(|| self.ended())?;
            let ((), data) = self.changed(&stored, &mut change)?;
            let replaced = ReplacedSession { key, version: stored.version };
            let new = self.new_session(subject, data, Some(replaced))?;
            let id = new_id()?;
            match self.asked(self.store.create(&self.key(&id), new)).await? {
                SessionWrite::Written => {
                    return Ok(SetSession::new(self.cookie.issue(&id), Some(id)));
                }
                SessionWrite::Missing => return Err(self.ended()),
                SessionWrite::Changed => {}
            }
        }
        Err(contended())
    }

    /// Runs the function on the data, and returns the data to store.
    fn changed<R>(
        &self,
        stored: &StoredSession,
        change: &mut impl FnMut(&mut T) -> R,
    ) -> Result<(R, Bytes), ApiError> {
        let mut data = self.decoded(&stored.data).ok_or_else(|| self.ended())?;
        let outcome = change(&mut data);
        Ok((outcome, self.encoded(&data)?))
    }

    #[cold]
    fn ended(&self) -> ApiError {
        self.cookie.unauthorized("The session has ended")
    }

    fn encoded(&self, data: &T) -> Result<Bytes, ApiError> {
        let json = serde_json::to_vec(data).map_err(ApiError::internal)?;
        if json.len() > self.max_bytes {
            let (length, most) = (json.len(), self.max_bytes);
            let message = format!("The session must have at most {most} bytes, found {length}");
            return Err(ApiError::new(413, message));
        }
        Ok(json.into())
    }

    pub(super) fn decoded(&self, data: &[u8]) -> Option<T> {
        let decoded = serde_json::from_slice(data);
        if let Err(error) = &decoded
            && let Some(unlogged) = self.unreadable.next()
        {
            // Logs only the position of the error, because its text may contain
            // data.
            log::warn!(
                target: "stockade",
                "the data of a session does not match its type, like {unlogged} others before: \
                 column {}", error.column()
            );
        }
        decoded.ok()
    }
}

fn new_id() -> Result<SessionId, ApiError> {
    SessionId::generate().map_err(ApiError::internal)
}

/// Waits for a random time before a retry, so that conflicting requests do not
/// conflict again.
async fn pause(repeat: u8) {
    let mut random = [0];
    if repeat > 0 && getrandom::fill(&mut random).is_ok() {
        let [random] = random;
        sleep(Duration::from_millis(u64::from(random % 16) * u64::from(repeat))).await;
    }
}

#[cold]
fn contended() -> ApiError {
    ApiError::new(409, "Other requests are changing the session at the same time")
        .with_header("Retry-After", "1")
}

/// The number of retries of a change.
const REPEATS: u8 = 3;
