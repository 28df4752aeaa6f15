//! Text keys for exact numbers. Their text order is the order of the numbers.

/// Returns the key of a decimal number such as `-1.50` or `2e3`, or `None` for
/// other texts.
///
/// The key consists of a digit for the sign, the exponent of the first digit,
/// and the digits. For a negative number, all digits are complemented and a `~`
/// follows, because the number with more digits is smaller.
pub(super) fn decimal_key(text: &str) -> Option<String> {
    let (is_negative, number) = match text.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (number, exponent) = match number.split_once(['e', 'E']) {
        Some((number, exponent)) => (number, exponent.parse::<i64>().ok()?),
        None => (number, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let has_digits = !(whole.is_empty() && fraction.is_empty());
    if !has_digits || !whole.bytes().chain(fraction.bytes()).all(|it| it.is_ascii_digit()) {
        return None;
    }
    let digits = [whole, fraction].concat();
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0');
    if digits.is_empty() {
        return Some("1".to_owned());
    }
    let places = i64::try_from(whole.len()).ok()? - i64::try_from(leading).ok()?;
    let biased = exponent.checked_add(places)?.checked_add(BIAS).filter(|it| *it >= 0)?;
    let key = format!("{biased:019}{digits}");
    if !is_negative {
        return Some(format!("2{key}"));
    }
    let turned = key.bytes().map(|digit| char::from(b'0' + (b'9' - digit)));
    Some(format!("0{}~", turned.collect::<String>()))
}

/// Makes all exponents positive.
const BIAS: i64 = 1_000_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_the_numbers() {
        let groups = [
            &["-1e3", "-1000"][..],
            &["-999.5"],
            &["-10", "-10.00"],
            &["-9"],
            &["-1.55"],
            &["-1.5", "-01.50", "-15e-1"],
            &["-0.05"],
            &["-0.005"],
            &["0", "-0", "0.00", "+0", "0e9"],
            &["0.005", "5e-3", "5E-3"],
            &["0.05", ".05"],
            &["0.5"],
            &["1", "1.", "1.0", "+1"],
            &["1.5"],
            &["1.55"],
            &["9"],
            &["10", "1e1"],
            &["79228162514264337593543950335"],
            &["1e400"],
        ];
        let keys = |group: &[&str]| {
            let mut keys: Vec<_> = group.iter().map(|text| decimal_key(text).unwrap()).collect();
            keys.dedup();
            assert_eq!(keys.len(), 1, "{group:?}");
            keys.remove(0)
        };
        let keys: Vec<String> = groups.iter().map(|group| keys(group)).collect();
        assert!(keys.is_sorted_by(|left, right| left < right), "{keys:?}");
    }

    #[test]
    fn other_texts_have_no_key() {
        for text in ["", "-", ".", "1.2.3", "NaN", "1e", "0x1", "१"] {
            assert_eq!(decimal_key(text), None, "{text}");
        }
    }
}
