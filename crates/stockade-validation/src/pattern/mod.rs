//! `Pattern`: the keyword `pattern`, as ECMA-262 with the flag `u` defines it.
//!
//! - `parse`: the syntax, and its translation for documents.
//! - `syntax`: the parsed form. `classes`: sets of code points.
//! - `regular`, `automaton`, `backtrack`: three ways to search, each for the
//!   patterns that the earlier ones cannot search for.
//! - `steps`: the limit of the last two.
//! - `example`: texts that match a pattern.

mod automaton;
mod backtrack;
mod classes;
mod example;
mod parse;
mod property_names;
mod regular;
mod steps;
mod syntax;

use std::sync::Arc;

use regex_syntax::hir::Hir;

use self::automaton::Automaton;
use self::backtrack::Backtrack;
pub(crate) use self::classes::trim;
pub use self::example::{example, is_match};
use self::parse::parse;
use self::regular::Regular;
pub(crate) use self::steps::begin;
use self::steps::{GaveUp, Steps};
use crate::log_rate::LogRate;

/// A regular expression, compiled once, searched for anywhere in a text.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    text: Box<str>,
    ecma: Box<str>,
    engine: Engine,
    /// Limits the log, because every request can make the pattern give up.
    gave_up: Arc<LogRate>,
}

#[derive(Clone, Debug)]
enum Engine {
    /// Most patterns. Linear time without a limit.
    Regular(Regular),
    /// Look-around and `\B` that [`Regular`] cannot express, and patterns that are
    /// too large for it. Linear time, and a limit that patterns with up to 100 states
    /// never reach.
    Automaton(Automaton),
    /// Back references.
    Backtrack(Backtrack),
}

/// The result of a search.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Search {
    Found,
    Nothing,
    /// The search took too many steps.
    GaveUp,
}

impl Pattern {
    /// Compiles `text`. An error describes the problem without the pattern.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        let parsed = parse(text)?;
        let syntax = &parsed.syntax;
        let engine = if syntax.has_references() {
            Engine::Backtrack(Backtrack::new(syntax, parsed.groups)?)
        } else if let Some(regular) = Regular::new(syntax)? {
            Engine::Regular(regular)
        } else {
            Engine::Automaton(Automaton::new(syntax)?)
        };
        Ok(Self { text: text.into(), ecma: parsed.ecma.into(), engine, gave_up: Arc::default() })
    }

    /// Returns the pattern in the syntax of ECMA-262 with the flag `u`.
    pub(crate) fn ecma(&self) -> &str {
        &self.ecma
    }

    #[inline]
    pub(crate) fn search(&self, text: &str) -> Search {
        match &self.engine {
            Engine::Regular(regular) if regular.is_match(text) => Search::Found,
            Engine::Regular(_) => Search::Nothing,
            Engine::Automaton(_) | Engine::Backtrack(_) => self.search_in_steps(text),
        }
    }

    fn search_in_steps(&self, text: &str) -> Search {
        let outcome = match &self.engine {
            Engine::Regular(regular) => Ok(regular.is_match(text)),
            Engine::Automaton(automaton) => {
                automaton.is_match(text, &mut Steps::of_text(text.len(), AUTOMATON_STEPS))
            }
            Engine::Backtrack(backtrack) => {
                backtrack.is_match(text, &mut Steps::of_text(text.len(), BACKTRACK_STEPS))
            }
        };
        match outcome {
            Ok(true) => Search::Found,
            Ok(false) => Search::Nothing,
            Err(GaveUp) => {
                self.note(text.len());
                Search::GaveUp
            }
        }
    }

    /// Logs that the pattern gave up on a text of `length` bytes, at most once
    /// a second.
    #[cold]
    fn note(&self, length: usize) {
        if let Some(unlogged) = self.gave_up.next() {
            let pattern = &*self.text;
            log::warn!(
                pattern, length, unlogged;
                "a pattern stopped after too many steps ({unlogged} such lines omitted)"
            );
        }
    }
}

/// Returns true if a pattern is in the syntax of ECMA-262 with the flag `u`.
pub(crate) fn is_ecma(pattern: &str) -> bool {
    // Rust spellings are translated.
    ecma(pattern).is_ok_and(|ecma| ecma == pattern)
}

/// Returns a pattern in the syntax of ECMA-262 with the flag `u`.
///
/// # Errors
/// Fails if it is not a pattern. The message does not contain the pattern.
pub fn ecma(pattern: &str) -> Result<String, String> {
    parse(pattern).map(|parsed| parsed.ecma)
}

/// Returns a pattern without its look-around and back references.
///
/// # Errors
/// Fails if it is not a pattern. The message does not contain the pattern.
pub fn without_look_around(pattern: &str) -> Result<Hir, String> {
    regular::hir(&parse(pattern)?.syntax.without_look_around())
        .ok_or_else(|| "it is not regular".to_owned())
}

/// Steps for each byte of a text, of up to 5 ns each. A pass enters a state at
/// most twice at a position, so patterns with up to 100 states never take more.
const AUTOMATON_STEPS: u64 = 256;

/// Steps for each byte of a text, of up to 20 ns each.
const BACKTRACK_STEPS: u64 = 32;

#[cfg(test)]
mod tests;
