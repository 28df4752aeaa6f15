//! Patterns with back references, by backtracking as ECMA-262 defines it.
//!
//! - A group that has not matched has an empty text. A repeated part resets its
//!   groups before each iteration.
//! - An optional iteration that matches the empty text fails.
//! - A look-behind is matched from its end to its start.

use std::ptr;
use std::sync::Arc;

use regex_syntax::hir::ClassUnicode;

use super::classes::Set;
use super::steps::{GaveUp, Steps};
use super::syntax::{Place, Repeat, Side, Syntax};

#[derive(Clone, Debug)]
pub(super) struct Backtrack {
    code: Box<[Step]>,
    /// The number of places for positions.
    slots: usize,
    /// True if a match can begin only at the start of the text.
    is_anchored: bool,
}

#[derive(Clone, Debug)]
enum Step {
    Class(Arc<Set>, Side),
    /// A repeated class.
    Span {
        set: Arc<Set>,
        side: Side,
        least: usize,
        most: usize,
        is_greedy: bool,
    },
    At(Place),
    /// Its code follows, up to `end`.
    Around {
        is_negative: bool,
        end: usize,
    },
    /// Tries the first, then the second.
    Split(usize, usize),
    Jump(usize),
    /// Stores the position.
    Save(usize),
    /// Forgets the positions from one slot up to another.
    Forget(usize, usize),
    /// Fails if the position is still the stored one.
    Advanced(usize),
    /// The text of a group.
    Reference(usize, Side),
    Match,
}

impl Backtrack {
    pub(super) fn new(syntax: &Syntax, groups: usize) -> Result<Self, String> {
        let mut compiler = Compiler { code: Vec::new(), slots: 2 * (groups + 1), sets: Vec::new() };
        // The top of a pattern is matched forwards, as a look-ahead is.
        compiler.part(syntax, Side::Ahead)?;
        compiler.add(Step::Match)?;
        let is_anchored = matches!(compiler.code.first(), Some(Step::At(Place::Start)));
        Ok(Self { code: compiler.code.into(), slots: compiler.slots, is_anchored })
    }

    pub(super) fn is_match(&self, text: &str, steps: &mut Steps) -> Result<bool, GaveUp> {
        let slots = vec![None; self.slots];
        let mut search = Search { code: &self.code, text, steps, slots, stack: Vec::new() };
        for start in (0..=text.len()).filter(|start| text.is_char_boundary(*start)) {
            if search.run(0, start)? {
                return Ok(true);
            }
            if self.is_anchored {
                break;
            }
        }
        Ok(false)
    }
}

/// An untried alternative, or a change to undo when backtracking.
enum Undo {
    Branch {
        step: usize,
        position: usize,
    },
    /// One character less, down to `floor`.
    Greedy {
        step: usize,
        position: usize,
        floor: usize,
    },
    /// One character more, at most `left`.
    Lazy {
        step: usize,
        position: usize,
        left: usize,
    },
    Slot {
        slot: usize,
        old: Option<usize>,
    },
}

/// The largest number of entries of the stack, 16 MiB.
const MAX_STACK: usize = 1 << 19;

struct Search<'s> {
    code: &'s [Step],
    text: &'s str,
    steps: &'s mut Steps,
    slots: Vec<Option<usize>>,
    stack: Vec<Undo>,
}

/// The next step and its position; `None` if a part did not match.
type Next = Option<(usize, usize)>;

