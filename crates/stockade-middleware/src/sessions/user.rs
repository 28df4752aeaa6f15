//! Authentication with a session, for `with_auth`.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stockade_auth::SessionId;
use stockade_core::request_internals::UserWatch;
use stockade_core::{BoxFuture, Request};
use stockade_errors::ApiError;

use super::Sessions;
use super::store::StoredSession;
use crate::auth::recheck::{INTERVAL, Schedule, Standing, failed_with, until_ended};
use crate::auth::{Auth, SessionSubject};

/// Reports the end of the session that a [`Session`](super::Session) argument
/// contains.
impl<T: 'static> UserWatch for Sessions<T> {
    fn ended(self: Arc<Self>, req: Request) -> BoxFuture<'static, ()> {
        let schedule =
            Schedule { interval: INTERVAL, expiry: None, revocation: None, is_due: false };
        let id = self.cookie.session_of(&req).ok().flatten();
        Box::pin(until_ended(schedule, move || {
            let sessions = Arc::clone(&self);
            Box::pin(async move {
                let Some(id) = id else { return Standing::Ended };
                match sessions.read(&sessions.key(&id)).await {
                    Ok(Some(stored)) if stored.subject.is_some() => Standing::Valid,
                    Ok(_) => Standing::Ended,
                    Err(error) => failed_with(&error),
                }
            })
        }))
    }
}

impl<T: Serialize + DeserializeOwned + 'static> Sessions<T> {
    /// Returns the authentication method for `with_auth`: [`Auth::session`]
    /// with the [cookie](Self::cookie) and the user of
    /// [`lookup`](Self::lookup).
    ///
    /// Rate limits, idempotency keys and [`UserKey`](crate::UserKey) use the
    /// subject of the session, even if the data contains another `sub`.
    pub fn auth(&self) -> Auth {
        let sessions = Arc::new(self.clone());
        let auth =
            Auth::session(self.cookie.clone(), async move |id: SessionId, req: &mut Request| {
                let Some(found) = sessions.user(&id).await? else { return Ok(None) };
                req.extensions_mut().insert(SessionSubject(found.subject));
                Ok::<_, ApiError>(Some(found.user))
            });
        auth.session_times(self.idle, self.lifetime)
    }

    /// Returns the function for [`Auth::session`] that finds the user of a
    /// session.
    ///
    /// If the data is a JSON object, it is the user, with the subject as `sub`
    /// unless it already contains `sub`. Otherwise the user is `{"sub": …,
    /// "data": …}`. A `User<T>` argument therefore contains the data. A session
    /// without a subject does not have a user.
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
            Box::pin(async move { Ok(sessions.user(&id).await?.map(|found| found.user)) })
        }
    }

    async fn user(&self, id: &SessionId) -> Result<Option<SessionUser>, ApiError> {
        let stored = self.read(&self.key(id)).await?;
        Ok(stored.and_then(|stored| self.user_of(stored)))
    }

    fn user_of(&self, stored: StoredSession) -> Option<SessionUser> {
        let subject = stored.subject?;
        // If the data cannot be decoded as a `T`, the session counts as
        // missing.
        self.decoded(&stored.data)?;
        let name = Value::from(&*subject);
        let user = match serde_json::from_slice(&stored.data).ok()? {
            Value::Object(mut user) => {
                user.entry("sub").or_insert(name);
                Value::Object(user)
            }
            data => {
                let members = [("sub".to_owned(), name), ("data".to_owned(), data)];
                Value::Object(Map::from_iter(members))
            }
        };
        Some(SessionUser { user, subject: subject.into() })
    }
}

/// The user of a session, with the subject of the stored session.
struct SessionUser {
    user: Value,
    subject: Arc<str>,
}
