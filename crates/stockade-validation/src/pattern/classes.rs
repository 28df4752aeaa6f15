//! Sets of code points: the classes of ECMA-262.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use super::property_names::{BINARY, CATEGORIES, SCRIPTS};

/// Returns the set of these ranges.
pub(super) fn of_ranges(ranges: &[(char, char)]) -> ClassUnicode {
    ClassUnicode::new(ranges.iter().map(|(from, to)| ClassUnicodeRange::new(*from, *to)))
}

pub(super) fn of_char(char: char) -> ClassUnicode {
    of_ranges(&[(char, char)])
}

/// Returns the set of all code points, `[^]`.
pub(super) fn all() -> ClassUnicode {
    of_ranges(&[('\0', char::MAX)])
}

/// Returns the set of `.`: all code points except those that end a line.
pub(super) fn dot() -> ClassUnicode {
    negated(of_ranges(&[('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')]))
}

/// Returns the set of `\d`, `\w` or `\s`.
pub(super) fn of_letter(letter: char) -> Option<ClassUnicode> {
    Some(match letter {
        'd' => of_ranges(&[('0', '9')]),
        'w' => of_ranges(&[('0', '9'), ('A', 'Z'), ('_', '_'), ('a', 'z')]),
        's' => of_ranges(SPACES),
        _ => return None,
    })
}

/// The productions `WhiteSpace` and `LineTerminator` of ECMA-262. Unlike the
/// property `White_Space`, they include U+FEFF and exclude U+0085.
const SPACES: &[(char, char)] = &[
    ('\t', '\r'),
    (' ', ' '),
    ('\u{A0}', '\u{A0}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{2000}', '\u{200A}'),
    ('\u{2028}', '\u{2029}'),
    ('\u{202F}', '\u{202F}'),
    ('\u{205F}', '\u{205F}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{FEFF}', '\u{FEFF}'),
];

/// Removes the characters of `\s` from both ends. Documents can therefore
/// describe a non-empty text as `\S`.
pub(crate) fn trim(text: &str) -> &str {
    let is_space = |char: char| match char {
        '\t'..='\r' | ' ' => true,
        '\0'..='\x7F' => false,
        _ => SPACES.iter().any(|(from, to)| (*from..=*to).contains(&char)),
    };
    text.trim_matches(is_space)
}

pub(super) fn negated(mut set: ClassUnicode) -> ClassUnicode {
    set.negate();
    set
}

/// Adds the code points that differ from a code point of the set only in case.
pub(super) fn without_case(set: &ClassUnicode) -> Result<ClassUnicode, String> {
    let mut folded = set.clone();
    folded.try_case_fold_simple().map_err(|error| error.to_string())?;
    Ok(folded)
}

/// Returns the set of `\p{name}`, or an error if ECMA-262 does not define the
/// name.
pub(super) fn of_property(name: &str) -> Result<ClassUnicode, String> {
    let has = |names: &str, name: &str| names.split_ascii_whitespace().any(|known| known == name);
    let unknown = |hint: &str| Err(format!("ECMA-262 has no property `{name}`{hint}"));
    let query = match name.split_once('=') {
        None if has(CATEGORIES, name) => format!("gc={name}"),
        None if has(BINARY, name) => name.to_owned(),
        None if has(SCRIPTS, name) => {
            return unknown(&format!("; write `\\p{{Script={name}}}`"));
        }
        Some(("General_Category" | "gc", value)) if has(CATEGORIES, value) => {
            format!("gc={value}")
        }
        Some(("Script" | "sc", value)) if has(SCRIPTS, value) => format!("sc={value}"),
        Some(("Script_Extensions" | "scx", value)) if has(SCRIPTS, value) => {
            format!("scx={value}")
        }
        _ => return unknown(" (names are case-sensitive)"),
    };
    // Rust strings do not contain surrogates.
    if ["gc=Cs", "gc=Surrogate"].contains(&query.as_str()) {
        return Ok(ClassUnicode::empty());
    }
    let parsed = regex_syntax::parse(&format!("\\p{{{query}}}"));
    match parsed.map_err(|error| error.to_string())?.into_kind() {
        HirKind::Class(Class::Unicode(set)) => Ok(set),
        // A set of one code point.
        HirKind::Literal(literal) => {
            let chars = std::str::from_utf8(&literal.0).unwrap_or_default().chars();
            Ok(ClassUnicode::new(chars.map(|char| ClassUnicodeRange::new(char, char))))
        }
        _ => unknown(""),
    }
}

/// Writes the set as a class of ECMA-262.
pub(super) fn write(set: &ClassUnicode, out: &mut String) {
    out.push('[');
    for range in set.ranges() {
        write_char(range.start(), out);
        if range.start() != range.end() {
            out.push('-');
            write_char(range.end(), out);
        }
    }
    out.push(']');
}

fn write_char(char: char, out: &mut String) {
    match u16::try_from(u32::from(char)) {
        _ if char.is_ascii_alphanumeric() => out.push(char),
        Ok(unit) => out.push_str(&format!(r"\u{unit:04X}")),
        Err(_) => out.push_str(&format!(r"\u{{{:X}}}", u32::from(char))),
    }
}

/// A set that is quick to search.
#[derive(Clone, Debug)]
pub(super) struct Set {
    /// One bit for each ASCII character.
    ascii: u128,
    /// The ranges beyond ASCII, sorted.
    ranges: Box<[(char, char)]>,
}

impl Set {
    pub(super) fn new(set: &ClassUnicode) -> Self {
        let mut ascii = 0;
        let mut ranges = Vec::new();
        for range in set.ranges() {
            let (from, to) = (range.start(), range.end());
            for byte in (0..128_u8).filter(|byte| (from..=to).contains(&char::from(*byte))) {
                ascii |= 1 << byte;
            }
            if !to.is_ascii() {
                ranges.push((from, to));
            }
        }
        Self { ascii, ranges: ranges.into() }
    }

    #[inline]
    pub(super) fn has(&self, char: char) -> bool {
        if char.is_ascii() {
            return self.ascii >> u32::from(char) & 1 == 1;
        }
        let place = self.ranges.partition_point(|(_, to)| *to < char);
        self.ranges.get(place).is_some_and(|(from, _)| *from <= char)
    }
}
