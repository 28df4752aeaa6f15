//! Payment card numbers: length and check digit of ISO/IEC 7812-1.
//!
//! Any number of spaces and hyphens may separate the digits. Issuers are not
//! distinguished, so sixteen zeros pass.

/// Returns true if the text has 12 to 19 digits and their Luhn sum is a
/// multiple of ten.
pub(super) fn is_card(text: &str) -> bool {
    if !text.starts_with(is_digit) || !text.ends_with(is_digit) {
        return false;
    }
    let mut digits = 0_usize;
    let mut sum = 0;
    // From the right, because the check digit is the last digit.
    for byte in text.bytes().rev() {
        match byte {
            b'0'..=b'9' if digits < MAX_DIGITS => {
                let value = u32::from(byte - b'0');
                sum +=
                    if digits.is_multiple_of(2) { value } else { value * 2 / 10 + value * 2 % 10 };
                digits += 1;
            }
            b' ' | b'-' => {}
            _ => return false,
        }
    }
    digits >= MIN_DIGITS && sum % 10 == 0
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit()
}

const MIN_DIGITS: usize = 12;
const MAX_DIGITS: usize = 19;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn accepts_the_test_numbers_of_issuers() {
        for text in [
            "4111111111111111",
            "4111 1111 1111 1111",
            "4111-1111-1111-1111",
            "4111 - 1111 1111  1111",
            "5555555555554444",
            "378282246310005",
            "30569309025904",
            "6011111111111117",
            "3530111333300000",
            "0000000000000000",
            // The shortest and the longest number.
            "000000000000",
            "0000000000000000000",
        ] {
            assert!(is_card(text), "{text:?}");
        }
    }

    #[test]
    fn rejects_a_wrong_checksum_length_or_character() {
        for text in [
            "",
            " ",
            "-",
            "4111111111111112",
            "4111111111111101",
            "00000000000",
            "00000000000000000000",
            " 4111111111111111",
            "4111111111111111 ",
            "-4111111111111111",
            "4111111111111111-",
            "+4111111111111111",
            "4111.1111.1111.1111",
            "4111\t1111\t1111\t1111",
            "4111\u{a0}1111\u{a0}1111\u{a0}1111",
            "４111111111111111",
            "411111111111111١",
            "4111111111111111\0",
            "4111111111111111\n",
        ] {
            assert!(!is_card(text), "{text:?}");
        }
    }

    proptest! {
        /// The Luhn algorithm detects every single wrong digit.
        #[test]
        fn exactly_one_check_digit_is_valid(digits in "[0-9]{11,18}") {
            let fitting = (0..10).filter(|check| is_card(&format!("{digits}{check}"))).count();
            prop_assert_eq!(fitting, 1);
        }
    }
}
