//! Classes: `[…]`.

use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

use super::Parser;
use super::escape::Escaped;
use crate::pattern::classes;

impl Parser<'_> {
    /// Parses a class after its `[`.
    pub(super) fn class(&mut self) -> Result<ClassUnicode, String> {
        let is_negated = self.skip("^");
        let mut set = ClassUnicode::empty();
        let mut written = String::new();
        self.has_odd_class |= self.rest.starts_with(']');
        while !self.skip("]") {
            let first = self.member(&mut written)?;
            let is_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            if !is_range {
                set.union(&first.into_set());
                continue;
            }
            self.skip("-");
            written.push('-');
            let last = self.member(&mut written)?;
            let (Some((from, _)), Some((_, to))) = (first.bounds(), last.bounds()) else {
                return Err("a set such as `\\d` cannot start or end a range".to_owned());
            };
            if first.code() > last.code() {
                return Err("the ends of a range are in the wrong order".to_owned());
            }
            // There are no characters between surrogates.
            if from <= to {
                set.push(ClassUnicodeRange::new(from, to));
            }
        }
        let sign = if is_negated { "^" } else { "" };
        let mut folded = set.clone();
        if self.flags.ignores_case {
            folded = classes::without_case(&set)?;
        }
        if folded == set {
            self.out.push_str(&format!("[{sign}{written}]"));
        } else {
            let mut ranges = String::new();
            classes::write(&folded, &mut ranges);
            self.out.push_str(&ranges.replacen('[', &format!("[{sign}"), 1));
        }
        Ok(if is_negated { classes::negated(folded) } else { folded })
    }

    /// Parses one member, and writes it in ECMA-262.
    fn member(&mut self, written: &mut String) -> Result<Escaped, String> {
        for sign in ["&&", "--", "~~"] {
            if self.rest.starts_with(sign) {
                return Err(format!(
                    "`{sign}` in a class has different meanings in different languages; escape a \
                     literal character"
                ));
            }
        }
        if self.rest.starts_with("[:") {
            return Err("ECMA-262 has no classes such as `[:alpha:]`; write `\\p{Alphabetic}` \
                        or `a-zA-Z`"
                .to_owned());
        }
        let char = self.next().ok_or("a class is not closed")?;
        if char == '\\' {
            let (escaped, text) = self.escaped(true)?;
            written.push_str(&text);
            return Ok(escaped);
        }
        self.has_odd_class |= char == '[';
        written.push(char);
        Ok(Escaped::Char(char))
    }
}

impl Escaped {
    fn into_set(self) -> ClassUnicode {
        match self {
            Self::Char(char) => classes::of_char(char),
            Self::Set(set) => set,
            Self::Surrogate(_) => ClassUnicode::empty(),
        }
    }

    /// Returns the code point of a member that can be an end of a range.
    fn code(&self) -> Option<u32> {
        match self {
            Self::Char(char) => Some((*char).into()),
            Self::Surrogate(code) => Some(*code),
            Self::Set(_) => None,
        }
    }

    /// Returns the nearest characters from this code point on, and up to it.
    fn bounds(&self) -> Option<(char, char)> {
        match self {
            Self::Char(char) => Some((*char, *char)),
            Self::Surrogate(_) => Some(('\u{E000}', '\u{D7FF}')),
            Self::Set(_) => None,
        }
    }
}
