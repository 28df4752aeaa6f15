//! [`ExpiresIn`] and [`IntoExpiresIn`]: the lifetime of a token, such as `90m`,
//! `1h`, `7d`.
// Spec: Authentication › Token functions; Limits › Token expiry default.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use stockade_errors::locks::lock;

/// The lifetime of a token. Default: one hour.
///
/// Create a lifetime from the specification's notation or from a [`Duration`].
/// The notation is `<digits><unit>` with the unit `m` (minutes), `h` (hours) or
/// `d` (days).
///
/// The specification assigns one hour to every other text, so parsing never
/// fails. An unknown unit, a missing number, a sign, white space and a lifetime
/// above `u64::MAX` seconds all mean 3600 s. A warning in the log names such a
/// text, once for each text and at most 32 times in a process. A [`Duration`]
/// is rounded up to whole seconds.
///
/// ```
/// use stockade_auth::ExpiresIn;
///
/// assert_eq!(ExpiresIn::from("90m").seconds(), 5_400);
/// assert_eq!(ExpiresIn::from("soon").seconds(), 3_600);
/// ```
// Spec: Authentication › Token functions.
#[doc(alias = "expiresIn")]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ExpiresIn {
    seconds: u64,
}

impl ExpiresIn {
    /// Returns the lifetime in seconds.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.seconds
    }
}

impl Default for ExpiresIn {
    fn default() -> Self {
        Self { seconds: DEFAULT_SECONDS }
    }
}

impl From<&str> for ExpiresIn {
    fn from(notation: &str) -> Self {
        parse(notation).map_or_else(|| misread(notation), |seconds| Self { seconds })
    }
}

impl From<&String> for ExpiresIn {
    fn from(notation: &String) -> Self {
        notation.as_str().into()
    }
}

impl From<Duration> for ExpiresIn {
    fn from(duration: Duration) -> Self {
        let started = u64::from(duration.subsec_nanos() > 0);
        Self { seconds: duration.as_secs().saturating_add(started) }
    }
}

/// A value that converts to an [`ExpiresIn`]: a text, a [`Duration`], an
/// `ExpiresIn`, and any other type with `Into<ExpiresIn>`.
///
/// The trait is the `Into` bound with a better compiler message. Applications
/// never implement it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be used as a token lifetime",
    label = "not a string, a `Duration` or an `ExpiresIn`",
    note = "write `\"90m\"`, `\"1h\"` or `\"7d\"`, or `Duration::from_secs(..)`"
)]
pub trait IntoExpiresIn: Into<ExpiresIn> {}

#[diagnostic::do_not_recommend]
impl<T: Into<ExpiresIn>> IntoExpiresIn for T {}

fn parse(notation: &str) -> Option<u64> {
    let (digits, seconds_per_unit) = None
        .or_else(|| notation.strip_suffix('m').map(|digits| (digits, 60)))
        .or_else(|| notation.strip_suffix('h').map(|digits| (digits, 3_600)))
        .or_else(|| notation.strip_suffix('d').map(|digits| (digits, 86_400)))?;

    // `str::parse::<u64>` accepts a leading `+`; the notation does not.
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let count: u64 = digits.parse().ok()?;
    count.checked_mul(seconds_per_unit)
}

/// Returns the default, and warns about a text once.
#[cold]
fn misread(notation: &str) -> ExpiresIn {
    static WARNED: Mutex<Warned> = Mutex::new(Warned { texts: BTreeSet::new() });

    // The set is always consistent, even after a panic.
    let shown = lock(&WARNED).note(notation);
    if let Some(shown) = shown {
        log::warn!(
            target: crate::LOG_TARGET,
            "the token lifetime {shown:?} is invalid, so one hour is used: write \"90m\", \"1h\" \
             or \"7d\", or a Duration",
        );
    }
    ExpiresIn::default()
}

/// The texts that were already logged.
///
/// Their number and length are bounded, because a program may take them from
/// requests.
struct Warned {
    texts: BTreeSet<String>,
}

impl Warned {
    /// Records a text. Returns its beginning if it needs a warning.
    fn note(&mut self, notation: &str) -> Option<String> {
        let shown: String = notation.chars().take(MAX_WARNED_CHARS).collect();
        let is_news = self.texts.len() < MAX_WARNED && self.texts.insert(shown.clone());
        is_news.then_some(shown)
    }
}

const DEFAULT_SECONDS: u64 = 3_600;
/// The maximum number of warnings in a process.
const MAX_WARNED: usize = 32;
/// The maximum number of characters that a warning shows.
const MAX_WARNED_CHARS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(notation: &str, expected_seconds: u64) {
        assert_eq!(ExpiresIn::from(notation).seconds(), expected_seconds, "{notation:?}");
    }

    #[test]
    fn reads_minutes_hours_and_days() {
        check("90m", 5_400);
        check("1h", 3_600);
        check("7d", 604_800);
        check("007d", 604_800);
        check("0d", 0);
    }

    #[test]
    fn anything_else_is_one_hour() {
        for notation in [
            "", "h", "m", "d", "7", "7w", "7s", "+7d", "-7d", " 7d", "7 d", "7d ", "1.5h", "7D",
            "7H", "1h30m", "0x1d", "7día", "٧d", "1e3m", "7d\n", "\0d", "7dd", "12mh",
        ] {
            check(notation, 3_600);
        }
        check("99999999999999999999d", 3_600);
        check("18446744073709551615d", 3_600);
    }

    #[test]
    fn durations_count_in_whole_seconds() {
        for (millis, seconds) in [(0, 0), (1, 1), (999, 1), (1_000, 1), (1_001, 2)] {
            assert_eq!(ExpiresIn::from(Duration::from_millis(millis)).seconds(), seconds);
        }
        assert_eq!(ExpiresIn::from(Duration::MAX).seconds(), u64::MAX);
        assert_eq!(ExpiresIn::default().seconds(), 3_600);
    }

    #[test]
    fn warns_once_per_text() {
        let mut warned = Warned { texts: BTreeSet::new() };
        for (notation, expected) in [
            ("soon", Some("soon")),
            ("soon", None),
            ("a fortnight", Some("a fortnight")),
            ("", Some("")),
            ("soon", None),
            ("123456789 123456789 123456789 123", Some("123456789 123456789 123456789 12")),
            ("123456789 123456789 123456789 124", None),
        ] {
            assert_eq!(warned.note(notation).as_deref(), expected, "{notation:?}");
        }
        let more = (0..100).filter(|number| warned.note(&number.to_string()).is_some()).count();
        assert_eq!(more, MAX_WARNED - 4);
    }
}
