//! A row for each keyword that checks a value: the rule in each notation, values that pass
//! and fail, and the exported document.

use std::sync::LazyLock;

use serde_json::{Value, json};
use stockade_validation::format::Format;
use stockade_validation::{Rule, Schema, ValidationOptions};

use crate::reading::agree_for_all;
use crate::support::{check_field, check_with};

/// A keyword, with its expected behavior in each part of the library.
pub(crate) struct Row {
    keyword: &'static str,
    /// A value of the wrong kind, and the description of the right kind.
    wrong: (Value, &'static str),
    pub(crate) rule: Value,
    /// The same rule, built with the method of `Rule`.
    built: Rule,
    /// The schema of a struct with the keyword on its field `v`.
    derived: Option<Schema>,
    /// A list of values that pass. The first one also has the type of the derived field.
    pub(crate) passes: Value,
    /// A list of pairs: a value, and its message with the name of the rule in parentheses.
    pub(crate) fails: Value,
    exported: Value,
}

/// Returns the schema of a struct with a type and keywords on its field `v`.
#[cfg(feature = "derive")]
macro_rules! derived {
    ([$($type:tt)+] $($keyword:tt)+) => {{
        #[derive(Schema)]
        #[expect(dead_code, reason = "only its schema is used")]
        struct Derived {
            #[schema($($keyword)+)]
            v: $($type)+,
        }
        Some(<Derived as stockade_validation::HasSchema>::schema().unwrap())
    }};
}

#[cfg(not(feature = "derive"))]
macro_rules! derived {
    ($($_:tt)*) => {
        None
    };
}

pub(crate) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(rows);

#[expect(clippy::too_many_lines, reason = "a table")]
fn rows() -> Vec<Row> {
    vec![
        Row {
            keyword: "enum",
            wrong: (json!("a"), "a list"),
            rule: json!({ "enum": ["a", 1] }),
            built: Rule::any().values([json!("a"), json!(1)]),
            derived: derived!([String] values = ["a", 1]),
            passes: json!(["a", 1, 1.0]),
            fails: json!([["b", "Must be one of: \"a\", 1 (enum)"]]),
            exported: json!({ "enum": ["a", 1] }),
        },
        Row {
            keyword: "pattern",
            wrong: (json!(1), "a string"),
            rule: json!({ "pattern": "b\\d" }),
            built: Rule::any().pattern("b\\d"),
            derived: derived!([String] pattern = "b\\d"),
            passes: json!(["ab1c", 7]),
            fails: json!([["abc", "Invalid format (pattern)"]]),
            exported: json!({ "pattern": "b\\d" }),
        },
        Row {
            keyword: "minLength",
            wrong: (json!(-1), "a non-negative integer"),
            rule: json!({ "minLength": 2 }),
            built: Rule::any().min_length(2),
            derived: derived!([String] min_length = 2),
            passes: json!(["äö", "abc", 1, []]),
            fails: json!([["ä", "String must be at least 2 characters (minLength)"]]),
            exported: json!({ "minLength": 2 }),
        },
        Row {
            keyword: "maxLength",
            wrong: (json!(1.5), "a non-negative integer"),
            rule: json!({ "maxLength": 2 }),
            built: Rule::any().max_length(2),
            derived: derived!([String] max_length = 2),
            passes: json!(["äö", "", 123, [1, 2, 3]]),
            fails: json!([["abc", "String must be at most 2 characters (maxLength)"]]),
            exported: json!({ "maxLength": 2 }),
        },
        Row {
            keyword: "minimum",
            wrong: (json!("1"), "a number"),
            rule: json!({ "minimum": 2 }),
            built: Rule::any().minimum(2),
            derived: derived!([f64] minimum = 2),
            passes: json!([2, 2.5, u64::MAX, "text"]),
            fails: json!([
                [1, "Number must be at least 2 (minimum)"],
                [-2.5, "Number must be at least 2 (minimum)"],
            ]),
            exported: json!({ "minimum": 2 }),
        },
        Row {
            keyword: "maximum",
            wrong: (json!(null), "a number"),
            rule: json!({ "maximum": 2.5 }),
            built: Rule::any().maximum(2.5),
            derived: derived!([f64] maximum = 2.5),
            passes: json!([2.5, 2, -1, "text"]),
            fails: json!([[3, "Number must be at most 2.5 (maximum)"]]),
            exported: json!({ "maximum": 2.5 }),
        },
        Row {
            keyword: "exclusiveMinimum",
            wrong: (json!(true), "a number"),
            rule: json!({ "exclusiveMinimum": 2 }),
            built: Rule::any().exclusive_minimum(2),
            derived: derived!([f64] exclusive_minimum = 2),
            passes: json!([2.5, 3, "text"]),
            fails: json!([[2.0, "Number must be greater than 2 (exclusiveMinimum)"]]),
            exported: json!({ "exclusiveMinimum": 2 }),
        },
        Row {
            keyword: "exclusiveMaximum",
            wrong: (json!([]), "a number"),
            rule: json!({ "exclusiveMaximum": 2 }),
            built: Rule::any().exclusive_maximum(2),
            derived: derived!([f64] exclusive_maximum = 2),
            passes: json!([1.5, 1, "text"]),
            fails: json!([[2, "Number must be less than 2 (exclusiveMaximum)"]]),
            exported: json!({ "exclusiveMaximum": 2 }),
        },
        Row {
            keyword: "multipleOf",
            wrong: (json!("1"), "a number"),
            rule: json!({ "multipleOf": 0.1 }),
            built: Rule::any().multiple_of(0.1),
            derived: derived!([f64] multiple_of = 0.1),
            passes: json!([0.3, 7, -1.1, 0, 1e300, "text"]),
            fails: json!([
                [0.35, "Number must be a multiple of 0.1 (multipleOf)"],
                [-1e-300, "Number must be a multiple of 0.1 (multipleOf)"],
            ]),
            exported: json!({ "multipleOf": 0.1 }),
        },
        Row {
            keyword: "min",
            wrong: (json!("1"), "a number"),
            rule: json!({ "min": 2 }),
            built: Rule::any().min(2),
            derived: derived!([f64] min = 2),
            passes: json!([2, "ab", [1, 2], true, {}]),
            fails: json!([[1, "Number must be at least 2 (min)"]]),
            exported: json!({ "minimum": 2, "minLength": 2, "minItems": 2 }),
        },
        Row {
            keyword: "max",
            wrong: (json!("1"), "a number"),
            rule: json!({ "max": 2 }),
            built: Rule::any().max(2),
            derived: derived!([f64] max = 2),
            passes: json!([2, "ab", [1, 2], true, { "a": 1, "b": 2, "c": 3 }]),
            fails: json!([[3, "Number must be at most 2 (max)"]]),
            exported: json!({ "maximum": 2, "maxLength": 2, "maxItems": 2 }),
        },
        Row {
            keyword: "minItems",
            wrong: (json!(-1), "a non-negative integer"),
            rule: json!({ "minItems": 2 }),
            built: Rule::any().min_items(2),
            derived: derived!([Vec<u8>] min_items = 2),
            passes: json!([[1, 2], [1, 2, 3], "a"]),
            fails: json!([[[1], "Array must contain at least 2 items (minItems)"]]),
            exported: json!({ "minItems": 2 }),
        },
        Row {
            keyword: "maxItems",
            wrong: (json!("1"), "a non-negative integer"),
            rule: json!({ "maxItems": 2 }),
            built: Rule::any().max_items(2),
            derived: derived!([Vec<u8>] max_items = 2),
            passes: json!([[1, 2], [], "abc"]),
            fails: json!([[[1, 2, 3], "Array must contain at most 2 items (maxItems)"]]),
            exported: json!({ "maxItems": 2 }),
        },
        Row {
            keyword: "uniqueItems",
            wrong: (json!("yes"), "a boolean"),
            rule: json!({ "uniqueItems": true }),
            built: Rule::any().unique_items(),
            derived: derived!([Vec<u8>] unique_items),
            passes: json!([[1, 2], [1, "1"], [], "aa"]),
            fails: json!([
                [[1, 1], "Items must be unique (uniqueItems)"],
                [[1, 2, 1.0], "Items must be unique (uniqueItems)"],
            ]),
            exported: json!({ "uniqueItems": true }),
        },
        Row {
            keyword: "minProperties",
            wrong: (json!(0.5), "a non-negative integer"),
            rule: json!({ "minProperties": 2 }),
            built: Rule::any().min_properties(2),
            derived: derived!([std::collections::BTreeMap<String, u8>] min_properties = 2),
            passes: json!([{ "a": 1, "b": 2 }, "a", []]),
            fails: json!([
                [{ "a": 1 }, "Object must have at least 2 properties (minProperties)"],
            ]),
            exported: json!({ "minProperties": 2 }),
        },
        Row {
            keyword: "maxProperties",
            wrong: (json!("1"), "a non-negative integer"),
            rule: json!({ "maxProperties": 1 }),
            built: Rule::any().max_properties(1),
            derived: derived!([std::collections::BTreeMap<String, u8>] max_properties = 1),
            passes: json!([{ "a": 1 }, {}, "ab"]),
            fails: json!([
                [{ "a": 1, "b": 2 }, "Object must have at most 1 properties (maxProperties)"],
            ]),
            exported: json!({ "maxProperties": 1 }),
        },
        Row {
            keyword: "format",
            wrong: (json!(1), "a string"),
            rule: json!({ "format": "ipv4" }),
            built: Rule::any().format(Format::Ipv4),
            derived: derived!([String] format = "ipv4"),
            passes: json!(["127.0.0.1", 7]),
            fails: json!([["::1", "Invalid IPv4 address (format)"]]),
            exported: json!({ "format": "ipv4" }),
        },
    ]
}

/// Keywords with tests in other modules, because they do more than check a
/// value. `const` accepts any value. The others affect the value, its presence,
/// its messages or its documents, or contain rules (`applicators.rs`).
const WITHOUT_ROW: &[&str] = &[
    "type",
    "required",
    "const",
    "items",
    "properties",
    "additionalProperties",
    "nullable",
    "custom",
    "message",
    "trim",
    "transform",
    "default",
    "title",
    "description",
    "$schema",
    "$id",
    "$comment",
    "examples",
    "deprecated",
    "readOnly",
    "writeOnly",
    "maxBytes",
    "mediaTypes",
    "separator",
    "style",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "prefixItems",
    "contains",
    "minContains",
    "maxContains",
    "unevaluatedItems",
    "patternProperties",
    "propertyNames",
    "dependentRequired",
    "dependentSchemas",
    "unevaluatedProperties",
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "then",
    "else",
    "$ref",
    "$defs",
    "definitions",
    "$anchor",
    "$dynamicAnchor",
];

impl Row {
    fn passes(&self) -> &[Value] {
        self.passes.as_array().unwrap()
    }

