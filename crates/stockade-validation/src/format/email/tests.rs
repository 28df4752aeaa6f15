//! Both email grammars compared, and the tests of `is_email`.

use super::*;

/// Checks both grammars: (RFC 5321, HTML forms).
#[track_caller]
fn check(text: &str, expected: (bool, bool)) {
    assert_eq!((is_mailbox(text), is_form_address(text)), expected, "{text:?}");
}

const BOTH: (bool, bool) = (true, true);
const MAILBOX: (bool, bool) = (true, false);
const FORM: (bool, bool) = (false, true);
const NEITHER: (bool, bool) = (false, false);

#[test]
fn the_two_grammars_share_plain_addresses() {
    for text in [
        "a@b.c",
        "joe.bloggs@example.com",
        "JOE@EXAMPLE.COM",
        "joe+tag@example.co.uk",
        "!#$%&'*+-/=?^_`{|}~@example.com",
        "1@2.3",
        "joe@1.2.3.4",
        "joe@xn--mnchen-3ya.de",
        "joe@a--b.c",
    ] {
        check(text, BOTH);
    }
}

#[test]
fn only_the_rfc_has_quotes_literals_and_single_labels() {
    for text in [
        "joe@localhost",
        "\"\"@a.b",
        "\"joe bloggs\"@a.b",
        "\"joe@bloggs\"@a.b",
        r#""\"\\\ "@a.b"#,
        "joe@[127.0.0.1]",
        "joe@[IPv6:::1]",
        "joe@[ipv6:2001:db8::7]",
        "joe@[IPv6:1:2:3:4:5:6:7:8]",
        "joe@[IPv6:1:2:3:4:5:6::]",
        "joe@[IPv6:::ffff:1.2.3.4]",
    ] {
        check(text, MAILBOX);
    }
}

#[test]
fn only_the_form_grammar_allows_dots_anywhere() {
    for text in [".joe@a.b", "joe.@a.b", "j..oe@a.b", ".@a.b", "...@a.b"] {
        check(text, FORM);
    }
}

#[test]
fn both_grammars_reject_malformed_addresses() {
    for text in [
        "",
        "@",
        "@@",
        "joe",
        "joe@",
        "@a.b",
        "joe@@a.b",
        "joe@a@b.c",
        "joe @a.b",
        " joe@a.b",
        "joe@a.b ",
        "joe@a.b\n",
        "joe@a.b\0",
        "joe@a.b\r\nBcc: x@y.z",
        "jo\0e@a.b",
        "jo\te@a.b",
        "joe@.a.b",
        "joe@a.b.",
        "joe@a..b",
        "joe@-a.b",
        "joe@a-.b",
        "joe@a_b.c",
        "joe@a.b:25",
        "<joe@a.b>",
        "Joe <joe@a.b>",
        "joe@a.b, x@y.z",
        "joe(comment)@a.b",
        "jöe@a.b",
        "joe@ä.b",
        "joe@a。b",
        "joe\u{ff20}a.b",
        "\"joe@a.b",
        "joe\"@a.b",
        "\"@a.b",
        "\"\\\"@a.b",
        "\"\"\"@a.b",
        "\"a\"b@a.b",
        "\"a\".b@a.b",
        "\"a\nb\"@a.b",
        "\"a\\\nb\"@a.b",
        "\"a\u{7f}b\"@a.b",
        "\"ä\"@a.b",
        "joe@[]",
        "joe@[",
        "joe@]",
        "joe@[127.0.0.1",
        "joe@127.0.0.1]",
        "joe@[127.0.0.256]",
        "joe@[127.0.0.01]",
        "joe@[::1]",
        "joe@[IPv6:]",
        "joe@[IPv6:1:2:3:4:5:6:7]",
        "joe@[IPv6:1:2:3:4:5:6:7::]",
        "joe@[IPv6:1:2:3:4:5::1.2.3.4]",
        "joe@[IPv6:fe80::1%eth0]",
        "joe@[tag:content]",
        "joe@[[127.0.0.1]]",
    ] {
        check(text, NEITHER);
    }
}

