//! Groups, look-around and flags.

use super::Parser;
use crate::pattern::syntax::{Around, Side, Syntax};

impl Parser<'_> {
    /// Parses a group. Returns `None` for flags that apply until the
    /// surrounding group ends.
    pub(super) fn group(&mut self) -> Result<Option<Syntax>, String> {
        self.skip("(");
        if !self.skip("?") {
            return self.capture("(").map(Some);
        }
        for (start, side, is_negative) in AROUND {
            if self.skip(start) {
                self.out.push_str(&format!("(?{start}"));
                let inner = self.closed()?;
                let around = Around { side: *side, is_negative: *is_negative, inner };
                return Ok(Some(Syntax::Around(Box::new(around))));
            }
        }
        if self.skip("<") || self.skip("P<") {
            let name = self.until('>')?;
            let name = plain_name(&name)?;
            return self.capture(&format!("(?<{name}>")).map(Some);
        }
        self.flags_or_group()
    }

    fn capture(&mut self, start: &str) -> Result<Syntax, String> {
        self.out.push_str(start);
        self.opened += 1;
        let number = self.opened;
        Ok(Syntax::Group(number, Box::new(self.closed()?)))
    }

    /// Parses the rest of a group, and its `)`.
    fn closed(&mut self) -> Result<Syntax, String> {
        let inner = self.alternation()?;
        if !self.copy(")") {
            return Err("a group is not closed".to_owned());
        }
        Ok(inner)
    }

    /// Parses the text after `(?`: `:`, `i:` or `i)`, also with `-`.
    fn flags_or_group(&mut self) -> Result<Option<Syntax>, String> {
        let before = self.flags;
        let mut flags = before;
        let (mut value, mut has_flag) = (true, false);
        while let Some(char) = self.next() {
            match char {
                'i' | 's' => {
                    has_flag = true;
                    let flag =
                        if char == 'i' { &mut flags.ignores_case } else { &mut flags.dot_is_all };
                    *flag = value;
                }
                '-' if value => value = false,
                ':' => {
                    self.out.push_str("(?:");
                    self.flags = flags;
                    let inner = self.closed();
                    self.flags = before;
                    return inner.map(Some);
                }
                ')' if has_flag => {
                    self.flags = flags;
                    // Keeps `\1` and a digit apart.
                    if !self.out.is_empty() {
                        self.out.push_str("(?:)");
                    }
                    return Ok(None);
                }
                'm' => {
                    return Err(
                        "the flag `m` is not supported; `^` and `$` match only at the ends \
                         of the text"
                            .to_owned(),
                    );
                }
                _ => return Err(format!("ECMA-262 has no group `(?{char}`")),
            }
        }
        Err("a group is not closed".to_owned())
    }
}

const AROUND: &[(&str, Side, bool)] = &[
    ("=", Side::Ahead, false),
    ("!", Side::Ahead, true),
    ("<=", Side::Behind, false),
    ("<!", Side::Behind, true),
];

/// Returns a name that every engine reads.
pub(super) fn plain_name(name: &str) -> Result<&str, String> {
    let is_plain = !name.is_empty()
        && !name.starts_with(|char: char| char.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_plain.then_some(name).ok_or_else(|| {
        format!("the group name `{name}` must consist of ASCII letters, digits and `_`")
    })
}
