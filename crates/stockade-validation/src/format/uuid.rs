//! UUIDs: RFC 9562, section 4, any version and variant.

/// Returns true if the text is 8, 4, 4, 4 and 12 hexadecimal digits, separated
/// by hyphens.
pub(super) fn is_uuid(text: &str) -> bool {
    let Ok(text) = <&[u8; 36]>::try_from(text.as_bytes()) else {
        return false;
    };
    // Avoids a branch per byte.
    let is_digit = |all, byte: &u8| all & byte.is_ascii_hexdigit();
    [8, 13, 18, 23].into_iter().all(|at| text[at] == b'-')
        && [0..8, 9..13, 14..18, 19..23, 24..36]
            .into_iter()
            .all(|group| text[group].iter().fold(true, is_digit))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_any_version_and_case() {
        for text in [
            "00000000-0000-0000-0000-000000000000",
            "ffffffff-ffff-ffff-ffff-ffffffffffff",
            "2EB8aa08-AA98-11ea-B4Aa-73B441D16380",
            "2eb8aa08-aa98-71ea-04aa-73b441d16380",
        ] {
            assert!(is_uuid(text), "{text:?}");
        }
    }

    #[test]
    fn rejects_other_notations() {
        for text in [
            "",
            "-",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "2eb8aa08-aa98-11ea-b4aa-73b441d163800",
            "2eb8aa08aa9811eab4aa73b441d16380",
            "{2eb8aa08-aa98-11ea-b4aa-73b441d16380}",
            "urn:uuid:2eb8aa08-aa98-11ea-b4aa-73b441d16380",
            " 2eb8aa08-aa98-11ea-b4aa-73b441d1638",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638g",
            "2eb8aa08-aa98-11ea-b4aa-73b441d1638\0",
            "2eb8aa08-aa98-11ea-b4aa-73b441d163é",
            "2eb8aa0-8aa98-11ea-b4aa-73b441d16380",
            "------------------------------------",
        ] {
            assert!(!is_uuid(text), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn checks_the_lengths_of_groups(
            text in "[0-9a-fA-F]{7,9}(-[0-9a-fA-F]{3,5}){3}-[0-9a-fA-F]{11,13}",
        ) {
            let lengths: Vec<_> = text.split('-').map(str::len).collect();
            prop_assert_eq!(is_uuid(&text), lengths == [8, 4, 4, 4, 12]);
        }

        #[test]
        fn accepts_every_number_and_no_mutation(
            number: u128, at in 0..36_usize, other in "[^0-9a-fA-F-]",
        ) {
            let digits = format!("{number:032x}");
            let (a, b, c, d, e) =
                (&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]);
            let mut text = format!("{a}-{b}-{c}-{d}-{e}");
            prop_assert!(is_uuid(&text));
            text.replace_range(at..=at, &other);
            prop_assert!(!is_uuid(&text));
        }
    }
}
