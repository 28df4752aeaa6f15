//! The comparison of limits.

use std::cmp::Ordering;

use serde_json::{Value, json};

use super::compare::Comparison;
use super::entry::LimitsLock;
use super::rules::{
    ACCEPTS_FEWER, ACCEPTS_MORE, BODY_HIGHER, BODY_LOWER, LockRule, RATE_CHANGED, RATE_HIGHER,
    RATE_LOWER, TIMEOUT_HIGHER, TIMEOUT_LOWER, TIMEOUT_STATUS,
};
use crate::QuotaInfo;

/// Compares the limits of a route.
pub(super) fn compare(c: &mut Comparison<'_>, old: &LimitsLock, new: &LimitsLock) {
    rates(c, &old.rate, &new.rate);
    if old.rate_exempt != new.rate_exempt {
        let rule = if new.rate_exempt { RATE_HIGHER } else { RATE_LOWER };
        c.note(rule, "limits/rate_exempt", old.rate_exempt, new.rate_exempt);
    }
    // If neither route has its own limit, the comparison of the router reports
    // the difference.
    if old.max_body.is_some() || new.max_body.is_some() {
        let before = old.max_body.unwrap_or(c.old.router.max_body);
        let after = new.max_body.unwrap_or(c.new.router.max_body);
        amount(c, "limits/max_body", Some(before), Some(after), (BODY_LOWER, BODY_HIGHER));
    }
    let (before, after) = (old.timeout, new.timeout);
    let time = |timeout: Option<(u64, u16)>| timeout.map(|(time, _)| time);
    let rules = (TIMEOUT_LOWER, TIMEOUT_HIGHER);
    amount(c, "limits/timeout", time(before), time(after), rules);
    if let (Some((_, before)), Some((_, after))) = (before, after)
        && before != after
    {
        c.note(TIMEOUT_STATUS, "limits/timeout", before, after);
    }
    accepts(c, old.accepts.as_deref(), new.accepts.as_deref());
}

/// Compares an upper limit; `None` means unlimited. The rules are for a lower
/// and a higher limit.
pub(super) fn amount(
    c: &mut Comparison<'_>,
    at: &str,
    old: Option<u64>,
    new: Option<u64>,
    (lower, higher): (LockRule, LockRule),
) {
    let size = |limit: Option<u64>| limit.unwrap_or(u64::MAX);
    match size(new).cmp(&size(old)) {
        Ordering::Less => c.note(lower, at, old, new),
        Ordering::Greater => c.note(higher, at, old, new),
        Ordering::Equal => {}
    }
}

fn rates(c: &mut Comparison<'_>, old: &[QuotaInfo], new: &[QuotaInfo]) {
    let find = |list: &[QuotaInfo], name: &str| -> Option<QuotaInfo> {
        list.iter().find(|quota| quota.name == name).cloned()
    };
    for before in old {
        quota(c, "limits/rate", Some(before), find(new, &before.name).as_ref());
    }
    for after in new.iter().filter(|quota| find(old, &quota.name).is_none()) {
        quota(c, "limits/rate", None, Some(after));
    }
}

/// Compares a rate limit by two values: the number of requests, and the number
/// per unit of time.
pub(super) fn quota(
    c: &mut Comparison<'_>,
    at: &str,
    old: Option<&QuotaInfo>,
    new: Option<&QuotaInfo>,
) {
    let (Some(before), Some(after)) = (old, new) else {
        match (old, new) {
            (None, Some(after)) => c.note(RATE_LOWER, at, Value::Null, after),
            (Some(before), None) => c.note(RATE_HIGHER, at, before, Value::Null),
            _ => {}
        }
        return;
    };
    let numbers = |quota: &QuotaInfo| Some((quota.limit?, quota.window_ms?));
    let rule = match (numbers(before), numbers(after)) {
        (None, None) => return,
        (Some((count, window)), Some((new_count, new_window))) => {
            let rate = u128::from(new_count) * u128::from(window);
            let rate = rate.cmp(&(u128::from(count) * u128::from(new_window)));
            match (new_count.cmp(&count), rate) {
                (Ordering::Equal, Ordering::Equal) => return,
                (Ordering::Less | Ordering::Equal, Ordering::Less | Ordering::Equal) => RATE_LOWER,
                (Ordering::Greater | Ordering::Equal, Ordering::Greater | Ordering::Equal) => {
                    RATE_HIGHER
                }
                _ => RATE_CHANGED,
            }
        }
        _ => RATE_CHANGED,
    };
    c.note(rule, at, before, after);
}

fn accepts(c: &mut Comparison<'_>, old: Option<&[String]>, new: Option<&[String]>) {
    let at = "limits/accepts";
    let is_more = |list: Option<&[String]>, other: Option<&[String]>| match (list, other) {
        (None, Some(_)) => true,
        (Some(list), Some(other)) => list.iter().any(|item| !other.contains(item)),
        _ => false,
    };
    if is_more(old, new) {
        c.note(ACCEPTS_FEWER, at, json!(old), json!(new));
    }
    if is_more(new, old) {
        c.note(ACCEPTS_MORE, at, json!(old), json!(new));
    }
}
