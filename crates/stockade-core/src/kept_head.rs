//! [`KeptHead`]: the head of a request, for an error function that takes it.

use std::fmt;
use std::net::IpAddr;
use std::sync::Mutex;

use http::request::Parts;
use stockade_errors::locks::lock;

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
    pub(crate) fn new(head: Parts, client: Option<IpAddr>, user: LazyUser) -> Self {
        Self { head, client, user: Mutex::new(user) }
    }

    /// Notes a change of the user.
    pub(crate) fn set_user(&self, user: LazyUser) {
        *lock(&self.user) = user;
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
