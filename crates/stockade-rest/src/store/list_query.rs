//! [`ListQuery`]: the question for a page of items, and [`Page`], its answer.

use std::fmt;

use serde_json::Value;

use super::{RowFilter, Versioned};

/// The question for a page of items.
///
/// A resource makes it of a query whose every part it has checked: the fields are
/// those that it lists, and the values have passed their schemas.
#[derive(Clone, Debug, PartialEq)]
pub struct ListQuery {
    /// The filters, all of which an item passes. Default: none.
    pub filters: Vec<Filter>,
    /// The order of the items. The last key is the id, so that no two items are
    /// equal, and no other key is optional.
    pub sorts: Vec<Sort>,
    /// The keys of the item in front of the page, one for each of `sorts`: the page
    /// begins with the first item that is behind these keys in the order of `sorts`.
    /// Such an item need not exist. `None` begins with the first one.
    pub after: Option<Vec<Value>>,
    /// The largest number of items, at least 1.
    pub limit: usize,
    /// The size at which a page may end although there are more items, in bytes of JSON:
    /// the item that reaches it is the last one. A resource ends the page there if the
    /// store does not. [`new`](Self::new) sets it to 4 MiB.
    pub max_bytes: usize,
    /// The number up to which all items that pass `filters` and `scope` are counted;
    /// `None` counts none. `after` and `limit` do not change the count.
    pub count: Option<u64>,
    /// The items that may be seen at all.
    pub scope: RowFilter,
}

impl ListQuery {
    /// Makes the question for the first `limit` items in the order of `id`, the
    /// field with the id.
    #[must_use]
    pub fn new(id: impl Into<String>, limit: usize) -> Self {
        Self {
            filters: Vec::new(),
            sorts: vec![Sort { field: id.into(), direction: Direction::Ascending }],
            after: None,
            limit,
            max_bytes: 4 * 1_048_576,
            count: None,
            scope: RowFilter::all(),
        }
    }
}

/// A condition on one field. An item passes if it holds for any of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The name of the field.
    pub field: String,
    /// The comparison.
    pub op: Op,
    /// The values on its right side, at least one. None of them is null.
    pub values: Vec<Value>,
}

/// A comparison of a field with a value.
///
/// Numbers are compared as numbers, texts by their code points and without regard
/// to any language, and false comes before true. A field that is null passes
/// [`Null`](Self::Null) alone.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Op {
    /// The field is equal to the value: `category=tea`.
    Eq,
    /// The field is less: `price[lt]=5`.
    Lt,
    /// The field is less or equal: `price[lte]=5`.
    Lte,
    /// The field is greater: `price[gt]=5`.
    Gt,
    /// The field is greater or equal: `price[gte]=5`.
    Gte,
    /// The text begins with the value, letter by letter: `name[prefix]=te`.
    Prefix,
    /// The field is null where the value is true, and is not where it is false:
    /// `category[null]=true`.
    Null,
}

impl Op {
    /// All comparisons.
    pub const ALL: [Self; 7] =
        [Self::Eq, Self::Lt, Self::Lte, Self::Gt, Self::Gte, Self::Prefix, Self::Null];

    /// Returns its name in a query; that of [`Eq`](Self::Eq) is empty, because it
    /// stands without one.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eq => "",
            Self::Lt => "lt",
            Self::Lte => "lte",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Prefix => "prefix",
            Self::Null => "null",
        }
    }
}

/// Shows it by its word: `eq`, `lt`, `prefix`.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Eq { "eq" } else { self.name() })
    }
}

/// A key of an order, by the comparisons of [`Op`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Sort {
    /// The name of the field.
    pub field: String,
    /// The direction.
    pub direction: Direction,
}

/// The direction of a key.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Direction {
    /// The least value comes first.
    Ascending,
    /// The greatest value comes first.
    Descending,
}

impl Direction {
    /// Returns the other direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// A page of items.
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The items, in the order that was asked for.
    pub items: Vec<Versioned<T>>,
    /// True if there are more behind them.
    pub more: bool,
    /// The number of all items, at most [`ListQuery::count`]; `None` if it was not asked
    /// for.
    pub total: Option<u64>,
    /// The number of items that the store left out because it cannot read them. Usually 0: a
    /// store fails instead, unless an option of the program says otherwise.
    pub skipped: u64,
}

impl<T> Page<T> {
    /// Makes a page of these items, without a total. `more` is true if there are more behind
    /// them.
    #[must_use]
    pub fn new(items: Vec<Versioned<T>>, more: bool) -> Self {
        Self { items, more, total: None, skipped: 0 }
    }
}
