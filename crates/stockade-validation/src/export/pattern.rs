//! `pattern` in documents: regular expressions of ECMA-262, and white space that
//! is trimmed.
//!
//! A document may say less of a pattern than is judged, and never more: where
//! [`ecma`] cannot write one, it stands as `x-pattern`, which says nothing to a
//! validator. `\d`, `\w`, `\s` and `.` stay as they are: there they are of fewer
//! characters than here.

use std::iter::Peekable;
use std::str::Chars;

use serde_json::{Map, Value, json};

use super::{count, takes};
use crate::node::{Node, kind};

/// Writes the pattern of a rule.
pub(super) fn write(node: &Node, out: &mut Map<String, Value>) {
    let Some(Value::String(pattern)) = node.keywords.get("pattern") else {
        return;
    };
    match ecma(pattern) {
        Some(pattern) => out.insert("pattern".to_owned(), pattern.into()),
        None => out.insert("x-pattern".to_owned(), pattern.as_str().into()),
    };
}

/// Says that white space around a text does not count for its least length.
pub(super) fn write_trim(node: &Node, out: &mut Map<String, Value>) {
    let least = count(out, "minLength").unwrap_or(0);
    // No format takes white space alone.
    let has_format = out.contains_key("format");
    if !node.trim || least == 0 || has_format || !takes(&node.types, kind::STRING) {
        return;
    }
    let pattern = match least {
        2..=LONGEST => format!(r"\S[\s\S]{{{},}}\S", least - 2),
        _ => r"\S".to_owned(),
    };
    if !out.contains_key("pattern") {
        out.insert("pattern".to_owned(), pattern.into());
    } else if let Some(Value::Array(all)) = out.get_mut("allOf") {
        all.push(json!({ "pattern": pattern }));
    } else {
        out.insert("allOf".to_owned(), json!([{ "pattern": pattern }]));
    }
}

/// The greatest length that a pattern repeats: some engines refuse large ones.
const LONGEST: usize = 500;

/// Returns the same pattern by ECMA-262 with the flag `u`; `None` if there is no
/// such thing, or it is not known.
fn ecma(pattern: &str) -> Option<String> {
    let mut writer = Writer { chars: pattern.chars().peekable(), out: String::new() };
    while let Some(char) = writer.chars.next() {
        match char {
            '\\' => writer.escape(false)?,
            '[' => writer.class()?,
            '(' => writer.group()?,
            '*' | '+' | '?' => {
                writer.out.push(char);
                writer.after_quantifier()?;
            }
            '{' => writer.braces()?,
            ']' | '}' => writer.out.extend(['\\', char]),
            _ => writer.out.push(char),
        }
    }
    Some(writer.out)
}

struct Writer<'p> {
    chars: Peekable<Chars<'p>>,
    out: String,
}

impl Writer<'_> {
    /// Copies a character if it is the next one.
    fn copy_if(&mut self, wanted: char) -> bool {
        let is_next = self.chars.next_if_eq(&wanted).is_some();
        if is_next {
            self.out.push(wanted);
        }
        is_next
    }

    fn text_until(&mut self, end: char) -> Option<String> {
        let mut text = String::new();
        loop {
            match self.chars.next()? {
                char if char == end => return Some(text),
                char => text.push(char),
            }
        }
    }

    fn escape(&mut self, in_class: bool) -> Option<()> {
        let char = self.chars.next()?;
        match char {
            'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'n' | 'r' | 't' | 'f' | 'v' => {
                self.out.extend(['\\', char]);
            }
            'b' | 'B' if !in_class => {
                if self.chars.peek() == Some(&'{') {
                    return None;
                }
                self.out.extend(['\\', char]);
            }
            '1'..='9' if !in_class => self.out.extend(['\\', char]),
            'A' if !in_class => self.out.push('^'),
            'z' if !in_class => self.out.push('$'),
            'k' if !in_class && self.chars.next_if_eq(&'<').is_some() => {
                let name = self.text_until('>')?;
                self.out.push_str(&format!(r"\k<{}>", plain_name(&name)?));
            }
            'x' | 'u' => self.code_point(char)?,
            'p' | 'P' => {
                let name = match self.chars.next()? {
                    '{' => self.text_until('}')?,
                    letter => letter.to_string(),
                };
                let known = CATEGORIES.contains(&name.as_str());
                self.out.push_str(&format!(r"\{char}{{{}}}", known.then_some(name)?));
            }
            '-' if in_class => self.out.push_str(r"\-"),
            _ if SYNTAX.contains(char) => self.out.extend(['\\', char]),
            // Other marks stand for themselves there.
            '<' | '>' => return None,
            _ if char.is_ascii_punctuation() || char == ' ' => self.out.push(char),
            _ => return None,
        }
        Some(())
    }

    /// Copies a code point: `\x41`, `\u0041`, and both with braces. Four digits
    /// are read with the flag `u` and without it, as by many tools.
    fn code_point(&mut self, char: char) -> Option<()> {
        let digits = if self.chars.next_if_eq(&'{').is_some() {
            self.text_until('}')?
        } else {
            let count = if char == 'x' { 2 } else { 4 };
            (0..count).map(|_| self.chars.next()).collect::<Option<String>>()?
        };
        let code = u32::from_str_radix(&digits, 16).ok()?;
        match u16::try_from(code) {
            Ok(unit) => self.out.push_str(&format!(r"\u{unit:04X}")),
            Err(_) => self.out.push_str(&format!(r"\u{{{code:X}}}")),
        }
        Some(())
    }

    /// Copies a class. One within another, and the sets of two, are none there.
    fn class(&mut self) -> Option<()> {
        self.out.push('[');
        self.copy_if('^');
        let mut is_first = true;
        loop {
            let char = self.chars.next()?;
            match char {
                ']' if is_first => self.out.push_str(r"\]"),
                ']' => {
                    self.out.push(']');
                    return Some(());
                }
                '[' => return None,
                '&' | '-' | '~' if self.chars.peek() == Some(&char) => return None,
                '\\' => self.escape(true)?,
                _ => self.out.push(char),
            }
            is_first = false;
        }
    }

    fn group(&mut self) -> Option<()> {
        self.out.push('(');
        if !self.copy_if('?') {
            return Some(());
        }
        if self.copy_if(':') || self.copy_if('=') || self.copy_if('!') {
            return Some(());
        }
        if self.chars.next_if_eq(&'P').is_some() && self.chars.peek() != Some(&'<') {
            return None;
        }
        if !self.copy_if('<') {
            return None;
        }
        if self.copy_if('=') || self.copy_if('!') {
            return Some(());
        }
        let name = self.text_until('>')?;
        self.out.push_str(plain_name(&name)?);
        self.out.push('>');
        Some(())
    }

    /// Copies `{3}`, `{3,}` and `{3,4}`, or an escaped brace.
    fn braces(&mut self) -> Option<()> {
        let rest: String = self.chars.clone().take_while(|char| *char != '}').collect();
        let (least, most) = rest.split_once(',').unwrap_or((&rest, "0"));
        let is_count = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        let is_closed = self.chars.clone().nth(rest.chars().count()) == Some('}');
        if !is_closed || least.is_empty() || !is_count(least) || !is_count(most) {
            return None;
        }
        let counts = self.text_until('}')?;
        self.out.push_str(&format!("{{{counts}}}"));
        self.after_quantifier()
    }

    /// Copies the mark of a lazy quantifier; there is no possessive one there.
    fn after_quantifier(&mut self) -> Option<()> {
        self.copy_if('?');
        (self.chars.peek() != Some(&'+')).then_some(())
    }
}

