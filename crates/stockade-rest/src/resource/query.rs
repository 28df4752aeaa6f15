//! The parameters of a list: its filters and orders, and their rules.

use stockade_validation::{HasSchema as _, Rule};

use super::fields::{Field, Kind};
use crate::core::FilterField;
use crate::handlers::MAX_SORTS;
use crate::store::Op;

/// The parameters of a list that are not filters.
pub(super) const RESERVED: [&str; 4] = ["limit", "sort", "cursor", "count"];

/// Returns the reason why a field does not support a filter.
pub(super) fn cannot_filter(field: &Field, op: Op) -> Option<&'static str> {
    match op {
        Op::Null if field.is_optional => None,
        Op::Null => Some("it is never null"),
        _ if field.kind == Kind::Other => Some("its values cannot be compared"),
        Op::Prefix if field.kind != Kind::Text => Some("it is not a string"),
        Op::Lt | Op::Lte | Op::Gt | Op::Gte if field.kind == Kind::Boolean => {
            Some("it is a boolean")
        }
        _ => None,
    }
}

/// Creates the rule of the `sort` parameter, if the resource has sortable
/// fields.
pub(super) fn sort_rule(id: &str, sorts: &[String]) -> Option<Rule> {
    let listed = order_fields(id, sorts).join(", ");
    let rule = Rule::string().description(format!(
        "The order: up to {MAX_SORTS} of {listed}, separated by commas; a leading - sorts in \
         descending order"
    ));
    (!sorts.is_empty()).then_some(rule)
}

/// Returns the pattern of the `sort` parameter.
pub(super) fn sort_pattern(id: &str, sorts: &[String]) -> String {
    let names: Vec<String> =
        order_fields(id, sorts).iter().map(|name| literal_pattern(name)).collect();
    let (names, more) = (names.join("|"), MAX_SORTS - 1);
    format!("^-?({names})(,-?({names})){{0,{more}}}$")
}

/// Returns the names of all sortable fields.
fn order_fields<'n>(id: &'n str, sorts: &'n [String]) -> Vec<&'n str> {
    let id = Some(id).filter(|id| !sorts.iter().any(|name| name == id));
    sorts.iter().map(String::as_str).chain(id).collect()
}

/// Returns the pattern that matches a text literally.
fn literal_pattern(text: &str) -> String {
    let mut pattern = String::new();
    for char in text.chars() {
        if r"\^$.|?*+()[]{}".contains(char) {
            pattern.push('\\');
        }
        pattern.push(char);
    }
    pattern
}

/// Creates the rule for the parameters of a list.
pub(super) fn query_rule(
    read: &Rule,
    filters: &[FilterField],
    sort: Option<Rule>,
    counts: bool,
) -> Rule {
    let limit = u32::rule().minimum(1).maximum(100);
    let limit = limit.description("The largest number of items. Default: 20");
    let cursor = Rule::string().description("The value of `next` of an earlier page");
    let mut rule = Rule::object([("limit", limit), ("cursor", cursor)]);
    if let Some(sort) = sort {
        rule = rule.property("sort", sort);
    }
    if counts {
        let count = Rule::string().values(["exact"]);
        let count = count.description("Requests `X-Total-Count`, counted up to 10,000");
        rule = rule.property("count", count);
    }
    for filter in filters {
        // A field that is serialized but never deserialized does not have a
        // rule.
        let own = || read.property_rule(&filter.field).unwrap_or_else(Rule::any);
        let value = match filter.op {
            Op::Null => Rule::boolean(),
            Op::Eq => Rule::array(own()).max_items(50),
            Op::Prefix => Rule::array(Rule::string().min_length(1).max_length(200)).max_items(50),
            Op::Lt | Op::Lte | Op::Gt | Op::Gte => own(),
        };
        rule = rule.property(filter.parameter.clone(), value);
    }
    rule
}
