//! [`hash`]: the SHA-256 of several texts.

use ring::digest;

/// Returns the SHA-256 of the parts, each prefixed with its length. The
/// prefixes ensure that different parts never form the same hash input.
pub(crate) fn hash<const N: usize>(parts: [&[u8]; N]) -> [u8; 32] {
    let mut context = digest::Context::new(&digest::SHA256);
    for part in parts {
        context.update(&(part.len() as u64).to_be_bytes());
        context.update(part);
    }
    let mut hash = [0; 32];
    // SHA-256 has 32 bytes.
    hash.iter_mut().zip(context.finish().as_ref()).for_each(|(to, from)| *to = *from);
    hash
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_separated_by_their_lengths() {
        assert_ne!(hash([b"ab", b"c"]), hash([b"a", b"bc"]));
        assert_ne!(hash([b"ab", b""]), hash([b"", b"ab"]));
        assert_ne!(hash([b"ab"]), hash([b"ab", b""]));
    }
}
