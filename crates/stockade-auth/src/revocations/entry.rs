//! [`Revocation`]: one entry, as a log keeps it.

use ring::digest;

use crate::Claims;

/// One revocation, of a token or of all older tokens of a subject, as a log keeps it.
///
/// It has hashes and times only: no token, and nobody's name.
///
/// ```
/// use stockade_auth::Revocation;
///
/// assert_eq!(Revocation::from_bytes(b"something else"), None);
/// ```
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct Revocation {
    name: Name,
    kind: Kind,
    until: u64,
}

/// The first 16 bytes of a SHA-256. Nobody can choose an id or a subject that has the
/// name of another one.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Name([u8; 16]);

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Kind {
    Token,
    /// All tokens of a subject that were issued before this time, in seconds since 1970.
    Subject {
        before: u64,
    },
}

impl Name {
    /// Returns the name of a token: by its id, or by the payload that was signed.
    pub(super) fn of_token(id: Option<&str>, claims: &Claims) -> Self {
        match id {
            Some(id) => Self::of_id(id),
            None => Self::of(b'p', claims.as_json()),
        }
    }

    pub(super) fn of_id(id: &str) -> Self {
        Self::of(b'i', id)
    }

    pub(super) fn of_subject(subject: &str) -> Self {
        Self::of(b's', subject)
    }

    /// Hashes a text of a kind, so that an id and a subject have different names.
    fn of(kind: u8, text: &str) -> Self {
        let mut context = digest::Context::new(&digest::SHA256);
        context.update(&[kind]);
        context.update(text.as_bytes());
        let hash = context.finish();
        let mut name = [0; 16];
        name.iter_mut().zip(hash.as_ref()).for_each(|(to, from)| *to = *from);
        Self(name)
    }

    pub(super) fn first_byte(self) -> u8 {
        self.0[0]
    }
}

impl Revocation {
    pub(super) fn token(name: Name, until: u64) -> Self {
        Self { name, kind: Kind::Token, until }
    }

    pub(super) fn subject(name: Name, before: u64, until: u64) -> Self {
        Self { name, kind: Kind::Subject { before }, until }
    }

    pub(super) fn name(&self) -> Name {
        self.name
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the time from which the entry means nothing any more, in seconds since
    /// 1970.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Returns the entry as bytes: 25 for a token, 33 for a subject, of which the first
    /// is 1 or 2.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SUBJECT_BYTES);
        bytes.push(if matches!(self.kind, Kind::Token) { TOKEN } else { SUBJECT });
        bytes.extend(self.name.0);
        bytes.extend(self.until.to_be_bytes());
        if let Kind::Subject { before } = self.kind {
            bytes.extend(before.to_be_bytes());
        }
        bytes
    }

    /// Reads the bytes of [`to_bytes`](Self::to_bytes), and `None` from others.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (until, rest) = rest.split_first_chunk()?;
        let kind = match (*kind, rest.len()) {
            (TOKEN, 0) => Kind::Token,
            (SUBJECT, _) => Kind::Subject { before: u64::from_be_bytes(rest.try_into().ok()?) },
            _ => return None,
        };
        Some(Self { name: Name(*name), kind, until: u64::from_be_bytes(*until) })
    }
}

const TOKEN: u8 = 1;
const SUBJECT: u8 = 2;
const SUBJECT_BYTES: usize = 33;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_as_they_were_written() {
        let name = Name::of_id("7");
        let token = Revocation::token(name, 1_700_000_000);
        let subject = Revocation::subject(name, u64::MAX, 7);
        assert_eq!((token.to_bytes().len(), subject.to_bytes().len()), (25, 33));
        for entry in [token, subject] {
            let bytes = entry.to_bytes();
            assert_eq!(Revocation::from_bytes(&bytes), Some(entry));
            for length in 0..bytes.len() {
                assert_eq!(Revocation::from_bytes(&bytes[..length]), None);
            }
            assert_eq!(Revocation::from_bytes(&[&bytes[..], b"x"].concat()), None);
        }
        assert_eq!(Revocation::from_bytes(&[3; 33]), None);
    }

    #[test]
    fn names_tell_kinds_apart() {
        assert_ne!(Name::of_id("ada"), Name::of_subject("ada"));
        // The name is that of all processes: it must never change.
        assert_eq!(hex::encode(Name::of_subject("ada").0).len(), 32);
    }
}
