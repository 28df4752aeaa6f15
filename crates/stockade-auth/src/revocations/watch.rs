//! [`RevocationWatch`]: a future that waits for the revocation of one token.

use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use stockade_errors::locks::lock;

use super::beyond::keys_of;
use super::entry::RevocationKey;
use super::table::Table;
use crate::Claims;

/// A future that completes when a revocation of a token, or of its subject, has
/// arrived in this process. Then call
/// [`Revocations::check_or_query`](super::Revocations::check_or_query): a
/// revocation of older tokens of the subject may not affect this one.
///
/// If it is polled again, it waits for the next revocation. Revocations that no
/// process has room for do not arrive, so also check periodically.
///
/// Created by [`Revocations::watch`](super::Revocations::watch).
#[must_use = "futures do nothing unless polled"]
pub struct RevocationWatch {
    table: Arc<Table>,
    keys: Vec<RevocationKey>,
    state: Arc<Mutex<WatchState>>,
}

#[derive(Default)]
struct WatchState {
    has_arrived: bool,
    waker: Option<Waker>,
}

impl RevocationWatch {
    pub(super) fn new(table: Arc<Table>, claims: &Claims) -> Self {
        let (keys, state) = (keys_of(claims), Arc::default());
        table.watchers.add(&keys, &state);
        Self { table, keys, state }
    }
}

impl Future for RevocationWatch {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = lock(&self.state);
        if std::mem::take(&mut state.has_arrived) {
            return Poll::Ready(());
        }
        match &mut state.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => state.waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for RevocationWatch {
    fn drop(&mut self) {
        self.table.watchers.remove(&self.keys, &self.state);
    }
}

impl fmt::Debug for RevocationWatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RevocationWatch")
    }
}

/// The watches of a process, by the keys of the entries that they wait for. An
/// entry wakes only the watches that it affects.
#[derive(Default)]
pub(super) struct Watchers {
    by_key: Mutex<HashMap<RevocationKey, Vec<Arc<Mutex<WatchState>>>>>,
    /// The number of keys. If it is 0, an entry needs no lock.
    count: AtomicUsize,
}

impl Watchers {
    fn add(&self, keys: &[RevocationKey], state: &Arc<Mutex<WatchState>>) {
        let mut by_key = lock(&self.by_key);
        for key in keys {
            by_key.entry(*key).or_default().push(Arc::clone(state));
        }
        self.count.store(by_key.len(), Ordering::SeqCst);
    }

    fn remove(&self, keys: &[RevocationKey], state: &Arc<Mutex<WatchState>>) {
        let mut by_key = lock(&self.by_key);
        for key in keys {
            let Some(states) = by_key.get_mut(key) else { continue };
            states.retain(|other| !Arc::ptr_eq(other, state));
            if states.is_empty() {
                by_key.remove(key);
            }
        }
        self.count.store(by_key.len(), Ordering::SeqCst);
    }

    /// Wakes the watches of a key. Call it after the entry is visible.
    pub(super) fn wake(&self, key: &RevocationKey) {
        if self.count.load(Ordering::SeqCst) == 0 {
            return;
        }
        let states = lock(&self.by_key).get(key).cloned().unwrap_or_default();
        for state in states {
            let mut state = lock(&state);
            state.has_arrived = true;
            let waker = state.waker.take();
            drop(state);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        lock(&self.by_key).len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;
    use std::task::Wake;
    use std::time::SystemTime;

    use serde_json::json;

    use super::*;
    use crate::{Revocations, Secret, generate_jwt, verify_token};

    #[derive(Default)]
    struct Count(AtomicU32);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    fn claims(json: serde_json::Value) -> Claims {
        let secret = Secret::new([7; 32]).unwrap();
        verify_token(&generate_jwt(json, "1h", &secret).unwrap(), &secret).unwrap()
    }

    fn ready<T>(future: impl Future<Output = T>) -> T {
        let mut future = std::pin::pin!(future);
        match future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => value,
            Poll::Pending => panic!("memory does not wait"),
        }
    }

    #[test]
    fn a_revocation_wakes_the_watches_of_its_token_and_subject() {
        let revocations = Revocations::in_memory();
        let (ada, bob) = (
            claims(json!({ "sub": "ada", "jti": "1" })),
            claims(json!({ "sub": "bob", "jti": "2" })),
        );
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let mut cx = Context::from_waker(&waker);
        let mut of_ada = revocations.watch(&ada);
        let mut of_bob = revocations.watch(&bob);
        let mut poll = |watch: &mut RevocationWatch| Pin::new(watch).poll(&mut cx).is_ready();
        assert!(!poll(&mut of_ada) && !poll(&mut of_bob));

        ready(revocations.revoke(&ada)).unwrap();
        assert_eq!(count.0.load(Ordering::SeqCst), 1);
        assert!(poll(&mut of_ada) && !poll(&mut of_bob));
        // It waits for the next revocation.
        assert!(!poll(&mut of_ada));

        ready(revocations.revoke_before(None, "bob", SystemTime::now())).unwrap();
        assert_eq!(count.0.load(Ordering::SeqCst), 2);
        assert!(poll(&mut of_bob) && !poll(&mut of_ada));

        // A revocation is not lost if the watch was not polled yet.
        ready(revocations.revoke_before(None, "bob", SystemTime::now())).unwrap();
        assert!(poll(&mut of_bob));
    }

    #[test]
    fn dropped_watches_leave_no_data() {
        let revocations = Revocations::in_memory();
        let ada = claims(json!({ "sub": "ada", "jti": "1" }));
        let (one, other) = (revocations.watch(&ada), revocations.watch(&ada));
        let keys = one.table.watchers.len();
        assert!(keys > 0);
        drop(one);
        assert_eq!(other.table.watchers.len(), keys);
        let table = Arc::clone(&other.table);
        drop(other);
        assert_eq!(table.watchers.len(), 0);
    }
}
