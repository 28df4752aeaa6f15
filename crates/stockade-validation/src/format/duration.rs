//! Durations: ISO 8601 as restricted by RFC 3339, appendix A.
//!
//! Units follow each other without gaps: `P1Y2D` and `PT1H2S` are not valid.
//! Fractions are not allowed, and weeks cannot be combined with other units.

/// Returns true if the text is a duration.
pub(super) fn is_duration(text: &str) -> bool {
    let Some(text) = text.strip_prefix('P') else { return false };
    if let Some(weeks) = text.strip_suffix('W') {
        return is_number(weeks);
    }
    match text.split_once('T') {
        None => is_chain(text, b"YMD"),
        Some((date, time)) => (date.is_empty() || is_chain(date, b"YMD")) && is_chain(time, b"HMS"),
    }
}

/// Returns true for one or more numbers with consecutive units.
fn is_chain(text: &str, units: &[u8]) -> bool {
    let mut rest = text.as_bytes();
    let mut next = None;
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let unit = rest.get(digits).and_then(|unit| units.iter().position(|it| it == unit));
        let Some(unit) = unit.filter(|unit| next.is_none_or(|next| next == *unit)) else {
            return false;
        };
        if digits == 0 {
            return false;
        }
        next = Some(unit + 1);
        rest = rest.get(digits + 1..).unwrap_or_default();
    }
    next.is_some()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_follow_each_other() {
        for text in
            ["P4DT12H30M5S", "P1Y", "P1M", "PT1M", "P2W", "P1Y2M3D", "P1M2D", "PT0S", "PT1M30S"]
        {
            assert!(is_duration(text), "{text:?}");
        }
        for text in [
            "", "P", "PT", "P1", "1D", "PT1D", "P1D2H", "P1Y2D", "PT1H2S", "P2D1Y", "P1YT",
            "P1Y2W", "P1.5D", "P-1D", "P1D ", "p1d", "PW", "P٣D", "PT1S1S",
        ] {
            assert!(!is_duration(text), "{text:?}");
        }
    }
}
