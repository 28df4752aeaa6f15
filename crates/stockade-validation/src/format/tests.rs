//! Names and messages, the JSON-Schema-Test-Suite, and hostile text.

use std::path::Path;

use proptest::prelude::*;
use serde_json::Value;

use super::*;

const FORMATS: [Format; 12] = [
    Format::CreditCard,
    Format::Date,
    Format::DateTime,
    Format::Email,
    Format::Hostname,
    Format::Ipv4,
    Format::Ipv6,
    Format::Phone,
    Format::Time,
    Format::Uri,
    Format::Url,
    Format::Uuid,
];

const TEXT_TYPES: [TextType; 6] = [
    TextType::CreditCard,
    TextType::Date,
    TextType::Email,
    TextType::Phone,
    TextType::Url,
    TextType::Uuid,
];

#[test]
fn names_and_messages_of_formats() {
    let expected = [
        ("credit-card", "Invalid credit card number"),
        ("date", "Invalid date"),
        ("date-time", "Invalid date-time"),
        ("email", "Invalid email format"),
        ("hostname", "Invalid hostname"),
        ("ipv4", "Invalid IPv4 address"),
        ("ipv6", "Invalid IPv6 address"),
        ("phone", "Invalid phone number format"),
        ("time", "Invalid time"),
        ("uri", "Invalid URI format"),
        ("url", "Invalid URL format"),
        ("uuid", "Invalid UUID format"),
    ];
    assert_eq!(FORMATS.map(|it| (it.name(), it.message())), expected);
    for format in FORMATS {
        assert_eq!(Format::from_name(format.name()), Some(format));
    }
    for name in ["", "Date", "datetime", "date_time", " uri", "Phone", "fax", "ecma"] {
        assert_eq!(Format::from_name(name), None, "{name:?}");
    }
}

#[test]
fn names_and_messages_of_types() {
    let expected = [
        ("credit-card", "Invalid credit card number"),
        ("date", "Invalid date"),
        ("email", "Invalid email format"),
        ("phone", "Invalid phone number format"),
        ("url", "Invalid URL format"),
        ("uuid", "Invalid UUID format"),
    ];
    assert_eq!(TEXT_TYPES.map(|it| (it.name(), it.message())), expected);
    for text_type in TEXT_TYPES {
        assert_eq!(TextType::from_name(text_type.name()), Some(text_type));
    }
    for name in ["", "Email", "creditcard", "credit_card", "date-time", "uri", "string"] {
        assert_eq!(TextType::from_name(name), None, "{name:?}");
    }
}

/// Cases that differ between a format and a type with the same name.
#[test]
fn formats_and_types_differ_as_specified() {
    for (text, format, text_type) in [
        ("2024-02-29", Format::Date, TextType::Date),
        ("a@b.c", Format::Email, TextType::Email),
        ("http://a", Format::Url, TextType::Url),
        ("00000000-0000-0000-0000-000000000000", Format::Uuid, TextType::Uuid),
        ("+49 (30) 1234-567", Format::Phone, TextType::Phone),
        ("4111 1111 1111 1111", Format::CreditCard, TextType::CreditCard),
    ] {
        assert!(format.check(text) && text_type.check(text), "{text:?}");
    }

    let date_time = "2024-02-29T12:00:00Z";
    assert!(TextType::Date.check(date_time) && !Format::Date.check(date_time));
    assert!(!TextType::Date.check("2023-02-29T12:00:00Z"));
    assert!(!TextType::Date.check("12:00:00Z"));

    assert!(Format::Email.check("joe@localhost") && !TextType::Email.check("joe@localhost"));
    assert!(!Format::Email.check("j..oe@a.b") && TextType::Email.check("j..oe@a.b"));

    assert!(Format::Uri.check("javascript:alert(1)"));
    assert!(
        !Format::Url.check("javascript:alert(1)") && !TextType::Url.check("javascript:alert(1)")
    );
}

