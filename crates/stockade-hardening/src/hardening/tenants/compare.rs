//! Ids that do not exist, and the comparison of responses.

use crate::exchange::Exchange;

/// Returns ids of the same form that are probably unknown, best first.
pub(super) fn unknown(id: &str) -> Vec<String> {
    if let Ok(number) = id.parse::<i64>()
        && number >= 0
        && id.len() < 10
    {
        let distances = [900_000_000, 90_000, 5_000, 500, 50];
        let pairs = distances.into_iter().flat_map(|distance| [distance, distance + 1]);
        return pairs.map(|distance| (number + distance).to_string()).collect();
    }
    let characters: Vec<char> = id.chars().collect();
    let is_hex = characters.iter().all(|it| !it.is_alphabetic() || it.is_ascii_hexdigit());
    let letters = if is_hex { 6 } else { 26 };
    // The last character of a base64 text does not have all values.
    let end = characters.len() - usize::from(characters.len() >= 8);
    let start = end.saturating_sub(6);
    let other = |by: u32| -> String {
        let all = characters.iter().enumerate();
        all.map(|(index, it)| match (start..end).contains(&index) {
            true => rotated(*it, by, letters),
            false => *it,
        })
        .collect()
    };
    (1..10).map(other).filter(|other| other != id).collect()
}

fn rotated(character: char, by: u32, letters: u32) -> char {
    let (first, count) = match character {
        '0'..='9' => ('0', 10),
        'a'..='z' => ('a', letters),
        'A'..='Z' => ('A', letters),
        _ => return character,
    };
    let place = (u32::from(character) - u32::from(first) + by) % count;
    char::from_u32(u32::from(first) + place).unwrap_or(character)
}

/// Returns true if two responses are the same except for these ids.
pub(super) fn is_same(left: &Exchange, right: &Exchange, ids: &[String]) -> bool {
    left.status == right.status && has_same_body(left, right, ids)
}

/// Returns true if two responses have the same body except for these ids.
pub(super) fn has_same_body(left: &Exchange, right: &Exchange, ids: &[String]) -> bool {
    left.body == right.body || plain(left, ids) == plain(right, ids)
}

/// Returns the body without these ids.
pub(super) fn plain(exchange: &Exchange, ids: &[String]) -> String {
    let text = String::from_utf8_lossy(&exchange.body);
    let mut ids: Vec<&String> = ids.iter().filter(|id| !id.is_empty()).collect();
    ids.sort_by_key(|id| std::cmp::Reverse(id.len()));
    ids.into_iter().fold(text.into_owned(), |text, id| without(&text, id))
}

/// Replaces an id in a text. Longer words that contain it remain.
fn without(text: &str, id: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(id) {
        let (before, found) = rest.split_at(start);
        let after = found.get(id.len()..).unwrap_or_default();
        let joins = |character: Option<char>| character.is_some_and(char::is_alphanumeric);
        plain.push_str(before);
        let previous = plain.chars().next_back();
        plain.push_str(match joins(previous) || joins(after.chars().next()) {
            true => id,
            false => "{id}",
        });
        rest = after;
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_ids_have_the_form_of_the_id() {
        assert_eq!(unknown("7").first().map(String::as_str), Some("900000007"));
        let uuid = unknown("00000000-0000-4000-8000-00000000000f");
        assert_eq!(uuid.first().map(String::as_str), Some("00000000-0000-4000-8000-00000111111f"));
        assert_eq!(unknown("prj_ab").first().map(String::as_str), Some("qsk_bc"));
        assert!(unknown("note-1").iter().all(|id| id.starts_with(char::is_alphabetic)));
    }

    #[test]
    fn ids_are_replaced_only_as_words() {
        assert_eq!(without("there is no note 1, only 11", "1"), "there is no note {id}, only 11");
    }
}
