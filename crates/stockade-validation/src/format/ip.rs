//! IPv4 and IPv6 addresses.
//!
//! The `std` parsers implement exactly the grammars of RFC 2673 (`dotted-quad`,
//! without leading zeros) and RFC 4291, and stop at the first invalid byte. A
//! zone such as `%eth0` is rejected, because only scoped addresses have one.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Returns true if the text is four decimal numbers up to 255, separated by
/// dots.
pub(super) fn is_v4(text: &str) -> bool {
    text.parse::<Ipv4Addr>().is_ok()
}

/// Returns true if the text is an IPv6 address without brackets or a zone.
pub(super) fn is_v6(text: &str) -> bool {
    text.parse::<Ipv6Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn v4_is_four_decimal_numbers() {
        for text in ["0.0.0.0", "127.0.0.1", "255.255.255.255", "1.20.249.250"] {
            assert!(is_v4(text), "{text:?}");
        }
        for text in [
            "",
            ".",
            "...",
            "1.2.3",
            "1.2.3.4.5",
            "1.2.3.256",
            "1.2.3.1000",
            "01.2.3.4",
            "1.2.3.00",
            "1.2.3.4 ",
            "1.2.3.4\n",
            "1.2.3.4\0",
            "0x1.2.3.4",
            "+1.2.3.4",
            "1.2.3.४",
            "１.2.3.4",
            "1.2.3.4/8",
            "1.2.3.4:80",
        ] {
            assert!(!is_v4(text), "{text:?}");
        }
    }

    #[test]
    fn v6_is_eight_groups_or_fewer_with_two_colons() {
        for text in [
            "::",
            "::1",
            "1::",
            "1:2:3:4:5:6:7:8",
            "1:2:3:4:5:6:7::",
            "::2:3:4:5:6:7:8",
            "2001:DB8::7",
            "::ffff:1.2.3.4",
            "1:2:3:4:5:6:1.2.3.4",
        ] {
            assert!(is_v6(text), "{text:?}");
        }
        for text in [
            "",
            ":",
            ":::",
            "1:2:3:4:5:6:7",
            "1:2:3:4:5:6:7:8:9",
            "1:2:3:4:5:6:7:8::",
            "1::2::3",
            "12345::",
            "::g",
            "::1.2.3",
            "::01.2.3.4",
            "1:2:3:4:5:6:7:1.2.3.4",
            "fe80::1%eth0",
            "fe80::1%25eth0",
            "fe80::/10",
            "[::1]",
            " ::1",
            "::1\n",
            "::１",
        ] {
            assert!(!is_v6(text), "{text:?}");
        }
    }

    /// The grammar of RFC 2673, word for word.
    fn v4_model(text: &str) -> bool {
        let numbers: Vec<_> = text.split('.').collect();
        numbers.len() == 4 && numbers.iter().all(|it| (0..256).any(|n| n.to_string() == *it))
    }

    /// The text forms of RFC 4291, section 2.2.
    fn v6_model(text: &str) -> bool {
        let count = |part: &str, may_end_in_v4: bool| -> Option<usize> {
            if part.is_empty() {
                return Some(0);
            }
            let groups: Vec<_> = part.split(':').collect();
            let mut count = 0;
            for (at, group) in groups.iter().enumerate() {
                count += match group.bytes().all(|it| it.is_ascii_hexdigit()) {
                    true if (1..=4).contains(&group.len()) => 1,
                    false if may_end_in_v4 && at + 1 == groups.len() && v4_model(group) => 2,
                    _ => return None,
                };
            }
            Some(count)
        };
        match text.split_once("::") {
            None => count(text, true) == Some(8),
            Some((left, right)) => matches!(
                (count(left, false), count(right, true)),
                (Some(left), Some(right)) if left + right < 8
            ),
        }
    }

    proptest! {
        #[test]
        fn v4_agrees_with_the_model(text in "(([0-9]{1,3}|2[0-5][0-9]|[01x ])\\.){2,4}[0-9]{0,3}") {
            prop_assert_eq!(is_v4(&text), v4_model(&text));
        }

        #[test]
        fn v6_agrees_with_the_model(
            text in "(([0-9a-f]{0,5}|1):){1,9}([0-9A-F]{0,4}|1\\.2\\.3\\.4|0\\.0\\.0\\.256)",
        ) {
            prop_assert_eq!(is_v6(&text), v6_model(&text));
        }

        #[test]
        fn accepts_addresses_written_by_std(four: [u8; 4], six: [u16; 8]) {
            prop_assert!(is_v4(&Ipv4Addr::from(four).to_string()));
            prop_assert!(is_v6(&Ipv6Addr::from(six).to_string()));
        }
    }
}
