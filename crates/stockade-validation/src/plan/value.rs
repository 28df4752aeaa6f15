//! Hot: a parsed value as a whole. Nothing is allocated, except by the
//! `unique` of [`equal`](crate::equal).

use serde_json::{Map, Value};

use super::judge::Unknown;
use super::tree::{ANY, Accept, ArrayPlan, ObjectPlan, Plan};
use crate::depth::{MAX_DEPTH, exceeds};
use crate::equal::unique;
use crate::number::{Num, whole_float};
use crate::options::ValidationOptions;
use crate::pattern;

impl Plan {
    /// Whether `value` is right; with `keep`, whether it also stays as it is.
    pub(crate) fn accepts(&self, value: &Value, options: &ValidationOptions, keep: bool) -> bool {
        pattern::begin();
        Judge { options, keep }.value(self, value, MAX_DEPTH)
    }
}

#[derive(Clone, Copy)]
struct Judge<'o> {
    options: &'o ValidationOptions,
    keep: bool,
}

impl Judge<'_> {
    /// `levels` is how deep the value may be nested.
    fn value(self, plan: &Plan, value: &Value, levels: usize) -> bool {
        match value {
            Value::String(text) => self.text(plan, text),
            Value::Number(number) => {
                plan.takes_number(|| Num::of(number))
                    && !(self.keep && plan.wants_whole() && whole_float(number).is_some())
            }
            Value::Bool(flag) => plan.takes_bool(*flag),
            Value::Null => plan.null,
            Value::Array(items) => match &plan.array {
                Accept::All => !exceeds(value, levels),
                Accept::If(plan) => self.array(plan, items, levels),
                Accept::None => false,
            },
            Value::Object(map) => match &plan.object {
                Accept::All => !exceeds(value, levels),
                Accept::If(plan) => self.object(plan, map, levels),
                Accept::None => false,
            },
        }
    }

    #[inline]
    fn text(self, plan: &Plan, text: &str) -> bool {
        plan.text(text).is_some_and(|kept| !self.keep || kept.len() == text.len())
    }

    /// A value of an object or array, most of which are texts.
    #[inline]
    fn inner(self, plan: &Plan, value: &Value, levels: usize) -> bool {
        match value {
            Value::String(text) => self.text(plan, text),
            _ => self.value(plan, value, levels),
        }
    }

    #[inline(never)]
    fn array(self, plan: &ArrayPlan, items: &[Value], levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else {
            return false;
        };
        plan.takes_count(items.len())
            && items.iter().enumerate().all(|(at, item)| self.inner(plan.at(at), item, levels))
            && (!plan.unique || unique(items))
    }

    /// Apart from `value`, so that a scalar costs no call.
    #[inline(never)]
    fn object(self, plan: &ObjectPlan, map: &Map<String, Value>, levels: usize) -> bool {
        let Some(levels) = levels.checked_sub(1) else {
            return false;
        };
        let mut hint = 0;
        let mut seen = 0_u64;
        let mut is_in_order = true;
        let mut has_unknown = false;
        for (name, value) in map {
            let index = plan.find(name, hint);
            seen |= index.map_or(0, |index| 1 << index);
            let fits = if let Some(index) = index.filter(|index| *index < plan.listed) {
                is_in_order &= index >= hint && !has_unknown;
                hint = index + 1;
                self.inner(&plan.entries[index].plan, value, levels)
            } else {
                has_unknown = true;
                match plan.unknown(self.options) {
                    Unknown::Keep => self.value(&ANY, value, levels),
                    Unknown::Strip => !self.keep && self.value(&ANY, value, levels),
                    Unknown::Refuse => false,
                    Unknown::Judge(plan) => self.value(plan, value, levels),
                }
            };
            if !fits {
                return false;
            }
        }
        let stays = is_in_order && plan.defaulted & !seen == 0;
        plan.required & !seen == 0
            && (plan.min..=plan.max).contains(&map.len())
            && (stays || !self.keep)
    }
}
