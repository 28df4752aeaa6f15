//! Bounds that contradict each other, so that no value could pass.

use std::cmp::Ordering;

use serde_json::{Map, Number, Value};

use crate::node::{Types, kind};
use crate::number::{Num, shown};

/// Says what is wrong with the bounds among `keywords`.
pub(crate) fn contradictions<'k>(
    keywords: &'k Map<String, Value>,
    types: &'k Types,
) -> impl Iterator<Item = String> + 'k {
    PAIRS.iter().filter_map(move |(low, high, strict, kinds)| {
        // `min` and `max` mean what the type makes of them.
        if *kinds != 0 && (types.mask & !kinds != 0 || !types.has(*kinds)) {
            return None;
        }
        let low_bound = keywords.get(*low)?.as_number()?;
        let high_bound = keywords.get(*high)?.as_number()?;
        contradict(low_bound, high_bound, *strict).then(|| {
            let relation = if *strict { "is not below" } else { "is above" };
            format!("`{low}` {} {relation} `{high}` {}", shown(low_bound), shown(high_bound))
        })
    })
}

fn contradict(low: &Number, high: &Number, strict: bool) -> bool {
    match Num::of(low).compare(Num::of(high)) {
        Ordering::Greater => true,
        Ordering::Equal => strict,
        Ordering::Less => false,
    }
}

/// Lower bound, upper bound, whether they must differ, and the only types for
/// which they are about the same (0: whatever the type).
const PAIRS: &[(&str, &str, bool, u8)] = &[
    ("minLength", "maxLength", false, 0),
    ("minimum", "maximum", false, 0),
    ("exclusiveMinimum", "exclusiveMaximum", true, 0),
    ("minimum", "exclusiveMaximum", true, 0),
    ("exclusiveMinimum", "maximum", true, 0),
    ("min", "max", false, 0),
    ("minItems", "maxItems", false, 0),
    ("minProperties", "maxProperties", false, 0),
    ("min", "maximum", false, kind::NUMBER | kind::INTEGER),
    ("minimum", "max", false, kind::NUMBER | kind::INTEGER),
    ("min", "exclusiveMaximum", true, kind::NUMBER | kind::INTEGER),
    ("exclusiveMinimum", "max", true, kind::NUMBER | kind::INTEGER),
    ("min", "maxLength", false, kind::STRING),
    ("minLength", "max", false, kind::STRING),
];
