//! Labels of internationalized host names: Punycode (RFC 3492) and the rules of
//! RFC 5891, section 4.2, and RFC 5892.
//!
//! Two rules are not implemented, because they need far more of the character
//! database. Normalization (NFC) of a label is not checked, although characters
//! that normalization always replaces are rejected. The order of right-to-left
//! text (RFC 5893) is not checked either. A zero width non-joiner between
//! letters is checked only for letters of the Arabic block.
//!
//! A label has few characters, so the work is bounded and needs no heap.

mod tables;

use std::iter::Peekable;

use tables::{EXCLUDED, MARKS, VIRAMAS, contains};

/// Returns true if the part of a label after `xn--` encodes a valid label.
pub(super) fn is_a_label_suffix(suffix: &str) -> bool {
    decode(suffix).is_some_and(|label| is_valid(label.characters()))
}

/// Returns true if a label is valid, as written or in lowercase.
pub(super) fn is_unicode_label(label: &str) -> bool {
    let mut small = Label::default();
    let mut fits = |it| small.insert(small.length, it).is_some();
    label.chars().all(|it| {
        // Cherokee has allowed letters that have lowercase forms.
        if is_small_letter(it) { fits(it) } else { it.to_lowercase().all(&mut fits) }
    }) && is_valid(small.characters())
}

/// The characters of a label, on the stack.
struct Label {
    characters: [char; MAX_CHARACTERS],
    /// The number of characters. Invariant: at most [`MAX_CHARACTERS`].
    length: usize,
}

impl Default for Label {
    fn default() -> Self {
        Self { characters: ['\0'; MAX_CHARACTERS], length: 0 }
    }
}

impl Label {
    fn characters(&self) -> &[char] {
        &self.characters[..self.length]
    }

    /// Inserts a character before the one at `at`; returns `None` if the label
    /// is full.
    fn insert(&mut self, at: usize, character: char) -> Option<()> {
        if self.length == MAX_CHARACTERS || at > self.length {
            return None;
        }
        self.characters.copy_within(at..self.length, at + 1);
        self.characters[at] = character;
        self.length += 1;
        Some(())
    }
}

/// Decodes Punycode by RFC 3492, section 6.2. At least one character must be
/// beyond ASCII.
fn decode(encoded: &str) -> Option<Label> {
    let mut label = Label::default();
    let extended = match encoded.rsplit_once('-') {
        Some((basic, extended)) if !basic.is_empty() => {
            for character in basic.chars() {
                label.insert(label.length, character.to_ascii_lowercase())?;
            }
            extended
        }
        _ => encoded,
    };

    let mut digits = extended.bytes().peekable();
    digits.peek()?;
    let (mut code, mut at, mut bias, mut damp) = (INITIAL_CODE, 0_u32, INITIAL_BIAS, DAMP);
    while digits.peek().is_some() {
        let delta = integer(&mut digits, bias)?;
        let places = u32::try_from(label.length).ok()? + 1;
        at = at.checked_add(delta)?;
        code = code.checked_add(at / places)?;
        at %= places;
        label.insert(usize::try_from(at).ok()?, char::from_u32(code)?)?;
        at += 1;
        bias = adapt(delta / damp, places);
        damp = 2;
    }
    Some(label)
}

/// Reads a generalized variable-length integer, least significant digit first.
fn integer(digits: &mut Peekable<impl Iterator<Item = u8>>, bias: u32) -> Option<u32> {
    let (mut value, mut weight, mut position) = (0_u32, 1_u32, BASE);
    loop {
        let digit = match digits.next()? {
            byte @ b'a'..=b'z' => byte - b'a',
            byte @ b'A'..=b'Z' => byte - b'A',
            byte @ b'0'..=b'9' => byte - b'0' + 26,
            _ => return None,
        };
        let digit = u32::from(digit);
        value = value.checked_add(digit.checked_mul(weight)?)?;
        let threshold = position.saturating_sub(bias).clamp(T_MIN, T_MAX);
        if digit < threshold {
            return Some(value);
        }
        weight = weight.checked_mul(BASE - threshold)?;
        position += BASE;
    }
}

/// Returns the next bias; `delta` is already damped.
fn adapt(delta: u32, places: u32) -> u32 {
    let mut delta = delta + delta / places;
    let mut steps = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        steps += BASE;
    }
    steps + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}

/// Returns true if a label is valid by RFC 5891, section 4.2.3: hyphens, a
/// leading mark, and every character.
fn is_valid(label: &[char]) -> bool {
    let has_hyphens = label.first() == Some(&'-')
        || label.last() == Some(&'-')
        || label.get(2..4) == Some(&['-', '-']);
    let begins_with_mark = label.first().is_none_or(|it| contains(&MARKS, *it));
    !has_hyphens && !begins_with_mark && (0..label.len()).all(|at| is_allowed(label, at))
}