    /// Returns the invalid values, each with its message.
    fn fails(&self) -> impl Iterator<Item = (&Value, &str)> {
        let pairs = self.fails.as_array().unwrap().iter();
        pairs.map(|pair| (&pair[0], pair[1].as_str().unwrap()))
    }

    /// Returns all values.
    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.passes().iter().chain(self.fails().map(|(value, _)| value))
    }

    /// Checks that a schema accepts exactly the valid values.
    #[track_caller]
    fn check_verdicts(&self, schema: &Schema) {
        let is_valid = |value| schema.check(value, &ValidationOptions::new()).unwrap().is_empty();
        for value in self.passes() {
            assert!(is_valid(value), "{}: {value} for {schema:?}", self.keyword);
        }
        for (value, _) in self.fails() {
            assert!(!is_valid(value), "{}: {value} for {schema:?}", self.keyword);
        }
    }
}

#[test]
fn each_keyword_has_a_row() {
    let with_row = ROWS.iter().map(|row| row.keyword);
    let mut listed: Vec<&str> = with_row.chain(WITHOUT_ROW.iter().copied()).collect();
    let mut known: Vec<&str> = stockade_validation::__internal::keywords().collect();
    listed.sort_unstable();
    known.sort_unstable();
    assert_eq!(listed, known);
}

