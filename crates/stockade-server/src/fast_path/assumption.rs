//! [`Assumption`]: a rule that hyper follows but does not promise.

use std::fmt;

/// A rule that hyper follows but does not promise.
///
/// The first server of a process checks each of them on the linked hyper
/// ([`probe`](super::probe)).
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Assumption {
    /// hyper flushes the socket only after it has written its whole buffer.
    ///
    /// After a flush, the client can therefore receive all bytes of all
    /// responses. Used by parking and for the next assumption.
    FlushAfterAll,
    /// The first bytes that hyper writes after a flush are the head of a
    /// response. Only `100 Continue` may precede it. The status line is in the
    /// first piece.
    ///
    /// Used by [`HeadWriter`](super::head_writer::HeadWriter). Each round of
    /// hyper processes at most one response, writes its head before its body,
    /// and ends with a flush.
    HeadAfterFlush,
    /// A connection that has sent all responses and was polled once more holds
    /// no bytes from the client except an empty line.
    ///
    /// Used by parking. If hyper holds other bytes, the connection closes and
    /// the close is logged.
    NothingReadAhead,
    /// hyper flushes at the end of each poll, even while a response is pending.
    ///
    /// Used by the peek, which happens in the flush.
    FlushInEachPoll,
    /// hyper serves a connection in memory to its end, without a timer.
    ///
    /// Used by the check of the other assumptions, which is invalid otherwise.
    ServesInMemory,
}

impl Assumption {
    /// Returns the rule, for the sentence "hyper must …".
    fn rule(self) -> &'static str {
        match self {
            Self::FlushAfterAll => "write all responses before it flushes",
            Self::HeadAfterFlush => "begin with the head of a response after a flush",
            Self::NothingReadAhead => "hold no bytes of the client after the last response",
            Self::FlushInEachPoll => "flush in each poll while a response is pending",
            Self::ServesInMemory => "serve a connection in memory to its end",
        }
    }
}

impl fmt::Display for Assumption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}: hyper must {}", self.rule())
    }
}

/// Returns the warning about broken assumptions, or `None` if there are none.
pub(super) fn warning(broken: &[Assumption]) -> Option<String> {
    let broken: Vec<String> = broken.iter().map(Assumption::to_string).collect();
    (!broken.is_empty()).then(|| {
        format!(
            "the linked version of hyper breaks an assumption of stockade ({}). The server uses \
             the plain path: responses are the same, but requests take more time and idle \
             connections more memory. Update stockade to a version that was tested with this \
             hyper. To disable this check, set `hyper_fast_path` to false in `ServerOptions`",
            broken.join("; "),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warning_names_each_broken_assumption() {
        assert_eq!(warning(&[]), None);
        let text = warning(&[Assumption::FlushAfterAll, Assumption::FlushInEachPoll]).unwrap();
        let expected = "(FlushAfterAll: hyper must write all responses before it flushes; \
                        FlushInEachPoll: hyper must flush in each poll while a response is \
                        pending)";
        assert!(text.contains(expected), "{text}");
    }
}
