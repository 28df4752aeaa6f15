//! The user of a session, for `with_auth`.

use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use stockade_auth::SessionId;
use stockade_core::BoxFuture;
use stockade_errors::ApiError;

use super::Sessions;
use super::store::{SessionKey, StoredSession};
use crate::auth::Auth;

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
                let stored = sessions.read(&SessionKey::of(&id)).await?;
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
