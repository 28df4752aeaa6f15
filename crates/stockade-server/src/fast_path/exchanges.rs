//! [`Exchanges`]: counts the requests and responses on an HTTP/1 connection.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The requests and responses of an HTTP/1 connection, counted by this crate
/// only.
///
/// A connection may be parked only between two requests. hyper knows this
/// point, but does not report it. This type derives it from facts that do not
/// depend on when hyper is polled. The [`Guard`](crate::guard::Guard) follows
/// every byte of the client and knows the end of each message.
/// [`ResponseBody`](crate::ResponseBody) knows when a response is complete.
///
/// All fields are written by the connection's task. The sweep only reads them.
#[derive(Debug)]
pub(crate) struct Exchanges {
    /// The number of completely received requests; the lowest two bits contain
    /// the [`Part`] of the next request.
    received: AtomicU64,
    /// The number of responses completely passed to hyper.
    answered: AtomicU64,
    /// True if the socket has accepted all bytes of all responses.
    is_flushed: AtomicBool,
    /// True if this connection must never be parked.
    is_pinned: AtomicBool,
}

/// The part of a request that the client's next byte belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// Nothing has arrived since the end of the previous request.
    Start = 0,
    /// A head has begun.
    Head = 1,
    /// A head has arrived, and more of its body must follow.
    Body = 2,
}

impl Exchanges {
    pub(crate) fn new() -> Self {
        Self {
            received: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            is_flushed: AtomicBool::new(false),
            is_pinned: AtomicBool::new(false),
        }
    }

    /// Records the number of completely received requests, and the part of the
    /// next one.
    pub(crate) fn received(&self, requests: u64, next: Part) {
        self.received.store(requests << PART_BITS | next as u64, Ordering::Relaxed);
    }

    /// Returns the number of completely received requests.
    pub(crate) fn requests(&self) -> u64 {
        self.received.load(Ordering::Relaxed) >> PART_BITS
    }

    /// Records that hyper has received a complete response.
    pub(crate) fn answered(&self) {
        // Only the connection's task writes it.
        let answered = self.answered.load(Ordering::Relaxed) + 1;
        self.answered.store(answered, Ordering::Relaxed);
        self.is_flushed.store(false, Ordering::Relaxed);
    }

    /// Records whether the socket has accepted all written bytes.
    pub(crate) fn set_flushed(&self, is_flushed: bool) {
        self.is_flushed.store(is_flushed, Ordering::Relaxed);
    }

    /// Returns true if the socket has accepted all written bytes.
    pub(crate) fn is_flushed(&self) -> bool {
        self.is_flushed.load(Ordering::Relaxed)
    }

    /// Excludes the connection from parking for the rest of its life. Call it
    /// if a body was not read, if the client waits for `100 Continue`, or if
    /// one side has announced the close. In these cases only hyper knows the
    /// end of the current request.
    #[cold]
    pub(crate) fn pin(&self) {
        self.is_pinned.store(true, Ordering::Relaxed);
    }

    /// Returns true if the head of the next request has begun but is not
    /// complete.
    pub(crate) fn is_in_head(&self) -> bool {
        self.received.load(Ordering::Relaxed) & PART_MASK == Part::Head as u64
    }

    /// Returns the number of exchanges if all are complete and the next request
    /// has not begun. Returns `None` while anything is unread or unwritten, and
    /// after [`pin`](Self::pin).
    pub(crate) fn complete(&self) -> Option<u64> {
        let received = self.received.load(Ordering::Relaxed);
        let answered = self.answered.load(Ordering::Relaxed);
        let is_complete = received == answered << PART_BITS | Part::Start as u64;
        let may_park = is_complete && self.is_flushed() && !self.is_pinned.load(Ordering::Relaxed);
        may_park.then_some(answered)
    }
}

const PART_BITS: u32 = 2;
const PART_MASK: u64 = (1 << PART_BITS) - 1;

#[cfg(test)]
mod tests {
    use super::*;

    /// One fact about a connection.
    #[derive(Clone, Copy, Debug)]
    enum Fact {
        Received(u64, Part),
        Answered,
        Flushed,
        Pinned,
    }

    #[test]
    fn complete_only_if_each_request_has_a_response_and_nothing_waits() {
        use Fact::{Answered, Flushed, Pinned, Received};
        use Part::{Body, Head, Start};

        #[track_caller]
        fn check(facts: &[Fact], expected: Option<u64>) {
            let exchanges = Exchanges::new();
            for fact in facts {
                match *fact {
                    Received(requests, next) => exchanges.received(requests, next),
                    Answered => exchanges.answered(),
                    Flushed => exchanges.set_flushed(true),
                    Pinned => exchanges.pin(),
                }
            }
            assert_eq!(exchanges.complete(), expected, "{facts:?}");
        }

        check(&[Received(1, Start), Answered, Flushed], Some(1));
        check(&[Received(2, Start), Answered, Flushed, Answered, Flushed], Some(2));
        // The next request has begun.
        check(&[Received(1, Head), Answered, Flushed], None);
        check(&[Received(1, Body), Answered, Flushed], None);
        // A request arrived without a response, or with an incomplete body.
        check(&[Received(2, Start), Answered, Flushed], None);
        check(&[Received(0, Body), Answered, Flushed], None);
        check(&[Received(0, Start), Answered, Flushed], None);
        // A response was produced but not written.
        check(&[Received(1, Start), Answered], None);
        check(&[Received(1, Start), Flushed, Answered], None);
        check(&[Received(1, Start), Pinned, Answered, Flushed], None);
        check(&[Received(1, Start), Answered, Flushed, Pinned], None);
    }
}
