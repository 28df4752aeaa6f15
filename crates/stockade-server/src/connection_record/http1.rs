//! The state of an HTTP/1 connection.

use std::sync::atomic::{AtomicBool, Ordering};

use stockade_routing::__internal::HeadSink;

use crate::fast_path::exchanges::Exchanges;

#[derive(Debug)]
pub(crate) struct Http1State {
    /// The requests and responses.
    pub(crate) exchanges: Exchanges,
    /// Headers of the next response that are written without hyper.
    pub(crate) sink: HeadSink,
    /// True if the connection uses [`fast_path`](crate::fast_path).
    fast_path: bool,
    /// The response to the running request is the last one.
    close_after: AtomicBool,
    /// A body was too large to be copied after its head.
    wants_vectored: AtomicBool,
    /// hyper writes bodies without a copy.
    is_vectored: AtomicBool,
}

impl Http1State {
    pub(super) fn new(fast_path: bool) -> Self {
        Self {
            exchanges: Exchanges::new(),
            sink: HeadSink::default(),
            fast_path,
            close_after: AtomicBool::new(false),
            wants_vectored: AtomicBool::new(false),
            is_vectored: AtomicBool::new(false),
        }
    }

    /// Returns the sink of the next head that hyper writes, for a response that
    /// is ready now. Returns `None` if another head comes first, or on the
    /// plain path.
    pub(crate) fn head_sink(&self) -> Option<&HeadSink> {
        (self.fast_path && self.exchanges.is_flushed()).then_some(&self.sink)
    }

    /// Makes the response to the running request the last one.
    pub(crate) fn close_after(&self) {
        self.close_after.store(true, Ordering::Relaxed);
    }

    /// Returns true if the response to the running request is the last one.
    pub(crate) fn closes_after(&self) -> bool {
        self.close_after.load(Ordering::Relaxed)
    }

    /// Returns false on the plain path, which copies all bodies because the
    /// choice requires parking.
    pub(super) fn want_vectored(&self) -> bool {
        self.wants_vectored.store(self.fast_path, Ordering::Relaxed);
        self.fast_path
    }

    /// Decides whether a new hyper part writes bodies without a copy.
    pub(crate) fn decide_on_vectored(&self) -> bool {
        let wants = self.wants_vectored.load(Ordering::Relaxed);
        self.is_vectored.store(wants, Ordering::Relaxed);
        wants
    }

    /// Returns true if hyper writes bodies without a copy.
    pub(crate) fn is_vectored(&self) -> bool {
        self.is_vectored.load(Ordering::Relaxed)
    }
}
