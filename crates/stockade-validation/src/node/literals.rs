//! The keywords `enum` and `const`.

use serde_json::{Map, Value};
use stockade_errors::__internal::sort_by;

use super::violation::Violation;
use crate::data::{Data, Kind};
use crate::equal::{equal, order, same};
use crate::number::Num;

/// The values of `enum` or `const`, in a searchable form.
#[derive(Debug)]
pub(crate) struct Literals {
    /// The name of the keyword.
    rule: &'static str,
    /// Sorted by length, then by bytes.
    texts: Box<[Box<str>]>,
    /// Sorted.
    numbers: Box<[Num]>,
    others: Box<[Value]>,
    /// `Must be …`.
    message: Box<str>,
}

impl Literals {
    /// Returns the value lists in the keywords.
    pub(crate) fn compile(keywords: &Map<String, Value>) -> Box<[Self]> {
        let listed = keywords.get("enum").and_then(Value::as_array);
        let listed = listed.map(|values| Self::listed(values));
        listed.into_iter().chain(keywords.get("const").map(Self::constant)).collect()
    }

    fn listed(values: &[Value]) -> Self {
        let shown: Vec<String> = values.iter().map(ToString::to_string).collect();
        Self::new("enum", values, format!("Must be one of: {}", shown.join(", ")))
    }

    fn constant(value: &Value) -> Self {
        Self::new("const", std::slice::from_ref(value), format!("Must be {value}"))
    }

    fn new(rule: &'static str, values: &[Value], message: String) -> Self {
        let is_other = |value: &&Value| !value.is_string() && !value.is_number();
        let mut texts: Vec<Box<str>> =
            values.iter().filter_map(Value::as_str).map(Into::into).collect();
        let mut numbers: Vec<Num> =
            values.iter().filter_map(Value::as_number).map(Num::of).collect();
        sort_by(&mut texts, |left, right| order(left, right));
        sort_by(&mut numbers, |left, right| left.compare(*right));
        Self {
            rule,
            texts: texts.into(),
            numbers: numbers.into(),
            others: values.iter().filter(is_other).cloned().collect(),
            message: message.into(),
        }
    }

    /// Returns true if any of the values is an array or an object.
    pub(crate) fn has_containers(&self) -> bool {
        self.others.iter().any(|value| value.is_array() || value.is_object())
    }

    pub(super) fn broken(&self) -> Violation<'_> {
        Violation::Shown(self.rule, &self.message)
    }

    #[inline]
    pub(super) fn has_text(&self, text: &str) -> bool {
        if self.texts.len() <= FEW {
            return self.texts.iter().any(|known| same(known, text));
        }
        self.texts.binary_search_by(|known| order(known, text)).is_ok()
    }

    #[inline]
    pub(super) fn has_number(&self, num: Num) -> bool {
        if self.numbers.len() <= FEW {
            return self.numbers.iter().any(|known| known.compare(num).is_eq());
        }
        self.numbers.binary_search_by(|known| known.compare(num)).is_ok()
    }

    pub(crate) fn has<'d>(&self, data: impl Data<'d>) -> bool {
        match data.kind() {
            Kind::Text(text) => self.has_text(text),
            Kind::Number(number) => self.has_number(Num::of(number)),
            Kind::Null | Kind::Bool(_) | Kind::Array(_) | Kind::Object(_) => {
                !self.others.is_empty() && {
                    let value = data.to_value();
                    self.others.iter().any(|known| equal(known, &value))
                }
            }
        }
    }
}

/// Up to this many values are compared one by one.
const FEW: usize = 8;
