//! Parses patterns: the syntax of ECMA-262 with the flag `u`, as JSON Schema
//! requires, and a few spellings of other languages that can be translated.
//!
//! The translated spellings are `\A`, `\z`, `(?P<name>…)`, `(?i)`, `(?s)`,
//! `\x{…}`, `\pL`, escapes of all punctuation, and `]` and `}` without an escape.
//! Everything else that ECMA-262 does not have is an error.

mod class;
mod escape;
mod group;

use regex_syntax::hir::ClassUnicode;

use super::classes;
use super::syntax::{Place, Repeat, Syntax};

/// A parsed pattern.
#[derive(Debug)]
pub(super) struct Parsed {
    pub(super) syntax: Syntax,
    /// The same pattern in the syntax of ECMA-262.
    pub(super) ecma: String,
    /// The number of capture groups.
    pub(super) groups: usize,
}

/// Parses a pattern. An error is a message without the pattern.
pub(super) fn parse(pattern: &str) -> Result<Parsed, String> {
    let names = group_names(pattern);
    for (place, name) in names.iter().enumerate() {
        if !name.is_empty() && names.iter().take(place).any(|other| other == name) {
            return Err(format!("duplicate group name `{name}`"));
        }
    }
    let mut parser = Parser {
        rest: pattern,
        out: String::with_capacity(pattern.len()),
        names,
        opened: 0,
        flags: Flags::default(),
        depth: 0,
        has_bare_bracket: false,
        has_odd_class: false,
    };
    let syntax = parser.alternation()?;
    if parser.rest.starts_with(')') {
        return Err("`)` without `(`".to_owned());
    }
    if parser.has_bare_bracket && parser.has_odd_class {
        return Err(
            "this use of `[` and `]` has different meanings in different languages; escape \
             each literal bracket: `\\[`, `\\]`"
                .to_owned(),
        );
    }
    Ok(Parsed { syntax, ecma: parser.out, groups: parser.names.len() })
}

/// Returns the name of each capture group in order. Unnamed groups have an
/// empty name.
fn group_names(pattern: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut in_class = false;
    let mut chars = pattern.char_indices();
    while let Some((at, char)) = chars.next() {
        let rest = pattern.get(at + 1..).unwrap_or_default();
        match char {
            '\\' => {
                chars.next();
            }
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let name = rest.strip_prefix("?P<").or_else(|| rest.strip_prefix("?<"));
                match name {
                    Some(name) if !name.starts_with(['=', '!']) => {
                        names.push(name.split('>').next().unwrap_or_default().to_owned());
                    }
                    None if !rest.starts_with('?') => names.push(String::new()),
                    _ => {}
                }
            }
            _ => {}
        }
    }
    names
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Flags {
    /// `i`
    ignores_case: bool,
    /// `s`
    dot_is_all: bool,
}

struct Parser<'p> {
    rest: &'p str,
    /// The pattern so far, in the syntax of ECMA-262.
    out: String,
    names: Vec<String>,
    /// The number of capture groups that have begun.
    opened: usize,
    flags: Flags,
    depth: usize,
    /// True if `]` was read outside of a class. ECMA-262 forbids it, but other
    /// languages allow it.
    has_bare_bracket: bool,
    /// True if a class was read that ends elsewhere in other languages: `[]a]`,
    /// `[a[b]]`.
    has_odd_class: bool,
}

/// The deepest nesting of groups. Every later step recurses as deep.
const MAX_DEPTH: usize = 100;

