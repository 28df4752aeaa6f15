//! Finds the position of a path such as `upstreams[1].url` in a JSON text.
//!
//! The text must be valid JSON. For another text the position is meaningless,
//! but nothing panics or hangs.

use std::collections::BTreeMap;
use std::ops::Range;

/// The part of a member that an error concerns.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Part {
    /// The name.
    Key,
    /// The value.
    Value,
}

/// Returns the bytes of `text` that an error at `path` concerns.
///
/// For an object or array, this is only its first byte. If the path does not
/// exist, it is the position of the innermost existing object or array. If a
/// name is a duplicate, the last one counts.
///
/// A path does not show whether a dot or bracket belongs to a name. If two
/// readings exist, the part decides: an unknown key has the longest name, a
/// value the shortest.
///
/// Time: the length of the text for each level of the path.
pub(crate) fn locate(text: &str, path: &str, part: Part) -> Range<usize> {
    let finder = Finder { text, part };
    let root = finder.skip_space(0);
    if path.is_empty() && part == Part::Value {
        return finder.span(root);
    }
    let here = PathMatch { unread: path.len(), place: finder.span(root) };
    let candidates = match path.strip_prefix('[') {
        Some(index) if finder.byte(root) == Some(b'[') => finder.element(root, index),
        _ => finder.members(root, path),
    };
    finder.best(here, candidates).place
}

struct Finder<'t> {
    text: &'t str,
    part: Part,
}

/// The furthest match of a path.
struct PathMatch {
    /// The number of unmatched bytes of the path.
    unread: usize,
    place: Range<usize>,
}

/// A member or element that matches the beginning of a path.
struct Candidate<'p> {
    key: Range<usize>,
    /// The start of its value.
    value: usize,
    /// The rest of the path.
    rest: &'p str,
}

/// The candidates of one object or array, by the length of their names. All are
/// prefixes of one path, so their lengths differ.
type Candidates<'p> = BTreeMap<usize, Candidate<'p>>;