impl Search<'_> {
    /// Returns true if the code from `step` on matches at `position`. The stack
    /// then retains the entries for backtracking.
    fn run(&mut self, step: usize, position: usize) -> Result<bool, GaveUp> {
        let base = self.stack.len();
        let mut next = Some((step, position));
        loop {
            self.steps.take(1)?;
            let Some((step, position)) = next else {
                if self.stack.len() <= base {
                    return Ok(false);
                }
                next = self.go_back()?;
                continue;
            };
            let Some(kind) = self.code.get(step) else { return Ok(false) };
            if matches!(kind, Step::Match) {
                return Ok(true);
            }
            next = self.take(kind, step, position)?;
        }
    }

    fn take(&mut self, kind: &Step, step: usize, position: usize) -> Result<Next, GaveUp> {
        Ok(match kind {
            Step::Class(set, side) => self.advance(set, *side, position).map(|end| (step + 1, end)),
            Step::Span { set, side, least, most, is_greedy } => {
                return self.span(set, *side, (*least, *most, *is_greedy), step, position);
            }
            Step::At(place) => place.is_at(self.text, position).then_some((step + 1, position)),
            Step::Around { is_negative, end } => {
                return self.around(*is_negative, *end, step, position);
            }
            Step::Split(first, second) => {
                self.push(Undo::Branch { step: *second, position })?;
                Some((*first, position))
            }
            Step::Jump(target) => Some((*target, position)),
            Step::Save(slot) => {
                self.set(*slot, Some(position))?;
                Some((step + 1, position))
            }
            Step::Forget(from, to) => {
                for slot in *from..*to {
                    self.set(slot, None)?;
                }
                Some((step + 1, position))
            }
            Step::Advanced(slot) => {
                (self.slot(*slot) != Some(position)).then_some((step + 1, position))
            }
            Step::Reference(group, side) => {
                self.reference(*group, *side, position)?.map(|end| (step + 1, end))
            }
            Step::Match => None,
        })
    }

    /// Returns the position after a character of the set.
    fn advance(&self, set: &Set, side: Side, position: usize) -> Option<usize> {
        let char = match side {
            Side::Ahead => self.text.get(position..)?.chars().next()?,
            Side::Behind => self.text.get(..position)?.chars().next_back()?,
        };
        set.has(char).then_some(match side {
            Side::Ahead => position + char.len_utf8(),
            Side::Behind => position - char.len_utf8(),
        })
    }

    fn span(
        &mut self,
        set: &Set,
        side: Side,
        (least, most, is_greedy): (usize, usize, bool),
        step: usize,
        mut position: usize,
    ) -> Result<Next, GaveUp> {
        for _ in 0..least {
            self.steps.take(1)?;
            match self.advance(set, side, position) {
                Some(end) => position = end,
                None => return Ok(None),
            }
        }
        let floor = position;
        if !is_greedy {
            self.push(Undo::Lazy { step, position, left: most - least })?;
            return Ok(Some((step + 1, position)));
        }
        for _ in least..most {
            self.steps.take(1)?;
            match self.advance(set, side, position) {
                Some(end) => position = end,
                None => break,
            }
        }
        if position != floor {
            self.push(Undo::Greedy { step, position, floor })?;
        }
        Ok(Some((step + 1, position)))
    }

    fn around(
        &mut self,
        is_negative: bool,
        end: usize,
        step: usize,
        position: usize,
    ) -> Result<Next, GaveUp> {
        let base = self.stack.len();
        let is_match = self.run(step + 1, position)?;
        if is_negative {
            // Its groups are forgotten.
            self.undo_to(base);
        } else {
            // Its alternatives are not tried again.
            let mut kept = base;
            for place in base..self.stack.len() {
                if matches!(self.stack.get(place), Some(Undo::Slot { .. })) {
                    self.stack.swap(kept, place);
                    kept += 1;
                }
            }
            self.stack.truncate(kept);
        }
        Ok((is_match != is_negative).then_some((end, position)))
    }

    /// Returns the position after the text of a group.
    fn reference(
        &mut self,
        group: usize,
        side: Side,
        position: usize,
    ) -> Result<Option<usize>, GaveUp> {
        let (Some(from), Some(to)) = (self.slot(2 * group), self.slot(2 * group + 1)) else {
            return Ok(Some(position));
        };
        let length = to.saturating_sub(from);
        self.steps.take(u64::try_from(length / 16).unwrap_or(u64::MAX))?;
        let wanted = self.text.get(from..to).unwrap_or_default();
        Ok(match side {
            Side::Ahead => {
                let rest = self.text.get(position..).unwrap_or_default();
                rest.starts_with(wanted).then(|| position + length)
            }
            Side::Behind => {
                let before = self.text.get(..position).unwrap_or_default();
                before.ends_with(wanted).then(|| position - length)
            }
        })
    }

    fn slot(&self, slot: usize) -> Option<usize> {
        self.slots.get(slot).copied().flatten()
    }

    fn set(&mut self, slot: usize, value: Option<usize>) -> Result<(), GaveUp> {
        let Some(place) = self.slots.get_mut(slot) else { return Ok(()) };
        let old = std::mem::replace(place, value);
        if old != value {
            self.push(Undo::Slot { slot, old })?;
        }
        Ok(())
    }

    fn push(&mut self, undo: Undo) -> Result<(), GaveUp> {
        if self.stack.len() >= MAX_STACK {
            return Err(GaveUp);
        }
        self.stack.push(undo);
        Ok(())
    }

    fn undo_to(&mut self, base: usize) {
        while self.stack.len() > base
            && let Some(undo) = self.stack.pop()
        {
            self.restore(&undo);
        }
    }

    fn restore(&mut self, undo: &Undo) {
        if let Undo::Slot { slot, old } = undo
            && let Some(place) = self.slots.get_mut(*slot)
        {
            *place = *old;
        }
    }

    /// Pops one entry from the stack. Returns the point to continue from.
    fn go_back(&mut self) -> Result<Next, GaveUp> {
        let Some(undo) = self.stack.pop() else { return Ok(None) };
        match undo {
            Undo::Slot { .. } => {
                self.restore(&undo);
                Ok(None)
            }
            Undo::Branch { step, position } => Ok(Some((step, position))),
            Undo::Greedy { step, position, floor } => {
                // Back over the last character of the span.
                let position = if position > floor {
                    let before = self.text.get(..position).unwrap_or_default();
                    position - before.chars().next_back().map_or(0, char::len_utf8)
                } else {
                    let after = self.text.get(position..).unwrap_or_default();
                    position + after.chars().next().map_or(0, char::len_utf8)
                };
                if position != floor {
                    self.push(Undo::Greedy { step, position, floor })?;
                }
                Ok(Some((step + 1, position)))
            }
            Undo::Lazy { step, position, left } => {
                let Some(Step::Span { set, side, .. }) = self.code.get(step) else {
                    return Ok(None);
                };
                let Some(left) = left.checked_sub(1) else { return Ok(None) };
                let Some(position) = self.advance(set, *side, position) else {
                    return Ok(None);
                };
                self.push(Undo::Lazy { step, position, left })?;
                Ok(Some((step + 1, position)))
            }
        }
    }
}

