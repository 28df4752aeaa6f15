//! Patterns without back references, in linear time.
//!
//! A class of any size is one state, so patterns such as `^\p{L}{1,100}$` take
//! little memory here.
//!
//! Each look-around has its own pass over the text, which finds all positions
//! at which it holds. The pass of a look-behind reads from the start of the
//! text to its end, and the pass of a look-ahead reads from the end to the
//! start. The passes of inner look-around run first, and the pass of the
//! pattern itself runs last. Each pass follows all paths through its states at
//! the same time, so its steps are bounded by the length of the text times the
//! number of states.

use std::ptr;
use std::sync::Arc;

use regex_syntax::hir::ClassUnicode;

use super::classes::Set;
use super::steps::{GaveUp, Steps};
use super::syntax::{Around, Place, Side, Syntax};

#[derive(Clone, Debug)]
pub(super) struct Automaton {
    /// The passes in execution order. The last one is the pattern.
    passes: Box<[Pass]>,
}

#[derive(Clone, Debug)]
struct Pass {
    side: Side,
    states: Box<[State]>,
    start: usize,
    /// True if a match can begin only at the start of the text.
    is_anchored: bool,
}

#[derive(Clone, Debug)]
enum State {
    Class(Arc<Set>, usize),
    At(Place, usize),
    /// Holds if the pass found the position. `is_negative` inverts this.
    Around {
        pass: usize,
        is_negative: bool,
        next: usize,
    },
    Split(usize, usize),
    Match,
}

/// The maximum total number of states in all passes.
const MAX_STATES: usize = 50_000;

impl Automaton {
    pub(super) fn new(syntax: &Syntax) -> Result<Self, String> {
        let mut compiler = Compiler::default();
        compiler.pass(syntax, Side::Behind)?;
        Ok(Self { passes: compiler.passes.into() })
    }

    pub(super) fn is_match(&self, text: &str, steps: &mut Steps) -> Result<bool, GaveUp> {
        let Some((last, inner)) = self.passes.split_last() else {
            return Ok(false);
        };
        let mut found: Vec<Positions> = Vec::with_capacity(inner.len());
        for pass in inner {
            let mut positions = Positions::new(text.len());
            pass.run(text, &found, steps, |position| {
                positions.add(position);
                false
            })?;
            found.push(positions);
        }
        let mut is_match = false;
        last.run(text, &found, steps, |_| {
            is_match = true;
            true
        })?;
        Ok(is_match)
    }
}

/// A set of positions in a text.
struct Positions(Vec<u64>);

impl Positions {
    fn new(length: usize) -> Self {
        Self(vec![0; length / 64 + 1])
    }

    fn add(&mut self, position: usize) {
        if let Some(word) = self.0.get_mut(position / 64) {
            *word |= 1 << (position % 64);
        }
    }

    fn has(&self, position: usize) -> bool {
        self.0.get(position / 64).is_some_and(|word| word >> (position % 64) & 1 == 1)
    }
}

/// The states at one position, without duplicates.
struct States {
    /// States that wait for the next character.
    waiting: Vec<usize>,
    /// The last position at which each state was entered, plus one.
    entered: Vec<usize>,
}

impl Pass {
    /// Calls `found` with each position at which a match ends, in the direction of
    /// the pass, until it returns true.
    fn run(
        &self,
        text: &str,
        passes: &[Positions],
        steps: &mut Steps,
        mut found: impl FnMut(usize) -> bool,
    ) -> Result<(), GaveUp> {
        let mut states = States { waiting: Vec::new(), entered: vec![0; self.states.len()] };
        let mut next: Vec<usize> = Vec::new();
        let mut stack: Vec<usize> = Vec::new();
        let mut position = if self.side == Side::Behind { 0 } else { text.len() };
        let mut is_first = true;
        loop {
            stack.append(&mut next);
            if is_first || !self.is_anchored {
                stack.push(self.start);
            }
            let is_match = self.enter(&mut states, &mut stack, (text, position), passes, steps)?;
            if is_match && found(position) {
                return Ok(());
            }
            is_first = false;
            if states.waiting.is_empty() && self.is_anchored {
                return Ok(());
            }
            let char = if self.side == Side::Behind {
                text.get(position..).and_then(|rest| rest.chars().next())
            } else {
                text.get(..position).and_then(|rest| rest.chars().next_back())
            };
            let Some(char) = char else {
                return Ok(());
            };
            for state in states.waiting.drain(..) {
                if let Some(State::Class(set, target)) = self.states.get(state)
                    && set.has(char)
                {
                    next.push(*target);
                }
            }
            if self.side == Side::Behind {
                position += char.len_utf8();
            } else {
                position -= char.len_utf8();
            }
        }
    }

