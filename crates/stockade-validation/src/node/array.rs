//! The keywords of arrays: fields, compilation, check and export.

use std::ops::ControlFlow::{self, Continue};

use serde_json::{Map, Value};

use super::keywords::{Source, copy, flag};
use super::limits::{Bound, Counts, Limit, Relation};
use super::violation::Violation;
use super::{Node, kind};
use crate::data::Data;
use crate::equal;

/// Keywords for arrays.
#[derive(Debug)]
pub(crate) struct ArrayRules {
    pub(crate) counts: Counts,
    unique: bool,
    /// The rules of the first elements, one each.
    pub(crate) places: Box<[Node]>,
    /// The rule of the other elements, or `None` if any value is valid.
    pub(crate) items: Option<Node>,
    /// True if a keyword needs the whole array. The typed reader then leaves
    /// the array to the check of parsed data.
    pub(crate) needs_whole: bool,
}

/// Each bound with the keyword that replaces it.
const COUNTS: &[(Bound, Option<&str>)] = &[
    (("min", Relation::AtLeast), Some("minItems")),
    (("max", Relation::AtMost), Some("maxItems")),
    (("minItems", Relation::AtLeast), None),
    (("maxItems", Relation::AtMost), None),
];

impl ArrayRules {
    /// Returns the rules of arrays, if the keywords contain any.
    pub(crate) fn compile(
        source: &mut Source<'_>,
        places: Box<[Node]>,
        items: Option<Node>,
        needs_whole: bool,
    ) -> Option<Box<Self>> {
        let Source { keywords, types, .. } = source;
        // `minItems` and `maxItems` replace `min` and `max`.
        let bounds: Vec<Bound> = COUNTS
            .iter()
            .filter(|(_, instead)| instead.is_none_or(|name| !keywords.contains_key(name)))
            .map(|(bound, _)| *bound)
            .collect();
        let bounds = if types.take(kind::ARRAY) { &*bounds } else { &[] };
        let limits = Limit::all(keywords, bounds, ("Array must contain", " items"));
        let unique = flag(keywords, "uniqueItems");
        let rules = Self { counts: Counts::new(limits), unique, places, items, needs_whole };
        (!rules.is_empty()).then(|| Box::new(rules))
    }

    fn is_empty(&self) -> bool {
        let Self { counts, unique, places, items, needs_whole } = self;
        counts.is_empty() && !unique && places.is_empty() && items.is_none() && !needs_whole
    }

    /// Returns the rule of the element at `index`, or `None` if any value is
    /// valid.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Option<&Node> {
        self.places.get(index).or(self.items.as_ref())
    }

    /// Checks an array of `count` elements as a whole, before its elements.
    #[inline]
    pub(crate) fn validate<'d>(
        &self,
        array: impl Data<'d>,
        count: usize,
        mut no: impl FnMut(Violation<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.counts.validate(count, &mut no)?;
        if self.unique && !is_unique(array) {
            no(Violation::Rule("uniqueItems", "Items must be unique"))?;
        }
        Continue(())
    }

    /// Writes the keywords of JSON Schema. `rule` exports the rule of the
    /// elements. The export adds `min`, `max` and the positions of a tuple.
    pub(crate) fn export(
        rules: Option<&Self>,
        keywords: &Map<String, Value>,
        rule: impl Fn(&Node) -> Value,
        out: &mut Map<String, Value>,
    ) {
        if let Some(items) = rules.and_then(|rules| rules.items.as_ref()) {
            out.insert("items".to_owned(), rule(items));
        }
        copy(keywords, &["minItems", "maxItems"], out);
        if rules.is_some_and(|rules| rules.unique) {
            out.insert("uniqueItems".to_owned(), true.into());
        }
    }
}

fn is_unique<'d>(array: impl Data<'d>) -> bool {
    array.to_value().as_array().is_none_or(|items| equal::unique(items))
}
