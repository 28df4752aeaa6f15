//! [`Bell`]: wakes the task of a connection, unless it is awake.
//!
//! Handler and driver are one task. When the driver gives the handler a message
//! or the handler gives the driver an answer, the task would be woken to be run
//! again, although it is about to look anyway: a tenth of what a message costs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

/// What is rung when there is something to do.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    /// As `rung`, for what is seldom: the clock and the shutdown.
    rung_aside: AtomicBool,
    /// Whether the task runs, and will look by itself.
    awake: AtomicBool,
    // Changed when the task moves, which it does not.
    task: Mutex<Option<Waker>>,
}

impl Bell {
    /// The task begins to run.
    ///
    /// `known` is the waker that it left here the last time.
    pub(crate) fn wake_up(&self, known: &mut Option<Waker>, cx: &Context<'_>) {
        if !known.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            *known = Some(cx.waker().clone());
            *self.task.lock().unwrap_or_else(PoisonError::into_inner) = known.clone();
        }
        self.awake.store(true, Ordering::SeqCst);
    }

    /// Whether it was rung since the last time.
    pub(crate) fn answer(&self) -> bool {
        self.rung.swap(false, Ordering::SeqCst)
    }

    /// As [`answer`](Self::answer), for the clock and the shutdown.
    pub(crate) fn answer_aside(&self) -> bool {
        // Most often there is nothing.
        self.rung_aside.load(Ordering::SeqCst) && self.rung_aside.swap(false, Ordering::SeqCst)
    }

    /// Has the clock and the shutdown looked at before the task waits.
    pub(crate) fn look_aside(&self) {
        self.rung_aside.store(true, Ordering::SeqCst);
    }

    /// The task is about to wait; false when it must look once more, because the
    /// bell was rung meanwhile.
    pub(crate) fn fall_asleep(&self) -> bool {
        self.awake.store(false, Ordering::SeqCst);
        // Whoever rings from now on wakes the task; who rang before is seen.
        if self.rung.load(Ordering::SeqCst) || self.rung_aside.load(Ordering::SeqCst) {
            self.awake.store(true, Ordering::SeqCst);
            return false;
        }
        true
    }

    /// Wakes the task, unless it is awake.
    fn ring(&self) {
        if !self.awake.load(Ordering::SeqCst) {
            let task = self.task.lock().unwrap_or_else(PoisonError::into_inner);
            task.iter().for_each(Waker::wake_by_ref);
        }
    }
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.rung.store(true, Ordering::SeqCst);
        self.ring();
    }
}

/// A [`Bell`] as the clock and the shutdown ring it.
pub(crate) struct Aside(pub(crate) Arc<Bell>);

impl Wake for Aside {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.look_aside();
        self.0.ring();
    }
}