    /// Follows the states of the stack to all states that wait for a character.
    /// Returns true if a match is among them.
    fn enter(
        &self,
        states: &mut States,
        stack: &mut Vec<usize>,
        (text, position): (&str, usize),
        passes: &[Positions],
        steps: &mut Steps,
    ) -> Result<bool, GaveUp> {
        let mut is_match = false;
        let mut count = 0;
        while let Some(state) = stack.pop() {
            count += 1;
            let (Some(entered), Some(kind)) =
                (states.entered.get_mut(state), self.states.get(state))
            else {
                continue;
            };
            if std::mem::replace(entered, position + 1) == position + 1 {
                continue;
            }
            match kind {
                State::Class(..) => states.waiting.push(state),
                State::At(place, target) => {
                    if place.is_at(text, position) {
                        stack.push(*target);
                    }
                }
                State::Around { pass, is_negative, next } => {
                    let is_there = passes.get(*pass).is_some_and(|found| found.has(position));
                    if is_there != *is_negative {
                        stack.push(*next);
                    }
                }
                State::Split(first, second) => stack.extend([*second, *first]),
                State::Match => is_match = true,
            }
        }
        steps.take(count)?;
        Ok(is_match)
    }
}

#[derive(Default)]
struct Compiler<'s> {
    passes: Vec<Pass>,
    /// The total number of states in all passes.
    count: usize,
    /// Sets and passes that copies of a repeated part share.
    sets: Vec<(&'s ClassUnicode, Arc<Set>)>,
    around: Vec<(&'s Around, usize)>,
}

impl<'s> Compiler<'s> {
    /// Compiles one pass and the passes of its inner look-around. Returns its
    /// index.
    fn pass(&mut self, syntax: &'s Syntax, side: Side) -> Result<usize, String> {
        let mut states = vec![State::Match];
        let start = self.states(syntax, side, 0, &mut states)?;
        let is_anchored =
            side == Side::Behind && matches!(states.get(start), Some(State::At(Place::Start, _)));
        self.passes.push(Pass { side, states: states.into(), start, is_anchored });
        Ok(self.passes.len() - 1)
    }

    /// Adds the states of a part, which continue to the state `next`. Returns
    /// the first state.
    fn states(
        &mut self,
        syntax: &'s Syntax,
        side: Side,
        next: usize,
        states: &mut Vec<State>,
    ) -> Result<usize, String> {
        match syntax {
            Syntax::Class(set) => {
                let set = self.set(set);
                self.add(State::Class(set, next), states)
            }
            Syntax::At(place) => self.add(State::At(*place, next), states),
            Syntax::Around(around) => {
                let pass = self.pass_of(around)?;
                let is_negative = around.is_negative;
                self.add(State::Around { pass, is_negative, next }, states)
            }
            Syntax::Group(_, inner) => self.states(inner, side, next, states),
            Syntax::Reference(_) => Err("back references are not regular".to_owned()),
            Syntax::Concat(parts) => {
                let mut add = |next, part| self.states(part, side, next, states);
                match side {
                    Side::Behind => parts.iter().rev().try_fold(next, &mut add),
                    Side::Ahead => parts.iter().try_fold(next, &mut add),
                }
            }
            Syntax::Alternation(parts) => {
                let mut first = None;
                for part in parts.iter().rev() {
                    let start = self.states(part, side, next, states)?;
                    first = Some(match first {
                        None => start,
                        Some(other) => self.add(State::Split(start, other), states)?,
                    });
                }
                Ok(first.unwrap_or(next))
            }
            Syntax::Repeat(repeat) => {
                let mut start = next;
                if let Some(most) = repeat.most {
                    for _ in repeat.least..most {
                        let inner = self.states(&repeat.inner, side, start, states)?;
                        start = self.add(State::Split(inner, next), states)?;
                    }
                } else {
                    start = self.add(State::Match, states)?;
                    let inner = self.states(&repeat.inner, side, start, states)?;
                    if let Some(state) = states.get_mut(start) {
                        *state = State::Split(inner, next);
                    }
                }
                for _ in 0..repeat.least {
                    let inner = self.states(&repeat.inner, side, start, states)?;
                    // A part without states would be copied up to 2^32 times.
                    if inner == start {
                        break;
                    }
                    start = inner;
                }
                Ok(start)
            }
        }
    }

    fn set(&mut self, set: &'s ClassUnicode) -> Arc<Set> {
        if let Some((_, known)) = self.sets.iter().find(|(known, _)| ptr::eq(*known, set)) {
            return Arc::clone(known);
        }
        let compiled = Arc::new(Set::new(set));
        self.sets.push((set, Arc::clone(&compiled)));
        compiled
    }

    fn pass_of(&mut self, around: &'s Around) -> Result<usize, String> {
        if let Some((_, known)) = self.around.iter().find(|(known, _)| ptr::eq(*known, around)) {
            return Ok(*known);
        }
        let pass = self.pass(&around.inner, around.side)?;
        self.around.push((around, pass));
        Ok(pass)
    }

    fn add(&mut self, state: State, states: &mut Vec<State>) -> Result<usize, String> {
        self.count += 1;
        if self.count > MAX_STATES {
            return Err(format!(
                "its compiled form exceeds the limit of {MAX_STATES} states; lower the bounds of \
                 its repetitions"
            ));
        }
        states.push(state);
        Ok(states.len() - 1)
    }
}