#[test]
fn lengths_end_at_63_64_and_254_bytes() {
    let label = "a".repeat(63);
    check(&format!("joe@{label}.b"), BOTH);
    check(&format!("joe@{label}a.b"), NEITHER);

    let local = "a".repeat(64);
    check(&format!("{local}@a.b"), BOTH);
    check(&format!("{local}a@a.b"), NEITHER);
    check(&format!("\"{}\"@a.b", &local[2..]), MAILBOX);
    check(&format!("\"{}\"@a.b", &local[1..]), NEITHER);

    let longest = format!("{local}@{label}.{label}.{}", &label[2..]);
    assert_eq!(longest.len(), 254);
    check(&longest, BOTH);
    check(&format!("{longest}a"), NEITHER);
}

/// The tests of Dominic Sayers' `is_email`, against both grammars.
///
/// Each category names the RFC that allows the address. The first three
/// categories are RFC 5321, without exception.
#[test]
fn the_tests_of_isemail_pass_by_their_category() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/email/isemail_tests.xml");
    let xml = std::fs::read_to_string(path).expect("the vectors are in the repository");

    let mut mailbox = (0, 0);
    let mut form_exceptions = Vec::new();
    for test in xml.split("<test id=\"").skip(1) {
        let id: u32 = test[..test.find('"').unwrap()].parse().unwrap();
        let address = unescape(element(test, "address"));
        let category = element(test, "category").trim_start_matches("ISEMAIL_");

        let expected = matches!(category, "VALID_CATEGORY" | "DNSWARN" | "RFC5321");
        assert_eq!(is_mailbox(&address), expected, "{id}: {address:?} {category}");
        mailbox = (mailbox.0 + 1, mailbox.1 + u32::from(expected));

        if is_form_address(&address) != expected {
            form_exceptions.push(id);
        }
    }
    assert_eq!(mailbox, (164, 38), "tests, and valid ones");
    assert_eq!(form_exceptions, FORM_EXCEPTIONS.map(|(id, _)| id));
}

/// Cases that HTML forms decide differently, with reasons.
const FORM_EXCEPTIONS: [(u32, &str); 17] = [
    (5, SINGLE_LABEL),
    (15, DOTS),
    (16, DOTS),
    (42, QUOTED),
    (43, QUOTED),
    (45, QUOTED),
    (46, QUOTED),
    (48, QUOTED),
    (55, QUOTED),
    (61, LITERAL),
    (68, LITERAL),
    (72, LITERAL),
    (75, LITERAL),
    (77, LITERAL),
    (79, LITERAL),
    (81, LITERAL),
    (166, SINGLE_LABEL),
];

const SINGLE_LABEL: &str = "refused: a domain has a dot";
const DOTS: &str = "accepted: HTML has no rule for dots before the `@`";
const QUOTED: &str = "refused: HTML has no quotation marks";
const LITERAL: &str = "refused: HTML has no address literals";

/// The text of the first element with this name; an empty element is `<name/>`.
fn element<'t>(test: &'t str, name: &str) -> &'t str {
    let (open, close) = (format!("<{name}>"), format!("</{name}>"));
    let start = test.find(&open).map(|at| at + open.len());
    let end = test.find(&close);
    start.zip(end).map_or("", |(start, end)| &test[start..end])
}

/// Resolves the references of the file. U+2400 to U+241F represent the control
/// characters, as the note at the head of the file explains.
fn unescape(text: &str) -> String {
    let mut pieces = text.split('&');
    let mut unescaped = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (reference, rest) = piece.split_once(';').expect("a reference ends with `;`");
        let character = match reference {
            "amp" => '&',
            "lt" => '<',
            "gt" => '>',
            "quot" => '"',
            _ => {
                let digits = reference.strip_prefix("#x").expect("a number");
                char::from_u32(u32::from_str_radix(digits, 16).unwrap()).unwrap()
            }
        };
        unescaped.push(character);
        unescaped.push_str(rest);
    }
    let control = |it: char| match it {
        '\u{2400}'..='\u{241f}' => char::from_u32(u32::from(it) - 0x2400).unwrap(),
        _ => it,
    };
    unescaped.chars().map(control).collect()
}