struct Compiler<'s> {
    code: Vec<Step>,
    slots: usize,
    /// Sets that copies of a repeated part share.
    sets: Vec<(&'s ClassUnicode, Arc<Set>)>,
}

impl<'s> Compiler<'s> {
    fn part(&mut self, syntax: &'s Syntax, side: Side) -> Result<(), String> {
        match syntax {
            Syntax::Class(set) => {
                let set = self.set(set);
                self.add(Step::Class(set, side))
            }
            Syntax::At(place) => self.add(Step::At(*place)),
            Syntax::Around(around) => {
                let start = self.code.len();
                let is_negative = around.is_negative;
                self.add(Step::Around { is_negative, end: 0 })?;
                self.part(&around.inner, around.side)?;
                self.add(Step::Match)?;
                self.put(start, Step::Around { is_negative, end: self.code.len() });
                Ok(())
            }
            Syntax::Group(number, inner) => {
                let (start, end) = (2 * number, 2 * number + 1);
                let (first, last) = if side == Side::Ahead { (start, end) } else { (end, start) };
                self.add(Step::Save(first))?;
                self.part(inner, side)?;
                self.add(Step::Save(last))
            }
            Syntax::Reference(group) => self.add(Step::Reference(*group, side)),
            Syntax::Concat(parts) => match side {
                Side::Ahead => parts.iter().try_for_each(|part| self.part(part, side)),
                Side::Behind => parts.iter().rev().try_for_each(|part| self.part(part, side)),
            },
            Syntax::Alternation(parts) => self.alternation(parts, side),
            Syntax::Repeat(repeat) => self.repeat(repeat, side),
        }
    }

