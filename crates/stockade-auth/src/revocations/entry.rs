//! [`Revocation`]: one entry in the format of a log.

use ring::digest;

use crate::Claims;

/// One revocation of a token, or of all older tokens of a subject, in the
/// format of a log.
///
/// It contains only hashes and times: no tokens and no names of users.
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

/// The name of an entry, the same in all processes. It consists of a quick hash
/// of 4 bytes, which identifies nearly every token without a revocation, and
/// the first 12 bytes of a SHA-256, which prevents chosen collisions between
/// ids or subjects.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) struct Name([u8; 16]);

/// The input for the computation of a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'t> {
    /// Separates ids, subjects and payloads.
    kind: u8,
    /// The issuer of the id or subject. A payload already contains its issuer.
    issuer: Option<&'t str>,
    text: &'t str,
}

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Kind {
    Token,
    /// All tokens of a subject that were issued before this time, in seconds
    /// since 1970. Written by earlier versions.
    Subject {
        before: u64,
    },
    /// All tokens of a subject that were issued before this time, in
    /// milliseconds since 1970.
    SubjectMillis {
        before: u64,
    },
    /// Not a token, but a note that the log has more entries than the processes
    /// hold.
    Beyond,
}

/// The first bytes of an entry: its kind and its name. Entries with the same
/// key are one revocation.
pub type RevocationKey = [u8; 17];

impl<'t> Named<'t> {
    /// Identifies a token by its id, or by the signed payload.
    pub(super) fn token(claims: &'t Claims) -> Self {
        match claims.marked_id() {
            Some(id) => Self::id(claims.marked_issuer(), id),
            None => Self { kind: PAYLOAD, issuer: None, text: claims.as_json() },
        }
    }

    pub(super) fn id(issuer: Option<&'t str>, text: &'t str) -> Self {
        Self { kind: b'i', issuer, text }
    }

    pub(super) fn subject(issuer: Option<&'t str>, text: &'t str) -> Self {
        Self { kind: b's', issuer, text }
    }

    /// Returns the subject of a token, if it has one.
    pub(super) fn subject_of(claims: &'t Claims) -> Option<Self> {
        let subject = claims.marked_subject()?;
        Some(Self::subject(claims.marked_issuer(), subject))
    }

    /// Returns the quick hash: a multiplication for each 8 bytes. It does not
    /// contain the issuer; the complete name distinguishes issuers.
    pub(super) fn quick(self) -> u32 {
        let (words, rest) = self.text.as_bytes().as_chunks();
        let mut last = [0; 8];
        last.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        let first = (self.text.len() as u64) << 8 | u64::from(self.kind);
        let words = words.iter().chain([&last]).map(|word| u64::from_le_bytes(*word));
        let hash = words.fold(first.wrapping_mul(FACTOR), |hash, word| {
            (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR)
        });
        // The upper half has the better distribution.
        (hash >> 32) as u32
    }

    pub(super) fn name(self) -> Name {
        if self.kind == PAYLOAD {
            return self.unbound_name();
        }
        let length = |text: &str| (text.len() as u64).to_be_bytes();
        match self.issuer {
            Some(issuer) => {
                let issuer = [&length(issuer), issuer.as_bytes()];
                self.hashed([&[BOUND, self.kind, 1], issuer[0], issuer[1], self.text.as_bytes()])
            }
            None => self.hashed([&[BOUND, self.kind, 0], &[], &[], self.text.as_bytes()]),
        }
    }

    /// Returns the name in the format of earlier versions, which did not
    /// contain the issuer. Such entries revoke the tokens of all issuers, and
    /// logs have them until they expire.
    pub(super) fn unbound_name(self) -> Name {
        self.hashed([&[self.kind], &[], &[], self.text.as_bytes()])
    }

    fn hashed(self, parts: [&[u8]; 4]) -> Name {
        let mut context = digest::Context::new(&digest::SHA256);
        parts.iter().for_each(|part| context.update(part));
        let hash = context.finish();
        let mut name = [0; 16];
        let bytes = self.quick().to_be_bytes();
        name.iter_mut().zip(bytes.iter().chain(hash.as_ref())).for_each(|(to, from)| *to = *from);
        Name(name)
    }
}

impl Kind {
    fn byte(self) -> u8 {
        match self {
            Self::Token => TOKEN,
            Self::Subject { .. } => SUBJECT,
            Self::SubjectMillis { .. } => SUBJECT_MILLIS,
            Self::Beyond => BEYOND,
        }
    }
}

impl Name {
    /// Returns the quick hash.
    pub(super) fn quick(self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_be_bytes([a, b, c, d])
    }
}

impl Revocation {
    pub(super) fn token(name: Name, until: u64) -> Self {
        Self { name, kind: Kind::Token, until }
    }

    pub(super) fn subject(name: Name, before: u64, until: u64) -> Self {
        Self { name, kind: Kind::Subject { before }, until }
    }

    pub(super) fn subject_millis(name: Name, before: u64, until: u64) -> Self {
        Self { name, kind: Kind::SubjectMillis { before }, until }
    }

    /// Creates a note that the log has revocations above
    /// [`max_entries`](super::Revocations::max_entries), which expire no later
    /// than this time in seconds since 1970. It is stored and restored like an
    /// entry.
    #[must_use]
    pub fn beyond(until: u64) -> Self {
        Self { name: Name([0; 16]), kind: Kind::Beyond, until }
    }

    /// Returns true if it is such a note.
    #[must_use]
    pub fn is_beyond(&self) -> bool {
        self.kind == Kind::Beyond
    }

