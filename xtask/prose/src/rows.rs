//! The rows of the table: names, patterns and limits.

use fancy_regex::Regex;

use crate::Count;

/// A name, a limit per 10,000 words, whether case matters, and a pattern.
///
/// The limits are the highest values of axum, tower-http, hyper, jiff, Rocket and
/// serde, counted on 2026-11-28.
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

/// The rows with their compiled patterns.
pub(crate) struct Rows {
    patterns: Vec<Regex>,
    word: Regex,
    code: Regex,
}

impl Rows {
    pub(crate) fn new() -> Result<Self, String> {
        let compile = |pattern: &str| Regex::new(pattern).map_err(|error| error.to_string());
        let patterns = ROWS.iter().map(|(_, _, case, pattern)| {
            compile(&if *case { (*pattern).to_owned() } else { format!("(?i){pattern}") })
        });
        Ok(Self {
            patterns: patterns.collect::<Result<_, _>>()?,
            word: compile(r"[A-Za-z][A-Za-z'-]*")?,
            code: compile(r"`[^`\n]*`")?,
        })
    }

    #[expect(clippy::unused_self, reason = "reads better at the caller")]
    pub(crate) fn len(&self) -> usize {
        ROWS.len()
    }

    #[expect(clippy::unused_self, reason = "reads better at the caller")]
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        ROWS.iter().map(|row| row.0)
    }

    #[expect(clippy::unused_self, reason = "reads better at the caller")]
    pub(crate) fn limit(&self, row: usize) -> f64 {
        ROWS[row].1
    }

    pub(crate) fn index(&self, name: &str) -> Result<usize, String> {
        let found = self.names().position(|row| row == name);
        found.ok_or_else(|| {
            format!("no row {name:?}; rows are {:?}", self.names().collect::<Vec<_>>())
        })
    }

    /// Whether a count is above the limit of a row.
    pub(crate) fn is_above(&self, count: &Count, row: usize) -> bool {
        count.phrases[row] > TOLERATED && count.rate(row) > self.limit(row)
    }

    /// The number of words of a text.
    pub(crate) fn words(&self, text: &str) -> Result<usize, String> {
        Ok(matches(&self.word, text)?.len())
    }

    /// The phrases of a row in a text, with 50 characters on each side.
    pub(crate) fn find(&self, row: usize, text: &str) -> Result<Vec<String>, String> {
        let found = matches(&self.patterns[row], text)?;
        Ok(found.into_iter().map(|(start, end)| surroundings(text, start, end)).collect())
    }

    /// A paragraph on one line, with a letter for each piece of code. Characters
    /// beyond ASCII become `~`, because they make word boundaries slow.
    pub(crate) fn plain(&self, paragraph: &str) -> String {
        let text = self.code.replace_all(paragraph, "x");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        text.chars().map(|it| if it.is_ascii() { it } else { '~' }).collect()
    }
}

fn matches(pattern: &Regex, text: &str) -> Result<Vec<(usize, usize)>, String> {
    let found = pattern.find_iter(text);
    found.map(|it| it.map(|it| (it.start(), it.end())).map_err(|error| error.to_string())).collect()
}

fn surroundings(text: &str, start: usize, end: usize) -> String {
    let before: Vec<char> = text[..start].chars().rev().take(50).collect();
    let before: String = before.into_iter().rev().collect();
    let after: String = text[end..].chars().take(50).collect();
    format!("{before}{}{after}", &text[start..end])
}

#[cfg(test)]
mod tests {
    use super::Rows;

    fn found(row: &str, text: &str) -> usize {
        let rows = Rows::new().unwrap();
        rows.find(rows.index(row).unwrap(), &rows.plain(text)).unwrap().len()
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
}
