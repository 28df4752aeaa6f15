//! Suggestions ("did you mean …?") for keywords and names.

use strsim::osa_distance;

/// Returns `, did you mean …?`, or an empty text if no known word is similar.
#[must_use]
pub fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match closest(word, known) {
        Some(near) => format!(", did you mean `{near}`?"),
        None => String::new(),
    }
}

/// Returns the known word that `word` probably means; case, `_` and `-` are
/// ignored.
fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // A longer word is not a typing error, and the distance takes quadratic
    // time.
    if word.len() > WORD_MAX {
        return None;
    }
    let word = letters(word);
    let length = word.chars().count();
    let slips_max = match length {
        0..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    let rated = known.into_iter().filter_map(|candidate| {
        let letters = letters(candidate);
        if length >= 3 && letters.starts_with(&*word) {
            return Some((0, candidate));
        }
        let slips = osa_distance(&word, &letters);
        (slips <= slips_max).then_some((slips, candidate))
    });
    rated.min_by_key(|(slips, _)| *slips).map(|(_, candidate)| candidate)
}

const WORD_MAX: usize = 40;

fn letters(word: &str) -> String {
    word.chars().filter(|letter| !"_-".contains(*letter)).flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_typos_but_not_other_words() {
        let known = ["minLength", "type", "credit-card", "enum"];
        for (word, expected) in [
            ("minLenght", Some("minLength")),
            ("min_length", Some("minLength")),
            ("typ", Some("type")),
            ("credit", Some("credit-card")),
            ("tpye", Some("type")),
            ("creditcard", Some("credit-card")),
            ("emun", Some("enum")),
            ("name", None),
            ("", None),
            ("patternProperties", None),
        ] {
            assert_eq!(closest(word, known), expected, "{word:?}");
        }
        assert_eq!(closest(&"x".repeat(100_000), known), None);
    }
}
