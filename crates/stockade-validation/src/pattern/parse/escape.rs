//! Escapes: `\d`, `\p{L}`, `\u0041`, back references.

use regex_syntax::hir::ClassUnicode;

use super::Parser;
use super::group::plain_name;
use crate::pattern::classes;
use crate::pattern::syntax::{Place, Syntax};

/// One code point, or a set.
pub(super) enum Escaped {
    Char(char),
    Set(ClassUnicode),
    /// A code point that a Rust string cannot contain.
    Surrogate(u32),
}

impl Parser<'_> {
    /// Parses an escape outside of a class, after its backslash.
    pub(super) fn escape(&mut self) -> Result<Syntax, String> {
        let place = match self.peek() {
            Some('b') => Some((Place::WordBoundary, r"\b")),
            Some('B') => Some((Place::NotWordBoundary, r"\B")),
            Some('A') => Some((Place::Start, "^")),
            Some('z') => Some((Place::End, "$")),
            _ => None,
        };
        if let Some((place, written)) = place {
            self.next();
            self.out.push_str(written);
            return Ok(Syntax::At(place));
        }
        match self.peek() {
            Some('1'..='9') => self.numbered(),
            Some('k') => self.named(),
            _ => {
                let (escaped, written) = self.escaped(false)?;
                let set = match escaped {
                    Escaped::Char(char) => classes::of_char(char),
                    Escaped::Set(set) => set,
                    Escaped::Surrogate(_) => ClassUnicode::empty(),
                };
                Ok(Syntax::Class(self.cased(set, &written)?))
            }
        }
    }

    fn numbered(&mut self) -> Result<Syntax, String> {
        let length = self.rest.bytes().take_while(u8::is_ascii_digit).count();
        let (digits, rest) = self.rest.split_at(length);
        self.rest = rest;
        self.out.push_str(&format!("\\{digits}"));
        let known = digits.parse().ok().filter(|number| *number <= self.names.len());
        let number =
            known.ok_or_else(|| format!("`\\{digits}` refers to a group that does not exist"))?;
        self.reference(number)
    }

    fn named(&mut self) -> Result<Syntax, String> {
        if !self.skip("k<") {
            return Err("`\\k` needs a group name: `\\k<name>`".to_owned());
        }
        let name = self.until('>')?;
        plain_name(&name)?;
        let place = self.names.iter().position(|known| *known == name);
        let place =
            place.ok_or_else(|| format!("`\\k<{name}>` refers to a group that does not exist"))?;
        self.out.push_str(&format!("\\k<{name}>"));
        self.reference(place + 1)
    }

    fn reference(&self, number: usize) -> Result<Syntax, String> {
        if self.flags.ignores_case {
            return Err("back references cannot ignore case".to_owned());
        }
        Ok(Syntax::Reference(number))
    }

    /// Parses an escape that is a character or a set. Also returns its spelling
    /// in ECMA-262.
    pub(super) fn escaped(&mut self, in_class: bool) -> Result<(Escaped, String), String> {
        let char = self.next().ok_or("the pattern ends with `\\`")?;
        let plain = |char: char, written: &str| Ok((Escaped::Char(char), written.to_owned()));
        match char {
            'd' | 'w' | 's' | 'D' | 'W' | 'S' => self.letter(char),
            'p' | 'P' => self.property(char),
            'n' => plain('\n', r"\n"),
            'r' => plain('\r', r"\r"),
            't' => plain('\t', r"\t"),
            'f' => plain('\u{C}', r"\f"),
            'v' => plain('\u{B}', r"\v"),
            'b' if in_class => plain('\u{8}', r"\b"),
            '0' if !self.peek().is_some_and(|char| char.is_ascii_digit()) => plain('\0', r"\0"),
            'c' => {
                let letter = self.next().filter(char::is_ascii_alphabetic);
                let letter = letter.ok_or("`\\c` needs a letter")?;
                let code = u8::try_from(letter).unwrap_or_default() % 32;
                plain(char::from(code), &format!("\\c{letter}"))
            }
            'x' | 'u' => self.code_point(char),
            '-' if in_class => plain('-', r"\-"),
            _ if SYNTAX.contains(char) => plain(char, &format!("\\{char}")),
            // In some other dialects, `\<` and `\>` match the start and the end
            // of a word.
            _ if (char.is_ascii_punctuation() || char == ' ') && !"<>".contains(char) => {
                plain(char, &char.to_string())
            }
            _ => Err(format!("ECMA-262 has no escape `\\{char}`")),
        }
    }

    fn letter(&self, letter: char) -> Result<(Escaped, String), String> {
        let mut set = classes::of_letter(letter.to_ascii_lowercase()).unwrap_or_else(classes::all);
        if letter.is_ascii_uppercase() {
            // `\W` contains a character only if none of its cases is in `\w`.
            if self.flags.ignores_case {
                set = classes::without_case(&set)?;
            }
            set.negate();
        }
        Ok((Escaped::Set(set), format!("\\{letter}")))
    }

    fn property(&mut self, letter: char) -> Result<(Escaped, String), String> {
        let name = match self.next() {
            Some('{') => self.until('}')?,
            Some(short) => short.to_string(),
            None => return Err(format!("`\\{letter}` needs a property: `\\{letter}{{L}}`")),
        };
        let mut set = classes::of_property(&name)?;
        if letter == 'P' {
            set.negate();
        }
        Ok((Escaped::Set(set), format!("\\{letter}{{{name}}}")))
    }

    /// Parses a code point: `\x41`, `\u0041`, both with braces, and the two
    /// halves of a surrogate pair.
    ///
    /// The returned spelling has four digits if possible, because engines read
    /// it even without the flag `u`.
    fn code_point(&mut self, letter: char) -> Result<(Escaped, String), String> {
        let wrong = || format!("`\\{letter}` needs the digits of a code point");
        let mut code = if self.skip("{") {
            let digits = self.until('}')?;
            hex(&digits).ok_or_else(wrong)?
        } else {
            self.digits(if letter == 'x' { 2 } else { 4 }).ok_or_else(wrong)?
        };
        if (0xD800..0xDC00).contains(&code) && letter == 'u' {
            let before = self.rest;
            let low = if self.skip(r"\u") { self.digits(4) } else { None };
            match low.filter(|low| (0xDC00..0xE000).contains(low)) {
                Some(low) => code = 0x1_0000 + ((code - 0xD800) << 10) + (low - 0xDC00),
                None => self.rest = before,
            }
        }
        let written = match u16::try_from(code) {
            Ok(unit) => format!(r"\u{unit:04X}"),
            Err(_) => format!(r"\u{{{code:X}}}"),
        };
        match char::from_u32(code) {
            Some(char) => Ok((Escaped::Char(char), written)),
            None if code < 0x1_0000 => Ok((Escaped::Surrogate(code), written)),
            None => Err(format!("`\\u{{{code:X}}}` is beyond the last code point")),
        }
    }

    fn digits(&mut self, count: usize) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(count)?;
        let code = hex(digits)?;
        self.rest = rest;
        Some(code)
    }
}

fn hex(digits: &str) -> Option<u32> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| is_hex)
}

/// The characters that ECMA-262 allows in an identity escape.
const SYNTAX: &str = r"^$\.*+?()[]{}|/";
