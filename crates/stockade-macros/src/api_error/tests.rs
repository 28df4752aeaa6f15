//! Tests for the messages and the expansion of the derive.

use syn::LitStr;

use super::*;

fn run(source: &str) -> (Vec<String>, String) {
    let input: DeriveInput = syn::parse_str(source).expect("this is a type");
    let mut errors = Errors::default();
    let read = Input::read(&input, &mut errors);
    let serde_json = CratePath::serde_json();
    let tokens =
        read.map(|read| expand(&read, &CratePath::errors(), serde_json.as_ref(), &mut errors));
    let tokens = tokens.unwrap_or_default();
    assert!(syn::parse2::<syn::File>(tokens.clone()).is_ok(), "not items: {tokens}");
    (errors.messages(), tokens.to_string())
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(run(source).0, expected, "{source}");
}

/// Checks the `write!` arguments of the only variant.
#[track_caller]
fn shows(message: &str, expected: &str) {
    let source =
        format!("#[status(400, {message:?})] struct E {{ id: u8, r#type: u8, wide: usize }}");
    let (errors, tokens) = run(&source);
    assert!(errors.is_empty(), "{errors:?}");
    let start = tokens.find(":: write ! (f , ").expect("it has a message") + 16;
    let end = start + tokens[start..].find(')').expect("it ends");
    assert_eq!(&tokens[start..end], expected, "{message}");
}

