//! The texts of tools: names, titles and descriptions.

/// Returns the name of a tool that does not declare one, from the name of its
/// route.
pub(super) fn from_route(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    name.chars().map(|c| if fits(c) { c } else { '_' }).collect()
}

/// Returns the configuration error in the name of a tool.
///
/// The protocol also allows dots, but OpenAI rejects the whole list for one
/// name with a dot. Hosts add a prefix, and some allow only 64 characters in
/// total.
pub(super) fn tool_name_fault(name: &str) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(fits) {
        return Some(format!(
            "the name {name:?} of the tool must be a letter, then letters, digits, `_` and `-`"
        ));
    }
    (name.len() > MAX_NAME).then(|| {
        let length = name.len();
        format!(
            "the name {name:?} of the tool has {length} characters, but clients accept \
             {MAX_NAME}: set a shorter one with `Tool::name`"
        )
    })
}

/// Returns true for a name that all clients accept for an argument.
pub(super) fn is_argument_name(name: &str) -> bool {
    let begins = |c: char| c.is_ascii_alphabetic() || c == '_';
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    name.starts_with(begins) && name.chars().all(fits) && name.len() <= MAX_ARGUMENT
}

/// Returns the configuration error in the description or the title of a tool.
/// `what` names the text.
pub(super) fn text_fault(what: &str, text: &str, max: usize) -> Option<String> {
    if text.trim().is_empty() {
        return Some(format!("the {what} of the tool is empty"));
    }
    let length = text.chars().count();
    if length > max {
        return Some(format!(
            "the {what} of the tool has {length} characters, but at most {max} are allowed"
        ));
    }
    let hidden = text.chars().find(|c| c.is_control() || is_invisible(*c))?;
    Some(format!(
        "the {what} of the tool contains the character U+{:04X}, which readers cannot see: \
         remove it",
        u32::from(hidden)
    ))
}

/// Returns the first character of a text that readers cannot see, except line
/// breaks and tabs.
pub(super) fn hidden_character(text: &str) -> Option<char> {
    let is_layout = |c: char| matches!(c, '\n' | '\r' | '\t');
    text.chars().find(|c| is_invisible(*c) || c.is_control() && !is_layout(*c))
}

/// Returns true for a character that can hide text from a reader: it is
/// invisible, or it changes the direction of text.
///
/// Source: Unicode 16, properties `Bidi_Control` and
/// `Default_Ignorable_Code_Point`.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}'
        | '\u{180B}'..='\u{180F}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}' | '\u{3164}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFB}'
        | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}'
    )
}

/// The maximum length of a description.
pub(super) const MAX_DESCRIPTION: usize = 1_024;

/// The maximum length of a title.
pub(super) const MAX_TITLE: usize = 128;

const MAX_NAME: usize = 48;

const MAX_ARGUMENT: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn route_names_become_tool_names() {
        assert_eq!(from_route("orders.list"), "orders_list");
        assert_eq!(from_route("a b/ü-c"), "a_b__-c");
    }

    #[test]
    fn checks_tool_names() {
        let check = |name: &str, expected: bool| {
            assert_eq!(tool_name_fault(name).is_none(), expected, "{name:?}");
        };
        check("orders_list", true);
        check("a-B2", true);
        check(&"a".repeat(48), true);
        check(&"a".repeat(49), false);
        for name in ["", "1a", "_a", "a.b", "a b", "é", "a\u{200B}"] {
            check(name, false);
        }
    }

    #[test]
    fn checks_argument_names() {
        for (name, expected) in
            [("id", true), ("_a2", true), ("if-match", false), ("filter[tag]", false), ("", false)]
        {
            assert_eq!(is_argument_name(name), expected, "{name:?}");
        }
        assert!(is_argument_name(&"a".repeat(64)) && !is_argument_name(&"a".repeat(65)));
    }

    #[test]
    fn rejects_texts_that_readers_cannot_see() {
        let check = |text: &str, expected: Option<&str>| {
            let fault = text_fault("description", text, 10);
            assert_eq!(fault.as_deref(), expected, "{text:?}");
        };
        check("Lists é", None);
        check(" ", Some("the description of the tool is empty"));
        let long = "the description of the tool has 11 characters, but at most 10 are allowed";
        check("12345678901", Some(long));
        for hidden in ["\u{0}", "\n", "\u{7F}", "\u{85}", "\u{200B}", "\u{202E}", "\u{E0041}"] {
            assert!(text_fault("description", hidden, 10).is_some(), "{hidden:?}");
            assert!(text_fault("description", &format!("a{hidden}b"), 10).is_some(), "{hidden:?}");
        }
        assert_eq!(hidden_character("a\nb\t"), None);
        assert_eq!(hidden_character("a\u{2066}b"), Some('\u{2066}'));
    }
}
