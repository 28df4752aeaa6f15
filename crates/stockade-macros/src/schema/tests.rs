//! Tests for the error messages of the derive.

use super::*;

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    let input: DeriveInput = syn::parse_str(source).expect("this is a type");
    let mut errors = Errors::default();
    let tokens = expand(&input, CratePath::validation(), None, &mut errors);
    assert!(syn::parse2::<syn::File>(tokens.clone()).is_ok(), "not items: {tokens}");
    assert_eq!(errors.messages(), expected, "{source}");
}

/// Returns the only error of a field with these keywords, without its position.
#[track_caller]
fn check_field(ty: &str, keywords: &str, expected: &[&str]) {
    let source = format!("struct T {{ #[schema({keywords})] f: {ty} }}");
    let input: DeriveInput = syn::parse_str(&source).expect("this is a type");
    let mut errors = Errors::default();
    expand(&input, CratePath::validation(), None, &mut errors);
    let messages = errors.messages();
    let texts: Vec<&str> =
        messages.iter().filter_map(|message| Some(message.split_once(' ')?.1)).collect();
    assert_eq!(texts, expected, "{keywords}");
}

#[test]
fn unknown_keywords_are_explained() {
    check(
        "struct T { #[schema(min_lenght = 3, enum = [1], colour)] a: String }",
        &[
            "1:20 unknown keyword `min_lenght`, did you mean `min_length`?",
            "1:36 unknown keyword `enum`, did you mean `values`?",
            "1:48 unknown keyword `colour`",
        ],
    );
    check_field(
        "String",
        "maxLength = 3",
        &["unknown keyword `maxLength`, did you mean `max_length`?"],
    );
    check_field("String", "trim, trim", &["duplicate `trim`"]);
    check_field("String", "example = 1, example = 2", &[]);
}

#[test]
fn a_stream_is_the_last_field() {
    check("struct T { a: String, file: FileStream }", &[]);
    let message = "a `FileStream` must be the last field: the handler reads it after the other \
                   parts of the form";
    for ty in ["FileStream", "Option<extract::FileStream>"] {
        let source = format!("struct T {{ file: {ty}, a: String }}");
        check(&source, &[&format!("1:17 {message}")]);
    }
}

#[test]
fn values_fit_their_keywords() {
    let count = "must be a non-negative integer";
    for (keywords, message) in [
        ("min_length = \"3\"", format!("`min_length` {count}")),
        ("min_length = -1", format!("`min_length` {count}")),
        ("max_length = 1.5", format!("`max_length` {count}")),
        ("max_length", "`max_length` requires a value: `= …`".to_owned()),
        ("pattern = 3", "`pattern` must be a string".to_owned()),
        ("min = true", "`min` must be a number".to_owned()),
        ("values = 3", "`values` must be a list: `[…]`".to_owned()),
        ("trim = 1", "`trim` does not accept a value other than `= true` or `= false`".to_owned()),
        ("items = 1", "`items` expects keywords, as in `items(min_length = 3)`".to_owned()),
        ("kind = \"emial\"", "`kind` does not accept \"emial\", did you mean `email`?".to_owned()),
        (
            "format = \"datetime\"",
            "`format` does not accept \"datetime\", did you mean `date-time`?".to_owned(),
        ),
    ] {
        check_field("Other", keywords, &[&message]);
    }
    check_field("Other", "min_length = LEAST, trim = false, pattern = PATTERN", &[]);
}

#[test]
fn keywords_fit_the_type() {
    check_field(
        "bool",
        "min_length = 3",
        &["`min_length` applies to strings, but the type is a boolean"],
    );
    check_field(
        "Option<u8>",
        "pattern = \"a\"",
        &["`pattern` applies to strings, but the type is a number"],
    );
    check_field(
        "Vec<u8>",
        "minimum = 3",
        &["`minimum` applies to numbers, but the type is a list"],
    );
    check_field(
        "Vec<bool>",
        "items(trim)",
        &["`trim` applies to strings, but the type is a boolean"],
    );
    check_field("HashMap<String, u8>", "min_properties = 1", &[]);
    check_field("u8", "kind = \"string\", min_length = 3", &[]);
    check_field("Other", "min_length = 3", &[]);
}

#[test]
fn bounds_do_not_contradict_each_other() {
    check_field("u8", "minimum = 5, maximum = 3", &["`minimum` 5 is above `maximum` 3"]);
    check_field(
        "i8",
        "exclusive_minimum = -2, exclusive_maximum = -2",
        &["`exclusive_minimum` -2 is not below `exclusive_maximum` -2"],
    );
    check_field(
        "Vec<String>",
        "items(min_length = 3, max_length = 2)",
        &["`min_length` 3 is above `max_length` 2"],
    );
    check_field("u8", "minimum = 3, maximum = 3", &[]);
}

#[test]
fn rejects_misplaced_keywords() {
    check("#[schema(required)] struct T;", &["1:9 `required` belongs on a field"]);
    check_field(
        "u8",
        "name = \"a\"",
        &["`name` belongs on a type: use `#[serde(rename = \"…\")]` to rename a field"],
    );
    check(
        "enum T { #[schema(minimum = 1)] A(u8) }",
        &["1:18 `minimum` cannot be used on a variant"],
    );
}

