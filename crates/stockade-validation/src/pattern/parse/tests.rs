//! Tests of the syntax that is rejected.

use super::*;

#[test]
fn rejects_syntax_that_ecma_262_does_not_have() {
    for (pattern, message) in [
        ("(", "a group is not closed"),
        ("a)", "`)` without `(`"),
        ("[a", "a class is not closed"),
        ("\\", "the pattern ends with `\\`"),
        ("*a", "nothing to repeat before `*`"),
        ("a**", "nothing to repeat before `*`"),
        ("^*", "an assertion cannot be repeated"),
        ("(?=a)+", "an assertion cannot be repeated"),
        ("a{,3}", "`{,3}` is not a count; escape a literal `{` as `\\{`"),
        ("a{2,1}", "the bounds of `{2,1}` are in the wrong order"),
        ("{a}", "a literal `{` must be escaped: `\\{`"),
        ("a++", "ECMA-262 has no possessive quantifiers such as `a++`"),
        ("a{2}+", "ECMA-262 has no possessive quantifiers such as `a++`"),
        ("(?>a+)b", "ECMA-262 has no group `(?>`"),
        ("(?x) a b", "ECMA-262 has no group `(?x`"),
        ("(?#a)", "ECMA-262 has no group `(?#`"),
        ("(?(1)a|b)", "ECMA-262 has no group `(?(`"),
        ("(?P=name)", "ECMA-262 has no group `(?P`"),
        ("(?m)^a", "the flag `m` is not supported; `^` and `$` match only at the ends of the text"),
        ("(?<a>b)(?<a>c)", "duplicate group name `a`"),
        ("(?<é>b)", "the group name `é` must consist of ASCII letters, digits and `_`"),
        (r"(a)\2", r"`\2` refers to a group that does not exist"),
        (r"\k<a>", r"`\k<a>` refers to a group that does not exist"),
        (r"(?i)(a)\1", "back references cannot ignore case"),
        (r"\Za", r"ECMA-262 has no escape `\Z`"),
        (r"\Ka", r"ECMA-262 has no escape `\K`"),
        (r"\h", r"ECMA-262 has no escape `\h`"),
        (r"\<a", r"ECMA-262 has no escape `\<`"),
        (r"\07", r"ECMA-262 has no escape `\0`"),
        (r"\b{1}", "an assertion cannot be repeated"),
        (r"\x4", r"`\x` needs the digits of a code point"),
        (r"\u{110000}", r"`\u{110000}` is beyond the last code point"),
        (r"\p{Greek}", r"ECMA-262 has no property `Greek`; write `\p{Script=Greek}`"),
        (r"\p{lu}", "ECMA-262 has no property `lu` (names are case-sensitive)"),
        (r"\p{^L}", "ECMA-262 has no property `^L` (names are case-sensitive)"),
        ("[z-a]", "the ends of a range are in the wrong order"),
        (r"[a-\d]", r"a set such as `\d` cannot start or end a range"),
        (r"[\w-a]", r"a set such as `\d` cannot start or end a range"),
        (
            "[a-z&&[^b]]",
            "`&&` in a class has different meanings in different languages; escape a literal \
             character",
        ),
        (
            "[[:alpha:]]",
            "ECMA-262 has no classes such as `[:alpha:]`; write `\\p{Alphabetic}` or `a-zA-Z`",
        ),
    ] {
        assert_eq!(parse(pattern).unwrap_err(), message, "{pattern}");
    }
    for pattern in ["[a[bc]]", "[]a]", "[^]a]"] {
        let error = parse(pattern).unwrap_err();
        assert!(
            error.starts_with("this use of `[` and `]` has different meanings"),
            "{pattern}: {error}"
        );
    }
    let nested = "(".repeat(200) + &")".repeat(200);
    assert_eq!(parse(&nested).unwrap_err(), "groups are nested more than 100 levels deep");
}
