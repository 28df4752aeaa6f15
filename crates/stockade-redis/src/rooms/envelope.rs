//! The format of messages in the log ([`Envelope`]) and as published
//! ([`Heard`]).

use std::str;

use stockade_websockets::SocketId;

/// A message with its sender. [`write`](Self::write) and [`read`](Self::read)
/// use the format `node count except text`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Envelope<'a> {
    /// The process that sent the message.
    pub(crate) node: u64,
    /// The sequence number within the sending process. It reveals messages that
    /// were published again.
    pub(crate) count: u64,
    pub(crate) except: Option<SocketId>,
    pub(crate) text: &'a str,
}

impl<'a> Envelope<'a> {
    pub(crate) fn write(&self) -> Vec<u8> {
        let Self { node, count, except, text } = self;
        match except {
            Some(except) => format!("{node:016x} {count} {except} {text}"),
            None => format!("{node:016x} {count} - {text}"),
        }
        .into_bytes()
    }

    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut parts = str::from_utf8(bytes).ok()?.splitn(4, ' ');
        let node = u64::from_str_radix(parts.next()?, 16).ok()?;
        let count = parts.next()?.parse().ok()?;
        let except = match parts.next()? {
            "-" => None,
            except => Some(except.parse().ok()?),
        };
        Some(Self { node, count, except, text: parts.next()? })
    }
}

/// A published message: `epoch number envelope`.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Heard<'a> {
    /// The epoch of the number, or [`UNNUMBERED`] for a message without one.
    pub(crate) epoch: &'a str,
    pub(crate) number: u64,
    pub(crate) envelope: Envelope<'a>,
}

impl<'a> Heard<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut parts = bytes.splitn(3, |byte| *byte == b' ');
        let mut word = || parts.next();
        let epoch = str::from_utf8(word()?).ok()?;
        let number = str::from_utf8(word()?).ok()?.parse().ok()?;
        Some(Self { epoch, number, envelope: Envelope::read(word()?)? })
    }
}

/// The epoch of messages that are published but not stored.
pub(crate) const UNNUMBERED: &str = "-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_round_trip() {
        let except = Some("00ff".parse().unwrap());
        for (except, text) in [(None, ""), (except, "a b  c"), (None, " - 7 κόσμε\n")] {
            let envelope = Envelope { node: 0xabc, count: 7, except, text };
            assert_eq!(Envelope::read(&envelope.write()), Some(envelope));
            let published = [b"e1 12 ".as_slice(), &envelope.write()].concat();
            let heard = Heard { epoch: "e1", number: 12, envelope };
            assert_eq!(Heard::read(&published), Some(heard));
        }
        for wrong in ["", "x", "e 1", "e 1 0a 1 -", "e x 0a 1 - text", "e 1 0a 1 zz text"] {
            assert_eq!(Heard::read(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(Heard::read(b"e 1 0a 1 - \xff"), None);
    }
}