/// The format files of the JSON-Schema-Test-Suite: the number of cases, and
/// each case with a different result.
#[test]
fn the_json_schema_test_suite_passes() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/vectors/json-schema"));
    for (draft, expected) in [
        (
            "draft2020-12",
            [
                ("date", 81),
                ("date-time", 33),
                ("email", 27),
                ("hostname", 64),
                ("ipv4", 41),
                ("ipv6", 42),
                ("time", 47),
                ("uri", 46),
                ("uuid", 28),
            ]
            .as_slice(),
        ),
        (
            "draft7",
            &[
                ("date", 81),
                ("date-time", 33),
                ("email", 20),
                ("hostname", 64),
                ("ipv4", 41),
                ("ipv6", 42),
                ("time", 47),
                ("uri", 46),
            ],
        ),
    ] {
        for (name, cases) in expected {
            let path = folder.join(draft).join("format").join(format!("{name}.json"));
            let text = std::fs::read_to_string(path).expect("the vectors are in the repository");
            let groups: Vec<Value> = serde_json::from_str(&text).expect("the vectors are JSON");
            let format = Format::from_name(name).expect("a format of ours");

            let tests = groups.iter().flat_map(|it| it["tests"].as_array().expect("an array"));
            let deviations: Vec<_> = tests
                .clone()
                // The keyword applies only to strings.
                .filter(|it| {
                    it["data"].as_str().is_none_or(|text| format.check(text)) != it["valid"]
                })
                .collect();
            assert!(deviations.is_empty(), "{draft} {name}: {deviations:#?}");
            assert_eq!(tests.count(), *cases, "{draft} {name}");
        }
    }
}

fn check_all(text: &str) -> Vec<&'static str> {
    let formats = FORMATS.iter().filter(|it| it.check(text)).map(|it| it.name());
    let text_types = TEXT_TYPES.iter().filter(|it| it.check(text)).map(|it| it.name());
    formats.chain(text_types).collect()
}

/// Each megabyte takes milliseconds; one scan per byte would take hours.
#[test]
fn long_hostile_text_is_read_in_linear_time() {
    const BYTES: usize = 1_000_000;
    for (head, filler, tail, expected) in [
        ("", "", "", [].as_slice()),
        ("", "a", "", &[]),
        ("", "1", "", &[]),
        ("", "9-", "", &[]),
        ("4", " ", "111111111111111", &["credit-card", "credit-card"]),
        ("1", "-", "1", &[]),
        ("(", ")(", "5551234", &[]),
        ("+(", "(", "5551234", &[]),
        ("555", " ", "1234", &["phone", "phone"]),
        ("", "@", "", &[]),
        ("a@", "a.", "b", &[]),
        ("\"", "\\\"", "\"@a.b", &[]),
        ("a@[IPv6:", ":", "]", &[]),
        ("", ".", "", &[]),
        ("", ":", "", &[]),
        ("", "0:", "", &[]),
        ("", "xn--", "", &[]),
        ("xn--", "9", "", &[]),
        ("http://", "[", "", &[]),
        ("http://", "@", "", &[]),
        ("http://", ":", "", &[]),
        ("http://a", "%41", "", &["uri"]),
        ("http://a/", "?#", "", &[]),
        ("http://a/", "?", "", &["uri"]),
        ("http://a/", "é", "", &[]),
        ("http://", "é.", "", &[]),
        ("12:00:00.", "0", "Z", &["time"]),
        ("2024-02-29T12:00:00.", "0", "Z", &["date-time", "date"]),
        ("2024-02-29T12:00:00.", "0", "", &[]),
        ("", "\0", "", &[]),
        ("", "\u{301}", "", &[]),
        ("", "💩", "", &[]),
    ] {
        let text = format!("{head}{}{tail}", filler.repeat(BYTES / filler.len().max(1)));
        assert_eq!(check_all(&text), expected, "{head:?} {filler:?} {tail:?}");
    }
}

#[test]
fn no_check_allocates() {
    for text in [
        "2024-02-29T23:59:60.123Z",
        "joe.bloggs@example.com",
        "\"joe bloggs\"@[IPv6:::1]",
        "www.xn--9n2bp8q.xn--9t4b11yi5a",
        "https://joe@WWW.MÜNCHEN.de:80/é?b[]=%20#c",
        "192.168.0.1",
        "2001:db8::7",
        "2eb8aa08-aa98-11ea-b4aa-73b441d16380",
        "4111 1111 1111 1111",
        "+49 (0) 30 123456",
        "\0",
    ] {
        let allocations = allocation_counter::measure(|| {
            for format in FORMATS {
                _ = format.check(text);
            }
            for text_type in TEXT_TYPES {
                _ = text_type.check(text);
            }
        });
        assert_eq!(allocations.count_total, 0, "{text:?}");
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in any::<String>()) {
        check_all(&text);
    }

    /// Text of characters with a meaning, and of characters that resemble them.
    #[test]
    fn no_text_similar_to_a_format_panics(
        text in "(https?|urn|mailto|xn--|[a-z0-9.@:/?#%\"\\\\\\[\\]()+TZ é٤。💩\u{0}\u{301}\u{200c}-]){0,80}",
    ) {
        check_all(&text);
    }

    #[test]
    fn no_label_panics(label in "[a-z0-9-]{0,63}", text in "\\PC{0,20}") {
        check_all(&format!("xn--{label}"));
        check_all(&format!("http://xn--{label}.{text}/"));
    }
}
