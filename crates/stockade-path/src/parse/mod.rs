//! The one-pass parser of the path notation.

use std::ops::Range;

use crate::{
    Constraint, Param, PatternError, PatternErrorKind as Kind, SPLAT, Segment, SegmentPart,
};

/// Parses the segments of a path. See the [crate docs](crate) for the notation.
pub(crate) fn segments(path: &str) -> Result<Vec<Segment>, PatternError> {
    if path.len() > MAX_BYTES {
        let start = (0..=MAX_BYTES).rev().find(|at| path.is_char_boundary(*at)).unwrap_or(0);
        return Err(PatternError::new(Kind::TooLong, path, start..path.len()));
    }
    let mut reader = Reader { path, at: 0, names: Vec::new(), optional: 0 };
    reader.skip('/');
    let mut segments = vec![reader.segment()?];
    // A segment ends at a slash or at the end of the path.
    while reader.skip('/') {
        segments.push(reader.segment()?);
    }
    Ok(segments)
}

struct Reader<'p> {
    path: &'p str,
    /// The number of parsed bytes. Invariant: a character boundary.
    at: usize,
    names: Vec<&'p str>,
    /// The number of optional parameters so far.
    optional: usize,
}

impl<'p> Reader<'p> {
    fn segment(&mut self) -> Result<Segment, PatternError> {
        let start = self.at;
        let rest = self.rest();
        let text = rest.split_once('/').map_or(rest, |(text, _)| text);
        if text == "*" || text == "**" {
            self.at += text.len();
            self.name(SPLAT, start..self.at)?;
            return match text {
                "*" => Ok(Segment::Any),
                _ if self.rest().is_empty() => Ok(Segment::Rest),
                _ => Err(self.error(Kind::RestNotLast, self.to_end())),
            };
        }

        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None | Some('/') => break,
                Some(':') => {
                    let param = self.param(matches!(parts.last(), Some(SegmentPart::Param(_))))?;
                    parts.push(SegmentPart::Param(param));
                }
                Some('*') => {
                    let at = self.at..self.at + 1;
                    return Err(self.error(Kind::MixedWildcard, at));
                }
                Some(_) => parts.push(SegmentPart::Literal(self.literal()?)),
            }
        }
        self.check_last_param(&parts)?;
        // Two texts are never adjacent here.
        match parts.pop() {
            None => Ok(Segment::Literal(String::new())),
            Some(SegmentPart::Literal(text)) if parts.is_empty() => Ok(Segment::Literal(text)),
            Some(last) => {
                parts.push(last);
                Ok(Segment::Parts(parts))
            }
        }
    }

    /// Reads text up to the next special character. `\:` and `\*` are text.
    fn literal(&mut self) -> Result<String, PatternError> {
        let begin = self.at;
        let mut text = String::new();
        while let Some(mut character) = self.peek() {
            let start = self.at;
            match character {
                '/' | ':' | '*' => break,
                '\\' => {
                    let escaped = self.rest().chars().nth(1);
                    if let Some(special @ (':' | '*')) = escaped {
                        character = special;
                        self.at += 1;
                    }
                }
                _ => {}
            }
            if let Some(hint) = why_not(character) {
                let at = start..start + character.len_utf8();
                return Err(self.error(Kind::UnsupportedCharacter(hint), at));
            }
            text.push(character);
            self.at += character.len_utf8();
        }
        if let Some(offset) = find_control_escape(&self.path[begin..self.at]) {
            let start = begin + offset;
            let hint = "the server rejects requests with an encoded control character in the path";
            let at = start..start + "%00".len();
            return Err(self.error(Kind::UnsupportedCharacter(hint), at));
        }
        Ok(text)
    }

    /// Rejects a segment such as `users:batch`, because `:batch` may be meant
    /// as text. Call it after the whole segment is parsed.
    fn check_last_param(&self, parts: &[SegmentPart]) -> Result<(), PatternError> {
        let [.., SegmentPart::Literal(text), SegmentPart::Param(param)] = parts else {
            return Ok(());
        };
        let is_bare = param.constraint.is_none() && !param.optional;
        if !is_bare || !text.ends_with(char::is_alphanumeric) {
            return Ok(());
        }
        let at = self.at - ":".len() - param.name.len()..self.at;
        Err(self.error(Kind::UnclearParameter(param.name.clone()), at))
    }

    /// Reads `:name`, `:name(expr)`, `:name?` or `:name(expr)?`.
    fn param(&mut self, is_adjacent: bool) -> Result<Param, PatternError> {
        let start = self.at;
        self.at += 1;
        let rest = self.rest();
        let is_name = |(index, character): (usize, char)| {
            matches!(character, '_' | '$')
                || character.is_alphabetic()
                || index > 0 && character.is_alphanumeric()
        };
        let length = rest.char_indices().find(|it| !is_name(*it)).map_or(rest.len(), |it| it.0);
        let name = &rest[..length];
        self.at += length;
        if name.is_empty() {
            return Err(self.error(Kind::EmptyName, start..self.at));
        }
        if is_adjacent {
            return Err(self.error(Kind::AdjacentParameters, start..self.at));
        }
        self.name(name, start..self.at)?;

        let constraint = if self.peek() == Some('(') { Some(self.constraint()?) } else { None };
        let optional = self.skip('?');
        self.optional += usize::from(optional);
        if self.optional > MAX_OPTIONAL {
            return Err(self.error(Kind::TooManyOptional, start..self.at));
        }
        Ok(Param { name: name.to_owned(), constraint, optional })
    }

    fn constraint(&mut self) -> Result<Constraint, PatternError> {
        let open = self.at;
        let Some(length) = balanced(self.rest()) else {
            return Err(self.error(Kind::UnbalancedParenthesis, open..open + 1));
        };
        let start = open + 1;
        let text = &self.path[start..open + length - 1];
        if let Some((offset, character)) = text.char_indices().find(|it| it.1.is_control()) {
            let at = start + offset..start + offset + character.len_utf8();
            let hint = "use an escape of the expression";
            return Err(self.error(Kind::UnsupportedCharacter(hint), at));
        }
        self.at += length;
        Constraint::parse(text).map_err(|(at, message)| {
            let at =
                if at.is_empty() { open..open + length } else { start + at.start..start + at.end };
            self.error(Kind::BadConstraint(message), at)
        })
    }

    fn name(&mut self, name: &'p str, at: Range<usize>) -> Result<(), PatternError> {
        if self.names.contains(&name) {
            return Err(self.error(Kind::DuplicateName(name.to_owned()), at));
        }
        self.names.push(name);
        Ok(())
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Skips `character`. Returns true if it was next.
    fn skip(&mut self, character: char) -> bool {
        let is_next = self.peek() == Some(character);
        self.at += if is_next { character.len_utf8() } else { 0 };
        is_next
    }

    fn rest(&self) -> &'p str {
        &self.path[self.at..]
    }

    fn to_end(&self) -> Range<usize> {
        self.at..self.path.len()
    }

    fn error(&self, kind: Kind, at: Range<usize>) -> PatternError {
        PatternError::new(kind, self.path, at)
    }
}

