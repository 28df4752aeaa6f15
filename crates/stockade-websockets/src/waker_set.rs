//! [`WakerSet`]: wakes the task of a connection, unless it is awake.
//!
//! Handler and driver are one task. When the driver gives the handler a message
//! or the handler gives the driver an answer, the task would be woken to be run
//! again, although it is about to look anyway: a tenth of what a message costs.
//!
//! There are three reasons, so that only that is looked at which has moved.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Wake, Waker};

use atomic_waker::AtomicWaker;

/// What is rung when there is something to do.
#[derive(Debug, Default)]
pub(crate) struct WakerSet {
    /// A bit for each reason that was pulled, and [`POLLING`].
    state: AtomicU8,
    task: AtomicWaker,
}

/// Who rings.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WakeReason {
    /// The handler can go on.
    Handler = 1,
    /// There is something to be sent.
    Outgoing = 2,
    /// What is seldom: the clock and the shutdown.
    Housekeeping = 4,
}

impl WakerSet {
    /// A waker that pulls a reason.
    pub(crate) fn waker(self: &Arc<Self>, reason: WakeReason) -> Waker {
        Waker::from(Arc::new(ReasonWaker { set: Arc::clone(self), reason }))
    }

    /// The task begins to run.
    pub(crate) fn begin_poll(&self, cx: &Context<'_>) {
        self.task.register(cx.waker());
        self.state.fetch_or(POLLING, Ordering::SeqCst);
    }

    /// Whether this reason was pulled since the last time.
    pub(crate) fn take_reason(&self, reason: WakeReason) -> bool {
        // Most often there is nothing, and a look is cheaper than a change.
        self.state.load(Ordering::SeqCst) & reason as u8 != 0
            && self.state.fetch_and(!(reason as u8), Ordering::SeqCst) & reason as u8 != 0
    }

    /// Has something looked at before the task waits. True when it sleeps, and
    /// nobody else has woken it.
    pub(crate) fn mark(&self, reason: WakeReason) -> bool {
        self.state.fetch_or(reason as u8, Ordering::SeqCst) == 0
    }

    /// The task is about to wait; false when it must look once more, because the
    /// set was rung meanwhile.
    pub(crate) fn end_poll(&self) -> bool {
        // Whoever rings from now on wakes the task; who rang before is seen.
        self.state.compare_exchange(POLLING, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// There is no task any more; whoever can still ring does not keep it.
    pub(crate) fn clear_task(&self) {
        self.task.take();
    }

    /// Pulls a reason, and wakes the task unless it is awake.
    pub(crate) fn wake_for(&self, reason: WakeReason) {
        if self.mark(reason) {
            self.task.wake();
        }
    }
}

/// A reason in the hands of somebody else.
struct ReasonWaker {
    set: Arc<WakerSet>,
    reason: WakeReason,
}

impl Wake for ReasonWaker {
    fn wake(self: Arc<Self>) {
        self.set.wake_for(self.reason);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.set.wake_for(self.reason);
    }
}

/// The task runs, and will look by itself.
const POLLING: u8 = 8;

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
        let (set, count) = (Arc::new(WakerSet::default()), Arc::new(Count::default()));
        let task = Waker::from(Arc::clone(&count));
        let woken = || count.0.load(Ordering::Relaxed);
        let outgoing = set.waker(WakeReason::Outgoing);
        set.begin_poll(&Context::from_waker(&task));
        outgoing.wake_by_ref();
        assert_eq!(woken(), 0, "it is awake");
        assert!(!set.end_poll(), "it must look first");
        assert!(!set.take_reason(WakeReason::Handler) && set.take_reason(WakeReason::Outgoing));
        assert!(!set.take_reason(WakeReason::Outgoing), "answered once");
        assert!(set.end_poll());
        outgoing.wake_by_ref();
        outgoing.wake();
        assert_eq!(woken(), 1, "once is enough");
        set.begin_poll(&Context::from_waker(&task));
        assert!(set.take_reason(WakeReason::Outgoing), "what was rung in its sleep is still there");
    }
}