    fn alternation(&mut self, parts: &'s [Syntax], side: Side) -> Result<(), String> {
        let mut jumps = Vec::new();
        for (place, part) in parts.iter().enumerate() {
            if place + 1 == parts.len() {
                self.part(part, side)?;
                break;
            }
            let split = self.code.len();
            self.add(Step::Split(split + 1, 0))?;
            self.part(part, side)?;
            jumps.push(self.code.len());
            self.add(Step::Jump(0))?;
            self.put(split, Step::Split(split + 1, self.code.len()));
        }
        let end = self.code.len();
        jumps.into_iter().for_each(|jump| self.put(jump, Step::Jump(end)));
        Ok(())
    }

    fn repeat(&mut self, repeat: &'s Repeat, side: Side) -> Result<(), String> {
        let Repeat { inner, least, most, is_greedy } = repeat;
        if let Syntax::Class(set) = inner {
            let size = |count: u32| usize::try_from(count).unwrap_or(usize::MAX);
            let (least, most) = (size(*least), most.map_or(usize::MAX, size));
            let set = self.set(set);
            return self.add(Step::Span { set, side, least, most, is_greedy: *is_greedy });
        }
        for _ in 0..*least {
            let start = self.code.len();
            self.iteration(inner, side)?;
            // A part without steps would be copied up to 2^32 times.
            if self.code.len() == start {
                break;
            }
        }
        let mut splits = Vec::new();
        let slot = self.slots;
        self.slots += 1;
        for _ in *least..most.unwrap_or(least.saturating_add(1)) {
            splits.push(self.code.len());
            self.add(Step::Split(0, 0))?;
            self.add(Step::Save(slot))?;
            self.iteration(inner, side)?;
            self.add(Step::Advanced(slot))?;
        }
        if most.is_none()
            && let Some(split) = splits.first()
        {
            self.add(Step::Jump(*split))?;
        }
        let end = self.code.len();
        for split in splits {
            let ways = if *is_greedy { (split + 1, end) } else { (end, split + 1) };
            self.put(split, Step::Split(ways.0, ways.1));
        }
        Ok(())
    }

    /// Adds one iteration of a repeated part.
    fn iteration(&mut self, inner: &'s Syntax, side: Side) -> Result<(), String> {
        let mut groups = Vec::new();
        inner.groups(&mut groups);
        if let (Some(first), Some(last)) = (groups.iter().min(), groups.iter().max()) {
            self.add(Step::Forget(2 * first, 2 * last + 2))?;
        }
        self.part(inner, side)
    }

    fn set(&mut self, set: &'s ClassUnicode) -> Arc<Set> {
        if let Some((_, known)) = self.sets.iter().find(|(known, _)| ptr::eq(*known, set)) {
            return Arc::clone(known);
        }
        let compiled = Arc::new(Set::new(set));
        self.sets.push((set, Arc::clone(&compiled)));
        compiled
    }

    fn put(&mut self, place: usize, step: Step) {
        if let Some(old) = self.code.get_mut(place) {
            *old = step;
        }
    }

    fn add(&mut self, step: Step) -> Result<(), String> {
        if self.code.len() >= MAX_CODE {
            return Err(format!(
                "its compiled form exceeds the limit of {MAX_CODE} steps; lower the bounds of its \
                 repetitions"
            ));
        }
        self.code.push(step);
        Ok(())
    }
}

/// The largest number of steps of a compiled pattern.
const MAX_CODE: usize = 50_000;
