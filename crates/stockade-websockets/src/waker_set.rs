//! [`WakerSet`]: wakes the task of a connection, unless the task is running.
//!
//! The handler and the driver share one task. Each message between them would
//! wake that task, although it is running and about to check anyway. The
//! superfluous wake costs a tenth of a message.
//!
//! The task is woken for one of three reasons and polls only the part that has
//! work.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Wake, Waker};

use atomic_waker::AtomicWaker;

/// The pending wake reasons of a task, and its waker.
#[derive(Debug, Default)]
pub(crate) struct WakerSet {
    /// One bit per pending reason, and [`POLLING`].
    state: AtomicU8,
    task: AtomicWaker,
}

/// The part of a connection that has work.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum WakeReason {
    /// The handler can make progress.
    Handler = 1,
    /// A message is ready to be sent.
    Outgoing = 2,
    /// A timeout or the shutdown is due, which is rare.
    Housekeeping = 4,
}

impl WakerSet {
    /// Returns a waker that sets `reason` and wakes the task.
    pub(crate) fn waker(self: &Arc<Self>, reason: WakeReason) -> Waker {
        Waker::from(Arc::new(ReasonWaker { set: Arc::clone(self), reason }))
    }

    /// Marks the task as running, and stores its waker.
    pub(crate) fn begin_poll(&self, cx: &Context<'_>) {
        self.task.register(cx.waker());
        self.state.fetch_or(POLLING, Ordering::SeqCst);
    }

    /// Returns true if `reason` was set since the last call, and clears it.
    pub(crate) fn take_reason(&self, reason: WakeReason) -> bool {
        // Usually the bit is not set, and a load is cheaper than a swap.
        self.state.load(Ordering::SeqCst) & reason as u8 != 0
            && self.state.fetch_and(!(reason as u8), Ordering::SeqCst) & reason as u8 != 0
    }

    /// Sets `reason` for the task to handle before it waits. Returns true if
    /// the task must be woken: it is not running, and no other reason is set.
    pub(crate) fn mark(&self, reason: WakeReason) -> bool {
        self.state.fetch_or(reason as u8, Ordering::SeqCst) == 0
    }

    /// Marks the task as waiting. Returns false if a reason was set meanwhile;
    /// the task must then check once more.
    pub(crate) fn end_poll(&self) -> bool {
        // From here on, a new reason wakes the task; an earlier one fails this
        // exchange.
        self.state.compare_exchange(POLLING, 0, Ordering::SeqCst, Ordering::SeqCst).is_ok()
    }

    /// Drops the waker of a finished task, because the handler's wakers would
    /// otherwise keep the task in memory.
    pub(crate) fn clear_task(&self) {
        self.task.take();
    }

    /// Sets `reason`, and wakes the task unless it is running.
    pub(crate) fn wake_for(&self, reason: WakeReason) {
        if self.mark(reason) {
            self.task.wake();
        }
    }
}

/// The [`Waker`] implementation for one reason.
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

/// The bit of a running task, which checks the reasons itself.
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
    fn wakes_only_sleeping_tasks() {
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