    /// Returns the kind and the name, which are the first 17 bytes.
    #[must_use]
    pub fn key(&self) -> RevocationKey {
        let mut key = [self.kind.byte(); 17];
        key.iter_mut().skip(1).zip(self.name.0).for_each(|(to, from)| *to = from);
        key
    }

    pub(super) fn name(&self) -> Name {
        self.name
    }

    pub(super) fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the time when the entry expires, in seconds since 1970.
    #[must_use]
    pub fn until(&self) -> u64 {
        self.until
    }

    /// Returns the entry as bytes: 25 for a token (the first byte is 1) and a
    /// note (3), 33 for a subject (4, or 2 in entries of earlier versions).
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(SUBJECT_BYTES);
        bytes.extend(self.key());
        bytes.extend(self.until.to_be_bytes());
        if let Kind::Subject { before } | Kind::SubjectMillis { before } = self.kind {
            bytes.extend(before.to_be_bytes());
        }
        bytes
    }

    /// Parses the bytes of [`to_bytes`](Self::to_bytes); `None` for other
    /// bytes.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        let (name, rest) = rest.split_first_chunk()?;
        let (until, rest) = rest.split_first_chunk()?;
        let before = || rest.try_into().ok().map(u64::from_be_bytes);
        let kind = match (*kind, rest.len()) {
            (TOKEN, 0) => Kind::Token,
            (BEYOND, 0) => Kind::Beyond,
            (SUBJECT, _) => Kind::Subject { before: before()? },
            (SUBJECT_MILLIS, _) => Kind::SubjectMillis { before: before()? },
            _ => return None,
        };
        Some(Self { name: Name(*name), kind, until: u64::from_be_bytes(*until) })
    }
}

/// The fractional part of the golden ratio: an odd number with evenly
/// distributed bits.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
/// The kind of a payload.
const PAYLOAD: u8 = b'p';
/// The first byte of the hash input for a name with an issuer. It differs from
/// all kinds.
const BOUND: u8 = b'b';
const TOKEN: u8 = 1;
const SUBJECT: u8 = 2;
const BEYOND: u8 = 3;
const SUBJECT_MILLIS: u8 = 4;
const SUBJECT_BYTES: usize = 33;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_written_entries() {
        let name = Named::id(None, "7").name();
        let token = Revocation::token(name, 1_700_000_000);
        let subject = Revocation::subject(name, u64::MAX, 7);
        let millis = Revocation::subject_millis(name, 1_700_000_000_250, 7);
        let note = Revocation::beyond(7);
        assert_eq!((token.to_bytes().len(), subject.to_bytes().len()), (25, 33));
        assert_eq!((millis.to_bytes().len(), millis.key()[0]), (33, 4));
        assert!(note.is_beyond() && !token.is_beyond());
        for entry in [token, subject, millis, note] {
            let bytes = entry.to_bytes();
            assert_eq!(bytes[..17], entry.key());
            assert_eq!(Revocation::from_bytes(&bytes), Some(entry));
            for length in 0..bytes.len() {
                assert_eq!(Revocation::from_bytes(&bytes[..length]), None);
            }
            assert_eq!(Revocation::from_bytes(&[&bytes[..], b"x"].concat()), None);
        }
        assert_eq!(Revocation::from_bytes(&[5; 33]), None);
    }

    #[test]
    fn names_differ_by_kind() {
        let (id, subject) = (Named::id(None, "ada"), Named::subject(None, "ada"));
        assert_ne!(id.name(), subject.name());
        assert_ne!(id.quick(), subject.quick());
        assert_ne!(Named::id(None, "a").quick(), Named::id(None, "a\0").quick());
        assert_eq!(id.quick(), id.name().quick());
        assert_eq!(id.quick(), id.unbound_name().quick());
    }

    #[test]
    fn names_differ_by_issuer() {
        let mut names = std::collections::HashSet::new();
        let texts = ["", "a", "aa", "\0", "a\0", "\u{1}", "user:7", "\0\0\0\0\0\0\0\u{1}a"];
        for text in texts {
            for issuer in std::iter::once(None).chain(texts.map(Some)) {
                for named in [Named::id(issuer, text), Named::subject(issuer, text)] {
                    assert!(names.insert(named.name()), "{named:?}");
                }
            }
            for named in [Named::id(None, text), Named::subject(None, text)] {
                assert!(names.insert(named.unbound_name()), "{named:?}");
            }
        }
    }

    /// All processes compute the same names, including processes of another
    /// version.
    #[test]
    fn names_are_stable_across_versions() {
        let named = Named::subject(None, "user:7");
        let of_issuer = Named::subject(Some("https://a.example"), "user:7");
        let text = |name: Name| hex::encode(name.0);
        assert_eq!(text(named.unbound_name()), "7a90948f5e5245fd2e6f45ddacae049d");
        assert_eq!(text(named.name()), "7a90948f210143a2e403132e6d983f98");
        assert_eq!(text(of_issuer.name()), "7a90948f86dd93c607fc4f6a61490c47");
    }

    #[test]
    fn quick_hashes_rarely_collide() {
        let mut seen = std::collections::HashSet::new();
        let texts = (0..100_000).map(|number| format!("user:{number}"));
        let twice =
            texts.filter(|text| !seen.insert(Named::subject(None, text).quick() >> 8)).count();
        // Among 2^24 slots, 298 random collisions are expected.
        assert!(twice < 600, "{twice}");
    }
}
