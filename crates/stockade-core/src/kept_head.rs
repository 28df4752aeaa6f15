//! [`KeptHead`]: the head of a request, for an error function that takes it.

use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use http::request::Parts;
use stockade_errors::locks::lock;

use crate::Request;
use crate::error_handler::ErrorHandler;
use crate::lazy_user::LazyUser;

/// A copy of the head of a request. The request itself belongs to its handler, which may
/// drop it before the error occurs.
///
/// The request has a link to its copy, so that a user who is found later is in the copy too.
pub(crate) struct KeptHead {
    pub(crate) head: Parts,
    pub(crate) client: Option<IpAddr>,
    user: Mutex<LazyUser>,
}

impl KeptHead {
    /// Copies the head of a request.
    #[cold]
    pub(crate) fn of(req: &Request) -> Arc<Self> {
        let user = Mutex::new(req.inner.user.clone());
        Arc::new(Self { head: req.inner.head.clone(), client: req.client_ip(), user })
    }

    /// Returns the user that the request had last.
    pub(crate) fn user(&self) -> LazyUser {
        lock(&self.user).clone()
    }
}

impl fmt::Debug for KeptHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptHead").finish_non_exhaustive()
    }
}

impl Request {
    /// Keeps a copy of the head if an error handler takes it. Returns the copy.
    #[inline]
    pub(crate) fn keep_head(&mut self, handler: Option<&ErrorHandler>) -> Option<Arc<KeptHead>> {
        if !handler.is_some_and(ErrorHandler::takes_head) {
            return None;
        }
        if self.inner.kept_head.is_none() {
            self.inner.kept_head = Some(KeptHead::of(self));
        }
        self.inner.kept_head.clone()
    }

    /// Notes a change of the user in the copy of the head.
    #[inline]
    pub(crate) fn note_user(&self) {
        if let Some(kept) = &self.inner.kept_head {
            *lock(&kept.user) = self.inner.user.clone();
        }
    }
}
