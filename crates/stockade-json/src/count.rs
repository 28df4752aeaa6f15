//! [`has_more_values`]: counts the values of a JSON text without parsing it.

use memchr::memchr2;

/// Returns true if a JSON text contains more than `most` values. Scalars,
/// arrays and objects count at every level; member names do not.
///
/// A parsed value needs up to 400 bytes, but its text may need only two. A text
/// of fewer than `2 * most` bytes is not scanned. The result is meaningless for
/// invalid JSON.
#[must_use]
pub fn has_more_values(text: &[u8], most: usize) -> bool {
    // Every value except the first follows a byte that is not part of a value.
    if text.len().div_ceil(2) <= most {
        return false;
    }
    let mut left = most;
    let mut at = 0;
    // A value may begin at the start, or after a bracket or a comma.
    let mut may_begin = true;
    while let Some(byte) = text.get(at) {
        at += 1;
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' | b':' => continue,
            b']' | b'}' => {
                may_begin = false;
                continue;
            }
            b',' => {
                may_begin = true;
                continue;
            }
            _ => {}
        }
        if may_begin {
            match left.checked_sub(1) {
                Some(fewer) => left = fewer,
                None => return true,
            }
        }
        // A container may be empty.
        may_begin = matches!(byte, b'[' | b'{');
        if *byte == b'"' {
            at = end_of_string(text, at);
        }
    }
    false
}

/// Returns the position after a string. `at` is the position after its opening
/// quotation mark.
fn end_of_string(text: &[u8], mut at: usize) -> usize {
    while let Some(found) = text.get(at..).and_then(|rest| memchr2(b'"', b'\\', rest)) {
        at += found + 1;
        if text.get(at - 1) == Some(&b'"') {
            return at;
        }
        // An escaped quotation mark does not end the string.
        at += 1;
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(members) => members.values().map(count).sum(),
            _ => 0,
        }
    }

    #[track_caller]
    fn check(text: &str, values: usize) {
        let parsed: Value = serde_json::from_str(text).unwrap();
        assert_eq!(count(&parsed), values, "{text}");
        assert!(!has_more_values(text.as_bytes(), values), "{text}");
        // Short texts are not scanned, so pad the text.
        let long = format!("{text}{}", " ".repeat(text.len() * 2 + 2));
        assert!(!has_more_values(long.as_bytes(), values), "{text}");
        assert!(has_more_values(long.as_bytes(), values - 1), "{text}");
    }

    #[test]
    fn values_are_counted_outside_of_strings() {
        check("7", 1);
        check("-1.5e3", 1);
        check(r#""a,b[c{d]""#, 1);
        check("[]", 1);
        check("[ ]", 1);
        check("[[],[],[]]", 4);
        check("{}", 1);
        check("[0]", 2);
        check("[[0],[0]]", 5);
        check(r#"{ "a": 0, "b,c": [1, {}], "": "\"," }"#, 6);
        check(r#"["\\", "\\\"", "x", true, null]"#, 6);
        check(r#"{"a":{"b":{"c":[]}}}"#, 4);
    }

    #[test]
    fn stops_at_malformed_json() {
        for text in ["", "\"", "\"\\", "[[[[[[", ",,,,,,,,", "{\"a", "\\\"", "]]]]"] {
            let long = text.repeat(100);
            for most in [0, 1, 7] {
                let _ends = has_more_values(long.as_bytes(), most);
            }
        }
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[ -~\"\\\\,\\[\\]{}é]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(5, 40, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::hash_map("[a\",:\\\\]{0,3}", inner, 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn count_matches_parsed_data(value in value(), pretty in any::<bool>()) {
            let text = if pretty { format!("{value:#}") } else { value.to_string() };
            check(&text, count(&value));
        }
    }
}
