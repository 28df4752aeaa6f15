//! [`Utf8Checker`]: validates UTF-8 that arrives in pieces.
//!
//! A text is rejected at its first invalid byte, before the message is
//! complete.
//!
//! Source: RFC 6455, section 8.1; RFC 3629.

/// The state between two pieces of a text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Utf8Checker {
    /// The first bytes of an incomplete character.
    begun: [u8; 4],
    begun_length: usize,
}

/// The error for bytes that are not UTF-8.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct InvalidUtf8;

impl Utf8Checker {
    /// Checks the next piece.
    pub(crate) fn check(&mut self, mut bytes: &[u8]) -> Result<(), InvalidUtf8> {
        while self.begun_length > 0 {
            let Some((next, rest)) = bytes.split_first() else { return Ok(()) };
            self.begun[self.begun_length] = *next;
            let length = self.begun_length + 1;
            bytes = rest;
            // At most four bytes: the character is then complete or invalid.
            self.begun_length = match std::str::from_utf8(&self.begun[..length]) {
                Ok(_) => 0,
                Err(error) if error.error_len().is_some() => return Err(InvalidUtf8),
                Err(_) => length,
            };
        }
        if let Err(error) = std::str::from_utf8(bytes) {
            if error.error_len().is_some() {
                return Err(InvalidUtf8);
            }
            let begun = &bytes[error.valid_up_to()..];
            self.begun[..begun.len()].copy_from_slice(begun);
            self.begun_length = begun.len();
        }
        Ok(())
    }

    /// Fails if the text ends within a character.
    pub(crate) fn finish(self) -> Result<(), InvalidUtf8> {
        if self.begun_length == 0 { Ok(()) } else { Err(InvalidUtf8) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn in_pieces(bytes: &[u8], cut: usize) -> Result<(), InvalidUtf8> {
        let mut utf8 = Utf8Checker::default();
        for piece in bytes.chunks(cut) {
            utf8.check(piece)?;
        }
        utf8.finish()
    }

    #[test]
    fn finds_the_first_invalid_byte() {
        let mut utf8 = Utf8Checker::default();
        assert_eq!(utf8.check("κόσμε".as_bytes()), Ok(()));
        assert_eq!(utf8.check(&[0xf4]), Ok(()));
        // Above U+10FFFF, whatever follows.
        assert_eq!(utf8.check(&[0x90]), Err(InvalidUtf8));
        let mut utf8 = Utf8Checker::default();
        assert_eq!(utf8.check(&[0xed]), Ok(()));
        assert_eq!(utf8.check(&[0xa0]), Err(InvalidUtf8), "a surrogate");
        assert_eq!(Utf8Checker::default().check(&[0xc0]), Err(InvalidUtf8), "overlong");
    }

    #[test]
    fn rejects_text_that_ends_within_a_character() {
        let mut utf8 = Utf8Checker::default();
        assert_eq!(utf8.check(&"€".as_bytes()[..2]), Ok(()));
        assert_eq!(utf8.finish(), Err(InvalidUtf8));
    }

    proptest! {
        #[test]
        fn pieces_and_the_whole_text_agree(
            text in "\\PC{0,40}", wrong in prop::collection::vec(any::<u8>(), 0..4), cut in 1_usize..9,
        ) {
            let bytes = [text.as_bytes(), &wrong].concat();
            prop_assert_eq!(in_pieces(&bytes, cut).is_ok(), std::str::from_utf8(&bytes).is_ok());
        }
    }
}