#[test]
fn values_pass_or_fail_with_their_message() {
    for row in &*ROWS {
        for value in row.passes() {
            check_field(&row.rule, value, &[]);
        }
        for (value, message) in row.fails() {
            check_field(&row.rule, value, &[message]);
        }
    }
}

#[test]
fn rejects_values_of_the_wrong_kind() {
    for row in &*ROWS {
        let (value, wanted) = &row.wrong;
        let schema = json!({ "v": { "nullable": true, row.keyword: value } });
        let error = Schema::from_value(&schema).unwrap_err();
        let messages: Vec<&str> = error.issues().iter().map(|fault| fault.message()).collect();
        let keyword = row.keyword;
        let expected = format!("field `v`: `{keyword}` must be {wanted} (at `/v/{keyword}`)");
        assert_eq!(messages, [expected]);
    }
}

#[test]
fn methods_build_the_same_rule() {
    for row in &*ROWS {
        let built = row.built.clone().build().unwrap();
        assert_eq!(built.to_json_schema(), row.exported, "{}", row.keyword);
        row.check_verdicts(&built);
    }
}

#[test]
fn exported_documents_mean_the_same() {
    for row in &*ROWS {
        let schema = Schema::rule(&row.rule).unwrap();
        assert_eq!(schema.to_json_schema(), row.exported, "{}", row.keyword);
        row.check_verdicts(&Schema::rule(&row.exported).unwrap());
    }
}

