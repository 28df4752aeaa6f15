//! Tests of each form of the notation.

use proptest::prelude::*;

use super::*;
use crate::Pattern;

/// `expected` contains one word per segment: quoted text, or parameters in the
/// notation.
#[track_caller]
fn check(path: &str, expected: &str) {
    let show = |segment: &Segment| match segment {
        Segment::Parts(parts) => parts.iter().map(show_part).collect::<Vec<_>>().join("+"),
        Segment::Literal(text) => format!("{text:?}"),
        other => other.to_string(),
    };
    let read = segments(path).map(|it| it.iter().map(show).collect::<Vec<_>>().join(" "));
    assert_eq!(read, Ok(expected.to_owned()), "{path:?}");
}

fn show_part(part: &SegmentPart) -> String {
    match part {
        SegmentPart::Literal(text) => format!("{text:?}"),
        SegmentPart::Param(param) => {
            let constraint = param.constraint.as_ref().map(|it| format!("<{}>", it.as_str()));
            let optional = if param.optional { "?" } else { "" };
            format!("{}{}{optional}", param.name, constraint.unwrap_or_default())
        }
    }
}

/// Checks the error's excerpt, and that its message contains some words.
#[track_caller]
fn check_error(path: &str, excerpt: &str, message: &str) {
    let error = segments(path).unwrap_err();
    assert_eq!(&path[error.at()], excerpt, "{path:?} {error}");
    assert_eq!(error.path(), path);
    assert!(error.to_string().contains(message), "{path:?}: {error}");
    assert!(error.to_string().contains(&format!("{path:?}")), "{error}");
}

