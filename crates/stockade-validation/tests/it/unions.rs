//! Unions and flattening, built with [`Rule`].

use serde_json::{Value, json};
use stockade_validation::{HasSchema, Rule, Schema, ValidationOptions, validate_against_schema};

use crate::support::check_with;

fn shape() -> Rule {
    Rule::tagged(
        "kind",
        [
            (
                "circle",
                Rule::object([("radius", Rule::number().required())]).additional_properties(false),
            ),
            ("square", Rule::object([("side", Rule::number().default(1))])),
        ],
    )
}

#[test]
fn the_tag_chooses_the_rule() {
    let schema = Rule::object([("shape", shape())]).build().unwrap();
    for (shape, expected) in [
        (json!({ "kind": "circle", "radius": 1 }), &[][..]),
        (json!({ "kind": "square", "x": 1 }), &[]),
        (
            json!({ "kind": "circle", "x": 1 }),
            &[
                "shape.radius: Required field 'radius' is missing (required)",
                "shape.x: Unknown field 'x' (additionalProperties)",
            ],
        ),
        (json!({}), &["shape.kind: Required field 'kind' is missing (required)"]),
        (
            json!({ "kind": "star", "x": 1 }),
            &[r#"shape.kind: Must be one of: "circle", "square" (enum)"#],
        ),
        (json!({ "kind": 1 }), &[r#"shape.kind: Must be one of: "circle", "square" (enum)"#]),
        (json!(null), &["shape: Expected object, got null (type)"]),
        (json!("circle"), &["shape: Expected object, got string (type)"]),
    ] {
        check_with(&schema, &json!({ "shape": shape }), expected);
    }
}

#[test]
fn unknown_keys_and_defaults_in_a_union() {
    let schema = shape().build().unwrap();
    let refuse = ValidationOptions::new().allow_unknown(false);
    let data = json!({ "kind": "circle", "radius": 1 });
    assert!(schema.check(&data, &refuse).unwrap().is_empty(), "the tag is known");
    let strip = ValidationOptions::new().strip_unknown(true);
    let data = json!({ "x": 1, "kind": "square" });
    let outcome = validate_against_schema(&schema, data, &strip).unwrap();
    assert_eq!(outcome.data, json!({ "kind": "square", "side": 1 }));
}

#[test]
fn content_next_to_the_tag() {
    let rule = Rule::tagged_content(
        "t",
        "c",
        [
            ("none", None),
            ("text", Some(Rule::string())),
            ("maybe", Some(Rule::integer().nullable())),
        ],
    );
    let schema = rule.build().unwrap();
    for data in [
        json!({ "t": "none" }),
        json!({ "t": "none", "c": null }),
        json!({ "t": "text", "c": "" }),
        json!({ "t": "maybe" }),
    ] {
        check_with(&schema, &data, &[]);
    }
    check_with(&schema, &json!({ "t": "text" }), &["c: Required field 'c' is missing (required)"]);
    check_with(
        &schema,
        &json!({ "t": "maybe", "c": "1" }),
        &["c: Expected integer, got string (type)"],
    );
}

#[test]
fn the_name_of_a_variant_as_key() {
    let rule =
        Rule::variants([("anyone", None), ("user", Some(Rule::string().trim().min_length(2)))]);
    let schema = rule.build().unwrap();
    let names = r#"Must be one of: "anyone", "user" (enum)"#;
    for (data, expected) in [
        (json!("anyone"), vec![]),
        (json!({ "user": "Ada" }), vec![]),
        (json!({ "user": "A " }), vec!["user: String must be at least 2 characters (minLength)"]),
        (json!("nobody"), vec![names]),
        (json!({ "nobody": 1 }), vec![names]),
        (json!("user"), vec!["Expected object, got string (type)"]),
        (json!({ "anyone": 1 }), vec!["Expected string, got object (type)"]),
        (json!({}), vec!["Object must have at least 1 properties (minProperties)"]),
        (
            json!({ "anyone": 1, "user": 2 }),
            vec!["Object must have at most 1 properties (maxProperties)"],
        ),
        (json!(1), vec!["Expected string or object, got number (type)"]),
    ] {
        let expected: Vec<String> = expected
            .into_iter()
            .map(|line| if line.contains("user: ") { line.to_owned() } else { format!(": {line}") })
            .collect();
        let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
        check_with(&schema, &data, &expected);
    }
    let data = json!({ "user": " Ada " });
    let outcome = validate_against_schema(&schema, data, &ValidationOptions::new()).unwrap();
    assert_eq!(outcome.data, json!({ "user": "Ada" }));
}

#[test]
fn unions_are_exported() {
    assert_eq!(
        shape().nullable().build().unwrap().to_json_schema(),
        json!({
            "type": ["object", "null"],
            "oneOf": [
                {
                    "type": "object",
                    "properties": {
                        "kind": { "const": "circle" },
                        "radius": { "type": "number" },
                    },
                    "required": ["kind", "radius"],
                    "additionalProperties": false,
                },
                {
                    "type": "object",
                    "properties": {
                        "kind": { "const": "square" },
                        "side": { "type": "number", "default": 1 },
                    },
                    "required": ["kind"],
                },
                { "type": "null" },
            ],
        })
    );
    assert_eq!(
        Rule::variants([("a", None), ("b", Some(Rule::boolean()))])
            .build()
            .unwrap()
            .to_json_schema(),
        json!({
            "type": ["string", "object"],
            "oneOf": [
                { "type": "string", "enum": ["a"] },
                {
                    "type": "object",
                    "properties": { "b": { "type": "boolean" } },
                    "required": ["b"],
                    "additionalProperties": false,
                },
            ],
        })
    );
}

/// The exported document has the same results as the schema.
#[test]
fn documents_agree_with_the_schema() {
    let schema = Rule::object([
        ("shape", shape()),
        ("who", Rule::variants([("anyone", None), ("user", Some(Rule::string()))])),
        ("pair", Rule::tuple([Rule::string(), Rule::integer()])),
    ])
    .build()
    .unwrap();
    let oracle = jsonschema::validator_for(&schema.to_json_schema()).unwrap();
    let values: [Value; 9] = [
        json!("anyone"),
        json!("user"),
        json!({ "user": "Ada" }),
        json!({ "anyone": null }),
        json!({ "kind": "circle", "radius": 1 }),
        json!({ "kind": "circle" }),
        json!({ "kind": "star" }),
        json!(["a", 1]),
        json!(["a", 1, 2]),
    ];
    for field in ["shape", "who", "pair"] {
        for value in &values {
            let data = json!({ field: value });
            let errors = schema.check(&data, &ValidationOptions::new()).unwrap();
            assert_eq!(errors.is_empty(), oracle.is_valid(&data), "{data}");
        }
    }
}

#[test]
fn flattened_properties_are_in_the_object() {
    let paging = Rule::object([("page", Rule::integer())])
        .required_fields(["page"])
        .additional_properties(false);
    let schema = Rule::object([("text", Rule::string())])
        .additional_properties(false)
        .flatten(paging)
        .flatten(shape())
        .build()
        .unwrap();
    check_with(&schema, &json!({ "page": 1, "kind": "circle", "radius": 1 }), &[]);
    check_with(
        &schema,
        &json!({ "text": 1, "kind": "circle", "radius": 1, "x": 1 }),
        &[
            "page: Required field 'page' is missing (required)",
            "text: Expected string, got number (type)",
            "x: Unknown field 'x' (additionalProperties)",
        ],
    );
    let map = Rule::object([("a", Rule::string())]).flatten(Rule::map(Rule::integer()));
    check_with(
        &map.build().unwrap(),
        &json!({ "a": "a", "b": "b" }),
        &["b: Expected integer, got string (type)"],
    );
    let maybe = Rule::object([("a", Rule::string().required())]).nullable();
    check_with(&Rule::object::<&str>([]).flatten(maybe).build().unwrap(), &json!({}), &[]);
}

#[test]
fn rejects_types_that_cannot_be_unions_or_flattened() {
    struct Endless;
    impl HasSchema for Endless {
        fn rule() -> Rule {
            Rule::object([("a", Rule::any())]).flatten(Rule::of::<Self>())
        }
    }
    struct Spiral;
    impl HasSchema for Spiral {
        fn rule() -> Rule {
            Rule::tagged("t", [("a", Rule::of::<Self>()), ("b", Rule::of::<Self>())])
        }
    }
    let check = |schema: Result<Schema, stockade_errors::ConfigError>, expected: &str| {
        let error = schema.unwrap_err();
        let messages: Vec<_> = error.issues().iter().map(|mistake| mistake.message()).collect();
        assert!(messages.iter().all(|message| message.ends_with(expected)), "{messages:?}");
    };
    check(Rule::of::<Endless>().build(), "`Endless` cannot contain itself");
    check(Spiral::rule().build(), "`Spiral` cannot contain itself");
    check(
        Rule::object([("a", Rule::any())]).flatten(Rule::string()).build(),
        "only objects, maps and unions can be flattened",
    );
    check(
        Rule::object([("a", Rule::any())]).flatten(shape()).flatten(shape()).build(),
        "only one union can be flattened into an object",
    );
    check(
        Rule::tagged("t", [("a", Rule::string())]).build(),
        "variant `a` is not an object, so it cannot have a tag",
    );
    check(Rule::variants([("a", Some(Rule::any())), ("a", None)]).build(), "duplicate variant `a`");
    check(Rule::tagged::<&str>("t", []).build(), "a union must have at least one variant");
}

#[test]
fn nested_unions_have_both_tags() {
    let inner = Rule::tagged("size", [("big", Rule::object([("tons", Rule::number())]))]);
    let schema = Rule::tagged("kind", [("ship", inner)]).build().unwrap();
    check_with(&schema, &json!({ "kind": "ship", "size": "big", "tons": 1 }), &[]);
    check_with(
        &schema,
        &json!({ "kind": "ship", "size": "small" }),
        &[r#"size: Must be one of: "big" (enum)"#],
    );
}
