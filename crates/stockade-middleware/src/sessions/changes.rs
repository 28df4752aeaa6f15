//! The calls of [`Sessions`] that read and write data.

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
        self.asked(self.store.create(&self.key(&id), new)).await?;
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
        let Some(stored) = self.read(&self.key(id)).await? else { return Ok(None) };
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

    /// Runs the function on the data, and returns them as they are to be stored.
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
            let message = format!("The session would have {length} bytes, and {most} are allowed");
            return Err(ApiError::new(413, message));
        }
        Ok(json.into())
    }

    pub(super) fn decoded(&self, data: &[u8]) -> Option<T> {
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
fn contended() -> ApiError {
    ApiError::new(409, "Other requests change the session at the same time")
        .with_header("Retry-After", "1")
}

/// The number of times that a change is tried again.
const REPEATS: u8 = 3;
