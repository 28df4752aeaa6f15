//! The rules of a schema in words, such as "2 to 80 characters".

use serde_json::Value;

use super::html::Html;

/// Adds the rules of a schema, separated by middle dots.
pub(super) fn add(html: &mut Html, schema: &Value) {
    let texts = of(schema);
    let codes = [("matches", "pattern"), ("always", "const"), ("default", "default")];
    let codes: Vec<(&str, &Value)> =
        codes.iter().filter_map(|(word, key)| Some((*word, schema.get(*key)?))).collect();
    if texts.is_empty() && codes.is_empty() {
        return;
    }
    html.markup(" <small>").text(&texts.join(" · "));
    for (index, (word, value)) in codes.into_iter().enumerate() {
        html.markup(if index == 0 && texts.is_empty() { "" } else { " · " });
        html.text(word).markup(" ").code(&plain(value));
    }
    html.markup("</small>");
}

/// Returns the text of a value, without quotes for a string.
pub(super) fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Returns the rules that need no code.
fn of(schema: &Value) -> Vec<String> {
    let mut words = Vec::new();
    words.extend(range(schema, ("minLength", "maxLength"), "character"));
    words.extend(bounds(schema));
    if let Some(step) = schema.get("multipleOf") {
        words.push(format!("a multiple of {step}"));
    }
    words.extend(range(schema, ("minItems", "maxItems"), "item"));
    words.extend(range(schema, ("minProperties", "maxProperties"), "member"));
    let marks = [
        ("uniqueItems", "each item once"),
        ("readOnly", "only in responses"),
        ("writeOnly", "only in requests"),
        ("deprecated", "deprecated"),
    ];
    let marked = marks.iter().filter(|(key, _)| schema.get(*key) == Some(&Value::Bool(true)));
    words.extend(marked.map(|(_, text)| (*text).to_owned()));
    let types = schema.get("x-media-types").and_then(Value::as_array).into_iter().flatten();
    let types: Vec<&str> = types.filter_map(Value::as_str).collect();
    if !types.is_empty() {
        words.push(format!("a file of {}", types.join(" or ")));
    }
    words
}

/// Returns a range of a number of things.
fn range(schema: &Value, keys: (&str, &str), thing: &str) -> Option<String> {
    let least = schema.get(keys.0).and_then(Value::as_u64).filter(|it| *it > 0);
    let most = schema.get(keys.1).and_then(Value::as_u64);
    let counted = |count: u64| format!("{count} {thing}{}", if count == 1 { "" } else { "s" });
    Some(match (least, most) {
        (Some(least), Some(most)) if least == most => format!("exactly {}", counted(least)),
        (Some(least), Some(most)) => format!("{least} to {}", counted(most)),
        (Some(least), None) => format!("at least {}", counted(least)),
        (None, Some(most)) => format!("at most {}", counted(most)),
        (None, None) => return None,
    })
}

/// Returns the bounds of a number.
fn bounds(schema: &Value) -> Vec<String> {
    let bound = |key: &str| schema.get(key).filter(|_| !is_bound_of_format(schema, key));
    let mut words = Vec::new();
    match (bound("minimum"), bound("maximum")) {
        (Some(least), Some(most)) => words.push(format!("{least} to {most}")),
        (Some(least), None) => words.push(format!("at least {least}")),
        (None, Some(most)) => words.push(format!("at most {most}")),
        (None, None) => {}
    }
    words.extend(bound("exclusiveMinimum").map(|it| format!("more than {it}")));
    words.extend(bound("exclusiveMaximum").map(|it| format!("less than {it}")));
    words
}

/// Returns true for bounds that the integer format implies.
fn is_bound_of_format(schema: &Value, rule: &str) -> bool {
    let format = schema.get("format").and_then(Value::as_str).unwrap_or_default();
    let (is_unsigned, bits) = match format.split_once("int") {
        Some(("u", bits)) => (true, bits),
        Some(("", bits)) => (false, bits),
        _ => return false,
    };
    let Some(bits) = bits.parse::<u32>().ok().filter(|bits| (8..=64).contains(bits)) else {
        return false;
    };
    let values = 1_i128 << if is_unsigned { bits } else { bits - 1 };
    let bound = match rule {
        "minimum" if is_unsigned => 0,
        "minimum" => -values,
        "maximum" => values - 1,
        _ => return false,
    };
    schema[rule].as_number().is_some_and(|number| number.as_i128() == Some(bound))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &[&str]) {
        assert_eq!(of(schema), expected, "{schema}");
    }

    #[test]
    fn rules_are_words() {
        check(&json!({ "minLength": 2, "maxLength": 80 }), &["2 to 80 characters"]);
        check(&json!({ "minLength": 3, "maxLength": 3 }), &["exactly 3 characters"]);
        check(&json!({ "minLength": 1 }), &["at least 1 character"]);
        check(&json!({ "minLength": 0, "maxLength": 9 }), &["at most 9 characters"]);
        check(&json!({ "minimum": 1, "maximum": 99 }), &["1 to 99"]);
        check(&json!({ "exclusiveMinimum": 0 }), &["more than 0"]);
        check(
            &json!({ "minItems": 1, "uniqueItems": true }),
            &["at least 1 item", "each item once"],
        );
        check(
            &json!({ "multipleOf": 5, "readOnly": true }),
            &["a multiple of 5", "only in responses"],
        );
        check(
            &json!({ "readOnly": false, "x-media-types": ["image/png"] }),
            &["a file of image/png"],
        );
    }

    #[test]
    fn bounds_of_the_type_are_not_shown() {
        let schema = |format: &str, least: i64, most: i64| json!({ "type": "integer", "format": format, "minimum": least, "maximum": most });
        check(&schema("uint8", 0, 255), &[]);
        check(&schema("int8", 0, 127), &["at least 0"]);
        check(&schema("uint999", 0, 1), &["0 to 1"]);
    }

    #[test]
    fn values_are_code() {
        let mut html = Html::default();
        add(&mut html, &json!({ "pattern": "^<$", "default": "x", "maxLength": 1 }));
        let expected = " <small>at most 1 character · matches <code>^&lt;$</code> · default \
                        <code>x</code></small>";
        assert_eq!(html.into_string(), expected);
    }
}