/// Returns the length of the parenthesized group at the start of `text`,
/// including both parentheses. Skips escapes and character classes.
fn balanced(text: &str) -> Option<usize> {
    let mut parentheses = 0_usize;
    let mut classes = 0_usize;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            '[' => {
                classes += 1;
                // In `[]a]` and `[^]a]` the first `]` is a member.
                characters.next_if(|it| it.1 == '^');
                characters.next_if(|it| it.1 == ']');
            }
            ']' => classes = classes.saturating_sub(1),
            '(' if classes == 0 => parentheses += 1,
            ')' if classes == 0 => parentheses -= 1,
            _ => {}
        }
        if parentheses == 0 {
            return Some(at + 1);
        }
    }
    None
}

/// Returns the reason why a request path cannot contain this character, or
/// `None` if it can.
fn why_not(character: char) -> Option<&'static str> {
    match character {
        '{' | '}' => Some("use `:id` for a parameter"),
        '?' => Some("use it only after a parameter; a route does not contain a query"),
        '#' => Some("clients never send a fragment; use `%23` for the character"),
        '\\' => Some("use a backslash only before `:` or `*`, and `%5C` for the character"),
        '<' | '>' | '`' => Some("percent-encode it"),
        _ if character.is_control() || character.is_whitespace() => {
            Some("percent-encode it, a space as `%20`")
        }
        _ => None,
    }
}

/// Finds a percent-encoded control character, `%00` to `%1F` and `%7F`, and
/// returns the offset of its `%`.
///
/// A decoded control character could end a header line, a name or other text.
#[must_use]
pub fn find_control_escape(path: &str) -> Option<usize> {
    path.as_bytes().windows(3).position(|escape| match escape {
        [b'%', b'0' | b'1', low] => low.is_ascii_hexdigit(),
        [b'%', b'7', low] => low.eq_ignore_ascii_case(&b'f'),
        _ => false,
    })
}

/// The longest pattern in bytes, far above any real route. It bounds the depth
/// of the matcher's tree.
const MAX_BYTES: usize = 4_096;

/// The largest number of optional parameters. Each doubles the number of
/// variants.
const MAX_OPTIONAL: usize = 8;

#[cfg(test)]
mod tests;
