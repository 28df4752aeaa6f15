//! The conditions of a page: filters, the scope, and the keys that precede the
//! page.

use serde_json::{Map, Value};
use stockade_rest::{Direction, Filter, ListQuery, Op, RowFilter, Sort};

use super::value::{Place, any_of, of_column, ordered, scalar};
use super::{Plan, known};
use crate::table::Column;
use crate::{Dialect, SqlError};

impl Plan<'_> {
    /// Returns the conditions of the scope and the filters.
    pub(super) fn of_query(&mut self, query: &ListQuery) -> Result<Vec<String>, SqlError> {
        let mut conditions = self.scope(&query.scope)?;
        let (mut values, mut ends) = (Vec::new(), Vec::new());
        for (index, filter) in query.filters.iter().enumerate() {
            let column = known(self.table, &filter.field)?;
            conditions.push(self.filter(index, column, filter));
            let of_filter = filter.values.iter().map(|value| of_column(self.table, column, value));
            values.push(Value::Array(of_filter.collect()));
            ends.push(match filter.op {
                Op::Prefix => {
                    let end = |value| of_column(self.table, column, &end_of(value).into());
                    Value::Array(filter.values.iter().map(end).collect())
                }
                _ => Value::Null,
            });
        }
        if ends.iter().any(Value::is_array) {
            self.parameter.insert("ends".to_owned(), Value::Array(ends));
        }
        if !values.is_empty() {
            self.parameter.insert("filters".to_owned(), Value::Array(values));
        }
        Ok(conditions)
    }

    pub(super) fn scope(&mut self, scope: &RowFilter) -> Result<Vec<String>, SqlError> {
        let mut conditions = Vec::new();
        let mut values = Vec::new();
        for (index, (field, value)) in scope.conditions().iter().enumerate() {
            let column = known(self.table, field)?;
            let place = Place::of("scope").at(index);
            let value_of = scalar(self.table, column, &place);
            conditions.push(format!("{} = {value_of}", ordered(self.table, column)));
            values.push(of_column(self.table, column, value));
        }
        if !values.is_empty() {
            self.parameter.insert("scope".to_owned(), Value::Array(values));
        }
        Ok(conditions)
    }

    fn filter(&self, index: usize, column: &Column, filter: &Filter) -> String {
        let place = || Place::of("filters").at(index);
        let key = ordered(self.table, column);
        let each = |condition: &dyn Fn(&Value, String) -> String| {
            let values = filter.values.iter().enumerate();
            let conditions = values
                .map(|(at, value)| condition(value, scalar(self.table, column, &place().at(at))));
            any(&conditions.collect::<Vec<_>>())
        };
        let compared = |sign: &str| each(&|_, value| format!("{key} {sign} {value}"));
        match filter.op {
            Op::Eq if filter.values.len() > 1 => {
                format!("{key} {}", any_of(self.table, column, &place()))
            }
            Op::Eq => compared("="),
            Op::Lt => compared("<"),
            Op::Lte => compared("<="),
            Op::Gt => compared(">"),
            Op::Gte => compared(">="),
            Op::Prefix => {
                let conditions = filter.values.iter().enumerate().map(|(at, value)| {
                    let text = scalar(self.table, column, &place().at(at));
                    let end = || {
                        let place = Place::of("ends").at(index).at(at);
                        scalar(self.table, column, &place)
                    };
                    self.prefix(column, &text, end_of(value).map(|_| end()))
                });
                any(&conditions.collect::<Vec<_>>())
            }
            Op::Null => each(&|value, _| match value {
                Value::Bool(true) => format!("{key} IS NULL"),
                _ => format!("{key} IS NOT NULL"),
            }),
            // An unknown operator matches no rows.
            _ => "FALSE".to_owned(),
        }
    }

    /// Returns the condition that a text starts with a prefix. `end` is the
    /// first text after all texts with the prefix. The two bounds allow an
    /// index scan.
    fn prefix(&self, column: &Column, value: &str, end: Option<String>) -> String {
        let key = ordered(self.table, column);
        let below = end.map(|end| format!(" AND {key} < {end}")).unwrap_or_default();
        match self.table.dialect {
            Dialect::Postgres if !column.has_text_order => format!("starts_with({key}, {value})"),
            Dialect::Postgres => {
                format!("({key} >= {value}{below} AND starts_with({key}, {value}))")
            }
            // The last comparison uses bytes, because `length` of a text stops
            // at U+0000. `substr` of an empty blob is null.
            Dialect::Sqlite => format!(
                "({key} >= {value}{below} AND ifnull(substr(CAST({key} AS BLOB), 1, \
                 length(CAST({value} AS BLOB))), x'') = CAST({value} AS BLOB))"
            ),
        }
    }

    /// Returns the condition that a row comes after these keys.
    pub(super) fn after(&mut self, keys: &[Value], sorts: &[Sort]) -> Result<String, SqlError> {
        let columns = sorts.iter().map(|sort| known(self.table, &sort.field));
        let columns = columns.collect::<Result<Vec<_>, _>>()?;
        if keys.len() != sorts.len() {
            return Err(SqlError::failed("the number of keys does not match the sort order"));
        }
        let values: Vec<String> = match self.table.dialect {
            Dialect::Postgres => {
                let names = sorts.iter().map(|sort| sort.field.clone());
                let record: Map<_, _> = names.zip(keys.iter().cloned()).collect();
                self.parameter.insert("after".to_owned(), Value::Object(record));
                let place = Place::of("after");
                columns.iter().map(|column| scalar(self.table, column, &place)).collect()
            }
            Dialect::Sqlite => {
                self.parameter.insert("after".to_owned(), Value::Array(keys.to_vec()));
                let place = |index| Place::of("after").at(index);
                let columns = columns.iter().enumerate();
                columns.map(|(index, it)| scalar(self.table, it, &place(index))).collect()
            }
        };
        let keys: Vec<String> = columns.iter().map(|column| ordered(self.table, column)).collect();
        Ok(behind(&keys, &values, sorts))
    }
}

