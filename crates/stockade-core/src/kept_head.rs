//! [`KeptHead`]: the head of a request, for an error function that needs it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Mutex;

use http::request::Parts;
use stockade_errors::locks::lock;

use crate::lazy_user::LazyUser;

/// A copy of the head of a request. The handler owns the request and may drop
/// it before the error occurs.
///
/// The request has a link to its copy, so a later change of the user also
/// reaches the copy.
pub(crate) struct KeptHead {
    pub(crate) head: Parts,
    pub(crate) client: Option<IpAddr>,
    user: Mutex<LazyUser>,
}

impl KeptHead {
    pub(crate) fn new(head: Parts, client: Option<IpAddr>, user: LazyUser) -> Self {
        Self { head, client, user: Mutex::new(user) }
    }

    /// Records a change of the user.
    pub(crate) fn set_user(&self, user: LazyUser) {
        *lock(&self.user) = user;
    }

    /// Returns the most recent user of the request.
    pub(crate) fn user(&self) -> LazyUser {
        lock(&self.user).clone()
    }
}

impl fmt::Debug for KeptHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeptHead").finish_non_exhaustive()
    }
}
