//! [`CallUsers`]: the users of calls that may send notifications later.

use std::collections::HashMap;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use stockade_core::Request;
use stockade_core::extract::UserLifetime;
use stockade_errors::locks::lock;

/// The login sessions of the users that method middleware has authenticated.
/// Clones belong to the same connection.
#[derive(Clone, Debug)]
pub(crate) struct CallUsers {
    /// The watch id of the handshake's user. The WebSocket driver already
    /// watches this user.
    of_handshake: Option<usize>,
    /// One entry for each method, because all its calls have the credentials of
    /// the handshake.
    by_method: Arc<Mutex<HashMap<Box<str>, UserLifetime>>>,
}

impl CallUsers {
    pub(crate) fn of(handshake: &Request) -> Self {
        Self { of_handshake: handshake.user_watch_id(), by_method: Arc::default() }
    }

    /// Adds the user of a call.
    pub(crate) fn add(&self, call: &Request) {
        if !call.has_user_watch() || call.user_watch_id() == self.of_handshake {
            return;
        }
        let method = call.route().unwrap_or_default();
        let mut by_method = lock(&self.by_method);
        if !by_method.contains_key(method)
            && let Some(lifetime) = UserLifetime::of(call)
        {
            by_method.insert(method.into(), lifetime);
        }
    }

    /// Waits until one of the users is logged out. Poll it after the calls,
    /// because they may add users.
    pub(crate) fn poll_end(&self, cx: &mut Context<'_>) -> Poll<()> {
        let mut by_method = lock(&self.by_method);
        let has_ended = by_method.values_mut().any(|it| Pin::new(it).poll(cx).is_ready());
        if has_ended { Poll::Ready(()) } else { Poll::Pending }
    }
}
