//! [`PasswordHash`]: the formats of a stored hash.
//!
//! | Written by | Text |
//! |---|---|
//! | `hash_password` | `<32 hex>:<128 hex>` |
//! | `hash_password_with`, PBKDF2 | `$pbkdf2-sha512$i=210000$<salt>$<hash>` |
//! | `hash_password_with`, Argon2id | `$argon2id$v=19$m=19456,t=2,p=1$<salt>$<hash>` |
//!
//! The last two use the PHC string format, with unpadded base64.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::cost::Work;

/// A parsed stored hash.
pub(super) struct PasswordHash {
    pub(super) work: Work,
    pub(super) salt: Vec<u8>,
    pub(super) hash: Vec<u8>,
    /// The salt as text, in the specification's format. Older programs used
    /// this text as the salt.
    pub(super) salt_text: Option<String>,
}

impl PasswordHash {
    /// Parses any of the formats; `None` for other texts.
    pub(super) fn parse(text: &str) -> Option<Self> {
        if text.len() > MAX_LENGTH {
            return None;
        }
        match text.strip_prefix('$') {
            Some(rest) => phc(rest),
            None => specified(text),
        }
    }
}

/// Writes the specification's format.
pub(super) fn write_specified(salt: &[u8], hash: &[u8]) -> String {
    format!("{}:{}", hex::encode(salt), hex::encode(hash))
}

/// Writes the PHC string format.
pub(super) fn write_phc(work: Work, salt: &[u8], hash: &[u8]) -> String {
    let (salt, hash) = (STANDARD_NO_PAD.encode(salt), STANDARD_NO_PAD.encode(hash));
    match work {
        Work::Pbkdf2 { iterations } => format!("${PBKDF2}$i={iterations}${salt}${hash}"),
        Work::Argon2id { memory_kib, passes, lanes } => {
            format!("${ARGON2ID}${VERSION}$m={memory_kib},t={passes},p={lanes}${salt}${hash}")
        }
    }
}

/// Parses `<salt hex>:<hash hex>`, 16 and 64 bytes, in either case.
fn specified(text: &str) -> Option<PasswordHash> {
    let (salt_text, hash) = text.split_once(':')?;
    let salt = hex::decode(salt_text).ok().filter(|salt| salt.len() == SALT_LENGTH)?;
    let hash = hex::decode(hash).ok().filter(|hash| hash.len() == PBKDF2_LENGTH)?;
    Some(PasswordHash { work: Work::SPECIFIED, salt, hash, salt_text: Some(salt_text.to_owned()) })
}

/// Parses `<function>[$v=<version>]$<parameters>$<salt>$<hash>`.
fn phc(text: &str) -> Option<PasswordHash> {
    let mut fields = text.split('$');
    let function = fields.next()?;
    let work = match function {
        PBKDF2 => {
            let [iterations] = numbers(fields.next()?, ["i"])?;
            Work::Pbkdf2 { iterations }
        }
        ARGON2ID => {
            fields.next().filter(|version| *version == VERSION)?;
            let [memory_kib, passes, lanes] = numbers(fields.next()?, ["m", "t", "p"])?;
            Work::Argon2id { memory_kib, passes, lanes }
        }
        _ => return None,
    };
    let work = work.checked().ok()?;
    let salt = STANDARD_NO_PAD.decode(fields.next()?).ok()?;
    let hash = STANDARD_NO_PAD.decode(fields.next()?).ok()?;
    let is_whole = fields.next().is_none()
        && SALT_LENGTHS.contains(&salt.len())
        && HASH_LENGTHS.contains(&hash.len());
    is_whole.then_some(PasswordHash { work, salt, hash, salt_text: None })
}

/// Returns the numbers of `a=1,b=2`, which must have exactly these names in
/// this order.
fn numbers<const N: usize>(text: &str, names: [&str; N]) -> Option<[u32; N]> {
    let mut fields = text.split(',');
    let mut numbers = [0; N];
    for (number, name) in numbers.iter_mut().zip(names) {
        let digits = fields.next()?.strip_prefix(name)?.strip_prefix('=')?;
        // `str::parse` accepts a leading `+` and zeros; the format does not.
        if !digits.starts_with(|first: char| matches!(first, '1'..='9')) {
            return None;
        }
        *number = digits.parse().ok()?;
    }
    fields.next().is_none().then_some(numbers)
}

const PBKDF2: &str = "pbkdf2-sha512";
const ARGON2ID: &str = "argon2id";
/// Argon2 version 0x13, the only one since 2015.
const VERSION: &str = "v=19";

/// The length of a new salt in bytes.
// Spec: Password functions.
pub(super) const SALT_LENGTH: usize = 16;
/// The length of a new PBKDF2 hash in bytes.
// Spec: Password functions.
pub(super) const PBKDF2_LENGTH: usize = 64;
/// The length of a new Argon2id hash in bytes.
pub(super) const ARGON2ID_LENGTH: usize = 32;
/// The accepted hash lengths. Shorter hashes could match by chance.
const HASH_LENGTHS: std::ops::RangeInclusive<usize> = 16..=64;
const SALT_LENGTHS: std::ops::RangeInclusive<usize> = 8..=64;
/// The maximum length of a stored hash in any format.
const MAX_LENGTH: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_written_hashes() {
        for work in [
            Work::Pbkdf2 { iterations: 210_000 },
            Work::Argon2id { memory_kib: 19_456, passes: 2, lanes: 1 },
        ] {
            let stored = PasswordHash::parse(&write_phc(work, &[7; 16], &[9; 32])).unwrap();
            assert_eq!((stored.work, stored.salt, stored.hash), (work, vec![7; 16], vec![9; 32]));
        }
        let stored = PasswordHash::parse(&write_specified(&[7; 16], &[9; 64])).unwrap();
        assert_eq!((stored.work, stored.salt.len(), stored.hash.len()), (Work::SPECIFIED, 16, 64));
    }

    #[test]
    fn reads_only_canonical_numbers() {
        assert_eq!(numbers("m=8,t=1,p=1", ["m", "t", "p"]), Some([8, 1, 1]));
        for text in [
            "",
            "i",
            "i=",
            "i=0",
            "i=01",
            "i=+1",
            "i=-1",
            "i= 1",
            "i=1,",
            "i=1,l=64",
            "I=1",
            "ii=1",
            "i=4294967296",
            "i=1e4",
        ] {
            assert_eq!(numbers(text, ["i"]), None, "{text:?}");
        }
    }
}
