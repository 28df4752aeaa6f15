//! [`SetSession`]: the part of a response with the session cookie.

use std::fmt;

use http::{HeaderValue, header};
use stockade_auth::SessionId;
use stockade_core::description::{HeaderDoc, ResponseDoc};
use stockade_core::reply::ReplyPart;
use stockade_core::{ApiError, Response};

/// The cookie that begins or ends a session in the browser: part of a response,
/// as in `(sessions.begin(Some("user:7"), &data).await?, "welcome")`.
///
/// It also sets `Cache-Control: no-store`, unless the response has another
/// value: a cache that stored the cookie would expose the session to others.
#[derive(Clone)]
#[must_use = "the browser receives it only as part of a response"]
pub struct SetSession {
    cookie: HeaderValue,
    id: Option<SessionId>,
}

impl SetSession {
    pub(super) fn new(cookie: HeaderValue, id: Option<SessionId>) -> Self {
        Self { cookie, id }
    }

    /// Returns the id of the session that begins, or `None` if one ends.
    #[must_use]
    pub fn id(&self) -> Option<SessionId> {
        self.id
    }
}

impl ReplyPart for SetSession {
    fn apply(self, response: &mut Response) -> Result<(), ApiError> {
        let headers = response.headers_mut();
        headers.append(header::SET_COOKIE, self.cookie);
        let no_store = HeaderValue::from_static("no-store");
        headers.entry(header::CACHE_CONTROL).or_insert(no_store);
        Ok(())
    }

    fn describe(answer: &mut ResponseDoc) {
        answer.headers.push(HeaderDoc::new("Set-Cookie", "The cookie of the session"));
        answer.headers.push(HeaderDoc::new("Cache-Control", "`no-store`, by default"));
    }
}

/// Does not show the id, which is also in the cookie.
impl fmt::Debug for SetSession {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SetSession").field("begins", &self.id.is_some()).finish_non_exhaustive()
    }
}
