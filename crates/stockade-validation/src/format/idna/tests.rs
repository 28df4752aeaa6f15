//! Punycode, label characters, and the character sets.

use super::*;

#[test]
fn the_samples_of_rfc_3492_are_decoded() {
    for (encoded, expected) in [
        // (A) Arabic, (B) simplified Chinese, (D) Czech, (K) Vietnamese, (L) Japanese.
        ("egbpdaj6bu4bxfgehfvwxn", "ليهمابتكلموشعربي؟"),
        ("ihqwcrb4cv8a8dqg056pqjye", "他们为什么不说中文"),
        ("Proprostnemluvesky-uyb24dma41a", "pročprostěnemluvíčesky"),
        ("TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g", "tạisaohọkhôngthểchỉnóitiếngviệt"),
        ("3B-ww4c5e180e575a65lsy2b", "3年b組金八先生"),
        ("mnchen-3ya", "münchen"),
    ] {
        let label = decode(encoded).expect(encoded);
        assert_eq!(label.characters().iter().collect::<String>(), expected, "{encoded:?}");
    }
}

#[test]
fn rejects_malformed_punycode() {
    let nines = "9".repeat(59);
    let zs = "z".repeat(59);
    // Sixty letters, then one character more than fits.
    let long = format!("{}-a", "a".repeat(60));
    for encoded in ["", "a-", "-", "-a", "x", "é", "a-é", "a-_", &nines, &zs, &long] {
        assert!(decode(encoded).is_none(), "{encoded:?}");
    }
}

#[test]
fn an_a_label_encodes_a_valid_label() {
    for suffix in ["mnchen-3ya", "MNCHEN-3YA", "wgv71a119e", "f9dh"] {
        assert!(is_a_label_suffix(suffix), "{suffix:?}");
    }
    // A control character, circled months, a symbol, a capital letter.
    for suffix in ["a", "pokxncvks", "i-7iq", "eca"] {
        assert!(decode(suffix).is_some() && !is_a_label_suffix(suffix), "{suffix:?}");
    }
}

#[test]
fn labels_have_lowercase_letters_digits_and_marks() {
    for label in [
        "münchen",
        "MÜNCHEN",
        "straße",
        "ελλάς",
        "日本語",
        "がぎ",
        "हिन्दी",
        "עברית",
        "عربي",
        "ไทย",
        "ᏣᎳᎩ",
        "l·l",
        "a-é",
        "\u{915}\u{94d}\u{200d}\u{937}",
        // A non-joiner between letters that join, as in Persian; marks are
        // skipped.
        "نامه\u{200c}ای",
        "نامه\u{64e}\u{200c}ای",
    ] {
        assert!(is_unicode_label(label), "{label:?}");
    }
    for label in [
        "",
        "-é",
        "é-",
        "éa--b",
        "é_",
        "é b",
        "é.",
        "é!",
        "é\0",
        "\u{301}a",
        "a\u{20dd}é",
        "½",
        "²é",
        "ⅳ",
        "ﬁé",
        "ａ",
        "％",
        "💩",
        "\u{ad}",
        "é\u{ad}",
        "é\u{200b}",
        "é\u{2060}",
        "é\u{202e}",
        "é\u{feff}",
        "é\u{fe0f}",
        "\u{fffd}",
        "\u{fdd0}é",
        "\u{e000}",
        "。",
        "é\u{a0}",
        "é\u{3000}",
        "𝐀",
        "a·é",
        "l·é",
        "é\u{200c}é",
        "و\u{200c}و",
        "\u{200d}é",
        // Arabic-Indic digits of both kinds.
        "\u{660}\u{6f0}",
    ] {
        assert!(!is_unicode_label(label), "{label:?}");
    }
}

#[test]
fn a_label_has_a_maximum_length() {
    assert!(is_unicode_label(&"é".repeat(59)));
    assert!(!is_unicode_label(&"é".repeat(60)));
}

#[test]
fn the_sets_are_sorted() {
    for boundaries in [&MARKS[..], &EXCLUDED, &VIRAMAS] {
        assert!(boundaries.is_sorted_by(|one, next| one < next));
        assert_eq!(boundaries.len() % 2, 0);
    }
    for (character, expected) in [
        ('\u{2ff}', false),
        ('\u{300}', true),
        ('\u{36f}', true),
        ('\u{370}', false),
        ('\u{e01ef}', true),
        ('\u{e01f0}', false),
        ('\0', false),
        (char::MAX, false),
    ] {
        assert_eq!(contains(&MARKS, character), expected, "{character:?}");
    }
}

/// A virama is a mark, and a mark is never a letter at the head of a label.
#[test]
fn viramas_are_marks() {
    let viramas: Vec<_> = ('\0'..=char::MAX).filter(|it| contains(&VIRAMAS, *it)).collect();
    assert_eq!(viramas.len(), 69);
    assert!(viramas.iter().all(|it| contains(&MARKS, *it)));
}
