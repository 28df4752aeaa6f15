//! [`Aspect`]: an aspect of schemas, with the rules for its changes.

use serde_json::Value;

use super::Direction;
use crate::lock::rules::{
    IN_BOUND_LOOSER, IN_BOUND_TIGHTER, IN_CLOSED, IN_CONDITION_ADDED, IN_CONDITION_REMOVED,
    IN_OPEN, IN_PATTERN_ADDED, IN_PATTERN_CHANGED, IN_PATTERN_REMOVED, IN_TYPE_CHANGED,
    IN_TYPE_NARROWED, IN_TYPE_WIDENED, IN_VALUE_ADDED, IN_VALUE_REMOVED, IN_VALUES_FREE,
    IN_VALUES_LISTED, IN_VARIANT_ADDED, IN_VARIANT_REMOVED, LockRule, OUT_BOUND_LOOSER,
    OUT_BOUND_TIGHTER, OUT_CLOSED, OUT_CONDITION_ADDED, OUT_CONDITION_REMOVED, OUT_OPEN,
    OUT_PATTERN_ADDED, OUT_PATTERN_CHANGED, OUT_PATTERN_REMOVED, OUT_TYPE_CHANGED,
    OUT_TYPE_NARROWED, OUT_TYPE_WIDENED, OUT_VALUE_ADDED, OUT_VALUE_REMOVED, OUT_VALUES_FREE,
    OUT_VALUES_LISTED, OUT_VARIANT_ADDED, OUT_VARIANT_REMOVED, SCHEMA_UNKNOWN,
};

/// The effect of a change on the set of valid values.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Effect {
    /// Fewer values are valid.
    Narrower,
    /// More values are valid.
    Wider,
    /// Other values are valid.
    Other,
}

impl Effect {
    /// Returns the effect of a keyword that can only restrict values, or `None`
    /// if it is unchanged.
    pub(super) fn of_limits(old: Option<&Value>, new: Option<&Value>) -> Option<Self> {
        match (old, new) {
            (None, Some(_)) => Some(Self::Narrower),
            (Some(_), None) => Some(Self::Wider),
            (one, other) => (one != other).then_some(Self::Other),
        }
    }
}

/// An aspect of schemas: its rules for requests and for responses.
#[derive(Clone, Copy)]
pub(super) struct Aspect {
    narrower: [LockRule; 2],
    wider: [LockRule; 2],
    other: [LockRule; 2],
}

impl Aspect {
    const fn new(narrower: [LockRule; 2], wider: [LockRule; 2]) -> Self {
        Self { narrower, wider, other: [SCHEMA_UNKNOWN, SCHEMA_UNKNOWN] }
    }

    const fn or(mut self, other: [LockRule; 2]) -> Self {
        self.other = other;
        self
    }

    pub(super) fn rule(&self, effect: Effect, direction: Direction) -> LockRule {
        let [of_request, of_reply] = match effect {
            Effect::Narrower => self.narrower,
            Effect::Wider => self.wider,
            Effect::Other => self.other,
        };
        match direction {
            Direction::Request => of_request,
            Direction::Reply => of_reply,
        }
    }
}

pub(super) const TYPE: Aspect =
    Aspect::new([IN_TYPE_NARROWED, OUT_TYPE_NARROWED], [IN_TYPE_WIDENED, OUT_TYPE_WIDENED])
        .or([IN_TYPE_CHANGED, OUT_TYPE_CHANGED]);

/// A value of an `enum`.
pub(super) const LISTED: Aspect =
    Aspect::new([IN_VALUE_REMOVED, OUT_VALUE_REMOVED], [IN_VALUE_ADDED, OUT_VALUE_ADDED]);

/// An `enum` as a whole.
pub(super) const LIST: Aspect =
    Aspect::new([IN_VALUES_LISTED, OUT_VALUES_LISTED], [IN_VALUES_FREE, OUT_VALUES_FREE]);

pub(super) const BOUND: Aspect =
    Aspect::new([IN_BOUND_TIGHTER, OUT_BOUND_TIGHTER], [IN_BOUND_LOOSER, OUT_BOUND_LOOSER]);

/// Expressions and formats.
pub(super) const PATTERN: Aspect =
    Aspect::new([IN_PATTERN_ADDED, OUT_PATTERN_ADDED], [IN_PATTERN_REMOVED, OUT_PATTERN_REMOVED])
        .or([IN_PATTERN_CHANGED, OUT_PATTERN_CHANGED]);

/// Unlisted fields.
pub(super) const OTHERS: Aspect = Aspect::new([IN_CLOSED, OUT_CLOSED], [IN_OPEN, OUT_OPEN]);

pub(super) const VARIANT: Aspect =
    Aspect::new([IN_VARIANT_REMOVED, OUT_VARIANT_REMOVED], [IN_VARIANT_ADDED, OUT_VARIANT_ADDED]);

pub(super) const CONDITION: Aspect = Aspect::new(
    [IN_CONDITION_ADDED, OUT_CONDITION_ADDED],
    [IN_CONDITION_REMOVED, OUT_CONDITION_REMOVED],
);