#[test]
fn literal_text_is_text() {
    check("", r#""""#);
    check("/", r#""""#);
    check("/a.b+c$d(e)f!'~|^[x]\"&=,;@-_%20", r#""a.b+c$d(e)f!'~|^[x]\"&=,;@-_%20""#);
    check("//a//", r#""" "a" "" """#);
    check("/caf\u{e9}", "\"caf\u{e9}\"");
}

#[test]
fn a_missing_slash_is_added() {
    check("a/:b", r#""a" b"#);
    check(":b", "b");
    check("**", "**");
    assert_eq!(Pattern::parse("a/:b").unwrap().as_str(), "/a/:b");
    assert_eq!(Pattern::parse("").unwrap().as_str(), "/");
}

#[test]
fn parameters_are_read() {
    check("/:id", "id");
    check("/:_a1/:$b", "_a1 $b");
    check("/:user-id", r#"user+"-id""#);
    check("/:from-:to", r#"from+"-"+to"#);
    check("/:file.:ext", r#"file+"."+ext"#);
    check("/v:major.:minor", r#""v"+major+"."+minor"#);
    check("/:gr\u{f6}\u{df}e", "gr\u{f6}\u{df}e");
}

#[test]
fn constraints_are_read() {
    check(r"/:id(\d+)", r"id<\d+>");
    check("/:file.:ext(json|csv)", r#"file+"."+ext<json|csv>"#);
    check(r"/:a((x)|[)(]|\))z", r#"a<(x)|[)(]|\)>+"z""#);
    check("/:a([])]|[^])]|[[:digit:](])", "a<[])]|[^])]|[[:digit:](]>");
    check("/:a(x/y)/b", r#"a<x/y> "b""#);
    check(r"/:id(\d+)?", r"id<\d+>?");
    check("/:a(b c)", "a<b c>");
}

#[test]
fn optional_parameters_are_read() {
    check("/opt/:id?", r#""opt" id?"#);
    check("/x:id?", r#""x"+id?"#);
    check("/:a?(b", r#"a?+"(b""#);
    check("/:a?b:c?", r#"a?+"b"+c?"#);
    let eight: String = ('a'..='h').map(|name| format!("/:{name}?")).collect();
    assert!(segments(&eight).is_ok());
    check_error(&format!("{eight}/:i?"), ":i?", "more than 8 optional");
}

#[test]
fn wildcards_are_whole_segments() {
    check("/*/a", r#"* "a""#);
    check("/d/**", r#""d" **"#);
    check_error("/a*", "*", "mixes `*`");
    check_error("/*a", "*", "mixes `*`");
    check_error("/***", "*", "mixes `*`");
    check_error("/*?", "*", "mixes `*`");
    check_error("/:a*", "*", "mixes `*`");
    check_error("/**/a", "/a", "must be last");
    check_error("/**/", "/", "must be last");
}

#[test]
fn names_are_present_separated_and_unique() {
    check_error("/:", ":", "missing a name after `:` at byte 1");
    check_error("/a/:-b", ":", "missing a name after `:` at byte 3");
    check_error("/:1", ":", "missing a name");
    check_error("/::a", ":", "missing a name");
    check_error("a/:b:c", ":c", "requires text between \":c\"");
    check_error("/:a?:b", ":b", "requires text between");
    check_error(r"/:a(\d):b", ":b", "requires text between");
    check_error("/:id/x/:id", ":id", "duplicate parameter \"id\"");
    check_error("/*/*", "*", "duplicate parameter \"splat\"");
    check_error("/:splat/**", "**", "duplicate parameter \"splat\"");
    check_error("/*/:splat", ":splat", "duplicate parameter \"splat\"");
}

#[test]
fn explains_malformed_expressions() {
    check_error("/:a(b", "(", "does not close the parenthesis at byte 3");
    check_error(r"/:a(b\)", "(", "does not close");
    check_error("/:a([)", "(", "does not close");
    check_error("/:a(?=b)", "?", "inside the parentheses");
    check_error("/:a((?=b)c)", "(?=", "look-around");
    check_error(r"/:a((b)\1)", r"\1", "backreferences are not supported");
    check_error("/:a(b{2,1})", "{2,1}", "invalid repetition count");
    check_error("/:a()", "()", "matches nothing");
    check_error("/:a(\u{e9}\n)", "\n", "use an escape of");
}

#[test]
fn escaped_colons_and_stars_are_text() {
    check(r"/users\:batch", r#""users:batch""#);
    check(r"/books/:id\:archive", r#""books" id+":archive""#);
    check(r"/\:a/\*/\*\*", r#"":a" "*" "**""#);
    check(r"/\::id", r#"":"+id"#);
    check(r"/:a(\d)\:b", r#"a<\d>+":b""#);
    check(r"/:a?\:b", r#"a?+":b""#);
    // The text is `"users\\:batch"` in Rust and JSON.
    assert_eq!(Pattern::parse(r"users\:batch").unwrap().as_str(), r"/users\:batch");
    check_error(r"/a\", r"\", "only before `:` or `*`");
    check_error(r"/a\\:b", r"\", "only before `:` or `*`");
    check_error(r"/a\/b", r"\", "%5C");
}

#[test]
fn rejects_a_parameter_directly_after_a_letter_or_digit() {
    check_error("/users:batch", ":batch", r"use `\:batch` for this text, or `:batch(.+)`");
    check_error("/v2:x/y", ":x", "directly after a letter or digit");
    check_error("/:user-id:batch", ":batch", "directly after a letter or digit");
    check_error("/caf\u{e9}:x", ":x", "directly after a letter or digit");
    check(r"/users:batch(.+)", r#""users"+batch<.+>"#);
    check("/x:id?", r#""x"+id?"#);
    check("/a:b-", r#""a"+b+"-""#);
    check("/a-:b", r#""a-"+b"#);
    check(r"/a\::b", r#""a:"+b"#);
}

#[test]
fn rejects_characters_that_no_request_path_contains() {
    check_error("/a?b", "?", "only after a parameter");
    check_error("/:a??", "?", "only after a parameter");
    check_error("/a#b", "#", "%23");
    check_error(r"/a\b", r"\", "%5C");
    for escape in ["%00", "%0a", "%0D", "%1f", "%7F"] {
        check_error(&format!("/a%20{escape}b"), escape, "the server rejects");
    }
    assert!(segments("/%20%2F%7E%8F%0x%").is_ok());
    check_error("/{id}", "{", "use `:id` for a parameter");
    check_error("/id}", "}", "use `:id` for a parameter");
    for bad in [" ", "\t", "\u{0}", "\u{7f}", "\u{85}", "\u{3000}", "<", ">", "`"] {
        check_error(&format!("/\u{e9}{bad}x"), bad, "percent-encode it");
    }
    assert!(segments(&"a".repeat(4_096)).is_ok());
    check_error(&"a".repeat(4_097), "a", "longer than 4096 bytes");
    check_error(&"\u{e9}".repeat(2_049), "\u{e9}", "longer than");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn any_text_is_a_pattern_or_an_error_within_it(path in any::<String>()) {
        never_panics(&path)?;
    }

    #[test]
    fn pattern_like_text_is_a_pattern_or_an_error_within_it(path in r"[/:*?()\[\]\\a1|+{}é.$^%-]{0,24}") {
        never_panics(&path)?;
    }
}

fn never_panics(path: &str) -> Result<(), TestCaseError> {
    match Pattern::parse(path) {
        Ok(pattern) => {
            let again = Pattern::parse(pattern.as_str());
            prop_assert_eq!(again.as_ref(), Ok(&pattern));
            let notation: String = pattern.segments().iter().map(|it| format!("/{it}")).collect();
            prop_assert_eq!(notation, pattern.as_str());
            prop_assert!(!pattern.variants().is_empty());
        }
        Err(error) => {
            let message = error.to_string();
            prop_assert!(path.get(error.at()).is_some_and(|it| !it.is_empty()), "{}", message);
        }
    }
    Ok(())
}

#[test]
fn finds_an_encoded_control_character() {
    for (path, expected) in [
        ("/a%0d%0ab", Some(2)),
        ("/%1F", Some(1)),
        ("/%7f", Some(1)),
        ("/a%20b%2", None),
        ("/%7e%80", None),
    ] {
        assert_eq!(find_control_escape(path), expected, "{path}");
    }
}