#[test]
fn fields_become_arguments() {
    shows("plain", r#""plain""#);
    shows("no {id}", r#""no {0}" , argument0"#);
    shows("{{{id}}} {type:?}", r#""{{{0}}} {1:?}" , argument0 , argument1"#);
    shows("{id:>wide$.wide$x}", r#""{0:>1$.1$x}" , argument0 , argument1"#);
    shows("{id:0wide$}", r#""{0:01$}" , argument0 , argument1"#);
}

#[test]
fn documentation_shows_messages_with_field_names() {
    for (message, expected) in [
        ("plain", "plain"),
        ("no {id}", "no {id}"),
        ("{{{id}}} {r#type:?}", "{{id}} {type}"),
        ("{0} and {1:>5}", "… and …"),
        ("a } b { c", "a } b { c"),
    ] {
        let literal = LitStr::new(message, Span::call_site());
        assert_eq!(shown(&literal), expected, "{message}");
    }
}

#[test]
fn unknown_fields_are_named() {
    check(
        "#[status(400, \"{idd} {x} {}\")] struct E { id: u8 }",
        &[
            "1:14 `{}` must name a field, as in `{id}`",
            "1:14 unknown field `idd`, did you mean `id`?",
            "1:14 unknown field `x`: the fields are id",
        ],
    );
    check(
        "enum E { #[status(400, \"{1}\")] A(u8), #[status(400, \"{0}\")] B }",
        &[
            "1:23 unknown field `1`: the fields are 0",
            "1:52 unknown field `0`: there are no fields",
        ],
    );
}

#[test]
fn every_variant_needs_an_error_status() {
    check("enum E { A }", &["1:9 `A` does not have a status: add one, as in `#[status(404)]`"]);
    for status in ["399", "600", "70000"] {
        let source = format!("enum E {{ #[status({status})] A }}");
        let message = format!("1:18 expected an error status from 400 to 599, found {status}");
        check(&source, &[&message]);
    }
    check("enum E { #[status(400)] A, #[status(599,)] B }", &[]);
    let form = "1:18 expected a status and an optional message, as in `404, \"no product {id}\"`";
    check("enum E { #[status(\"404\")] A }", &[form]);
    check("enum E { #[status(404, text)] A }", &[&form.replace("1:18", "1:23")]);
    check(
        "#[status(404)] enum E {}",
        &["1:0 `#[status(…)]` belongs on each variant, not on the enum"],
    );
    check("enum E { #[status(404)] #[status(405)] A }", &["1:24 duplicate `#[status(…)]`"]);
}

#[test]
fn messages_are_on_all_variants_or_none() {
    check(
        "enum E { #[status(404, \"x\")] A, #[status(409)] B }",
        &["1:47 `B` does not have a message, but another variant does: add messages to all \
             variants, as in `#[status(409, \"…\")]`, or to none"],
    );
}

#[test]
fn generates_only_the_conversion_without_messages() {
    let (_, tokens) = run("enum E { #[status(404)] A { #[from] source: std::io::Error } }");
    assert!(!tokens.contains("Display for"), "{tokens}");
    assert!(!tokens.contains("From < std :: io :: Error >"), "{tokens}");
}

#[test]
fn finds_error_sources() {
    let (_, tokens) = run("enum E { #[status(500, \"x\")] A(#[from] std::io::Error) }");
    assert!(tokens.contains("From < std :: io :: Error > for E"), "{tokens}");
    check(
        "enum E { #[status(500, \"x\")] A(#[from] B, u8), #[status(500, \"x\")] C(#[source] B, #[source] B) }",
        &["1:39 `#[from]` requires a variant with exactly one field", "1:82 duplicate `#[source]`"],
    );
}

#[test]
fn transparent_needs_one_field_and_no_other_argument() {
    let one = "`transparent` requires a variant with exactly one field";
    check("enum E { #[status(transparent)] A }", &[&format!("1:18 {one}")]);
    check("enum E { #[status(transparent)] A(B, C) }", &[&format!("1:18 {one}")]);
    let alone = "`transparent` does not accept other arguments: the field defines the status and \
                 the message";
    check("enum E { #[status(transparent, \"x\")] A(B) }", &[&format!("1:31 {alone}")]);
    check("enum E { #[status(transparent, 404)] A(B) }", &[&format!("1:31 {alone}")]);
    check(
        "enum E { #[status(404, transparent)] A(B) }",
        &["1:23 expected a status and an optional message, as in `404, \"no product {id}\"`"],
    );
    check(
        "enum E { #[status(transparent)] #[status(404)] A(B) }",
        &["1:32 duplicate `#[status(…)]`"],
    );
    check(
        "enum E { #[status(transparent)] A(#[details] B) }",
        &["1:45 `#[details]` cannot be combined with `transparent`: remove one of them"],
    );
    check("enum E { #[status(transparent,)] A { inner: B } }", &[]);
}

#[test]
fn transparent_works_with_and_without_messages() {
    let (errors, tokens) =
        run("enum E { #[status(404, \"x\")] A, #[status(transparent)] B(#[from] C) }");
    assert!(errors.is_empty(), "{errors:?}");
    assert!(tokens.contains("Display for E") && tokens.contains("From < C > for E"), "{tokens}");
    let (errors, tokens) = run("enum E { #[status(404)] A, #[status(transparent)] B(C) }");
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!tokens.contains("Display for E"), "{tokens}");
    let (errors, tokens) = run("#[status(transparent)] struct E(C);");
    assert!(errors.is_empty(), "{errors:?}");
    assert!(!tokens.contains("__HasText"), "{tokens}");
}

#[test]
fn problem_types_are_checked() {
    check("enum E { #[status(404, type = \"no-order\")] A }", &[]);
    check("#[status(404, \"x\", type = \"https://a.example/x\",)] struct E;", &[]);
    for (text, reason) in [
        ("", "is empty: use a path such as `sold-out`, or an absolute URI"),
        ("/x", "begins with `/`, which replaces the path of the base: remove the `/`"),
        ("a b", "contains characters that a URI cannot contain: percent-encode them"),
        ("a/../b", "contains an empty, `.` or `..` segment"),
        ("about:blank", "means an error without a type: remove `type`"),
    ] {
        let source = format!("#[status(404, type = {text:?})] struct E;");
        check(&source, &[&format!("1:21 the problem type {text:?} {reason}")]);
    }
    check(
        "#[status(404, type = x)] struct E;",
        &["1:21 expected a problem type as a string, as in `type = \"sold-out\"`"],
    );
    let form = "expected a status and an optional message, as in `404, \"no product {id}\"`";
    check("#[status(404, type = \"x\", \"y\")] struct E;", &[&format!("1:26 {form}")]);
    check("#[status(404, type = \"x\", type = \"y\")] struct E;", &[&format!("1:26 {form}")]);
}

#[test]
fn members_have_types_and_unreserved_names() {
    for name in ["type", "status", "title", "detail", "instance", "error", "details"] {
        let source =
            format!("#[status(404, type = \"x\")] struct E {{ #[member({name:?})] a: u8 }}");
        let message =
            format!("1:47 the member `{name}` is reserved in error bodies: use another name");
        check(&source, &[&message]);
    }
    let (errors, tokens) = run(
        "#[status(404, type = \"x\")] struct E { #[member] a: u8, #[member(\"b\")] c: Option<u8> }",
    );
    assert!(errors.is_empty(), "{errors:?}");
    assert!(tokens.contains("with_problem_type") && tokens.contains("\"b\""), "{tokens}");
    check(
        "#[status(404, type = \"x\")] struct E { #[member] r#type: u8 }",
        &["1:48 the member `type` is reserved in error bodies: use another name"],
    );
    check(
        "#[status(404, type = \"x\")] struct E(#[member] u8);",
        &["1:36 the field does not have a name: add one, as in `#[member(\"sku\")]`"],
    );
    check(
        "#[status(404, type = \"x\")] struct E { #[member] a: u8, #[member(\"a\")] b: u16 }",
        &["1:73 duplicate member name `a`"],
    );
    check(
        "#[status(404)] struct E { #[member] a: u8 }",
        &["1:39 `#[member]` requires a problem type, which defines the members: use \
             `#[status(404, \"…\", type = \"…\")]`"],
    );
    check(
        "#[status(transparent)] struct E { #[member] a: B }",
        &["1:47 `#[member]` cannot be combined with `transparent`: remove one of them"],
    );
}

#[test]
fn rejects_unions() {
    check("union E { a: u8 }", &["1:0 `ApiError` can be derived for enums and structs"]);
}