/// Returns true if the character at `at` is allowed in its context: RFC 5892,
/// with the rules of its appendix A.
fn is_allowed(label: &[char], at: usize) -> bool {
    let (before, rest) = label.split_at(at);
    let Some((&character, after)) = rest.split_first() else {
        return false;
    };
    let is_before = |is: fn(char) -> bool| before.last().is_some_and(|it| is(*it));
    let is_after = |is: fn(char) -> bool| after.first().is_some_and(|it| is(*it));
    let is_anywhere = |is: fn(char) -> bool| label.iter().any(|it| is(*it));
    match character {
        // Zero width non-joiner and joiner.
        '\u{200c}' => is_before(is_virama) || joins_both(before, after),
        '\u{200d}' => is_before(is_virama),
        // Middle dot, as in Catalan.
        '\u{b7}' => is_before(|it| it == 'l') && is_after(|it| it == 'l'),
        // Greek lower numeral sign.
        '\u{375}' => is_after(is_greek),
        // Hebrew geresh and gershayim.
        '\u{5f3}' | '\u{5f4}' => is_before(is_hebrew),
        // Katakana middle dot.
        '\u{30fb}' => is_anywhere(is_japanese),
        // Arabic-Indic digits, and the extended ones.
        '\u{660}'..='\u{669}' => !is_anywhere(|it| matches!(it, '\u{6f0}'..='\u{6f9}')),
        '\u{6f0}'..='\u{6f9}' => !is_anywhere(|it| matches!(it, '\u{660}'..='\u{669}')),
        _ => is_small_letter(character),
    }
}

/// Returns true if a character is allowed anywhere: a letter, a digit or a mark
/// that neither lowercasing nor normalization replaces.
fn is_small_letter(character: char) -> bool {
    match character {
        '-' => true,
        _ if character.is_ascii() => character.is_ascii_lowercase() || character.is_ascii_digit(),
        // Exceptions of RFC 5892, and Cherokee, because its capital letters are
        // the older form.
        '\u{6fd}' | '\u{6fe}' | '\u{f0b}' | '\u{13a0}'..='\u{13f5}' => true,
        _ => {
            let is_letter = character.is_alphanumeric() && !character.is_uppercase();
            (is_letter || contains(&MARKS, character)) && !contains(&EXCLUDED, character)
        }
    }
}

/// Returns true if letters join on both sides of a non-joiner, ignoring marks.
fn joins_both(before: &[char], after: &[char]) -> bool {
    let is_letter = |it: &&char| !contains(&MARKS, **it);
    let last = before.iter().rev().find(is_letter);
    let next = after.iter().find(is_letter);
    last.is_some_and(|it| is_dual_joining(*it))
        && next.is_some_and(|it| is_dual_joining(*it) || is_right_joining(*it))
}

/// Returns true for joining type D in the Arabic block.
fn is_dual_joining(character: char) -> bool {
    matches!(character, '\u{620}'..='\u{64a}' | '\u{66e}'..='\u{6d3}' | '\u{6fa}'..='\u{6ff}')
        && !matches!(character, '\u{621}' | '\u{674}' | '\u{6ee}' | '\u{6ef}')
        && !matches!(character, '\u{6fd}' | '\u{6fe}')
        && !contains(&MARKS, character)
        && !is_right_joining(character)
}

/// Returns true for joining type R in the Arabic block.
fn is_right_joining(character: char) -> bool {
    matches!(
        character,
        '\u{622}'..='\u{625}' | '\u{627}' | '\u{629}' | '\u{62f}'..='\u{632}' | '\u{648}'
            | '\u{671}'..='\u{673}' | '\u{675}'..='\u{677}' | '\u{688}'..='\u{699}' | '\u{6c0}'
            | '\u{6c3}'..='\u{6cb}' | '\u{6cd}' | '\u{6cf}' | '\u{6d2}' | '\u{6d3}' | '\u{6d5}'
            | '\u{6ee}' | '\u{6ef}'
    )
}

fn is_virama(character: char) -> bool {
    contains(&VIRAMAS, character)
}

fn is_greek(character: char) -> bool {
    matches!(character, '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}')
}

fn is_hebrew(character: char) -> bool {
    matches!(character, '\u{591}'..='\u{5f4}')
}

/// Returns true for Hiragana, Katakana or Han. The middle dot belongs to none
/// of them.
fn is_japanese(character: char) -> bool {
    matches!(
        character,
        '\u{3005}' | '\u{3007}' | '\u{3041}'..='\u{309f}' | '\u{30a1}'..='\u{30fa}'
            | '\u{30fc}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}'
    )
}

/// A label has 63 bytes in ASCII: four for `xn--`, and at least one Punycode
/// byte per character.
const MAX_CHARACTERS: usize = 59;

// The parameters of RFC 3492, section 5.
const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;
const INITIAL_BIAS: u32 = 72;
const INITIAL_CODE: u32 = 0x80;

#[cfg(test)]
mod tests;
