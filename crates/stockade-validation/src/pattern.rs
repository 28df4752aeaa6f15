//! [`Pattern`]: the keyword `pattern`.

use std::cell::Cell;
use std::sync::{Arc, OnceLock};

use fancy_regex::{Regex, RegexBuilder};

use crate::log_rate::LogRate;

/// A regular expression, compiled once, searched for anywhere in a text.
///
/// Without look-around and back references it takes linear time. With them,
/// each step back may read the whole rest of the text, so the number of steps
/// is bounded by [`TIERS`], the more so the more texts a validation has had; a
/// pattern that runs out of steps does not match.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// For the longer texts of [`TIERS`], made when the first one comes.
    longer: [OnceLock<Option<Regex>>; 2],
    /// Every request may make it give up.
    gave_up: Arc<LogRate>,
}

impl Pattern {
    /// Compiles `text`; the error names the mistake in it.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let regex = compile(text, BACKTRACK_LIMIT).map_err(|error| error.to_string())?;
        let longer = [OnceLock::new(), OnceLock::new()];
        Ok(Self { regex, longer, gave_up: Arc::default() })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        let count = COUNT.replace(COUNT.get().saturating_add(1));
        self.regex_for(text.len(), count).is_match(text).unwrap_or_else(|error| {
            self.note(&error, text.len());
            false
        })
    }

    /// Logs that the pattern gave up on a text of `length` bytes, at most once
    /// a second.
    #[cold]
    fn note(&self, error: &fancy_regex::Error, length: usize) {
        if let Some(unlogged) = self.gave_up.next() {
            let pattern = self.as_str();
            log::warn!(
                pattern, length, unlogged; "a pattern gave up, {unlogged} times unlogged: {error}"
            );
        }
    }

    fn regex_for(&self, length: usize, count: usize) -> &Regex {
        let beyond = |tier: &Tier| length > tier.length || count >= tier.count;
        let Some(place) = TIERS.iter().rposition(beyond) else {
            return &self.regex;
        };
        let limit = TIERS[place].limit;
        let regex = self.longer[place].get_or_init(|| compile(self.as_str(), limit).ok());
        regex.as_ref().unwrap_or(&self.regex)
    }
}

/// Begins a validation, whose first texts have the most steps.
pub(crate) fn begin() {
    COUNT.set(0);
}

thread_local! {
    /// The number of texts that the current validation has matched. A validation never
    /// leaves its thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn compile(text: &str, backtrack_limit: usize) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(text).backtrack_limit(backtrack_limit).delegate_size_limit(SIZE_LIMIT).build()
}

/// The steps for the first texts of up to 1 KiB.
const BACKTRACK_LIMIT: usize = 100_000;

/// A lower limit for long texts, and for the many texts of a large array.
struct Tier {
    /// The limit holds for texts above this number of bytes.
    length: usize,
    /// The limit holds after this number of texts.
    count: usize,
    limit: usize,
}

/// For one text, steps times bytes stay near 10^8, about 0.1 s, up to 1 MB; for
/// the texts of one validation the steps come to some 10^7.
const TIERS: [Tier; 2] = [
    Tier { length: 1 << 10, count: 32, limit: 3_000 },
    Tier { length: 1 << 15, count: 2_048, limit: 100 },
];

/// In bytes, of the compiled form of one pattern.
const SIZE_LIMIT: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_not_anchored() {
        let pattern = Pattern::new("b+").unwrap();
        assert!(pattern.is_match("abbc"));
        assert!(!pattern.is_match("ac"));
    }

    #[test]
    fn look_around_and_back_references_work() {
        assert!(Pattern::new(r"^(?=.*\d)(?=.*[a-z]).{4,}$").unwrap().is_match("abc1"));
        assert!(Pattern::new(r"^(a|b)\1$").unwrap().is_match("bb"));
        assert!(Pattern::new("(").is_err());
        assert!(Pattern::new("(?:a{1000}){1000}").is_err(), "too large when compiled");
    }

    #[test]
    fn many_texts_have_fewer_steps_each() {
        let pattern = Pattern::new(r"(?:(a|aa)+\1c)|z").unwrap();
        let text = format!("{}z", "a".repeat(16));
        begin();
        assert!(pattern.is_match(&text));
        for _ in 0..100 {
            pattern.is_match(&text);
        }
        assert!(!pattern.is_match(&text), "its steps are more than the next tier has");
        begin();
        assert!(pattern.is_match(&text));
    }

    #[test]
    fn running_out_of_the_limit_is_no_match() {
        let pattern = Pattern::new(r"^(a+)+\1$").unwrap();
        assert!(!pattern.is_match(&format!("{}b", "a".repeat(40))));
    }
}
