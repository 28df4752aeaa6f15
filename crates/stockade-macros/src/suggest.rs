//! "Did you mean …?" hints for keys and field names.

use strsim::osa_distance;

/// Returns ``, did you mean `…`?``, or an empty string if no known word is
/// similar.
pub(crate) fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match closest(word, known) {
        Some(near) => format!(", did you mean `{near}`?"),
        None => String::new(),
    }
}

/// Returns the known word that `word` misspells. Ignores case, `_`, and a
/// missing or extra suffix.
pub(crate) fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word);
    let length = word.chars().count();
    let slips_max = match length {
        0..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    let rated = known.into_iter().filter_map(|candidate| {
        let letters = letters(candidate);
        let shorter = length.min(letters.chars().count());
        if shorter >= 3 && (letters.starts_with(&*word) || word.starts_with(&*letters)) {
            return Some((0, candidate));
        }
        let slips = osa_distance(&word, &letters);
        (slips <= slips_max).then_some((slips, candidate))
    });
    rated.min_by_key(|(slips, _)| *slips).map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> String {
    word.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(word: &str, expected: Option<&str>) {
        let known =
            ["GET", "POST", "PUT", "DELETE", "PATCH", "middleware", "max_body", "max_json_values"];
        assert_eq!(closest(word, known), expected, "{word:?}");
    }

    #[test]
    fn recognizes_typos() {
        check("PSOT", Some("POST"));
        check("GTE", Some("GET"));
        check("pots", Some("POST"));
        check("DELET", Some("DELETE"));
        check("del", Some("DELETE"));
        check("midleware", Some("middleware"));
        check("middlewares", Some("middleware"));
        check("maxBody", Some("max_body"));
        check("maxBodySize", Some("max_body"));
        check("maxJsonValues", Some("max_json_values"));
    }

    #[test]
    fn ignores_other_words() {
        for word in ["", "x", "users", "QUERY", "HEAD", "summary"] {
            check(word, None);
        }
    }
}
