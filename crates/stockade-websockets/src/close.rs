//! [`Close`]: the code and the reason at the end of a connection.
//!
//! Source: RFC 6455, section 7.4 (status codes).

use std::borrow::Cow;
use std::fmt;

/// The code and the reason that one side sends to end a connection.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Close {
    /// The code. The constants of this type are the usual codes. 1005 means
    /// that the client sent no code.
    pub code: u16,
    /// The human-readable reason. At most 123 bytes are sent.
    pub reason: Cow<'static, str>,
}

impl Close {
    /// 1000: normal closure.
    pub const NORMAL: u16 = 1000;
    /// 1001: this side is going away, as in a server shutdown.
    pub const GOING_AWAY: u16 = 1001;
    /// 1002: the peer broke the protocol.
    pub const PROTOCOL: u16 = 1002;
    /// 1003: this side does not accept this kind of data.
    pub const UNSUPPORTED: u16 = 1003;
    /// 1005: the peer sent no code. Never sent.
    pub const NONE: u16 = 1005;
    /// 1007: a text that is not UTF-8.
    pub const INVALID: u16 = 1007;
    /// 1008: the peer broke a rule of the application, such as a message limit.
    pub const POLICY: u16 = 1008;
    /// 1009: a message is too large.
    pub const TOO_LARGE: u16 = 1009;
    /// 1011: the handler failed.
    pub const INTERNAL: u16 = 1011;
    /// 1013: too busy; the client may try again later.
    pub const TRY_AGAIN: u16 = 1013;
    /// 4401: the credentials of the user are no longer valid. The code is
    /// HTTP's 401 in the range for applications.
    pub const LOGGED_OUT: u16 = 4401;

    /// Creates a close with this code and reason.
    ///
    /// 1000 replaces a code that must not be sent (RFC 6455, section 7.4). A
    /// longer reason is truncated to the last whole character within 123 bytes.
    ///
    /// ```
    /// use stockade::websockets::Close;
    ///
    /// let close = Close::new(4_001, "log in again");
    /// assert_eq!(close.to_string(), "4001 (log in again)");
    /// ```
    pub fn new(code: u16, reason: impl Into<Cow<'static, str>>) -> Self {
        Self { code, reason: reason.into() }
    }

    /// Encodes the payload of the close frame.
    pub(crate) fn payload(&self) -> Vec<u8> {
        if self.code == Self::NONE {
            return Vec::new();
        }
        let code = if may_be_sent(self.code) { self.code } else { Self::NORMAL };
        let mut end = self.reason.len().min(MAX_REASON);
        while !self.reason.is_char_boundary(end) {
            end -= 1;
        }
        [&code.to_be_bytes(), &self.reason.as_bytes()[..end]].concat()
    }

    /// Decodes the payload of a close frame.
    pub(crate) fn read(payload: &[u8]) -> Result<Self, Violation> {
        let Some((code, reason)) = payload.split_first_chunk() else {
            return match payload {
                [] => Ok(Self::new(Self::NONE, "")),
                _ => Err(Violation::Protocol("the code of a close frame is cut off")),
            };
        };
        let code = u16::from_be_bytes(*code);
        if !may_be_sent(code) {
            return Err(Violation::Protocol("a close frame has a reserved code"));
        }
        let reason = std::str::from_utf8(reason).map_err(|_| Violation::Text)?;
        Ok(Self::new(code, reason.to_owned()))
    }
}

impl fmt::Display for Close {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.reason {
            "" => write!(f, "{}", self.code),
            reason => write!(f, "{} ({reason})", self.code),
        }
    }
}

/// A rule that a client broke.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Violation {
    /// The WebSocket protocol; the text is the reason sent to the client.
    Protocol(&'static str),
    /// A text is not UTF-8.
    Text,
    /// A message cannot be decompressed.
    #[cfg(feature = "ws-compression")]
    Compressed,
    /// A message is too large.
    TooLarge,
    /// The client sends too many messages per second.
    TooMany,
    /// The client reads too slowly.
    TooSlow,
}

impl Violation {
    /// Returns the close that reports the violation to the client.
    pub(crate) fn close(self) -> Close {
        match self {
            Self::Protocol(message) => Close::new(Close::PROTOCOL, message),
            Self::Text => Close::new(Close::INVALID, "a text message is not UTF-8"),
            #[cfg(feature = "ws-compression")]
            Self::Compressed => Close::new(Close::INVALID, "a message cannot be decompressed"),
            Self::TooLarge => Close::new(Close::TOO_LARGE, "a message is too large"),
            Self::TooMany => Close::new(Close::POLICY, "too many messages"),
            Self::TooSlow => Close::new(Close::POLICY, "messages are read too slowly"),
        }
    }
}

/// Returns true for registered codes and for the ranges of libraries and
/// applications. 1005, 1006 and 1015 never appear in a frame.
///
/// Source: the registry "WebSocket Close Code Number" of IANA, which has 1012
/// to 1014 since RFC 6455.
pub(crate) fn may_be_sent(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// The longest reason in bytes: a control frame's 125 bytes minus the code.
const MAX_REASON: usize = 123;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_reserved_close_codes() {
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535] {
            let read = Close::read(&u16::to_be_bytes(code));
            assert!(matches!(read, Err(Violation::Protocol(_))), "{code}");
        }
        for code in [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999,
            4000, 4999,
        ] {
            assert_eq!(Close::read(&u16::to_be_bytes(code)), Ok(Close::new(code, "")));
        }
    }

    #[test]
    fn close_frames_round_trip() {
        let close = Close::new(Close::GOING_AWAY, "bye");
        assert_eq!(Close::read(&close.payload()), Ok(close));
        assert_eq!(Close::read(&[]), Ok(Close::new(Close::NONE, "")));
        assert!(Close::new(Close::NONE, "").payload().is_empty());
        assert!(matches!(Close::read(&[3]), Err(Violation::Protocol(_))));
        assert_eq!(Close::read(&[3, 232, 0xff]), Err(Violation::Text));
    }

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let payload = Close::new(1000, "ü".repeat(100)).payload();
        assert_eq!(payload.len(), 2 + 122);
        assert_eq!(Close::new(1005 + 1, "").payload(), [3, 232]);
    }
}