impl Parser<'_> {
    fn peek(&self) -> Option<char> {
        self.rest.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let char = self.peek()?;
        self.rest = self.rest.get(char.len_utf8()..).unwrap_or_default();
        Some(char)
    }

    /// Skips `text` if it comes next.
    fn skip(&mut self, text: &str) -> bool {
        let rest = self.rest.strip_prefix(text);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    /// Copies `text` if it comes next.
    fn copy(&mut self, text: &str) -> bool {
        let is_next = self.skip(text);
        if is_next {
            self.out.push_str(text);
        }
        is_next
    }

    fn until(&mut self, end: char) -> Result<String, String> {
        let (text, rest) =
            self.rest.split_once(end).ok_or_else(|| format!("`{end}` is missing"))?;
        let text = text.to_owned();
        self.rest = rest;
        Ok(text)
    }

    /// Parses up to the end or an unmatched `)`.
    fn alternation(&mut self) -> Result<Syntax, String> {
        let flags = self.flags;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("groups are nested more than {MAX_DEPTH} levels deep"));
        }
        let mut choices = Vec::new();
        let mut parts = Vec::new();
        while let Some(char) = self.peek().filter(|char| *char != ')') {
            if char == '|' {
                self.copy("|");
                choices.push(Syntax::Concat(std::mem::take(&mut parts)));
            } else {
                self.term(char, &mut parts)?;
            }
        }
        self.depth -= 1;
        self.flags = flags;
        let last = Syntax::Concat(parts);
        if choices.is_empty() {
            return Ok(last);
        }
        choices.push(last);
        Ok(Syntax::Alternation(choices))
    }

    fn term(&mut self, first: char, parts: &mut Vec<Syntax>) -> Result<(), String> {
        let atom = match first {
            '(' => self.group()?,
            '*' | '+' | '?' => return Err(format!("nothing to repeat before `{first}`")),
            '{' => return Err("a literal `{` must be escaped: `\\{`".to_owned()),
            _ => {
                self.next();
                Some(self.atom(first)?)
            }
        };
        // A flag that applies from here on.
        let Some(atom) = atom else { return Ok(()) };
        parts.push(self.quantified(atom)?);
        Ok(())
    }

    fn atom(&mut self, first: char) -> Result<Syntax, String> {
        Ok(match first {
            '^' | '$' => {
                self.out.push(first);
                Syntax::At(if first == '^' { Place::Start } else { Place::End })
            }
            '.' if self.flags.dot_is_all => {
                self.out.push_str(r"[\s\S]");
                Syntax::Class(classes::all())
            }
            '.' => {
                self.out.push('.');
                Syntax::Class(classes::dot())
            }
            '[' => Syntax::Class(self.class()?),
            '\\' => self.escape()?,
            ']' | '}' => {
                self.has_bare_bracket |= first == ']';
                self.literal(first, &format!("\\{first}"))?
            }
            _ => self.literal(first, first.encode_utf8(&mut [0; 4]))?,
        })
    }

    /// Returns one character, which `written` writes in ECMA-262.
    fn literal(&mut self, char: char, written: &str) -> Result<Syntax, String> {
        Ok(Syntax::Class(self.cased(classes::of_char(char), written)?))
    }

    /// Writes a set and, if case is ignored, adds other cases to it.
    fn cased(&mut self, set: ClassUnicode, written: &str) -> Result<ClassUnicode, String> {
        if self.flags.ignores_case {
            let folded = classes::without_case(&set)?;
            if folded != set {
                classes::write(&folded, &mut self.out);
                return Ok(folded);
            }
        }
        self.out.push_str(written);
        Ok(set)
    }

    fn quantified(&mut self, atom: Syntax) -> Result<Syntax, String> {
        let (least, most) = match self.peek() {
            Some(sign @ ('*' | '+' | '?')) => {
                self.next();
                self.out.push(sign);
                (u32::from(sign == '+'), (sign == '?').then_some(1))
            }
            Some('{') => self.counts()?,
            _ => return Ok(atom),
        };
        if matches!(atom, Syntax::At(_) | Syntax::Around(_)) {
            return Err("an assertion cannot be repeated".to_owned());
        }
        let is_greedy = !self.copy("?");
        match self.peek() {
            Some('+') => Err("ECMA-262 has no possessive quantifiers such as `a++`".to_owned()),
            Some(sign @ ('*' | '?' | '{')) => Err(format!("nothing to repeat before `{sign}`")),
            _ => Ok(Syntax::Repeat(Box::new(Repeat { inner: atom, least, most, is_greedy }))),
        }
    }

    /// Parses `{3}`, `{3,}` or `{3,4}`.
    fn counts(&mut self) -> Result<(u32, Option<u32>), String> {
        self.skip("{");
        let counts = self.until('}')?;
        let (least, most) = match counts.split_once(',') {
            None => (counts.as_str(), Some(counts.as_str())),
            Some((least, "")) => (least, None),
            Some((least, most)) => (least, Some(most)),
        };
        let number = |text: &str| {
            let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            let number = is_number.then(|| text.parse::<u32>().ok()).flatten();
            number.ok_or_else(|| {
                format!("`{{{counts}}}` is not a count; escape a literal `{{` as `\\{{`")
            })
        };
        let least = number(least)?;
        let most = most.map(number).transpose()?;
        if most.is_some_and(|most| most < least) {
            return Err(format!("the bounds of `{{{counts}}}` are in the wrong order"));
        }
        self.out.push_str(&format!("{{{counts}}}"));
        Ok((least, most))
    }
}

#[cfg(test)]
mod tests;
