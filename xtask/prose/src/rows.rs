//! The rows of the table: names, patterns and limits.

use std::ops::{Deref, Range};

use fancy_regex::Regex;

/// A name, a limit per 10,000 words, true if case matters, and a pattern.
///
/// The limits are the highest values of axum, tower-http, hyper, jiff, Rocket
/// and serde, counted on 2026-11-28.
const ROWS: &[(&str, f64, bool, &str)] = &[
    ("that of", 2.2, false, r"\b(?:that|those) of\b"),
    (
        "those that",
        1.1,
        true,
        r"\bthose (?:that|who|which|whose|without|with)\b|\bthe ones? (?:that|which|who|of)\b|(?:^|[.;:] )(?:Who|Whoever)\b",
    ),
    (
        "what as a noun",
        3.3,
        true,
        r"\b(?:of|in|by|from|with|for|and|to|than|beside|behind|on|as|at) what\b|(?:^|[.;:] )What\b(?! (?:is|are|does|do|happens|if)\b[^.]*\?)|, what\b|\bwhat (?:fails|comes|goes|stands|belongs|remains|follows|it is|they are|was|were|is (?:left|there|read|not|no|asked|sent|written))\b",
    ),
    (
        "of which",
        7.7,
        false,
        r"\b(?:of|by|in|to|from|on|with|behind|after|under|at) which\b|\bwhose\b",
    ),
    (
        "stands, lies",
        0.4,
        false,
        r"\b(?:stands?|stood|lies|lay)\b(?! (?:for|out|alone|in for)\b)|\bis there\b",
    ),
    (
        "is no",
        7.7,
        false,
        r"\b(?:is|are|was|has|have) no\b(?! (?:longer|need|way|effect|more|op)\b)",
    ),
    ("alone", 1.4, false, r"\balone\b"),
    (
        "of its own",
        1.5,
        false,
        r"\b(?:of (?:its|his|their|our|your|one's) own|an own|own (?=[a-z]+ of ))",
    ),
    ("so that", 6.1, false, r"\bso that\b"),
    (
        "where",
        8.7,
        true,
        r"(?:^|, |[.;:] )[Ww]here\b|\bwhere (?:it|there|the|a|an|no|nothing|one|they|he|neither)\b",
    ),
    ("told, asked", 16.2, false, r"\b(?:told|asked|judged|given|taken|handed|kept)\b"),
    (
        "goes by",
        1.4,
        false,
        r"\b(?:goes|go|went|comes|come|came|takes|hands) (?:by|on|off|out|in|up|back|away|along|with|through|beside|behind)\b",
    ),
    (
        "beside, anew",
        1.3,
        false,
        r"\b(?:beside|anew|thereby|thereof|whereby|all the same|in (?:the )?place of|in front of|as well as not)\b",
    ),
];

/// The number of phrases that a small text may contain above a limit.
const TOLERATED: usize = 2;

/// A row with its compiled pattern.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    /// Phrases per 10,000 words.
    pub(crate) limit: f64,
    pattern: Regex,
}

impl Row {
    /// Returns true if this number of phrases is above the limit.
    pub(crate) fn is_above(&self, phrases: usize, rate: f64) -> bool {
        phrases > TOLERATED && rate > self.limit
    }

    /// Returns the places of the phrases in a text.
    pub(crate) fn find(&self, text: &str) -> Result<Vec<Range<usize>>, String> {
        matches(&self.pattern, text)
    }
}

/// The rows, and the patterns of words and code.
pub(crate) struct Rows {
    rows: Vec<Row>,
    word: Regex,
    code: Regex,
}

impl Deref for Rows {
    type Target = [Row];

    fn deref(&self) -> &[Row] {
        &self.rows
    }
}

impl Rows {
    pub(crate) fn new() -> Result<Self, String> {
        let compile = |pattern: &str| Regex::new(pattern).map_err(|error| error.to_string());
        let row = |&(name, limit, has_case, pattern): &(&'static str, f64, bool, &str)| {
            let case = if has_case { "" } else { "(?i)" };
            Ok(Row { name, limit, pattern: compile(&format!("{case}{pattern}"))? })
        };
        Ok(Self {
            rows: ROWS.iter().map(row).collect::<Result<_, String>>()?,
            word: compile(r"[A-Za-z][A-Za-z'-]*")?,
            code: compile(r"`[^`\n]*`")?,
        })
    }

    pub(crate) fn index(&self, name: &str) -> Result<usize, String> {
        let found = self.iter().position(|row| row.name == name);
        found.ok_or_else(|| {
            let names: Vec<_> = self.iter().map(|row| row.name).collect();
            format!("no row {name:?}; rows are {names:?}")
        })
    }

    /// Returns the number of words of a text.
    pub(crate) fn words(&self, text: &str) -> Result<usize, String> {
        Ok(matches(&self.word, text)?.len())
    }

    /// Returns a paragraph on one line, with a letter for each piece of code.
    pub(crate) fn plain(&self, paragraph: &str) -> String {
        let text = self.code.replace_all(paragraph, "x");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

fn matches(pattern: &Regex, text: &str) -> Result<Vec<Range<usize>>, String> {
    let found = pattern.find_iter(text);
    found.map(|it| it.map(|it| it.range()).map_err(|error| error.to_string())).collect()
}

/// Returns a phrase with 50 characters on each side.
pub(crate) fn surroundings(text: &str, phrase: Range<usize>) -> &str {
    let (before, after) = (&text[..phrase.start], &text[phrase.end..]);
    let start = before.char_indices().rev().nth(49).map_or(0, |(index, _)| index);
    let end = after.char_indices().nth(50).map_or(after.len(), |(index, _)| index);
    &text[start..phrase.end + end]
}

#[cfg(test)]
mod tests {
    use super::{Rows, surroundings};

    fn found(row: &str, text: &str) -> usize {
        let rows = Rows::new().unwrap();
        rows[rows.index(row).unwrap()].find(&rows.plain(text)).unwrap().len()
    }

    #[test]
    fn finds_phrases_across_lines() {
        assert_eq!(found("that of", "the limit is that\nof the router"), 1);
        assert_eq!(found("so that", "So that it works, so\nthat it stays"), 2);
    }

    #[test]
    fn ignores_code() {
        assert_eq!(found("alone", "the flag `alone` is off"), 0);
    }

    #[test]
    fn accepts_questions_and_idioms() {
        assert_eq!(found("what as a noun", "What happens if it fails?"), 0);
        assert_eq!(found("what as a noun", "What fails is rejected."), 1);
        assert_eq!(found("is no", "It is no longer used."), 0);
        assert_eq!(found("is no", "It is no number."), 1);
    }

    #[test]
    fn counts_code_as_one_word() {
        let rows = Rows::new().unwrap();
        assert_eq!(rows.words(&rows.plain("a `b c d` isn't it")).unwrap(), 4);
    }

    #[test]
    fn shows_fifty_characters_on_each_side() {
        let text = format!("{}alone{}", "é".repeat(60), "ü".repeat(60));
        let expected = format!("{}alone{}", "é".repeat(50), "ü".repeat(50));
        let start = "é".len() * 60;
        assert_eq!(surroundings(&text, start..start + 5), expected);
        assert_eq!(surroundings("not alone.", 4..9), "not alone.");
    }
}
