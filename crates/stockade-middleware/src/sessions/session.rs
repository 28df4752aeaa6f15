//! [`Session`]: the session of a request.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use http::Method;
use serde::Serialize;
use serde::de::DeserializeOwned;
use stockade_auth::SessionId;
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::extract::OptionalFromRequest;
use stockade_core::{FromRequest, Request, RouteDescription};
use stockade_errors::ApiError;

use super::Sessions;
use crate::CurrentSession;
use crate::auth::no_user;

/// The session of a request with its current data; a handler argument.
///
/// Use it for sessions that may be anonymous, such as the shopping cart of a
/// visitor, and for the login. Inside `with_auth(sessions.auth())` the session
/// is already loaded: `User` has its data, and
/// [`CurrentSession`](crate::CurrentSession) its id.
///
/// The argument uses the cookie of `Sessions<T>`, which must be in the state.
/// If there is no session, the client gets a 401, or an `Option<Session<T>>` is
/// `None`. This includes a missing cookie, a cookie with an invalid signature,
/// and an ended session. A cross-origin request that may change something gets
/// a 403, as described in [`SessionCookie`](crate::SessionCookie). If the store
/// is unavailable, the client gets a 503.
///
/// Use [`Sessions::change`] to change the data.
pub struct Session<T> {
    id: SessionId,
    subject: Option<String>,
    data: T,
}

impl<T> Session<T> {
    pub(super) fn new(id: SessionId, subject: Option<String>, data: T) -> Self {
        Self { id, subject, data }
    }

    /// Returns the session id.
    #[must_use]
    pub fn id(&self) -> &SessionId {
        &self.id
    }

    /// Returns the user of the session, if there is one.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// Returns the session data.
    #[must_use]
    pub fn into_data(self) -> T {
        self.data
    }
}

impl<T> Deref for Session<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T: Serialize + DeserializeOwned + 'static> Session<T> {
    async fn found(
        sessions: Arc<Sessions<T>>,
        req: &mut Request,
    ) -> Result<Option<Self>, ApiError> {
        let Some(id) = sessions.cookie().session_of(req)? else { return Ok(None) };
        let found = sessions.load(&id).await?;
        let has_user = found.as_ref().is_some_and(|session| session.subject.is_some());
        // A long-lived connection ends with its session. `with_auth` may
        // already watch the session.
        if has_user && !CurrentSession::has_found_user(req, sessions.cookie()) {
            req.add_user_watch(sessions);
        }
        Ok(found)
    }
}

/// Returns the sessions in the state.
fn of<T: 'static>(req: &Request) -> Result<Arc<Sessions<T>>, ApiError> {
    req.state().ok_or_else(|| ApiError::new(500, "no state of the type Sessions"))
}

impl<T: Serialize + DeserializeOwned + Send + 'static> FromRequest for Session<T> {
    async fn from_request(req: &mut Request) -> Result<Self, ApiError> {
        let sessions = of(req)?;
        let session = Self::found(Arc::clone(&sessions), req).await?;
        session.ok_or_else(|| sessions.cookie().unauthorized("Unauthorized"))
    }

    fn describe(doc: &mut RouteDescription) {
        Self::describe_optional(doc);
        doc.responds(no_user());
    }
}

impl<T: Serialize + DeserializeOwned + Send + 'static> OptionalFromRequest for Session<T> {
    async fn from_request_optional(req: &mut Request) -> Result<Option<Self>, ApiError> {
        let sessions = of(req)?;
        Self::found(sessions, req).await
    }

    fn describe_optional(doc: &mut RouteDescription) {
        doc.needs_state::<Sessions<T>>();
        if let Some(sessions) = doc.state::<Sessions<T>>() {
            doc.reads_session(sessions.info(doc));
        }
        doc.reads_header("Cookie", false);
        if !matches!(*doc.method(), Method::GET | Method::HEAD | Method::OPTIONS) {
            doc.may_respond(403, "A page of another origin sent the request");
        }
        let retry_after =
            HeaderDoc::new("Retry-After", "The number of seconds until the next attempt");
        let meaning = "The session store is unavailable";
        doc.responds(ResponseDoc::error(503).meaning(meaning).header(retry_after));
    }
}

/// Shows neither the id nor the data.
impl<T> fmt::Debug for Session<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("subject", &self.subject).finish_non_exhaustive()
    }
}
