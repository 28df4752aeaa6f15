//! Host names: RFC 1123, section 2.1, with the length limits of RFC 1035.
//!
//! A label that begins with `xn--` must be an A-label (RFC 5890). Other labels
//! with hyphens in the third and fourth position pass. A trailing dot is not
//! part of a name.

use super::idna;

/// Returns true if the text is an ASCII host name.
pub(super) fn is_hostname(text: &str) -> bool {
    text.len() <= MAX_NAME_BYTES && text.split('.').all(is_label)
}

/// Returns true if the text is a host name that may contain characters beyond
/// ASCII: RFC 5890, section 2.3.2.3. Ideographic full stops count as dots.
pub(super) fn is_international_hostname(text: &str) -> bool {
    // In ASCII, a label needs at least one byte per character.
    text.chars().count() <= MAX_NAME_BYTES
        && text.split(['.', '\u{3002}', '\u{ff0e}', '\u{ff61}']).all(|label| {
            if label.is_ascii() {
                let has_hyphens = label.get(2..4) == Some("--") && ace_suffix(label).is_none();
                is_label(label) && !has_hyphens
            } else {
                idna::is_unicode_label(label)
            }
        })
}

fn is_label(label: &str) -> bool {
    is_ldh(label) && ace_suffix(label).is_none_or(idna::is_a_label_suffix)
}

/// Returns true if the label has 1 to 63 letters, digits and hyphens, without a
/// hyphen at either end.
pub(super) fn is_ldh(label: &str) -> bool {
    label.len() <= MAX_LABEL_BYTES
        && label.starts_with(|it: char| it.is_ascii_alphanumeric())
        && label.ends_with(|it: char| it.is_ascii_alphanumeric())
        && label.bytes().all(|it| it.is_ascii_alphanumeric() || it == b'-')
}

/// Returns true if every label between dots passes [`is_ldh`].
pub(super) fn is_ldh_name(text: &str) -> bool {
    let mut length = 0;
    let mut last = b'.';
    for byte in text.bytes() {
        let is_between = length > 0;
        let fits = match byte {
            b'.' => is_between && last != b'-',
            b'-' => is_between,
            _ => byte.is_ascii_alphanumeric(),
        };
        length = if byte == b'.' { 0 } else { length + 1 };
        if !fits || length > MAX_LABEL_BYTES {
            return false;
        }
        last = byte;
    }
    length > 0 && last != b'-'
}

/// Returns the part after `xn--`, or `None` without this prefix. Case does not
/// matter.
pub(super) fn ace_suffix(label: &str) -> Option<&str> {
    let (prefix, suffix) = label.split_at_checked("xn--".len())?;
    prefix.eq_ignore_ascii_case("xn--").then_some(suffix)
}

/// 255 bytes on the wire, minus the first length byte and the root.
pub(super) const MAX_NAME_BYTES: usize = 253;

pub(super) const MAX_LABEL_BYTES: usize = 63;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_letters_digits_and_hyphens() {
        for text in [
            "a",
            "1",
            "localhost",
            "WWW.Example.COM",
            "a--b.c",
            "ab--cd",
            "1.2.3.4",
            "xn--mnchen-3ya.de",
            "XN--MNCHEN-3YA.de",
        ] {
            assert!(is_hostname(text), "{text:?}");
        }
        for text in [
            "",
            ".",
            "a.",
            ".a",
            "a..b",
            "-",
            "-a",
            "a-",
            "a.-b",
            "a-.b",
            "a_b",
            "a b",
            "a/b",
            "a:80",
            "a@b",
            "*.a",
            "a\n",
            "a\0",
            "münchen.de",
            "a。b",
            "[::1]",
            "xn--",
            "xn--a",
            "xn--a-",
            "a.xn--pokxncvks",
        ] {
            assert!(!is_hostname(text), "{text:?}");
        }
    }

    #[test]
    fn a_name_is_its_labels() {
        let label = "a".repeat(64);
        let long = [&label[1..], &label, &format!("{label}.a"), &format!("a.{}.b", &label[1..])];
        let short = ["", ".", "a", "-", "a-", "-a", "a.b", "a..b", "a.", ".a", "a-.b", "a.-b"];
        let others = ["a--b.c-d", "1.2", "a_b", "é.a", "a b"];
        for text in long.into_iter().chain(short).chain(others) {
            assert_eq!(is_ldh_name(text), text.split('.').all(is_ldh), "{text:?}");
        }
    }

    #[test]
    fn a_label_has_63_bytes_and_a_name_253() {
        let label = "a".repeat(63);
        assert!(is_hostname(&label));
        assert!(!is_hostname(&format!("{label}a")));

        let name = format!("{label}.{label}.{label}.{}", &label[..61]);
        assert_eq!(name.len(), 253);
        assert!(is_hostname(&name));
        assert!(!is_hostname(&format!("{name}a")));
    }
}