impl Finder<'_> {
    /// Follows `candidate`. The recursion depth is the nesting of the text,
    /// which the parser limits.
    fn follow(&self, candidate: Candidate<'_>) -> PathMatch {
        let Candidate { key, value, rest } = candidate;
        let place = match self.part {
            Part::Key if rest.is_empty() => key,
            Part::Key | Part::Value => self.span(value),
        };
        let here = PathMatch { unread: rest.len(), place };
        if let Some(name) = rest.strip_prefix('.') {
            self.best(here, self.members(value, name))
        } else if let Some(index) = rest.strip_prefix('[') {
            self.best(here, self.element(value, index))
        } else {
            here
        }
    }

    /// Returns the candidate that leads furthest, or the first of several.
    fn best(&self, here: PathMatch, candidates: Candidates<'_>) -> PathMatch {
        let mut candidates: Vec<_> = candidates.into_values().collect();
        if self.part == Part::Key {
            candidates.reverse();
        }
        let found = candidates.into_iter().map(|candidate| self.follow(candidate));
        found.min_by_key(|found| found.unread).unwrap_or(here)
    }

    /// Returns the members of the object at `start` with names that `path`
    /// starts with.
    fn members<'p>(&self, start: usize, path: &'p str) -> Candidates<'p> {
        let mut candidates = Candidates::new();
        if self.byte(start) != Some(b'{') {
            return candidates;
        }
        let mut at = self.skip_space(start + 1);
        while self.byte(at) == Some(b'"') {
            let key = at..self.value_end(at);
            let value = self.skip_space(self.skip_space(key.end) + 1);
            if let Some((length, rest)) = self.split(path, key.clone()) {
                candidates.insert(length, Candidate { key, value, rest });
            }
            at = self.next_item(value);
        }
        candidates
    }

    /// Returns the element of the array at `start` with the index that `path`
    /// starts with. The opening bracket is already removed.
    fn element<'p>(&self, start: usize, path: &'p str) -> Candidates<'p> {
        let index = path.split_once(']');
        let index = index.and_then(|(digits, rest)| Some((digits.parse::<usize>().ok()?, rest)));
        let (Some((index, rest)), Some(b'[')) = (index, self.byte(start)) else {
            return Candidates::new();
        };
        let mut value = self.skip_space(start + 1);
        for _ in 0..index {
            let next = self.next_item(value);
            if next == value {
                break;
            }
            value = next;
        }
        if matches!(self.byte(value), None | Some(b']')) {
            return Candidates::new();
        }
        Candidates::from([(0, Candidate { key: self.span(value), value, rest })])
    }

    /// Returns the length of the name at `key` and the rest of `path`, if
    /// `path` starts with this name.
    fn split<'p>(&self, path: &'p str, key: Range<usize>) -> Option<(usize, &'p str)> {
        let quoted = self.text.get(key)?;
        let rest = if quoted.contains('\\') {
            path.strip_prefix(serde_json::from_str::<String>(quoted).ok()?.as_str())?
        } else {
            path.strip_prefix(quoted.strip_prefix('"')?.strip_suffix('"')?)?
        };
        let ends = rest.is_empty() || rest.starts_with(['.', '[']);
        ends.then_some((path.len() - rest.len(), rest))
    }

    /// Returns the bytes to mark for the value at `start`.
    fn span(&self, start: usize) -> Range<usize> {
        match self.byte(start) {
            Some(b'{' | b'[') => start..start + 1,
            _ => start..self.value_end(start),
        }
    }

    /// Returns the start of the next member or element, or the closing bracket.
    fn next_item(&self, value: usize) -> usize {
        let end = self.skip_space(self.value_end(value));
        if self.byte(end) == Some(b',') { self.skip_space(end + 1) } else { end }
    }

    fn value_end(&self, start: usize) -> usize {
        match self.byte(start) {
            Some(b'"') => self.string_end(start),
            Some(b'{' | b'[') => self.container_end(start),
            _ => self.skip(start, |byte| !is_space(byte) && !matches!(byte, b',' | b']' | b'}')),
        }
    }

    fn string_end(&self, start: usize) -> usize {
        let mut at = start + 1;
        while let Some(byte) = self.byte(at) {
            match byte {
                b'"' => return at + 1,
                // An escape is one byte, or `u` and hex digits.
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
        self.text.len()
    }

    fn container_end(&self, start: usize) -> usize {
        let mut depth = 0_usize;
        let mut at = start;
        while let Some(byte) = self.byte(at) {
            at = if byte == b'"' { self.string_end(at) } else { at + 1 };
            match byte {
                b'{' | b'[' => depth += 1,
                b'}' | b']' if depth <= 1 => return at,
                b'}' | b']' => depth -= 1,
                _ => {}
            }
        }
        self.text.len()
    }

    fn skip_space(&self, start: usize) -> usize {
        self.skip(start, is_space)
    }

    fn skip(&self, start: usize, skipped: impl Fn(u8) -> bool) -> usize {
        let rest = self.text.as_bytes().get(start..).unwrap_or_default();
        start + rest.iter().take_while(|byte| skipped(**byte)).count()
    }

    fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// Checks a location. `marked` contains the expected position between `«`
    /// and `»`.
    #[track_caller]
    fn check(marked: &str, path: &str, part: Part) {
        let start = marked.find('«').expect("a place is marked");
        let end = marked.find('»').expect("a place is marked") - '«'.len_utf8();
        let text = marked.replace(['«', '»'], "");
        assert_eq!(locate(&text, path, part), start..end, "{path:?} in {marked}");
    }

    #[track_caller]
    fn value(marked: &str, path: &str) {
        check(marked, path, Part::Value);
    }

    #[track_caller]
    fn key(marked: &str, path: &str) {
        check(marked, path, Part::Key);
    }

    #[test]
    fn finds_members_and_elements() {
        value("«7»", "");
        value(" «{»}", "");
        value(r#"{"a": «-1.5e3», "b": true}"#, "a");
        value(r#"{"a": [1, {"x": "]}"}], "b":«"c"»}"#, "b");
        value(r#"{"a": {"b": [1, "x,]", {"c": «null»}]}}"#, "a.b[2].c");
        value("[[], [1, «[»2]]]", "[1][1]");
        value("[[1, 2],\r\n\t[3, «4» ] ]", "[1][1]");
        value("[{\"a\": «false»}]", "[0].a");
    }

    #[test]
    fn finds_keys() {
        key(r#"{"a": 1, «"b"»: 2}"#, "b");
        key(r#"{"a": [{«"b"» : {}}]}"#, "a[0].b");
        key(r#"{«""»: 1}"#, "");
        key(r#"{"a": {«""»: 1}}"#, "a.");
    }

    #[test]
    fn missing_values_point_to_the_innermost_container() {
        value("«{»}", "a.b");
        value(r#"{"a": «{»"c": 1}}"#, "a.b");
        value(r#"{"a": [{}, «{»}]}"#, "a[1].url");
        value(r#"{"a": «[»1]}"#, "a[1]");
        value(r#"{"a": «[»]}"#, "a[0]");
        value(r#"{"a": «7»}"#, "a.b");
        value(r#"«{»"ab": 1}"#, "a");
    }

    #[test]
    fn names_can_contain_escapes() {
        value(r#"{"\u00e4\"\\": «1»}"#, "ä\"\\");
        value(r#"{"a\\": 1, "b": «2»}"#, "b");
        value(r#"{"\"}": 1, "b": «2»}"#, "b");
        value(r#"{"\ud83d\ude00": [«1»]}"#, "😀[0]");
        value(r#"{"größe": {"名": «1»}}"#, "größe.名");
        value(r#"{"\u0061\u002e": {"b": «1»}}"#, "a..b");
    }

    #[test]
    fn names_can_contain_dots_and_brackets() {
        value(r#"{"a": {"b": 1}, "a.b": {"c": «2»}}"#, "a.b.c");
        value(r#"{"features": {"search": {}, "search.v2": «1»}}"#, "features.search.v2");
        value(r#"{"a[0]": «1»}"#, "a[0]");
        value(r#"{"a": [1], "a[0]": {"b[1].c": «2»}}"#, "a[0].b[1].c");
    }

    #[test]
    fn the_part_decides_between_two_readings() {
        value(r#"{"a.b": 1, "a": {"b": «2»}}"#, "a.b");
        key(r#"{"a": {"b": 2}, «"a.b"»: 1}"#, "a.b");
    }

    #[test]
    fn the_last_of_duplicate_names_counts() {
        value(r#"{"a": 1, "a": «2»}"#, "a");
        value(r#"{"a": {"b": 1}, "\u0061": «{»}}"#, "a.b");
        key(r#"{"a": 1, «"a"»: 2}"#, "a");
    }

    /// Checks every value below `value`, which is at `path`.
    fn check_all(text: &str, path: &str, value: &Value) {
        let found = &text[locate(text, path, Part::Value)];
        match value {
            Value::Object(members) => {
                assert_eq!(found, "{", "{path}");
                let dot = if path.is_empty() { "" } else { "." };
                for (name, member) in members {
                    check_all(text, &format!("{path}{dot}{name}"), member);
                }
            }
            Value::Array(items) => {
                assert_eq!(found, "[", "{path}");
                for (index, item) in items.iter().enumerate() {
                    check_all(text, &format!("{path}[{index}]"), item);
                }
            }
            _ => assert_eq!(serde_json::from_str::<Value>(found).unwrap(), *value, "{path}"),
        }
    }

    #[test]
    fn finds_every_value_of_a_document() {
        for text in [include_str!("../good.json"), include_str!("../bad.json")] {
            let document: Value = serde_json::from_str(text).unwrap();
            check_all(text, "", &document);
            check_all(&document.to_string(), "", &document);
        }
    }

    #[test]
    fn tolerates_malformed_json() {
        let texts =
            ["", " ", "{", "[", "[,", "[}", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":\"\\"];
        let paths =
            ["", "a", "a.b", "[0]", "[9]", "[18446744073709551615].a", "[", "[x]", ".", "]"];
        for text in texts {
            for path in paths {
                for part in [Part::Key, Part::Value] {
                    let place = locate(text, path, part);
                    assert!(place.start <= place.end, "{text:?} {path:?}");
                }
            }
        }
    }
}
