//! Parses the query of a list into a query for the store.

use std::borrow::Cow;

use serde_json::{Map, Value};
use stockade_core::Request;
use stockade_errors::{ApiError, ErrorText, FieldError};
use stockade_validation::__internal::did_you_mean;
use stockade_validation::{ValidationOptions, validate_against_schema};

use crate::core::Core;
use crate::cursor::{Cursor, Place};
use crate::failure::invalid;
use crate::store::{Direction, Filter, ListQuery, Op, Sort};

/// The parsed query of a list request.
pub(super) struct ParsedQuery {
    /// The query for the store. Its order is reversed for a page before a
    /// cursor.
    pub(super) list_query: ListQuery,
    /// The order, as in the `sort` parameter.
    pub(super) sort: String,
    /// True if the page comes before a cursor.
    pub(super) backwards: bool,
    /// The id of the first item, until its keys are known.
    begins_at: Option<Value>,
    /// The name of the id field, which is one of the keys.
    id: &'static str,
}

impl ParsedQuery {
    /// Parses the query of a request.
    pub(super) fn of(core: &Core, req: &Request) -> Result<Self, ApiError> {
        let list_query = ListQuery::new(core.id, LIMIT);
        let sent = req.query()?;
        let mut question = Self {
            list_query,
            sort: String::new(),
            backwards: false,
            begins_at: None,
            id: core.id,
        };
        question.list_query.scope = core.scope_of(req)?;
        if sent.is_empty() {
            return Ok(question);
        }
        let query = validated(core, sent)?;
        if let Some(limit) = query.get("limit").and_then(Value::as_u64) {
            // The schema allows 1 to 100.
            question.list_query.limit = usize::try_from(limit).unwrap_or(LIMIT);
        }
        question.list_query.count = query.get("count").map(|_| MAX_COUNT);
        question.list_query.filters = filters(core, &query)?;
        let misfits = core.canonical.misfits_of(&question.list_query);
        if !misfits.is_empty() {
            return Err(ApiError::validation(misfits));
        }
        if let Some(Value::String(sort)) = query.get("sort") {
            question.list_query.sorts = sorts(core, sort)?;
            question.sort.clone_from(sort);
        }
        if let Some(Value::String(cursor)) = query.get("cursor") {
            question.begin_at(core, cursor)?;
        }
        if let Cow::Owned(canonical) = core.canonical.query(&question.list_query) {
            question.list_query = canonical;
        }
        Ok(question)
    }

    /// Starts the page at a cursor.
    fn begin_at(&mut self, core: &Core, text: &str) -> Result<(), ApiError> {
        let unreadable = || {
            let text = ErrorText::new("cursor", "The cursor does not belong to this list");
            invalid("cursor", text, "custom")
        };
        let cursor = Cursor::read(text).ok_or_else(unreadable)?;
        let is_possible = match &cursor.place {
            Place::Keys(keys) => {
                let mut places = self.list_query.sorts.iter().zip(keys);
                keys.len() == self.list_query.sorts.len() && places.all(|place| fits(core, place))
            }
            Place::Item(id) => core.schemas.id.check(id, &ValidationOptions::new())?.is_empty(),
        };
        if cursor.sort != self.sort || !is_possible {
            return Err(unreadable());
        }
        self.backwards = cursor.backwards;
        if cursor.backwards {
            for sort in &mut self.list_query.sorts {
                sort.direction = sort.direction.reversed();
            }
        }
        match cursor.place {
            Place::Keys(keys) => self.list_query.after = Some(keys),
            Place::Item(id) => self.begins_at = Some(id),
        }
        Ok(())
    }

    /// Loads the keys of the first item of the page, if they did not fit into
    /// the cursor.
    pub(super) async fn find_begin(&mut self, core: &Core) -> Result<(), ApiError> {
        let Some(id) = self.begins_at.take() else { return Ok(()) };
        let item = core.store.get(&id, &self.list_query.scope).await;
        let item = item.map_err(|error| core.failure(error, false))?;
        let gone = || {
            let text =
                ErrorText::new("cursor-gone", "The first item of this page no longer exists");
            invalid("cursor", text, "custom")
        };
        self.list_query.after = Some(item.ok_or_else(gone)?.keys(&self.key_names())?);
        Ok(())
    }

    /// Returns the names of the key fields.
    pub(super) fn key_names(&self) -> Vec<&str> {
        self.list_query.sorts.iter().map(|sort| &*sort.field).collect()
    }