#[test]
fn typed_readers_agree() {
    let options = ValidationOptions::new();
    for row in &*ROWS {
        let rule = &row.rule;
        let field = json!({ "type": "object", "properties": { "a": rule, "b": rule, "c": rule } });
        let element = json!({ "type": "array", "items": rule });
        let member = json!({ "type": "object", "additionalProperties": rule });
        for value in row.values() {
            agree_for_all(rule, &value.to_string(), &options);
            agree_for_all(&element, &json!([value, value]).to_string(), &options);
            let object = json!({ "a": value, "b": value, "c": value }).to_string();
            agree_for_all(&field, &object, &options);
            agree_for_all(&member, &object, &options);
        }
    }
}

#[cfg(feature = "derive")]
#[test]
fn derived_fields_have_the_keyword() {
    for row in &*ROWS {
        let schema = row.derived.as_ref().unwrap();
        check_with(schema, &json!({ "v": row.passes()[0] }), &[]);
        for (value, message) in row.fails() {
            check_with(schema, &json!({ "v": value }), &[&format!("v: {message}")]);
        }
    }
}

#[cfg(feature = "schemars")]
mod documents {
    use std::borrow::Cow;
    use std::cell::RefCell;

    use schemars::{JsonSchema, SchemaGenerator};
    use serde_json::Value;
    use stockade_validation::Schema;

    use super::ROWS;

    thread_local! {
        static DOCUMENT: RefCell<Value> = RefCell::default();
    }

    /// A type with the current document.
    struct Documented;

    impl JsonSchema for Documented {
        fn schema_name() -> Cow<'static, str> {
            "Documented".into()
        }

        fn json_schema(_: &mut SchemaGenerator) -> schemars::Schema {
            DOCUMENT.with_borrow(Clone::clone).try_into().unwrap()
        }
    }

    #[test]
    fn are_read_from_schemars() {
        for row in &*ROWS {
            DOCUMENT.set(row.exported.clone());
            row.check_verdicts(&Schema::from_schemars::<Documented>().unwrap());
        }
    }
}
