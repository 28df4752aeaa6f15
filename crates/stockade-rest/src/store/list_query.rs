//! The query for a page of items ([`ListQuery`]) and the result ([`Page`]).

use std::fmt;

use serde_json::Value;

use super::{RowFilter, Versioned};

/// The query for a page of items.
///
/// A resource creates it from a validated request: the fields are configured,
/// and the values match their schemas.
#[doc(alias = "paginate")]
#[derive(Clone, Debug, PartialEq)]
pub struct ListQuery {
    /// The filters. An item must pass all of them. Default: none.
    pub filters: Vec<Filter>,
    /// The order of the items. The last key is the id, so no two items are
    /// equal. The other keys are never optional.
    pub sorts: Vec<Sort>,
    /// The keys of the item before the page, one for each of `sorts`. The page
    /// starts with the first item after these keys in the order of `sorts`. An
    /// item with these keys need not exist. `None` starts with the first item.
    pub after: Option<Vec<Value>>,
    /// The maximum number of items, at least 1.
    pub limit: usize,
    /// The size at which a page may end early, in bytes of JSON. The item that
    /// reaches it is the last one. If the store returns more, the resource ends
    /// the page there. [`new`](Self::new) sets it to 4 MiB.
    pub max_bytes: usize,
    /// The limit for the count of all items that pass `filters` and `scope`.
    /// `None` disables the count. `after` and `limit` do not affect it.
    pub count: Option<u64>,
    /// The filter for the visible items.
    pub scope: RowFilter,
}

impl ListQuery {
    /// Creates the query for the first `limit` items in the order of the id
    /// field `id`.
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

/// A condition on one field. An item passes if it matches any of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Filter {
    /// The name of the field.
    pub field: String,
    /// The comparison.
    pub op: Op,
    /// The values on the right side, at least one. They are never null.
    pub values: Vec<Value>,
}

/// A comparison of a field with a value.
///
/// Numbers are compared numerically, and texts by code points, independent of
/// any language. False comes before true. A null field passes only
/// [`Null`](Self::Null).
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
    /// The text starts with exactly this value: `name[prefix]=te`.
    Prefix,
    /// The field is null (if the value is true) or not null (if it is false):
    /// `category[null]=true`.
    Null,
}

impl Op {
    /// All comparisons.
    pub const ALL: [Self; 7] =
        [Self::Eq, Self::Lt, Self::Lte, Self::Gt, Self::Gte, Self::Prefix, Self::Null];

    /// Returns the name in a query. It is empty for [`Eq`](Self::Eq), which is
    /// written without a name.
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

/// Formats the name: `eq`, `lt`, `prefix`.
impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if *self == Self::Eq { "eq" } else { self.name() })
    }
}

/// A sort key, which uses the comparisons of [`Op`].
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub struct Sort {
    /// The name of the field.
    pub field: String,
    /// The direction.
    pub direction: Direction,
}

/// The direction of a sort key.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Direction {
    /// The lowest value comes first.
    Ascending,
    /// The highest value comes first.
    Descending,
}

impl Direction {
    /// Returns the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        match self {
            Self::Ascending => Self::Descending,
            Self::Descending => Self::Ascending,
        }
    }
}

/// A page of items.
#[doc(alias = "paginate")]
#[derive(Clone, Debug)]
pub struct Page<T> {
    /// The items, in the requested order.
    pub items: Vec<Versioned<T>>,
    /// True if more items follow.
    pub more: bool,
    /// The number of all items, at most [`ListQuery::count`], or `None` if it
    /// was not requested.
    pub total: Option<u64>,
    /// The number of unreadable items that the store skipped. It is usually 0,
    /// because a store fails instead unless the program enables skipping.
    pub skipped: u64,
}

impl<T> Page<T> {
    /// Creates a page of these items, without a total. `more` is true if more
    /// items follow.
    #[must_use]
    pub fn new(items: Vec<Versioned<T>>, more: bool) -> Self {
        Self { items, more, total: None, skipped: 0 }
    }
}
