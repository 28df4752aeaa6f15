//! Checks `schema!` for unknown keywords in JSON literals.
//!
//! It detects the notation in the same way as `stockade-validation` does in
//! `build/notation.rs`. If the notation of a node depends on an expression, the
//! node is checked only at run time.
//!
//! - this module: the notation and the errors.
//! - `json`: tokens to JSON.
//! - `table`: the keywords.

mod json;
mod table;
#[cfg(test)]
mod tests;

use proc_macro2::{Span, TokenStream};

use self::json::{Entry, Json};
use self::table::{Holds, find, keywords};
use crate::errors::Errors;
use crate::suggest::did_you_mean;

/// Returns a `compile_error!` for each error, or nothing.
pub(crate) fn check(input: TokenStream) -> TokenStream {
    let mut errors = Errors::default();
    check_root(&json::read(input), &mut errors);
    errors.into_tokens()
}

fn check_root(json: &Json, errors: &mut Errors) {
    let is_document = match json {
        Json::Map(entries) => entries
            .iter()
            .any(|entry| entry.name() == Some("$schema") && matches!(entry.value, Json::Text)),
        _ => false,
    };
    Checker { guess: !is_document, errors }.node(json, &At { parent: None, step: "" });
}

struct Checker<'e> {
    /// True if nodes may be field maps.
    guess: bool,
    errors: &'e mut Errors,
}

impl Checker<'_> {
    fn node(&mut self, json: &Json, at: &At<'_>) {
        let Json::Map(entries) = json else { return };
        match self.is_rule(entries) {
            Some(true) => self.rule(entries, at),
            Some(false) => self.fields(entries, at),
            None => {}
        }
    }

    /// Returns true for a rule and false for a field map. Returns `None` if
    /// this is only known at run time.
    fn is_rule(&self, entries: &[Entry]) -> Option<bool> {
        if !self.guess || entries.is_empty() {
            return Some(true);
        }
        let (mut has_keyword, mut has_other, mut is_open, mut only_notes) =
            (false, false, false, true);
        for Entry { name, value } in entries {
            let Some((name, _)) = name else { return None };
            let keyword = find(name);
            let is_object = matches!(value, Json::Map(_));
            only_notes &= keyword.is_some_and(|known| known.note) && !is_object;
            let fits = match keyword.filter(|known| !known.note) {
                Some(_) if table::UNUSED_ALONE.contains(&name.as_str()) && is_object => continue,
                Some(known) => known.holds.fits(value),
                None => Some(false),
            };
            match fits {
                Some(true) if !is_object => return Some(true),
                Some(true) => has_keyword = true,
                Some(false) => has_other |= is_object,
                None => {}
            }
            is_open |= matches!(value, Json::Unknown);
        }
        if is_open {
            return None;
        }
        Some(only_notes || has_keyword && !has_other)
    }

    fn rule(&mut self, entries: &[Entry], at: &At<'_>) {
        for Entry { name, value } in entries {
            let Some((name, span)) = name else { continue };
            let at = At { parent: Some(at), step: name };
            let Some(keyword) = find(name) else {
                self.unknown(name, *span, "", &at);
                continue;
            };
            match (keyword.holds, value) {
                (Holds::Schema, value) if !keyword.note => self.node(value, &at),
                (Holds::Schemas, Json::Map(entries)) => {
                    for Entry { name, value } in entries {
                        let step = name.as_ref().map_or("", |(name, _)| name);
                        self.node(value, &At { parent: Some(&at), step });
                    }
                }
                (Holds::Rules, Json::List(items)) => {
                    for (index, item) in items.iter().enumerate() {
                        self.node(item, &At { parent: Some(&at), step: &index.to_string() });
                    }
                }
                _ => {}
            }
        }
    }

    fn fields(&mut self, entries: &[Entry], at: &At<'_>) {
        for Entry { name, value } in entries {
            let Some((name, span)) = name else { continue };
            let at = At { parent: Some(at), step: name };
            let keyword = find(name);
            let is_schema = matches!(value, Json::Map(_) | Json::Bool);
            if keyword.is_some_and(|known| known.note) && !is_schema {
                continue;
            }
            if table::is_reserved(name) {
                let message = format!(
                    "JSON Schema keyword `{name}` cannot be mixed with fields (at `{at}`); use \
                     `Schema::rule`, or `Schema::fields` for a field of this name"
                );
                self.errors.push(*span, message);
            } else if is_schema {
                self.node(value, &at);
            } else if keyword.is_none() && !matches!(value, Json::Unknown) {
                self.unknown(name, *span, "; the rule of a field must be an object", &at);
            }
        }
    }

    fn unknown(&mut self, name: &str, span: Span, otherwise: &str, at: &At<'_>) {
        // Length matters because `max` is a prefix of many keywords.
        let similar = keywords().filter(|known| known.len().abs_diff(name.len()) <= 3);
        let near = match did_you_mean(name, similar) {
            near if near.is_empty() => did_you_mean(name, keywords()),
            near => near,
        };
        let hint = if near.is_empty() { otherwise } else { &near };
        self.errors.push(span, format!("unknown keyword `{name}`{hint} (at `{at}`)"));
    }
}

/// A position in the JSON, displayed as a JSON pointer.
#[derive(Clone, Copy)]
struct At<'a> {
    /// `None` for the root.
    parent: Option<&'a Self>,
    step: &'a str,
}

impl std::fmt::Display for At<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.parent {
            None => Ok(()),
            Some(parent) => {
                write!(f, "{parent}/{}", self.step.replace('~', "~0").replace('/', "~1"))
            }
        }
    }
}
