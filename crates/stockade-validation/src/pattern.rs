//! [`Pattern`]: the keyword `pattern`.

use std::sync::OnceLock;

use fancy_regex::{Regex, RegexBuilder};

/// A regular expression, compiled once, searched for anywhere in a text.
///
/// Without look-around and back references it takes linear time. With them,
/// each step back may read the whole rest of the text, so the number of steps
/// is bounded by [`TIERS`]; running out of it is no match.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// For the longer texts of [`TIERS`], made when the first one comes.
    longer: [OnceLock<Option<Regex>>; 2],
}

impl Pattern {
    /// Compiles `text`; the error says what is wrong with it.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let regex = compile(text, BACKTRACK_LIMIT).map_err(|error| error.to_string())?;
        Ok(Self { regex, longer: [OnceLock::new(), OnceLock::new()] })
    }

    pub(crate) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex_for(text.len()).is_match(text).unwrap_or_else(|error| {
            log::warn!(pattern = self.as_str(), length = text.len(); "a pattern gave up: {error}");
            false
        })
    }

    fn regex_for(&self, length: usize) -> &Regex {
        let tier = TIERS.iter().rposition(|(above, _)| length > *above);
        let Some(((_, limit), cell)) = tier.map(|tier| (TIERS[tier], &self.longer[tier])) else {
            return &self.regex;
        };
        let regex = cell.get_or_init(|| compile(self.as_str(), limit).ok());
        regex.as_ref().unwrap_or(&self.regex)
    }
}

fn compile(text: &str, backtrack_limit: usize) -> Result<Regex, fancy_regex::Error> {
    RegexBuilder::new(text).backtrack_limit(backtrack_limit).delegate_size_limit(SIZE_LIMIT).build()
}

/// For texts up to 1 KiB.
const BACKTRACK_LIMIT: usize = 100_000;

/// Above how many bytes which limit holds: steps times bytes stay near 10^8,
/// about 0.1 s, for texts up to 1 MB.
const TIERS: [(usize, usize); 2] = [(1 << 10, 3_000), (1 << 15, 100)];

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
    fn running_out_of_the_limit_is_no_match() {
        let pattern = Pattern::new(r"^(a+)+\1$").unwrap();
        assert!(!pattern.is_match(&format!("{}b", "a".repeat(40))));
    }
}