fn plain_name(name: &str) -> Option<&str> {
    let is_plain = !name.is_empty()
        && !name.starts_with(|char: char| char.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_plain.then_some(name)
}

/// The characters that an escape makes plain in ECMA-262.
const SYNTAX: &str = r"^$\.*+?()[]{}|/";

/// The general categories of Unicode by the names that both sides know.
const CATEGORIES: &[&str] = &[
    "L",
    "Lu",
    "Ll",
    "Lt",
    "Lm",
    "Lo",
    "M",
    "Mn",
    "Mc",
    "Me",
    "N",
    "Nd",
    "Nl",
    "No",
    "P",
    "Pc",
    "Pd",
    "Ps",
    "Pe",
    "Pi",
    "Pf",
    "Po",
    "S",
    "Sm",
    "Sc",
    "Sk",
    "So",
    "Z",
    "Zs",
    "Zl",
    "Zp",
    "C",
    "Cc",
    "Cf",
    "Co",
    "Cn",
    "Letter",
    "Mark",
    "Number",
    "Punctuation",
    "Symbol",
    "Separator",
    "Other",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_of_both_stay() {
        for pattern in [
            "^[a-z]{2,5}(?:-[A-Z]+)?$",
            r"^\d{5}$",
            r"(?=.*\d)(?<!a)(?!b).+?",
            r"^(?<year>\d{4})-\k<year>$",
            r"^(a|b)\1$",
            r"[^\]\-]",
            r"\bword\b",
            r"^\p{Lu}\P{L}*$",
            "ü|é*",
        ] {
            assert_eq!(ecma(pattern).as_deref(), Some(pattern));
        }
    }

    #[test]
    fn others_are_written_anew() {
        for (pattern, expected) in [
            (r"\Aab\z", "^ab$"),
            ("(?P<name>a)", "(?<name>a)"),
            (r"\pL", r"\p{L}"),
            (r"\x41\x{1F600}\u00e9", r"\u0041\u{1F600}\u00E9"),
            (r"\-\#\@\ a", "-#@ a"),
            ("a]", r"a\]"),
            ("[]a]", r"[\]a]"),
        ] {
            assert_eq!(ecma(pattern).as_deref(), Some(expected), "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_said_is_left_out() {
        for pattern in [
            "(?i)abc",
            "(?x) a b",
            "(?s:.)",
            "(?>a+)b",
            "a++",
            "a{2}+",
            "a{,3}",
            "[[:alpha:]]",
            "[a-z&&[^b]]",
            r"\Ka",
            r"\Ga",
            r"\Za",
            r"\h",
            r"\Qa\E",
            r"\p{Greek}",
            r"\<a",
            r"(?P=name)",
            "(?(1)a|b)",
            "(?#a)",
        ] {
            assert_eq!(ecma(pattern), None, "{pattern}");
        }
    }
}
