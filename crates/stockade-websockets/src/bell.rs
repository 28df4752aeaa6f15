//! [`Bell`]: wakes the task of a connection, unless it is awake.
//!
//! Handler and driver are one task. When the driver gives the handler a message
//! or the handler gives the driver an answer, the task would be woken to be run
//! again, although it is about to look anyway: a tenth of what a message costs.
//!
//! There are three ropes, so that only that is looked at which has moved.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// What is rung when there is something to do.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    /// A bit for each rope that was pulled, and [`AWAKE`].
    state: AtomicU8,
    // Changed when the task moves, which it does not.
    task: Mutex<Option<Waker>>,
}

/// Who rings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Rope {
    /// The handler can go on.
    Handler = 1,
    /// There is something to be sent.
    Post = 2,
    /// What is seldom: the clock and the shutdown.
    Aside = 4,
}

impl Bell {
    /// A waker that pulls a rope.
    pub(crate) fn waker(self: &Arc<Self>, rope: Rope) -> Waker {
        Waker::from(Arc::new(Pull { bell: Arc::clone(self), rope }))
    }

    /// The task begins to run.
    ///
    /// `known` is the waker that it left here the last time.
    pub(crate) fn wake_up(&self, known: &mut Option<Waker>, cx: &Context<'_>) {
        if !known.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *known = Some(cx.waker().clone());
            *self.task.lock().unwrap_or_else(PoisonError::into_inner) = known.clone();
        }
        self.state.fetch_or(AWAKE, Ordering::SeqCst);
    }

    /// Whether this rope was pulled since the last time.
    pub(crate) fn answer(&self, rope: Rope) -> bool {
        // Most often there is nothing, and a look is cheaper than a change.
        self.state.load(Ordering::SeqCst) & rope as u8 != 0
            && self.state.fetch_and(!(rope as u8), Ordering::SeqCst) & rope as u8 != 0
    }

    /// Has something looked at before the task waits. True when it sleeps, and
    /// nobody else has woken it.
    pub(crate) fn pull(&self, rope: Rope) -> bool {
        self.state.fetch_or(rope as u8, Ordering::SeqCst) == 0
    }

    /// The task is about to wait; false when it must look once more, because the
    /// bell was rung meanwhile.
    pub(crate) fn fall_asleep(&self) -> bool {
        // Whoever rings from now on wakes the task; who rang before is seen.
        self.state.compare_exchange(AWAKE, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// There is no task any more; whoever can still ring does not keep it.
    pub(crate) fn forget_task(&self) {
        self.task.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Pulls a rope, and wakes the task unless it is awake.
    pub(crate) fn ring(&self, rope: Rope) {
        if self.pull(rope) {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            task.iter().for_each(Waker::wake_by_ref);
        }
    }
}

/// A rope in the hands of somebody else.
struct Pull {
    bell: Arc<Bell>,
    rope: Rope,
}

impl Wake for Pull {
    fn wake(self: Arc<Self>) {
        self.bell.ring(self.rope);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.bell.ring(self.rope);
    }
}

/// The task runs, and will look by itself.
const AWAKE: u8 = 8;

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn only_a_task_that_sleeps_is_woken() {
        let (bell, count) = (Arc::new(Bell::default()), Arc::new(Count::default()));
        let task = Waker::from(Arc::clone(&count));
        let woken = || count.0.load(Ordering::Relaxed);
        let post = bell.waker(Rope::Post);
        bell.wake_up(&mut None, &Context::from_waker(&task));
        post.wake_by_ref();
        assert_eq!(woken(), 0, "it is awake");
        assert!(!bell.fall_asleep(), "it must look first");
        assert!(!bell.answer(Rope::Handler) && bell.answer(Rope::Post));
        assert!(!bell.answer(Rope::Post), "answered once");
        assert!(bell.fall_asleep());
        post.wake_by_ref();
        post.wake();
        assert_eq!(woken(), 1, "once is enough");
        bell.wake_up(&mut None, &Context::from_waker(&task));
        assert!(bell.answer(Rope::Post), "what was rung in its sleep is still there");
    }
}
