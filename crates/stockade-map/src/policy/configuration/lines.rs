//! The lines of the keys of a configuration file.

use std::collections::BTreeMap;

use super::snake;

/// Returns the line of each key, from 1, for JSON, and for other formats with
/// `key = value` and `[table]`. A key has its path: `router.cors.origin`.
pub(super) fn lines(text: &str) -> BTreeMap<String, u32> {
    if text.trim_start().starts_with('{') { in_json(text) } else { in_tables(text) }
}

fn in_json(text: &str) -> BTreeMap<String, u32> {
    let mut lines = BTreeMap::new();
    // The keys of the open objects and lists; empty for an element of a list.
    let mut path: Vec<String> = Vec::new();
    let (mut key, mut string) = (String::new(), None);
    let mut line = 1;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            '"' => string = Some(rest_of_string(&mut chars)),
            ':' => {
                if let Some(name) = string.take() {
                    key = snake(&name);
                    lines.entry(joined(&path, &key)).or_insert(line);
                }
            }
            '{' | '[' => path.push(std::mem::take(&mut key)),
            '}' | ']' => drop(path.pop()),
            ',' => key.clear(),
            _ => {}
        }
    }
    lines
}

/// Returns the characters up to the quote that ends a string. Escapes stay.
fn rest_of_string(chars: &mut std::str::Chars<'_>) -> String {
    let mut string = String::new();
    while let Some(c) = chars.next() {
        match c {
            '"' => break,
            '\\' => string.extend([c].into_iter().chain(chars.next())),
            c => string.push(c),
        }
    }
    string
}

fn joined(path: &[String], key: &str) -> String {
    let parts = path.iter().map(String::as_str).chain([key]);
    parts.filter(|part| !part.is_empty()).collect::<Vec<_>>().join(".")
}

fn in_tables(text: &str) -> BTreeMap<String, u32> {
    let mut lines = BTreeMap::new();
    let mut table = Vec::new();
    for (line, number) in text.lines().zip(1..) {
        let line = line.trim();
        let names = |text: &str| -> Vec<String> {
            text.split('.').map(|name| snake(name.trim().trim_matches(['"', '\'']))).collect()
        };
        if let Some(name) = line.strip_prefix('[') {
            table = names(name.split(']').next().unwrap_or_default().trim_start_matches('['));
        } else if let Some((key, _)) = line.split_once('=')
            && !line.starts_with('#')
        {
            lines.entry(joined(&table, &names(key).join("."))).or_insert(number);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, u32)]) {
        let expected = expected.iter().map(|(key, line)| ((*key).to_owned(), *line)).collect();
        assert_eq!(lines(text), expected, "{text}");
    }

    #[test]
    fn each_key_of_json_has_its_path_and_line() {
        check("{}", &[]);
        check("{ \"a\": 1,\n \"bC\": [1, \"x:y\"] }", &[("a", 1), ("b_c", 2)]);
        check(
            "{\n\"router\": {\n\"cors\": { \"origin\": \"a\\\": {\" } },\n\"server\":\n{ \"a\": 2 }}",
            &[
                ("router", 2),
                ("router.cors", 3),
                ("router.cors.origin", 3),
                ("server", 4),
                ("server.a", 5),
            ],
        );
        check(
            "{ \"l\": [{ \"k\": 1 },\n{ \"k\": 2, \"m\": 3 }] }",
            &[("l", 1), ("l.k", 1), ("l.m", 2)],
        );
    }

    #[test]
    fn each_key_of_toml_has_its_path_and_line() {
        check(
            "# a = 1\n[router]\ntrustProxy = 1\ncors.origin = \"*\"\n\n[server.call]\n\"rateLimit\" = false",
            &[("router.trust_proxy", 3), ("router.cors.origin", 4), ("server.call.rate_limit", 7)],
        );
    }
}