#[test]
fn opaque_excludes_a_custom_rule() {
    check_field("Other", "opaque", &[]);
    check_field("Vec<bool>", "opaque, min_length = 3", &[]);
    check_field("Vec<bool>", "opaque = false, with = rule", &[]);
    check_field(
        "Other",
        "with = rule, opaque",
        &["`opaque` and `with` are both set: remove one of them"],
    );
    check_field(
        "Other",
        "opaque = 1",
        &["`opaque` does not accept a value other than `= true` or `= false`"],
    );
    check("#[schema(opaque)] struct T;", &["1:9 `opaque` belongs on a field"]);
}

#[test]
fn rejects_types_without_a_schema() {
    check("union T { a: u8 }", &["1:0 `Schema` can be derived for structs and enums"]);
    check(
        "#[serde(tag = \"t\")] enum T { A(u8, u8), #[serde(other)] B }",
        &["1:29 a tuple variant cannot contain the tag: add serde's `content` attribute to \
             the enum"],
    );
}

#[test]
fn rejects_attributes_of_serde_that_it_does_not_know() {
    let message = |name: &str| {
        format!(
            "`Schema` does not support serde's `{name}`: implement `HasSchema` by hand, or use \
             `Unchecked<T>` for the type"
        )
    };
    for name in ["field_identifier", "variant_identifier", "flatten_all"] {
        check(&format!("#[serde({name})] enum T {{ A }}"), &[&format!("1:8 {}", message(name))]);
        let source = format!("struct T {{ #[serde(default, {name} = \"x\")] a: u8 }}");
        check(&source, &[&format!("1:28 {}", message(name))]);
        let source = format!("enum T {{ #[serde({name}(x = \"y\"))] A, B(#[serde({name})] u8) }}");
        let expected = [format!("1:17 {}", message(name))];
        let second = source.rfind(name).expect("it is there");
        check(&source, &[&expected[0], &format!("1:{second} {}", message(name))]);
    }
}

#[test]
fn accepts_every_other_attribute_of_serde() {
    for attribute in [
        "bound = \"\"",
        "bound(serialize = \"\", deserialize = \"\")",
        "content = \"c\", tag = \"t\"",
        "crate = \"serde\"",
        "default",
        "deny_unknown_fields",
        "expecting = \"a type\"",
        "from = \"u8\", into = \"u8\"",
        "remote = \"other::T\"",
        "rename = \"t\"",
        "rename(serialize = \"t\", deserialize = \"u\")",
        "rename_all = \"camelCase\"",
        "rename_all_fields = \"camelCase\"",
        "transparent",
        "try_from = \"u8\"",
    ] {
        check(&format!("#[serde({attribute})] struct T {{ a: u8 }}"), &[]);
    }
    for attribute in [
        "alias = \"b\"",
        "borrow",
        "borrow = \"'a\"",
        "bound = \"\"",
        "default = \"path\"",
        "deserialize_with = \"path\"",
        "flatten",
        "getter = \"path\"",
        "rename = \"b\"",
        "serialize_with = \"path\"",
        "skip",
        "skip_deserializing",
        "skip_serializing",
        "skip_serializing_if = \"path\"",
        "with = \"path\"",
    ] {
        check(&format!("struct T {{ #[serde({attribute})] a: u8 }}"), &[]);
    }
    check("#[serde(untagged)] enum T { A(u8), B { a: u8 }, C }", &[]);
    check("enum T { A(u8), #[serde(untagged)] B(String) }", &[]);
    check("struct T<'a> { a: &'a str, b: std::borrow::Cow<'a, str> }", &[]);
    for attribute in ["alias = \"B\"", "rename_all = \"camelCase\"", "skip", "with = \"path\""] {
        check(&format!("enum T {{ #[serde({attribute})] A {{ a: u8 }}, B }}"), &[]);
    }
}

#[test]
fn rejects_macros_that_change_the_fields_later() {
    check(
        "#[serde_as] struct T { #[serde_as(as = \"Hex\")] a: u8 }",
        &["1:2 `#[serde_as]` changes the fields: put it above `#[derive(Schema)]`"],
    );
    check(
        "#[serde_with::skip_serializing_none] struct T { a: Option<u8> }",
        &["1:2 `#[skip_serializing_none]` changes the fields: put it above `#[derive(Schema)]`"],
    );
}

#[test]
fn tuple_elements_cannot_be_skipped() {
    check(
        "struct T(u8, #[serde(skip_serializing_if = \"is_zero\")] u8);",
        &["1:13 `Schema` cannot describe a tuple with an optional element, because the next \
             element moves to its position: use named fields"],
    );
    check("struct T(#[serde(skip_serializing_if = \"is_zero\")] u8);", &[]);
    check("struct T(u8, #[serde(skip, skip_serializing_if = \"is_zero\")] u8);", &[]);
}
