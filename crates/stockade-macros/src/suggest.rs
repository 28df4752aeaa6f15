//! "Did you mean …?" for keys and field names.

/// Returns ``, did you mean `…`?``, or nothing if no known word is near.
pub(crate) fn did_you_mean<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> String {
    match closest(word, known) {
        Some(near) => format!(", did you mean `{near}`?"),
        None => String::new(),
    }
}

/// Returns the known word of which `word` is a misspelling. Case and `_` do not
/// count, nor does a missing or a surplus end.
pub(crate) fn closest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    let word = letters(word);
    let slips_max = match word.len() {
        0..=3 => 1,
        4..=6 => 2,
        _ => 3,
    };
    let rated = known.into_iter().filter_map(|candidate| {
        let letters = letters(candidate);
        let shorter = word.len().min(letters.len());
        if shorter >= 3 && (letters.starts_with(&word) || word.starts_with(&letters)) {
            return Some((0, candidate));
        }
        let slips = distance(&word, &letters);
        (slips <= slips_max).then_some((slips, candidate))
    });
    rated.min_by_key(|(slips, _)| *slips).map(|(_, candidate)| candidate)
}

fn letters(word: &str) -> Vec<char> {
    word.chars().filter(|letter| *letter != '_').flat_map(char::to_lowercase).collect()
}

/// Returns the least number of letters to insert, delete, replace or swap with
/// their neighbour.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut before_last = vec![0; right.len() + 1];
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (row, letter) in left.iter().enumerate() {
        let mut current = vec![row + 1];
        for (column, other) in right.iter().enumerate() {
            let replaced = last[column] + usize::from(letter != other);
            let mut least = replaced.min(last[column + 1] + 1).min(current[column] + 1);
            let swapped =
                row > 0 && column > 0 && left[row - 1] == *other && *letter == right[column - 1];
            if swapped {
                least = least.min(before_last[column - 1] + 1);
            }
            current.push(least);
        }
        before_last = last;
        last = current;
    }
    last[right.len()]
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
    fn slips_are_recognised() {
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
    fn other_words_are_not() {
        for word in ["", "x", "users", "QUERY", "HEAD", "summary"] {
            check(word, None);
        }
    }
}