/// Compares whole rows if all keys have the same direction, because an index
/// supports this. Otherwise compares key by key.
fn behind(keys: &[String], values: &[String], sorts: &[Sort]) -> String {
    let sign = |sort: &Sort| match sort.direction {
        Direction::Ascending => ">",
        Direction::Descending => "<",
    };
    let (Some(first), Some(last)) = (sorts.first(), keys.len().checked_sub(1)) else {
        return "TRUE".to_owned();
    };
    if sorts.iter().all(|sort| sort.direction == first.direction) {
        return format!("({}) {} ({})", keys.join(", "), sign(first), values.join(", "));
    }
    let mut condition = format!("{} {} {}", keys[last], sign(&sorts[last]), values[last]);
    for index in (0..last).rev() {
        let (key, sign, value) = (&keys[index], sign(&sorts[index]), &values[index]);
        // The first comparison allows an index scan.
        condition = format!(
            "{key} {sign}= {value} AND ({key} {sign} {value} OR ({key} = {value} AND {condition}))"
        );
    }
    condition
}

/// Returns the first text after all texts with a prefix, in code point order,
/// or `None` if there is none. It is the prefix with its last character
/// incremented.
fn end_of(prefix: &Value) -> Option<String> {
    let mut end: Vec<char> = prefix.as_str()?.chars().collect();
    while let Some(last) = end.pop() {
        // The next code point, skipping surrogates, which are not characters.
        let next = (u32::from(last) + 1..).take(0x801).find_map(char::from_u32);
        if let Some(next) = next {
            end.push(next);
            return Some(end.into_iter().collect());
        }
    }
    None
}

fn any(conditions: &[String]) -> String {
    match conditions {
        [] => "FALSE".to_owned(),
        [one] => one.clone(),
        several => format!("({})", several.join(" OR ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_prefix_ends_at_the_next_text() {
        for (prefix, expected) in [
            ("te", Some("tf")),
            ("Z", Some("[")),
            ("te%", Some("te&")),
            ("a\0", Some("a\u{1}")),
            ("\u{7f}", Some("\u{80}")),
            ("\u{d7ff}", Some("\u{e000}")),
            ("\u{ffff}", Some("\u{10000}")),
            ("a\u{10ffff}\u{10ffff}", Some("b")),
            ("\u{10ffff}", None),
            ("", None),
        ] {
            assert_eq!(end_of(&json!(prefix)).as_deref(), expected, "{prefix:?}");
        }
    }
}