    /// Returns the cursor of the page after or before the item with these keys.
    pub(super) fn cursor_at(&self, keys: Vec<Value>, backwards: bool) -> Result<String, ApiError> {
        let id = self.list_query.sorts.iter().zip(&keys).find(|(sort, _)| sort.field == self.id);
        let id = id.map(|(_, id)| id.clone());
        let cursor = |place| Cursor { sort: self.sort.clone(), backwards, place }.write();
        let too_long = || ApiError::internal("the id of an item is too long for a cursor");
        let by_id = || id.and_then(|id| cursor(Place::Item(id))).ok_or_else(too_long);
        cursor(Place::Keys(keys)).map_or_else(by_id, Ok)
    }
}

/// The default number of items per page.
const LIMIT: usize = 20;

/// Items are counted up to this number.
const MAX_COUNT: u64 = 10_000;

/// The maximum number of filters in a query, and of fields in an order.
const MAX_FILTERS: usize = 10;
pub(crate) const MAX_SORTS: usize = 3;

/// Validates a query. Unknown names are rejected too.
fn validated(core: &Core, sent: Map<String, Value>) -> Result<Map<String, Value>, ApiError> {
    let is_known = |name: &String| core.parameters.contains(name);
    let mut errors: Vec<FieldError> = Vec::new();
    for name in sent.keys().filter(|name| !is_known(name)) {
        let hint = did_you_mean(name, core.parameters.iter().map(String::as_str));
        let message = format!("Unknown parameter{hint}");
        let error = FieldError::new(short(name), message, "additionalProperties");
        errors.push(error.with_text_id("parameter"));
    }
    let options = ValidationOptions::query();
    let outcome = validate_against_schema(&core.schemas.query, sent.into(), &options)?;
    errors.extend(outcome.errors);
    errors.truncate(MAX_ERRORS);
    match outcome.data {
        Value::Object(query) if errors.is_empty() => Ok(query),
        _ => Err(ApiError::validation(errors)),
    }
}

const MAX_ERRORS: usize = 100;

/// Returns the start of a name from a client, for error messages.
fn short(name: &str) -> String {
    name.chars().take(100).collect()
}

fn filters(core: &Core, query: &Map<String, Value>) -> Result<Vec<Filter>, ApiError> {
    let mut filters = Vec::new();
    for known in &core.filters {
        let Some(value) = query.get(&known.parameter) else { continue };
        let values = match value {
            Value::Array(values) if matches!(known.op, Op::Eq | Op::Prefix) => values.clone(),
            value => vec![value.clone()],
        };
        if values.is_empty() || values.iter().any(Value::is_null) {
            let text = ErrorText::new("filter-value", "A filter must have a value");
            return Err(invalid(&*known.parameter, text, "type"));
        }
        filters.push(Filter { field: known.field.clone(), op: known.op, values });
    }
    if filters.len() > MAX_FILTERS {
        let message = format!("A list must have at most {MAX_FILTERS} filters");
        let text = ErrorText::new("filters", message).param("limit", MAX_FILTERS);
        return Err(invalid("", text, "maxProperties"));
    }
    Ok(filters)
}

/// Parses an order. The id becomes the last key if it is missing. Duplicate
/// fields are ignored, because they cannot change the order.
fn sorts(core: &Core, text: &str) -> Result<Vec<Sort>, ApiError> {
    let refused = |text: ErrorText| invalid("sort", text, "pattern");
    if text.split(',').count() > MAX_SORTS {
        let text =
            ErrorText::new("sort-fields", format!("An order must have at most {MAX_SORTS} fields"));
        return Err(refused(text.param("limit", MAX_SORTS)));
    }
    let mut sorts: Vec<Sort> = Vec::new();
    for name in text.split(',') {
        let (field, direction) = match name.strip_prefix('-') {
            Some(field) => (field, Direction::Descending),
            None => (name, Direction::Ascending),
        };
        let known = || core.sorts.iter().map(|sort| sort.field.as_str());
        if !known().any(|known| known == field) {
            let hint = did_you_mean(field, known());
            let name = short(field);
            let message = format!("Lists cannot be sorted by {name:?}{hint}");
            return Err(refused(ErrorText::new("sort", message).param("name", name)));
        }
        if !sorts.iter().any(|sort| sort.field == field) {
            sorts.push(Sort { field: field.to_owned(), direction });
        }
    }
    let last = sorts.last().map_or(Direction::Ascending, |sort| sort.direction);
    if !sorts.iter().any(|sort| sort.field == core.id) {
        sorts.push(Sort { field: core.id.to_owned(), direction: last });
    }
    Ok(sorts)
}

/// Returns true if a cursor key is a valid value of its field.
fn fits(core: &Core, (sort, key): (&Sort, &Value)) -> bool {
    let field = core.sorts.iter().find(|known| known.field == sort.field);
    let is_scalar = matches!(key, Value::Bool(_) | Value::Number(_) | Value::String(_));
    let errors = field.map(|field| field.schema.check(key, &ValidationOptions::new()));
    is_scalar && matches!(errors, Some(Ok(errors)) if errors.is_empty())
}
